"""Consensus: what a user holds, saves, compares and asks."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import consensus_score

import biconsensus as bc
from biconsensus.errors import InputError, NoConsensusWarning, PoolWarning
from biconsensus.pool._diagnostics import diagnose
from biconsensus.quorum._confidence import confidence
from biconsensus.result._notebook import chance_text, sentence_of
from tests.helpers.strategies import label_tables, paper_consensus, quiet_consensus


@pytest.fixture
def result():
    truth = np.repeat([0, 1, 2], [12, 10, 8])
    table = np.stack([truth] * 4 + [np.minimum(truth, 1)], axis=1).astype(float)
    table[0, 1] = np.nan
    table[29, :3] = -1
    pool = bc.Pool.from_labels(table, ids=np.array([f"cell {i}" for i in range(30)]))
    return paper_consensus(pool)


def same(left, right):
    """Whether two results are equal in all that a user sees."""
    return (
        np.array_equal(left.labels, right.labels)
        and np.array_equal(left.backing, right.backing)
        and np.array_equal(left.gains, right.gains)
        and all(np.array_equal(a.candidates, b.candidates) for a, b in zip(left, right))
        and left.objective == right.objective
        and left.settings == right.settings
        and left.pool.names == right.pool.names
        and left.pool.sources == right.pool.sources
        and np.array_equal(left.membership.toarray(), right.membership.toarray())
    )


def test_groups_are_found_by_their_number(result):
    assert result[0] is result.biclusters[0]
    assert result[-1] is list(result)[-1]


def test_lengths_and_text(result):
    assert len(result) == 3
    assert repr(result) == "Consensus(3 groups of 30 elements from 14 candidates, 1 left over)"
    html = result._repr_html_()
    assert html.count("<tr>") == 4
    assert "<th>elements</th><th>confidence</th>" in html
    assert "<td>12</td>" in html


def test_frame_has_the_ids_of_the_user(result):
    frame = result.to_frame()
    assert frame.index[3] == "cell 3"
    assert frame.loc["cell 29", "label"] == -1
    assert frame.columns.tolist() == ["label", "confidence", "backing"]
    assert np.array_equal(frame["confidence"], result.confidence().elements)
    assert np.array_equal(frame["backing"], result.backing)


def test_tables_of_overlapping_groups_have_no_confidence():
    found = paper_consensus([[0] * 8 + [1] * 8] * 4, overlap=True)
    assert found.to_frame().columns.tolist() == ["label", "backing"]
    assert found.to_arrow().column_names == ["label", "backing"]
    assert "confidence" not in found._repr_html_()


@given(table=label_tables(missing=True))
def test_save_and_load_round_trip(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "result.bic"
    c = quiet_consensus(bc.Pool.from_labels(table, missing=-2))
    c.save(path)
    assert same(c, bc.Consensus.load(path))
    assert [p.name for p in path.parent.iterdir()] == ["result.bic"]


def test_saved_ids_and_provenance_survive(result, tmp_path):
    result.save(tmp_path / "r.bic")
    loaded = bc.Consensus.load(tmp_path / "r.bic")
    assert loaded.pool.ids.tolist() == result.pool.ids.tolist()
    assert same(result, loaded)
    run = bc.Provenance("kmeans", {"k": np.int64(3), "init": object}, seed=5)
    c = quiet_consensus(bc.Pool.from_labels([[0, 1]], sources=[run]))
    c.save(tmp_path / "p.bic")
    assert bc.Consensus.load(tmp_path / "p.bic").pool.sources[0].params["k"] == 3


def test_pickles(result):
    assert same(result, pickle.loads(pickle.dumps(result)))


def test_a_failed_save_leaves_the_old_file(result, tmp_path, monkeypatch):
    path = tmp_path / "r.bic"
    path.write_text("old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="No space"):
        result.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def rewritten(path, change):
    """Copy of a saved file with some parts changed."""
    target = path.with_name("changed.bic")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        parts = {name: old.read(name) for name in old.namelist()}
        change(parts)
        for name, content in parts.items():
            new.writestr(name, content)
    return target


def set_meta(**values):
    """Change of some values in the JSON part."""

    def change(parts):
        parts["meta.json"] = json.dumps(json.loads(parts["meta.json"]) | values)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_meta(version=99), "version 99"),
        (set_meta(format="other"), "not a saved consensus"),
        (set_meta(names=["one"]), "do not fit"),
        (lambda parts: parts.pop("gains.npy"), "missing part"),
        (lambda parts: parts.update({"../evil.npy": b""}), "does not belong"),
        (lambda parts: parts.update({"code.pkl": b""}), "does not belong"),
        (lambda parts: parts.update({"meta.json": b"{"}), "damaged"),
        (lambda parts: parts.update({"inverse.npy": pickle.dumps(object())}), "damaged"),
    ],
)
def test_files_that_save_did_not_write_are_refused(result, tmp_path, change, message):
    result.save(tmp_path / "r.bic")
    with pytest.raises(bc.errors.FileFormatError, match=message):
        bc.Consensus.load(rewritten(tmp_path / "r.bic", change))


def test_indices_that_point_outside_are_refused(result, tmp_path):
    import io

    def change(parts):
        buffer = io.BytesIO()
        np.save(buffer, np.full(30, 10**6))
        parts["inverse.npy"] = buffer.getvalue()

    result.save(tmp_path / "r.bic")
    with pytest.raises(bc.errors.FileFormatError, match="points outside"):
        bc.Consensus.load(rewritten(tmp_path / "r.bic", change))


def test_zip_bombs_truncated_and_foreign_files_are_refused(result, tmp_path):
    result.save(tmp_path / "r.bic")
    bomb = tmp_path / "bomb.bic"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", b" " * 50_000_000)
    truncated = tmp_path / "cut.bic"
    truncated.write_bytes((tmp_path / "r.bic").read_bytes()[:200])
    text = tmp_path / "text.bic"
    text.write_text("a,b\n")
    for path in (bomb, truncated, text):
        with pytest.raises(bc.errors.FileFormatError, match=path.name):
            bc.Consensus.load(path)


def test_predict_gives_seen_rows_their_own_group(result):
    truth = np.repeat([0, 1, 2], [12, 10, 8]).astype(float)
    new = np.stack([truth] * 4 + [np.minimum(truth, 1)], axis=1)
    predicted = result.predict(new)
    assert np.array_equal(predicted[1:29], result.labels[1:29])
    strangers = result.predict([[9.0]] * 5)
    assert strangers.tolist() == [-1]
    partial = result.predict([[2.0], [np.nan], [np.nan], [np.nan], [np.nan]])
    assert partial[0] == result.labels[25]


def test_predict_wants_one_label_of_each_source(result):
    with pytest.raises(ValueError, match="2 groupings; the pool has 5"):
        result.predict([[0], [0]])


def test_predict_of_an_empty_answer():
    c = quiet_consensus([[0, 1]], min_elements=5)
    assert c.predict([[0, 0, 1]]).tolist() == [-1, -1, -1]


def test_nearest_predicts_without_a_quorum():
    c = paper_consensus([[0] * 8 + [1] * 8] * 4, unassigned="nearest")
    assert c.predict([[0], [7], [7], [7]])[0] == c.labels[0]


def test_compare_and_score(result):
    scores = result.compare(result)
    assert scores == {"ari": 1.0, "ami": pytest.approx(1.0), "nmi": pytest.approx(1.0)}
    assert consensus_score(result.indicators, result.indicators) == 1.0
    with pytest.raises(ValueError, match="30, 2"):
        result.compare(quiet_consensus([[0, 1]]))


def test_diagnosis_names_what_deserves_a_look():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    good = [np.where(rng.random(120) < 0.05, 0, truth) for _ in range(6)]
    pool = bc.Pool.from_labels([*good, rng.integers(0, 3, 120), np.zeros(120, int), good[0]])
    found = diagnose(pool)
    assert found.dissenting.tolist() == [6, 7]
    assert found.trivial.tolist() == [pool.names.index("source 7: 0")]
    assert all([j, j + 22] in [d.tolist() for d in found.duplicates] for j in range(3))
    assert (found.agreement[:6] > 0.6).all()
    empty = diagnose(bc.Pool.from_groups([[], [0, 1], []], n_elements=3))
    assert empty.empty.tolist() == [0, 2]
    assert empty.duplicates == []


def test_agreement_is_the_mean_adjusted_rand_index():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 3, (50, 4))
    table[:, 1] = table[:, 0]
    expected = [np.mean([bc.metrics.ari(table[:, a], table[:, b]) for b in range(4) if b != a]) for a in range(4)]
    assert diagnose(bc.Pool.from_labels(table)).agreement == pytest.approx(expected)


TWO = [range(10)] * 4 + [range(6, 18)] * 4


def overlapping(groups, m, **options):
    pool = bc.Pool.from_groups(groups, n_elements=m)
    return paper_consensus(pool, overlap=True, **options)


def test_shared_elements_equally_backed_go_to_the_larger_gain():
    c = overlapping(TWO, 20)
    assert [b.elements.size for b in c.biclusters] == [12, 10]
    assert c.membership.toarray()[6:10].all()
    assert (c.labels[6:10] == 0).all()
    assert (c.backing[:18] == 1).all()
    assert c.labels[18:].tolist() == [-1, -1]
    assert c.backing[18:].tolist() == [0, 0]


def test_shared_elements_go_where_they_are_backed_most():
    c = overlapping([*TWO[:4], range(6, 18), range(6, 18), range(6, 18), range(9, 18)], 20)
    assert c.labels[6:10].tolist() == [1, 1, 1, 0]
    assert c.backing[6:10].tolist() == [1, 1, 1, 1]
    assert c.soft_membership()[6].tolist() == [0.75, 1.0]


def test_an_element_that_nothing_holds_follows_those_it_is_tied_to():
    c = overlapping(TWO, 20, together=[[0, 19]])
    assert c.labels[19] == c.labels[0] == 1
    assert c.backing[19] == 0
    assert c.labels[18] == -1
    disjoint = paper_consensus(bc.Pool.from_groups([range(10)] * 4, n_elements=12), together=[[0, 11]])
    assert disjoint.labels.tolist() == [0] * 10 + [-1, 0]


def test_left_overs_of_overlapping_groups_go_to_the_nearest():
    groups = [range(10)] * 4 + [range(10, 18)] * 4 + [[18]]
    groups[0] = groups[4] = range(19)
    c = overlapping(groups, 20, unassigned="nearest", quorum=0.6)
    assert c.labels[18] in (0, 1)
    assert c.labels[19] == -1
    assert c.membership.toarray()[18].sum() == 1
    assert c.membership.toarray()[18, c.labels[18]]
    assert not c.membership.toarray()[19].any()
    assert 0 < c.backing[18] < 0.6


def test_nearest_is_by_weight():
    truth = np.repeat([0, 1], 10)
    table = np.stack([truth] * 5, axis=1)
    table[0] = [1, 1, 0, 5, 5]
    heavy = paper_consensus(table, unassigned="nearest", weights=[1, 1, 3, 3, 3])
    light = paper_consensus(table, unassigned="nearest")
    assert heavy.labels[0] == heavy.labels[1]
    assert light.labels[0] == light.labels[19]
    assert heavy.backing[0] == pytest.approx(3 / 11)


def test_grouped_elements_stay_where_they_are_even_if_another_group_holds_them_with_more_weight():
    groups = [range(20)] * 4 + [range(20, 28)] * 4 + [[19, *range(20, 28)]] * 5
    c = paper_consensus(bc.Pool.from_groups(groups, n_elements=30), unassigned="nearest")
    assert c.gains.tolist() == [40.0, 36.0]
    assert c.labels.tolist() == [0] * 20 + [1] * 8 + [-1] * 2
    assert c.behind.sum(axis=0).tolist() == [4, 9]


def test_one_candidate_of_weight_one_is_near_enough():
    table = np.stack([np.repeat([0, 1], [10, 11])] * 4, axis=1)
    table[0] = [0, 5, 6, 7]
    c = paper_consensus(table, unassigned="nearest")
    assert c.labels.tolist() == [1] * 10 + [0] * 11
    assert c.backing[0] == 0.25
    assert c.membership.toarray().sum(axis=1).tolist() == [1] * 21
    assert c.biclusters[1].elements.tolist() == list(range(1, 10))


@pytest.mark.parametrize("weight", [0.01, 0.25, 1.0])
def test_backing_is_a_share_of_those_that_saw_the_element(weight):
    table = [[0] * 8 + [1] * 8] * 3 + [[0] * 7 + [None] + [1] * 8] * 2 + [[0] * 7 + [1] * 9]
    c = paper_consensus(bc.Pool.from_labels(table, weights=[weight] * 6))
    assert c.backing == pytest.approx([1.0] * 7 + [3 / 4] + [1.0] * 8)
    assert c.soft_membership()[7] == pytest.approx([3 / 4, 1 / 4] if c.labels[7] == 0 else [1 / 4, 3 / 4])


def test_every_element_left_over_in_an_empty_answer():
    c = quiet_consensus([[0, 0, 1]], min_elements=4, unassigned="nearest")
    assert c.labels.tolist() == [-1] * 3
    assert c.backing.tolist() == [0.0] * 3
    assert c.membership.shape == (3, 0)
    assert c.soft_membership().shape == (3, 0)
    assert [part.shape for part in c.indicators] == [(0, 3), (0, 2)]
    assert repr(c) == "Consensus(0 groups of 3 elements from 2 candidates, 3 left over)"


def test_indicators_are_masks_over_elements_and_candidates():
    c = paper_consensus(bc.Pool.from_groups([range(8)] * 4 + [range(8, 15)] * 5, n_elements=16))
    rows, columns = c.indicators
    assert [np.flatnonzero(row).tolist() for row in rows] == [list(range(8, 15)), list(range(8))]
    assert [np.flatnonzero(column).tolist() for column in columns] == [[4, 5, 6, 7, 8], [0, 1, 2, 3]]


def test_weights_of_the_pool_stand_behind_the_groups_where_the_search_had_none():
    pool = bc.Pool.from_labels([np.repeat([0, 1], 8)] * 4, weights=[1, 2, 3, 4])
    c = paper_consensus(pool)
    bare = bc.Consensus(pool, c.row_of, c.members, c.candidates, c.gains, c.objective)
    assert bare.behind.toarray().tolist() == [[1, 0], [0, 1], [2, 0], [0, 2], [3, 0], [0, 3], [4, 0], [0, 4]]
    assert c.behind.toarray().tolist() == bare.behind.toarray().tolist()
    assert bare.labels.tolist() == c.labels.tolist()


def test_a_group_that_nobody_saw_an_element_of_gives_it_no_share():
    table = [[0] * 8 + [1] * 8 + [None]] * 4 + [[-1] * 16 + [0]]
    c = paper_consensus(table)
    assert c.soft_membership()[16].tolist() == [0, 0]
    assert c.labels[16] == -1


def test_tables_for_people():
    labels = np.repeat(np.arange(51), 2)
    c = quiet_consensus([labels] * 2, min_elements=2)
    html = c._repr_html_()
    assert len(c) == 51
    assert html.count("<tr>") == 51  # a head and the first 50
    assert f"<p>{c.summary}</p>" in html
    assert c.summary.startswith("51 groups at quorum 0.5; the quorum was given; a group needs 2 elements")
    first = ["0", "2", f"{c.confidence().groups[0]:.2f}", chance_text(c.significance[0]), "2", "2", "1.00"]
    assert f"<tr>{''.join(f'<td>{cell}</td>' for cell in first)}</tr>" in html
    assert html.endswith("<p>the first 50 of 51 groups</p>")
    frame = c.to_frame()
    assert frame.index.tolist() == list(range(102))
    assert frame["label"].tolist() == c.labels.tolist()


def test_a_group_whose_elements_are_all_labelled_elsewhere_is_listed_with_its_elements():
    groups = [range(20)] * 6 + [range(8)] * 3 + [range(9)]
    c = overlapping(groups, 20, min_elements=2)
    assert len(c) == 2
    assert "<tr><td>1</td><td>8</td><td>4</td><td>4</td><td>0.00</td></tr>" in c._repr_html_()
    assert "chance" not in c._repr_html_()


def test_results_on_other_elements_cannot_be_compared():
    c = paper_consensus([np.repeat([0, 1], 8)] * 4)
    other = paper_consensus([np.tile([0, 1], 8)] * 4)
    assert c.compare(other) == {
        "ari": pytest.approx(bc.metrics.ari(c.labels, other.labels)),
        "ami": pytest.approx(bc.metrics.ami(c.labels, other.labels)),
        "nmi": pytest.approx(bc.metrics.nmi(c.labels, other.labels)),
    }
    with pytest.raises(ValueError, match="they have 16, 14"):
        c.compare(paper_consensus([np.repeat([0, 1], 7)] * 4))


def test_confidence_is_that_of_the_function():
    rng = np.random.default_rng(0)
    table = np.where(rng.random((60, 7)) < 0.35, rng.integers(0, 3, (60, 7)), rng.integers(0, 3, (60, 1)))
    c = paper_consensus(table, unassigned="nearest")
    assert np.array_equal(c.confidence().elements, confidence(c).elements)


def test_arrow_gets_all_numbers_without_a_copy(result):
    table = result.to_arrow()
    assert table.column_names == ["id", "label", "confidence", "backing"]
    assert table["id"][3].as_py() == "cell 3"
    numbers = {"label": result.labels, "confidence": result.confidence().elements, "backing": result.backing}
    for name, values in numbers.items():
        assert table[name].chunk(0).buffers()[1].address == values.__array_interface__["data"][0]


def test_the_summary_says_when_chance_may_explain_every_group():
    rng = np.random.default_rng(0)
    random = bc.find_consensus([rng.integers(0, 3, 200) for _ in range(8)])
    assert len(random) > 0
    assert random.significance.min() > np.log10(0.05)
    assert "confirms none of them: chance may explain them" in random.summary
    assert "chance" not in sentence_of(random, tested=False)
    agreed = bc.find_consensus([np.arange(200) % 3] * 8)
    assert "chance" not in agreed.summary
    assert "chance" not in bc.find_consensus([np.arange(200) % 3]).summary, "one source can only be believed"


def test_a_result_is_compared_with_a_result():
    with pytest.raises(TypeError, match=r"other must be a Consensus, got list; for labels use biconsensus\.metrics"):
        bc.find_consensus([[0] * 4 + [1] * 4] * 3).compare([0, 1])


def test_the_summary_says_that_a_pool_has_fewer_groups_than_were_asked_for():
    with pytest.warns(PoolWarning, match="n_groups=4"):
        found = bc.find_consensus([[0, 0, 0, 1, 1, 1]] * 4, n_groups=4)
    assert found.summary.startswith("2 groups at quorum 0.9; 4 were asked for, which the pool does not have; ")
    assert "that many were asked for" in bc.find_consensus([[0, 0, 0, 1, 1, 1]] * 4, n_groups=2).summary


def test_the_summary_names_a_smallest_size_that_was_given() -> None:
    halves = [[0] * 20 + [1] * 20] * 5
    assert "a group needs 4 elements (min_elements=4) and 3 of 5 sources" in bc.find_consensus(halves, 4).summary
    assert "a group needs 7 elements and 3 of 5 sources" in bc.find_consensus(halves).summary


def test_the_summary_of_no_group_and_of_one() -> None:
    with pytest.warns(NoConsensusWarning, match="tells nothing apart"):
        none = bc.find_consensus([[0] * 20] * 5)
    assert none.summary == (
        "0 groups at quorum 0.5; a group needs 7 elements and 3 of 5 sources; 5 input groups did not vote, because "
        "they are empty or hold nearly everything; 20 elements are in no group."
    )
    assert "table" not in none._repr_html_()
    one = bc.find_consensus([[0, 1, 1]] * 3)
    assert "; the test of agreement (level 0.05) does not confirm it: chance may explain it; " in one.summary


def test_a_group_that_stands_for_none_is_not_listed() -> None:
    found = bc.ConsensusClustering(random_state=0).fit(np.ones((20, 2))).consensus_
    assert found._repr_html_() == f"<p>{found.summary}</p>"


@pytest.mark.parametrize("name", ["groups.csv", "groups.XLSX", "page.html"])
def test_a_result_is_not_kept_under_the_name_of_a_table(result, tmp_path, name) -> None:
    with pytest.raises(InputError, match=r"such as result\.bic. A table of the groups is to_frame\(\)"):
        result.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_summary_of_one_element_and_one_source_is_in_the_singular() -> None:
    said = bc.find_consensus([[0, 0, 1, 2]], quorum=0.5, min_elements=1, min_candidates=1).summary
    assert "a group needs 1 element and 1 of 1 source;" in said


def test_parts_of_a_result_are_shown_in_one_line():
    found = bc.find_consensus([[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4, min_elements=4)
    shown = [repr(part) for part in (found.biclusters[0], found.confidence(), found.path, found.path.points[0])]
    assert shown[0] == "Bicluster(8 elements, 4 candidates, gain 16)"
    assert shown[1].startswith("Confidence(16 elements, mean 0.")
    assert shown[2].endswith("numbers of groups: 2, 4)")
    assert shown[3].startswith("PathGroups(4 groups at quorum 0.9, score ")
    assert all("\n" not in line and len(line) < 120 for line in shown)
