"""Consensus: what a user holds, saves, compares and asks."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import consensus_score
from strategies import label_tables, quiet_consensus

import biconsensus as bc
from biconsensus.pool._diagnostics import diagnose


@pytest.fixture
def result():
    truth = np.repeat([0, 1, 2], [12, 10, 8])
    table = np.stack([truth] * 4 + [np.minimum(truth, 1)], axis=1).astype(float)
    table[0, 1] = np.nan
    table[29, :3] = -1
    pool = bc.Pool.from_labels(table, ids=np.array([f"cell {i}" for i in range(30)]))
    return bc.find_consensus(pool)


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


def test_lengths_and_text(result):
    assert len(result) == 3
    assert repr(result) == "Consensus(3 groups of 30 elements from 14 candidates, 1 left over)"
    html = result._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>12</td>" in html


def test_frame_has_the_ids_of_the_user(result):
    frame = result.to_frame()
    assert frame.index[3] == "cell 3"
    assert frame.loc["cell 29", "label"] == -1
    assert frame["backing"].between(0, 1).all()


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
    c = bc.find_consensus([[0] * 8 + [1] * 8] * 4, unassigned="nearest")
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
