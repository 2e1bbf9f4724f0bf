"""find_consensus end to end: the semantics that must not drift."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.errors import InputTypeError, NoConsensusWarning
from biconsensus.find import Search, solve, trace
from tests.helpers.strategies import (
    dense_gain,
    dense_parts,
    examples,
    label_tables,
    paper_consensus,
    quiet_consensus,
    same_grouping,
)

QUORUMS = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]


@examples(12)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 6), st.sampled_from(["greedy", "joint"]))
def test_identical_partitions_come_back_unchanged_for_every_quorum(labels, copies, method):
    labels = np.array(labels)
    for quorum in QUORUMS:
        c = quiet_consensus([labels] * copies, quorum=quorum, method=method)
        assert same_grouping(labels, c.labels)
        assert (c.backing == 1).all()


@given(label_tables(missing=True), st.sampled_from([0.2, 0.5, 0.7]))
def test_groups_are_disjoint_and_add_up(table, quorum):
    pool = bc.Pool.from_labels(table, missing=-2)
    c = quiet_consensus(pool, quorum=quorum)
    candidates = np.concatenate([b.candidates for b in c.biclusters] + [np.zeros(0, int)])
    elements = np.concatenate([b.elements for b in c.biclusters] + [np.zeros(0, int)])
    assert np.unique(candidates).size == candidates.size
    assert np.unique(elements).size == elements.size
    for t, b in enumerate(c.biclusters):
        assert np.array_equal(np.flatnonzero(c.labels == t), b.elements)
        assert b.gain == pytest.approx(dense_gain(pool, b.elements, b.candidates, quorum), abs=1e-9)
    assert (np.diff(c.gains) <= 1e-9).all()
    assert np.array_equal(np.unique(c.labels[c.labels >= 0]), np.arange(len(c)))


@given(label_tables())
def test_objective_is_the_l1_error_at_one_half(table):
    pool = bc.Pool.from_labels(table)
    c = quiet_consensus(pool)
    A = pool.to_matrix().toarray()
    model = np.zeros_like(A)
    for b in c.biclusters:
        model[np.ix_(b.elements, b.candidates)] = 1
    assert c.objective == pytest.approx(np.abs(A - model).sum())


@given(label_tables(missing=True), st.sampled_from([0.3, 0.5]))
def test_backing_by_its_definition(table, quorum):
    pool = bc.Pool.from_labels(table, weights=np.arange(1, table.shape[1] + 1), missing=-2)
    c = quiet_consensus(pool, quorum=quorum)
    B, M, w = dense_parts(pool)
    for i, t in enumerate(c.labels):
        if t < 0:
            assert c.backing[i] == 0
            continue
        Q = c.biclusters[t].candidates
        assert c.backing[i] == pytest.approx((w * B[i])[Q].sum() / (w * M[i])[Q].sum())
    inside = np.flatnonzero(c.labels >= 0)
    assert np.allclose(c.soft_membership()[inside, c.labels[inside]], c.backing[inside])


@given(label_tables(max_elements=16), st.randoms(use_true_random=False))
def test_permutations_keep_the_objective_of_the_first_group(table, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    plain, permuted = quiet_consensus(table), quiet_consensus(table[rows][:, columns])
    assert (len(plain) == 0) == (len(permuted) == 0)
    if len(plain):
        assert plain.gains.max() == pytest.approx(permuted.gains.max())


def test_permutations_keep_the_groups_where_the_best_block_is_unique():
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], [30, 21, 13])
    table = np.stack([np.where(rng.random(64) < 0.1, rng.integers(0, 3, 64), truth) for _ in range(9)], axis=1)
    plain = paper_consensus(table)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(64), rng.permutation(9)
        other = paper_consensus(table[rows][:, columns])
        assert same_grouping(plain.labels[rows], other.labels)
        assert other.objective == plain.objective


@given(label_tables(max_elements=12), st.integers(2, 4))
def test_repeating_every_element_changes_no_group(table, times):
    plain, repeated = quiet_consensus(table), quiet_consensus(np.repeat(table, times, axis=0))
    assert np.array_equal(np.repeat(plain.labels, times), repeated.labels)
    assert np.allclose(times * plain.gains, repeated.gains)


@given(label_tables(), st.sampled_from([0.25, 3.0, 1e-200, 1e200]))
@example(np.array([[0, 2, 2, 0, 1, 0], [1, 0, 0, 1, 0, 1], [1, 1, 1, -1, 1, 1]], np.int16), 1e200)
def test_scaling_all_weights_changes_nothing_but_gains(table, scale):
    plain, scaled = (
        quiet_consensus(table),
        quiet_consensus(bc.Pool.from_labels(table, weights=[scale] * table.shape[1])),
    )
    assert np.array_equal(plain.labels, scaled.labels)
    assert np.allclose(plain.gains, scaled.gains / scale)


def test_ten_half_views_of_four_groups_are_stitched():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], 50)
    views = []
    for _ in range(10):
        seen = rng.random(200) < 0.5
        views.append(np.where(seen, rng.permutation(4)[truth].astype(float), np.nan))
    c = paper_consensus(views)
    assert same_grouping(truth[c.labels >= 0], c.labels[c.labels >= 0])
    assert (c.labels >= 0).mean() > 0.99
    opposed = paper_consensus([np.where(np.isnan(view), -1, view) for view in views])
    assert bc.metrics.ari(truth, c.labels) > 0.99
    assert bc.metrics.ari(truth, opposed.labels) < 0.9


def test_two_chunks_that_overlap_become_groups_that_span_both():
    truth = np.repeat([0, 1], [60, 60])
    position = np.tile(np.arange(60), 2)
    left = [np.where(position < 40, labels, np.nan) for labels in (truth, 1 - truth)]
    right = [np.where(position >= 20, labels, np.nan) for labels in (truth + 5, 9 - truth)]
    c = paper_consensus([*left, *right])
    assert same_grouping(truth, c.labels)


def test_minimum_sizes_are_inclusive():
    labels = np.repeat([0, 1], [7, 6])
    assert len(paper_consensus([labels] * 4)) == 1
    assert len(paper_consensus([labels] * 4, min_elements=6)) == 2
    with pytest.warns(bc.errors.NoConsensusWarning):
        assert len(paper_consensus([labels] * 3)) == 0


def test_candidates_of_one_source_count_once():
    groups, sources = [range(10)] * 4, ["a", "a", "b", "b"]
    pool = bc.Pool.from_groups(groups, n_elements=12, sources=sources)
    assert len(paper_consensus(pool, min_candidates=2)) == 1
    with pytest.warns(bc.errors.NoConsensusWarning, match="2 sources"):
        assert len(paper_consensus(pool, min_candidates=3)) == 0


def test_overlapping_groups_share_elements_and_labels_follow_the_backing():
    groups = [range(10)] * 4 + [range(8, 20)] * 3 + [range(9, 20)]
    c = paper_consensus(bc.Pool.from_groups(groups, n_elements=20), overlap=True)
    assert len(c) == 2
    assert c.membership.toarray()[9].all()
    assert c.membership.toarray().sum() == 10 + 12
    inner = c.membership.toarray()[:, 1].argmax()
    assert inner == 0
    assert c.labels[8] == 1
    assert c.backing[8] == 1.0


def test_overlap_and_joint_exclude_each_other():
    with pytest.raises(ValueError, match="joint"):
        paper_consensus([[0, 0, 1]], overlap=True, method="joint")


def test_seeds_end_in_one_group():
    labels = np.repeat([0, 1], [12, 12])
    table = [labels] * 5
    free = paper_consensus(table)
    tied = paper_consensus(table, together=[[0, 23], [23, 22]])
    assert free.labels[0] != free.labels[23]
    assert tied.labels[0] == tied.labels[23] == tied.labels[22]
    assert tied.labels[1] != tied.labels[20]


def test_left_overs_go_to_the_nearest_group_or_stay():
    truth = np.repeat([0, 1], [10, 10])
    table = np.stack([truth] * 5, axis=1)
    table[0] = [0, 0, 2, 2, 2]
    table[1] = 3
    left = paper_consensus(table)
    assert left.labels[0] == left.labels[1] == -1
    near = paper_consensus(table, unassigned="nearest")
    assert near.labels[0] == near.labels[2]
    assert near.labels[1] == -1
    assert near.membership[[0]].toarray().sum() == 1
    assert 0 < near.backing[0] < 0.5
    assert 0 not in near.biclusters[near.labels[0]].elements


def test_first_small_is_the_literal_rule_of_the_paper():
    big, small = [0] * 20 + [-1] * 12, [-1] * 20 + [0] * 6 + [1] * 6
    table = [big] * 4 + [small] * 30
    assert len(paper_consensus(table, min_elements=7)) == 1
    with pytest.warns(bc.errors.NoConsensusWarning):
        literal = paper_consensus(table, min_elements=7, stop="first_small")
    assert literal.extraction["discarded"] == [6, 30]


def test_weights_by_rule_callable_or_array():
    table = np.stack([[0, 0, 0, 1, 1, 1]] * 3 + [[0, 0, 1, 1, 1, 1]], axis=1)
    pool = bc.Pool.from_labels(table)
    by_array = paper_consensus(pool, 2, 2, weights=[1, 1, 1, 9])
    assert by_array.labels.tolist() == [1, 1, 0, 0, 0, 0]
    by_call = paper_consensus(pool, 2, 2, weights=lambda p: np.where(p.source_of == 3, 9.0, 1.0))
    assert np.array_equal(by_array.labels, by_call.labels)
    assert len(paper_consensus(pool, 2, 2, weights="size")) == 2


def test_the_answer_does_not_depend_on_n_jobs():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 3, (9000, 12))
    table[:1500, :6] = 0
    one, two = (paper_consensus(table, n_jobs=n) for n in (1, 2))
    assert len(one) > 0
    assert np.array_equal(one.labels, two.labels)
    assert one.objective == two.objective


def test_joint_never_loses_to_greedy():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 6, 100)
        table = np.stack(
            [rng.permutation(8)[np.where(rng.random(100) < 0.3, rng.integers(0, 8, 100), truth)] for _ in range(10)],
            axis=1,
        )
        greedy, joint = (quiet_consensus(table, method=m) for m in ("greedy", "joint"))
        assert joint.objective <= greedy.objective + 1e-9


POOL = [np.repeat([0, 1], 16)] * 4 + [np.repeat([0, 1, 2, 3], 8)] * 4


def test_auto_chooses_a_quorum_and_says_which():
    halves = np.repeat([0, 1], 40)
    rng = np.random.default_rng(0)
    point = [10 * halves + rng.integers(2 + k % 4, size=80) for k in range(12)]
    c = bc.find_consensus(point, quorum="auto", unassigned="nearest")
    assert same_grouping(halves, c.labels)
    assert c.settings["method"] == "joint"
    assert [c.settings["quorum"], len(c)] in [[quorum, n] for quorum, n, _ in c.extraction["path"]]
    assert len(quiet_consensus(point)) != 2


def test_auto_stays_with_a_majority_where_that_is_as_good():
    pool = [np.repeat([0, 1, 2, 3], 8)] * 5 + [np.repeat([0, 1], 16)] * 2
    auto, plain = bc.find_consensus(pool, quorum="auto"), paper_consensus(pool)
    assert (auto.settings["quorum"], auto.settings["method"]) == (0.5, "greedy")
    assert np.array_equal(auto.labels, plain.labels)
    assert np.array_equal(auto.gains, plain.gains)
    assert max(score for _, _, score in auto.extraction["path"]) > min(score for _, _, score in auto.extraction["path"])


@pytest.mark.parametrize("method", ["auto", "greedy", "joint"])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_n_groups_picks_from_the_path(n_groups, method):
    c = bc.find_consensus(POOL, n_groups=n_groups, method=method)
    assert len(c) == n_groups
    assert same_grouping(np.repeat(np.arange(n_groups), 32 // n_groups), c.labels)


def test_auto_with_overlap_is_greedy_and_leaves_trivial_candidates_out():
    groups = [range(10)] * 4 + [range(8, 20)] * 4 + [range(20)] * 4
    pool = bc.Pool.from_groups(groups, n_elements=20)
    c = bc.find_consensus(pool, quorum="auto", overlap=True)
    assert c.settings["method"] == "greedy"
    assert sorted(np.concatenate([b.candidates for b in c.biclusters])) == list(range(8))
    assert c.membership.toarray()[9].sum() == 2


def test_n_groups_with_a_quorum_is_an_error_even_at_one_half():
    for quorum in (0.5, 0.3):
        with pytest.raises(ValueError, match=f"n_groups=2 picks its own quorum; drop quorum={quorum}"):
            bc.find_consensus(POOL, quorum=quorum, n_groups=2)


def test_backing_uses_the_weights_of_the_search():
    table = np.stack([[0] * 8 + [1] * 8] * 4 + [[0] * 7 + [1] * 9], axis=1)
    plain = paper_consensus(table)
    heavy = paper_consensus(table, weights=[1, 1, 1, 1, 2.5])
    assert plain.backing[7] == pytest.approx(4 / 5)
    assert heavy.backing[7] == pytest.approx(4 / 6.5)


def test_tables_larger_than_memory_come_as_paths_and_iterators(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 500)
    table = np.stack([np.where(rng.random(500) < 0.1, 0, truth) for _ in range(6)], axis=1).astype(np.int8)
    np.save(tmp_path / "table.npy", table)
    expected = paper_consensus(table).labels
    assert np.array_equal(paper_consensus(tmp_path / "table.npy").labels, expected)
    assert np.array_equal(paper_consensus(iter([table[:200], table[200:]])).labels, expected)


def test_seeds_have_no_place_in_a_dask_table():
    da = pytest.importorskip("dask.array", reason="dask is an extra")
    with pytest.raises(ValueError, match="Dask table"):
        paper_consensus(da.zeros((10, 3), dtype=int), together=[[0, 1]])


def coarse_and_fine(seed=0, m=120):
    """Twelve noisy groupings, half of them into three groups and half into six."""
    rng = np.random.default_rng(seed)
    truth = np.arange(m) * 6 // m
    columns = [truth // 2 if k % 2 else truth for k in range(12)]
    return [np.where(rng.random(m) < 0.1, rng.integers(0, 6, m), column) for column in columns]


def test_every_cut_of_the_path_is_what_a_search_of_its_own_gives():
    pool = bc.Pool.from_labels(coarse_and_fine(m=72))
    search = Search(min_elements=5, unassigned="leave", together=[[0, 15], [1, 54]])
    traced = trace(pool, search)
    assert traced.quorums[0] == 0.9
    for quorum in (*traced.quorums[::4], 0.37):
        own = solve(pool, replace(search, quorum=quorum, method="path"))
        assert np.array_equal(traced.at(quorum).labels, own.labels)
        assert traced.at(quorum).settings == own.settings
        assert own.settings["method"] == "path"
        assert traced.at(quorum).asked == own.asked
    for number in (2, 3, 5):
        own = solve(pool, replace(search, n_groups=number))
        assert np.array_equal(traced.with_n_groups(number).labels, own.labels)
        assert traced.with_n_groups(number).settings == own.settings
        assert traced.with_n_groups(number).asked == own.asked
    assert np.array_equal(traced.answer().labels, solve(pool, search).labels)


def test_a_kept_result_is_cut_as_its_pool_would_be(tmp_path):
    pool = bc.Pool.from_labels(coarse_and_fine(1))
    search = Search(min_elements=4, min_candidates=3, weights="size", together=[[0, 1, 70], [2, 119]])
    solve(pool, search).save(tmp_path / "kept.bic")
    kept = bc.Consensus.load(tmp_path / "kept.bic")
    traced = trace(pool, search)
    for quorum in (0.8, 0.3, 0.04):
        again = solve(kept.pool, replace(Search.of_record(kept.asked), quorum=quorum, method="path"))
        wanted = traced.at(quorum)
        assert np.array_equal(again.labels, wanted.labels)
        assert len(set(wanted.labels[[0, 1, 70]])) == 1


def test_progress_is_told_and_can_end_the_search():
    told = []
    bc.find_consensus(coarse_and_fine(), progress=lambda *step: told.append(step))
    steps = [done for done, total, step in told if step == "quorum path"]
    assert steps == list(range(21))
    assert all(total in (0, 20) for _, total, _ in told)

    def stop(done, total, step):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bc.find_consensus(coarse_and_fine(), progress=stop)
    with pytest.raises(bc.errors.InputTypeError, match="progress must be"):
        bc.find_consensus(coarse_and_fine(), progress="yes")


def test_a_bar_is_shown_where_it_is_asked_for(capsys):
    bc.find_consensus(coarse_and_fine(), progress=True)
    assert "quorum path" in capsys.readouterr().err
    bc.find_consensus(coarse_and_fine())
    bc.find_consensus(coarse_and_fine(), progress=None)
    assert capsys.readouterr().err == ""


def test_sources_that_put_everything_together_are_told_apart_from_none():
    with pytest.warns(NoConsensusWarning, match="every source puts all of its elements, or nearly all, into one group"):
        assert len(bc.find_consensus([[0] * 40] * 3)) == 0
    assert len(bc.find_consensus([[0] * 40] * 3, quorum=0.5)) == 1


@pytest.mark.parametrize("second", [[0, 1] * 4, np.arange(8) % 2, "labels.csv"])
def test_a_second_grouping_in_place_of_the_smallest_size_is_pointed_out(second):
    with pytest.raises(InputTypeError, match=r"find_consensus\(\[first, second\]\)"):
        bc.find_consensus([0, 1] * 4, second)
