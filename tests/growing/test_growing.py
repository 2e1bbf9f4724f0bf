"""A pool that grows: more sources, more elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus import metrics
from biconsensus.errors import InputError
from biconsensus.growing._convergence import content_order
from biconsensus.growing._growing import longer
from biconsensus.pool._pool import seen_by_sources
from tests.helpers.planted_modes import planted_modes

HALVES = np.repeat([0, 1], 20)


def runs(seed: int, n_sources: int = 8, m: int = 60, noise: float = 0.2) -> np.ndarray:
    """Sources that see one grouping with some wrong labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, m)
    return np.column_stack([np.where(rng.random(m) < noise, rng.integers(0, 4, m), truth) for _ in range(n_sources)])


@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_a_stream_of_sources_ends_where_a_fit_from_scratch_does_in_any_order(data: st.DataObject, seed: int) -> None:
    table = runs(seed, m=30)
    order = data.draw(st.permutations(range(8)))
    for quorum in ("auto", 0.5):
        whole = bc.find_consensus(table, quorum=quorum)
        grown = bc.find_consensus(table[:, order[:3]], quorum=quorum)
        grown = grown.update(table[:, order[3:4]]).update(table[:, order[4:]])
        assert grown.objective == pytest.approx(whole.objective)
        assert metrics.ari(whole.labels, grown.labels) == 1.0


def test_groups_keep_their_names_and_new_ones_get_new_names() -> None:
    four = np.repeat([0, 1, 2, 3], [10, 14, 18, 22])
    c = bc.find_consensus([four] * 3)
    names = {name: set(np.flatnonzero(c.labels == t)) for t, name in enumerate(c.group_names)}
    assert c.group_names == (0, 1, 2, 3)
    split = np.where((four == 3) & (np.arange(64) % 2 == 0), 4, four)
    later = c.update([split] * 9)
    found = {name: set(np.flatnonzero(later.labels == t)) for t, name in enumerate(later.group_names)}
    assert len(later) == 5
    same = [name for name in names if names[name] == found.get(name)]
    assert len(same) == 3
    assert set(found) - set(same) == {4, 5}
    assert [source.name for source in later.pool.sources][:5] == [f"source {k}" for k in range(5)]


def test_extended_pools_are_those_made_at_once(tmp_path: Path) -> None:
    table = runs(5, m=80).astype(float)
    table[3, 2] = table[70, 1] = np.nan
    table[75:, 0] = 9  # a label that only new elements have
    whole = bc.find_consensus(table)
    grown = bc.find_consensus(table[:60]).extend(table[60:])
    np.testing.assert_array_equal(grown.pool.to_matrix().toarray(), whole.pool.to_matrix().toarray())
    assert grown.pool.names == whole.pool.names
    np.testing.assert_array_equal(grown.labels, whole.labels)
    assert grown.objective == pytest.approx(whole.objective)
    ids = [f"e{k}" for k in range(80)]
    first = bc.find_consensus(bc.Pool.from_labels(table[:60], ids=ids[:60]))
    assert first.extend(table[60:], ids=ids[60:]).pool.ids.tolist() == ids
    with pytest.raises(InputError, match="ids: give them for the old and the new"):
        first.extend(table[60:])
    with pytest.raises(InputError, match="they are of 2 sources; the pool has 8"):
        first.extend(table[60:, :2], ids=ids[60:])
    later = first.update(table[:60, :1])
    later.save(tmp_path / "kept.zip")
    assert bc.Consensus.load(tmp_path / "kept.zip").group_names == later.group_names


@pytest.mark.parametrize("missing", [(3,), (70,), (3, 70), ()])
def test_what_was_not_seen_stays_so_whether_old_or_new_elements_have_gaps(missing: tuple[int, ...]) -> None:
    table = runs(5, m=80).astype(float)
    table[list(missing), 2] = np.nan
    whole = bc.Pool.from_labels(table)
    grown = longer(bc.Pool.from_labels(table[:60]), bc.Pool.from_labels(table[60:]))
    np.testing.assert_array_equal(seen_by_sources(grown)[grown.inverse], seen_by_sources(whole)[whole.inverse])
    np.testing.assert_array_equal(grown.to_matrix().toarray(), whole.to_matrix().toarray())


def test_answers_of_a_person_stay_when_the_pool_grows() -> None:
    c = bc.find_consensus([HALVES] * 4).answer(0, 39, together=True)
    later = c.update([HALVES])
    assert later.labels[0] == later.labels[39]
    assert later.answers == c.answers


def test_what_was_decided_by_data_is_not_grown_without_it() -> None:
    X = np.concatenate([np.random.default_rng(0).normal(9 * k, 1, (20, 2)) for k in range(2)])
    from sklearn.cluster import KMeans

    model = bc.ConsensusClustering([(KMeans(n_init=1), {"n_clusters": [2, 3]})], "auto", random_state=0).fit(X)
    assert len(model.results_) in (2, 4, 8)
    with pytest.raises(InputError, match="decided with the points, which a result does not keep"):
        model.consensus_.update([HALVES])
    assert isinstance(bool(model.consensus_.converged), bool)


def test_settled_and_unsettled_pools_are_told_apart() -> None:
    rng = np.random.default_rng(2)
    settled = bc.find_consensus(runs(1, 24, noise=0.1), quorum=0.5).converged
    assert settled
    assert settled.n_sources.tolist() == [3, 6, 12, 24]
    assert settled.agreement[-1] == 1.0
    assert "more runs would change little" in settled.summary
    open_still = bc.find_consensus(rng.integers(0, 4, (60, 12)), quorum=0.5, method="joint").converged
    assert not open_still
    assert "would still change" in open_still.summary
    few = bc.find_consensus([HALVES] * 4).converged
    assert not few
    assert "too few" in few.summary


def test_the_worst_part_decides_whether_an_answer_has_settled() -> None:
    consensus = bc.find_consensus(runs(3, 16, m=40, noise=0.35))
    found = consensus.converged
    order = content_order(consensus.pool)
    parts = [order[k::n] for n in (4, 2) for k in range(n)]
    answers = [bc.find_consensus(consensus.pool.select(sources=np.sort(part))).labels for part in parts]
    scores = [metrics.ari(consensus.labels, labels) for labels in answers]
    assert found.expected == pytest.approx(min(scores))
    assert found.expected < min(found.agreement[-3:-1])


def test_the_order_of_sources_does_not_matter_for_convergence() -> None:
    table, _ = planted_modes(np.random.default_rng(4), 1, m=80)
    table = np.column_stack([table, table[:, ::-1]])
    order = np.random.default_rng(0).permutation(table.shape[1])
    one, other = (bc.find_consensus(t, quorum=0.5).converged for t in (table, table[:, order]))
    np.testing.assert_allclose(one.agreement, other.agreement)


def test_runs_are_added_until_the_answer_stays() -> None:
    cliques = [(a, b) for part in ("abcdefg", "hijklmn") for a in part for b in part if a < b]
    model = bc.ConsensusCommunities(["louvain", "label_propagation"], "auto", quorum=0.5, random_state=0)
    assert len(model.fit([*cliques, ("g", "h")]).results_) == 10
    with pytest.raises(InputError, match="n_runs: received 'many'"):
        bc.ConsensusCommunities(n_runs="many").fit([*cliques])


def test_large_pools_stand_where_new_sources_move_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biconsensus.growing._standing.MANY_ROWS", 50)
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, 3_000)
    wrong = rng.random((3_000, 14)) < 0.06
    table = np.where(wrong, rng.integers(0, 4, wrong.shape), truth[:, None])
    table[:10, :13] = -1
    for quorum in ("auto", 0.5):
        before, whole = bc.find_consensus(table[:, :13], quorum=quorum), bc.find_consensus(table, quorum=quorum)
        grown = before.update(table[:, 13:])
        assert grown.extraction["sources_searched"] == 13  # not searched again
        np.testing.assert_array_equal(grown.labels, whole.labels)
        assert grown.objective == pytest.approx(whole.objective)
        np.testing.assert_allclose(grown.gains, whole.gains)
        assert [set(own.tolist()) for own in grown.candidates] == [set(own.tolist()) for own in whole.candidates]
        # more than a tenth of new sources, or one that moves many elements, is a reason to search again
        assert "sources_searched" not in before.update(table[:, 12:]).extraction
    few = bc.find_consensus(table[:, :2], quorum=0.5, method="joint")
    monkeypatch.setattr("biconsensus.growing._standing.FEW_SOURCES", 1.0)
    assert "sources_searched" not in few.update([truth // 2, truth // 2]).extraction


def test_left_overs_stay_where_they_are_most_likely_when_sources_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biconsensus.growing._standing.MANY_ROWS", 50)
    rng = np.random.default_rng(6)
    truth = rng.choice(4, 5_000, p=[0.1, 0.2, 0.3, 0.4])
    wrong = rng.random((5_000, 14)) < 0.3
    table = np.where(wrong, rng.integers(0, 4, wrong.shape), truth[:, None])
    before = bc.find_consensus(table[:, :13], quorum=0.5, method="path")
    grown = before.update(table[:, 13:])
    assert grown.extraction["sources_searched"] == 13
    assert before.row_labels is not None
    assert grown.row_labels is not None
    left = np.asarray(grown.members.sum(axis=1)).ravel()[grown.row_of] == 0
    assert left.any()
    assert metrics.ari(before.labels[left], grown.labels[left]) > 0.8
    assert metrics.ari(before.labels, grown.labels) > 0.98
    assert metrics.ari(truth, grown.labels) > 0.95


def test_new_rows_of_a_data_frame_are_found_by_name() -> None:
    kind = np.repeat([0, 1], 8)
    frame = pd.DataFrame({"a": kind, "b": kind, "c": 1 - kind})
    grown = bc.find_consensus(frame).extend(frame[["c", "b", "a"]][5:12])  # of which only the old rows have no ids
    assert np.array_equal(grown.labels, bc.find_consensus(pd.concat([frame, frame[5:12]], ignore_index=True)).labels)
    assert grown.pool.ids is None
    named = frame.assign(id=[f"e{k}" for k in range(16)])[["id", "a", "b", "c"]]
    grown = bc.find_consensus(named).extend(named[:3].assign(id=["x", "y", "z"]))
    assert grown.pool.ids.tolist()[-4:] == ["e15", "x", "y", "z"]
    with pytest.raises(InputError, match="ids: give them for the old and the new elements"):
        bc.find_consensus(named).extend(frame[:3])
