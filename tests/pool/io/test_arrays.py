"""Arrays and Parquet files come in with their types; pickles do not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pytest

from biconsensus.errors import FileFormatError, MissingDependencyError
from biconsensus.pool.io import read_labels, read_points, write_table
from tests.helpers.files import values, written


# -- binary files ---------------------------------------------------------------------------------------------------
def test_npy_is_mapped_and_keeps_its_type(tmp_path):
    table = np.array([[0, 1], [2, -1], [2, 1]], dtype=np.int8)
    np.save(tmp_path / "t.npy", table)
    found = read_labels(tmp_path / "t.npy")
    assert [c.tolist() for c in found.columns.values()] == table.T.tolist()
    first = found.columns["source 0"]
    assert first.dtype == np.int8
    assert not first.flags.writeable
    np.save(tmp_path / "v.npy", np.array([1.5, 2.0]))
    assert read_points(tmp_path / "v.npy").X.tolist() == [[1.5], [2.0]]


def test_npz_members(tmp_path):
    np.savez(tmp_path / "one.npz", anything=np.array([[0, 1]]))
    assert len(read_labels(tmp_path / "one.npz").columns) == 2
    np.savez(tmp_path / "two.npz", a=np.zeros(3, int), b=np.ones(3, int))
    assert read_labels(tmp_path / "two.npz", key="b").columns["source 0"].tolist() == [1, 1, 1]
    both = read_labels(tmp_path / "two.npz")
    assert {name: column.tolist() for name, column in both.columns.items()} == {"a": [0, 0, 0], "b": [1, 1, 1]}
    np.savez(tmp_path / "unlike.npz", a=np.zeros(3, int), b=np.ones(4, int))
    with pytest.raises(FileFormatError, match="holds the arrays a, b; call the table 'labels', or save columns of eq"):
        read_labels(tmp_path / "unlike.npz")


def test_pickles_and_broken_files_are_refused(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}, None]), allow_pickle=True)
    with pytest.raises(FileFormatError, match="cannot be read as a NumPy array"):
        read_labels(tmp_path / "o.npy")
    for name in ("t.npy", "t.npz", "t.parquet"):
        with pytest.raises(FileFormatError, match="cannot be read as"):
            read_labels(written(tmp_path, b"nonsense", name))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(FileFormatError, match=r"shape \(2, 2, 2\)"):
        read_points(tmp_path / "cube.npy")


@pytest.mark.parametrize(("ending", "opened"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_packed_text_is_read_as_if_it_were_not(tmp_path, ending, opened):
    path = tmp_path / f"labels.csv{ending}"
    with opened(path, "wb") as stream:
        stream.write(b"id,a,b\nx,0,1\ny,1,0\n")
    table = read_labels(path)
    assert table.ids.tolist() == ["x", "y"]
    assert table.columns["a"].tolist() == [0, 1]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileFormatError, match="cannot be unpacked"):
        read_labels(path)


def test_zip_of_one_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("__MACOSX/._t.csv", b"x")
        archive.writestr("folder/t.csv", b"a;b\n0;1\n1;0\n")
    assert list(read_labels(tmp_path / "one.zip").columns) == ["a", "b"]
    with zipfile.ZipFile(tmp_path / "one.zip", "a") as archive:
        archive.writestr("u.csv", b"a;b\n0;1\n")
    with pytest.raises(FileFormatError, match="holds 2 files; give an archive of one table"):
        read_labels(tmp_path / "one.zip")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("biconsensus.pool.io._arrays.available_memory", lambda: 1 << 20)
    with gzip.open(tmp_path / "t.csv.gz", "wb") as stream:
        stream.write(b"0,1\n" * 200_000)
    with pytest.raises(FileFormatError, match="unpacks to more than half of the 1048576 bytes"):
        read_labels(tmp_path / "t.csv.gz")


def test_feather_is_read_as_parquet_is(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(pa.table({"id": ["x", "y"], "a": pa.array([0, None], pa.int8())}), tmp_path / "t.feather")
    table = read_labels(tmp_path / "t.feather")
    assert table.ids.tolist() == ["x", "y"]
    assert table.columns["a"].tolist() == [0, None]
    with pytest.raises(FileFormatError, match="cannot be read as a Feather file"):
        read_labels(written(tmp_path, b"nonsense", "t.arrow"))


def test_parquet_types_and_gaps(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table(
        {
            "id": ["a", "b", "c"],
            "small": pa.array([0, 1, -1], pa.int8()),
            "gap": pa.array([0, None, 7], pa.int16()),
            "text": ["x", None, "y"],
            "cat": pa.array(["p", "q", "p"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    found = read_labels(tmp_path / "t.parquet")
    assert found.ids.tolist() == ["a", "b", "c"]
    assert found.columns["small"].dtype == np.int8
    assert found.columns["gap"].dtype == np.int16
    assert values(found.columns["gap"]) == [0, None, 7]
    assert values(found.columns["text"]) == ["x", None, "y"]
    assert values(found.columns["cat"]) == ["p", "q", "p"]
    with pytest.raises(FileFormatError, match=r"row 1, column 3 \(gap\): the cell is empty"):
        read_points(tmp_path / "t.parquet")


def test_missing_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'biconsensus\[tables\]'"):
        write_table(tmp_path / "t.parquet", {"a": [1]})
    with pytest.raises(MissingDependencyError, match=r"pip install 'biconsensus\[tables\]'"):
        read_labels(written(tmp_path, b"", "u.parquet"))
