"""Arrays and Parquet files come in with their types; pickles do not."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.errors import FileFormatError, MissingDependencyError, UnknownNameError
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
    with pytest.raises(UnknownNameError, match="Valid names: a, b"):
        read_labels(tmp_path / "two.npz")


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
