"""Saved results, part by part: what comes back, what is refused, and where exactly the borders are."""

import io
import json
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.errors import FileFormatError
from biconsensus.pool.io import _arrays as arrays
from biconsensus.result import _storage as storage
from tests.helpers.strategies import paper_consensus, quiet_consensus


@pytest.fixture
def saved(tmp_path):
    """A small result with masks, ids and weights of its own, as a file: 6 elements, 4 candidates of 2 sources."""
    table = [[0, 0, 1, 1, 1, None], [0, 0, 0, 1, 1, -1]]
    pool = bc.Pool.from_labels(table, ids=list("abcdef"))
    quiet_consensus(pool, weights=[1.0, 2.0, 1.0, 2.0]).save(tmp_path / "r.bic")
    return tmp_path / "r.bic"


def parts_of(path):
    """Arrays and meta of a file."""
    with zipfile.ZipFile(path) as archive:
        meta = json.loads(archive.read("meta.json"))
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return {name[:-4]: np.load(io.BytesIO(archive.read(name))) for name in names}, meta


def changed(path, meta=None, **arrays):
    """Copy of a file with some parts replaced; None takes one out. Dots of names are written as two underscores."""
    old, values = parts_of(path)
    new = {**old, **{name.replace("__", "."): array for name, array in arrays.items()}}
    target = path.with_name("changed.bic")
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("meta.json", json.dumps(values | (meta or {})))
        for name, array in new.items():
            if array is not None:
                buffer = io.BytesIO()
                np.save(buffer, array)
                archive.writestr(f"{name}.npy", buffer.getvalue())
    return target


def test_the_format_is_version_one(saved):
    meta = parts_of(saved)[1]
    assert (meta["format"], meta["version"]) == ("biconsensus", 1)


def test_everything_comes_back(saved):
    c = bc.Consensus.load(saved)
    again = bc.Consensus.load(changed(saved))
    assert c.pool.ids.tolist() == again.pool.ids.tolist() == list("abcdef")
    assert c.weights.tolist() == again.weights.tolist() == [1, 2, 1, 2]
    assert c.pool.weights.tolist() == [1, 1, 1, 1]
    assert c.pool.unseen.toarray()[c.pool.inverse].tolist() == [[False, False]] * 5 + [[True, False]]
    assert [b.candidates.tolist() for b in c] == [b.candidates.tolist() for b in again]
    assert sum(b.candidates.size for b in c) > 2
    assert c.pool.to_matrix().toarray()[5].tolist() == [0, 0, 0, 0]


def test_what_is_absent_stays_absent(tmp_path):
    plain = paper_consensus([np.repeat([0, 1], 8)] * 4)
    bare = bc.Consensus(plain.pool, plain.row_of, plain.members, plain.candidates, plain.gains, plain.objective)
    bare.save(tmp_path / "r.bic")
    arrays, meta = parts_of(tmp_path / "r.bic")
    assert meta["ids"] is None
    assert not {"used_weights", "view_of", "unseen.data"} & set(arrays)
    loaded = bc.Consensus.load(tmp_path / "r.bic")
    assert loaded.pool.ids is loaded.pool.unseen is loaded.pool.mask_of is loaded.weights is None
    assert loaded.labels.tolist() == plain.labels.tolist()


def test_real_values_and_an_empty_answer_come_back(tmp_path):
    real = bc.Pool.from_matrix(np.kron(np.eye(2), np.full((8, 5), 0.5)))
    paper_consensus(real).save(tmp_path / "real.bic")
    assert np.array_equal(
        bc.Consensus.load(tmp_path / "real.bic").pool.to_matrix().toarray(), real.to_matrix().toarray()
    )
    quiet_consensus([[0, 1, 1]], min_elements=9).save(tmp_path / "empty.bic")
    empty = bc.Consensus.load(tmp_path / "empty.bic")
    assert empty.candidates == ()
    assert empty.labels.tolist() == [-1, -1, -1]


def test_settings_of_any_type_are_kept_as_plain_values():
    given = {1: (np.int64(2), [np.float32(0.5)]), "path": object, "none": None, "yes": True, "text": "t"}
    plain = {"1": [2, [0.5]], "path": str(object), "none": None, "yes": True, "text": "t"}
    assert storage._plain(given) == plain
    assert json.loads(json.dumps(storage._plain(given))) == plain


def test_objects_are_never_written(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_pack", lambda result: ({"code": np.array([object()])}, {}))
    with pytest.raises(ValueError, match="allow_pickle"):
        storage.save(bc.Consensus, tmp_path / "new.bic")
    assert not (tmp_path / "new.bic").exists()


def archive_of(*entries):
    """An archive as far as its list of contents goes."""
    found = [SimpleNamespace(filename=name, file_size=size, compress_size=packed) for name, size, packed in entries]
    return SimpleNamespace(infolist=lambda: found)


def test_sizes_are_checked_before_anything_is_unpacked(monkeypatch):
    monkeypatch.setattr(arrays, "available_memory", lambda: None)
    storage._check_archive(archive_of(("a.npy", 1200 * 7, 7), ("meta.json", 1200, 0)), "f")
    for entry in (("a.npy", 1200 * 7 + 1, 7), ("a.npy", 1201, 0)):
        with pytest.raises(FileFormatError, match=f"would unpack 'a.npy' to {entry[1]} bytes"):
            storage._check_archive(archive_of(entry), "f")
    monkeypatch.setattr(arrays, "available_memory", lambda: 100)
    storage._check_archive(archive_of(("a.npy", 60, 60), ("b.npy", 40, 40)), "f")
    with pytest.raises(FileFormatError, match="would unpack to 101 bytes, but only 100 are free"):
        storage._check_archive(archive_of(("a.npy", 60, 60), ("b.npy", 41, 41)), "f")


@pytest.mark.parametrize("name", ["a/b.npy", "a\\b.npy", "/a.npy", "a.pkl", "a.npy.exe", "a/meta.json"])
def test_parts_with_other_names_are_refused(name):
    with pytest.raises(FileFormatError, match="does not belong there"):
        storage._check_archive(archive_of(("meta.json", 1, 1), (name, 1, 1)), "f")


@pytest.mark.parametrize("meta", [[1], "text", None, {}, {"format": "biconsensu"}])
def test_meta_that_is_no_meta_is_named_as_such(meta):
    with pytest.raises(FileFormatError, match=r"^f is not a saved consensus\.$"):
        storage._check_meta(meta, "f")


def indices(*values):
    return np.array(values, dtype=np.int64)


def test_parts_of_a_sparse_matrix_that_fit_are_taken():
    parts = {"x.data": np.ones(2, bool), "x.indices": indices(2, 0), "x.indptr": indices(0, 0, 2), "x.shape": [2, 3]}
    assert storage._unpack_sparse("x", parts).toarray().tolist() == [[False] * 3, [True, False, True]]
    real = {**parts, "x.data": np.array([0.5, 2.0])}
    assert storage._unpack_sparse("x", real).toarray().tolist() == [[0, 0, 0], [2.0, 0, 0.5]]
    nothing = {"x.data": np.ones(0, bool), "x.indices": indices(), "x.indptr": indices(0, 0), "x.shape": [1, 0]}
    assert storage._unpack_sparse("x", nothing).shape == (1, 0)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("indices", indices(3, 0), r"x\.indices points outside"),
        ("indices", indices(-1, 0), r"x\.indices points outside"),
        ("indices", indices(2), r"x\.indices has shape \(1,\)"),
        ("indices", indices(2, 0)[None], r"x\.indices has shape \(1, 2\)"),
        ("indices", np.array([2.0, 0.0]), r"x\.indices has shape \(2,\) and type float64"),
        ("indptr", indices(0, 2), r"x\.indptr has shape \(2,\) .* expected 3 indices"),
        ("indptr", indices(0, 3, 2), r"x\.indptr points outside"),
        ("indptr", indices(1, 1, 2), "row borders"),
        ("indptr", indices(0, 1, 1), "row borders"),
        ("indptr", indices(0, 2, 1), "row borders"),
        ("data", np.array([1, 1]), "must hold finite numbers, got int64"),
        ("data", np.array([1.0, np.inf]), "must hold finite numbers, got float64"),
        ("data", np.array(["a", "b"]), "must hold finite numbers, got <U1"),
        ("data", np.ones(3, bool), r"x\.indices has shape \(2,\) .* expected 3"),
    ],
)
def test_parts_of_a_sparse_matrix_that_do_not_fit_are_refused(part, value, message):
    parts = {"x.data": np.ones(2, bool), "x.indices": indices(2, 0), "x.indptr": indices(0, 0, 2), "x.shape": [2, 3]}
    with pytest.raises(FileFormatError, match=message):
        storage._unpack_sparse("x", {**parts, f"x.{part}": value})


def test_row_borders_in_the_middle_must_not_fall():
    parts = {"x.data": np.ones(2, bool), "x.indices": indices(0, 0), "x.shape": [3, 1]}
    with pytest.raises(FileFormatError, match="row borders"):
        storage._unpack_sparse("x", {**parts, "x.indptr": indices(0, 2, 1, 2)})
    assert storage._unpack_sparse("x", {**parts, "x.indptr": indices(0, 1, 2, 2)}).nnz == 2


WRONG = [
    ({"inverse": indices(0, 0, 0, 0, 0)}, "row_of has shape"),
    ({"inverse": indices(0, 0, 0, 0, 0, 99)}, "inverse points outside"),
    ({"row_of": indices(0, 0, 0, 0, 0, 99)}, "row_of points outside"),
    ({"source_of": indices(0, 0, 1, 2)}, "source_of points outside"),
    ({"source_of": indices(0, 0, 1)}, "source_of has shape"),
    ({"view_of": indices(0, 0, 1, 2)}, "view_of points outside"),
    ({"view_of": indices(0, 0, 1)}, "view_of has shape"),
    ({"weights": np.ones(3)}, "weights must be 4 finite numbers"),
    ({"weights": np.ones(4, int)}, "weights must be 4 finite numbers"),
    ({"weights": np.array([1, 1, 1, np.nan])}, "weights must be 4 finite numbers"),
    ({"used_weights": np.array([1, 1, 1, np.nan])}, "used_weights must be 4 finite numbers"),
    ({"used_weights": np.ones(5)}, "used_weights must be 4 finite numbers"),
    ({"gains": np.ones(9)}, r"gains must be \d finite numbers"),
    ({"meta": {"ids": ["a"]}}, "names or ids do not fit"),
    ({"meta": {"ids": [["a"]] * 6}}, "names or ids do not fit"),
    ({"meta": {"names": ["a"] * 5}}, "names or ids do not fit"),
    ({"meta": {"names": ["a"] * 3}}, "names or ids do not fit"),
    ({"candidates": indices(0)}, "candidate"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_parts_that_do_not_fit_each_other_are_refused(saved, change, message):
    with pytest.raises(FileFormatError, match=message):
        bc.Consensus.load(changed(saved, **change))


def test_candidates_must_add_up_to_their_counts(saved):
    old = parts_of(saved)[0]
    more = np.append(old["candidates"], old["candidates"][0])
    with pytest.raises(FileFormatError, match="candidates do not fit their counts"):
        bc.Consensus.load(changed(saved, candidates=more))
    counts = np.full_like(old["candidate_counts"], old["candidates"].size + 1)
    with pytest.raises(FileFormatError, match="candidate_counts points outside"):
        bc.Consensus.load(changed(saved, candidate_counts=counts))
    with pytest.raises(FileFormatError, match="candidates points outside"):
        bc.Consensus.load(changed(saved, candidates=np.where(old["candidates"] == 0, 4, old["candidates"])))


def with_masks(path, n_rows, n_masks):
    """Copy of a file whose masks have another shape, nothing unseen."""
    empty = {"unseen__data": np.zeros(0, bool), "unseen__indices": indices(), "unseen__shape": indices(n_rows, n_masks)}
    return changed(path, **empty, unseen__indptr=np.zeros(n_rows + 1, np.int64))


def test_masks_fit_rows_and_are_no_more_than_candidates_and_sources(saved):
    n_rows = int(parts_of(saved)[0]["rows.shape"][0])
    for n_masks in (2, 4, 6):
        assert bc.Consensus.load(with_masks(saved, n_rows, n_masks)).pool.unseen.shape == (n_rows, n_masks)
    for shape in ((n_rows, 7), (n_rows + 1, 2), (n_rows - 1, 2)):
        with pytest.raises(FileFormatError, match="saved masks have shape"):
            bc.Consensus.load(with_masks(saved, *shape))


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "result.bic"
    paper_consensus([[0, 0, 1, 1, None]] * 3 + [[0, 0, 1, 1, -1]], min_elements=2).save(path)
    return path


def with_array(path, name, array):
    """The saved file with one array replaced."""
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    buffer = io.BytesIO()
    np.save(buffer, array)
    parts[f"{name}.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in parts.items():
            archive.writestr(entry, content)
    return path


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("rows.indptr", np.array([0, 4, 2, 12]), "row borders|points outside|expected"),
        ("rows.data", np.full(12, np.nan), "expected|finite"),
        ("weights", np.full(8, np.nan), "finite numbers"),
        ("gains", np.zeros(5), "finite numbers"),
        ("unseen.shape", np.array([3, 10**12]), "fits neither"),
        ("candidate_counts", np.array([1, 1]), "do not fit their counts"),
        ("inverse", np.zeros(5), "expected 5 indices"),
        ("source_of", np.full(8, 99), "points outside"),
    ],
)
def test_saved_arrays_are_checked(plain, name, array, message):
    with pytest.raises(bc.errors.FileFormatError, match=message):
        bc.Consensus.load(with_array(plain, name, array))


def test_entries_that_are_not_numbers_are_refused(plain):
    with zipfile.ZipFile(plain) as archive:
        data = np.load(io.BytesIO(archive.read("rows.data.npy")))
    with pytest.raises(bc.errors.FileFormatError, match="finite numbers"):
        bc.Consensus.load(with_array(plain, "rows.data", np.full(data.size, np.nan)))
    borders = np.array([0, data.size, 0, data.size])
    with zipfile.ZipFile(plain) as archive:
        size = np.load(io.BytesIO(archive.read("rows.indptr.npy"))).size
    with pytest.raises(bc.errors.FileFormatError, match=r"finite numbers|row borders"):
        bc.Consensus.load(with_array(plain, "rows.indptr", np.resize(borders, size)))


def test_a_file_that_would_not_fit_into_memory_is_refused(plain, monkeypatch):
    monkeypatch.setattr(arrays, "available_memory", lambda: 100)
    with pytest.raises(bc.errors.FileFormatError, match="only 100 are free"):
        bc.Consensus.load(plain)


def test_a_forged_size_is_refused(plain):
    content = bytearray(plain.read_bytes())
    place = content.rfind(b"PK\x01\x02") + 24  # unpacked size in the last entry of the directory
    content[place : place + 4] = (10**9).to_bytes(4, "little")
    plain.write_bytes(bytes(content))
    with pytest.raises(bc.errors.FileFormatError, match="refused"):
        bc.Consensus.load(plain)
