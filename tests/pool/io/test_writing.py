"""What goes out comes back, and a write that fails leaves the old file."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biconsensus.errors import InputError, UnknownNameError
from biconsensus.pool.io import atomic_path, read_labels, read_points, write_table
from tests.helpers.files import values, written

slow_disk = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


# -- writing --------------------------------------------------------------------------------------------------------
plain_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1)


label = plain_text.filter(lambda t: t not in ("NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"))


columns = st.integers(1, 12).flatmap(
    lambda m: st.lists(
        st.one_of(
            st.lists(st.one_of(st.none(), st.integers(-1, 2**40)), min_size=m, max_size=m),
            st.lists(st.one_of(st.none(), label.map(lambda t: "t" + t)), min_size=m, max_size=m),
        ),
        min_size=2,
        max_size=4,
    )
)


def as_column(cells):
    if all(isinstance(c, str) or c is None for c in cells):
        return np.array([*cells, None], dtype=object)[:-1]
    return np.ma.MaskedArray([c or 0 for c in cells], [c is None for c in cells])


@slow_disk
@given(columns, st.sampled_from([".csv", ".tsv", ".parquet"]))
def test_labels_come_back(tmp_path, table, ending):
    path = tmp_path / f"t{ending}"
    ids = [f"e{k}" for k in range(len(table[0]))]
    write_table(path, {f"c{k}": as_column(cells) for k, cells in enumerate(table)}, ids=ids)
    names = [f"c{k}" for k in range(len(table))]
    found = read_labels(path, header=True if ending != ".parquet" else None, columns=names)
    assert found.ids.tolist() == ids
    assert [values(column) for column in found.columns.values()] == table


@slow_disk
@given(
    st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1, max_size=20),
    st.sampled_from([".csv", ".tsv", ".parquet", ".npz"]),
)
@pytest.mark.filterwarnings("ignore::biconsensus.errors.PoolWarning")  # whole numbers that differ may be ids
def test_points_come_back_bit_for_bit(tmp_path, rows, ending):
    X = np.array(rows)
    path = tmp_path / f"p{ending}"
    if ending == ".npz":
        write_table(path, {"only": X[:, 0]})
        assert read_points(path).X[:, 0].tobytes() == X[:, 0].tobytes()
        return
    write_table(path, {f"x{k}": X[:, k] for k in range(3)})
    assert (read_points(path, columns=["x0", "x1", "x2"]).X == X).all()


def test_json_records_and_npy(tmp_path):
    write_table(tmp_path / "t.json", {"label": np.array([0, -1]), "backing": [0.5, np.nan]}, ids=["<a>", "b"])
    assert json.loads((tmp_path / "t.json").read_text()) == [
        {"id": "<a>", "label": 0, "backing": 0.5},
        {"id": "b", "label": -1, "backing": None},
    ]
    write_table(tmp_path / "t.npy", {"label": np.array([0, -1], np.int8)}, ids=["a", "b"])
    assert np.load(tmp_path / "t.npy").tolist() == [0, -1]
    with pytest.raises(InputError, match="an NPY file holds one column"):
        write_table(tmp_path / "t.npy", {"a": [1], "b": [2]})


def test_bad_columns_are_named(tmp_path):
    with pytest.raises(InputError, match=r"one length; they have \{'a': 2, 'b': 1\}"):
        write_table(tmp_path / "t.csv", {"a": [1, 2], "b": [2]})
    with pytest.raises(InputError, match=r"column 'a' must have one dimension; received shape \(1, 1\)"):
        write_table(tmp_path / "t.csv", {"a": [[1]]})
    with pytest.raises(UnknownNameError, match=r"unknown ending '\.cvs'. Did you mean '\.csv'"):
        write_table(tmp_path / "t.cvs", {"a": [1]})


def test_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path):
    def fill_the_disk():
        with atomic_path(path) as new:
            new.write_text("half of the n")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = written(tmp_path, "old", "t.csv")
    with pytest.raises(OSError, match="No space left"):
        fill_the_disk()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_writer_that_fails_midway_keeps_the_old_file(tmp_path):
    class Broken:
        def __str__(self):
            raise ValueError("no text for this")

    path = written(tmp_path, "old", "t.csv")
    with pytest.raises(ValueError, match="no text for this"):
        write_table(path, {"a": np.array([1, Broken()], dtype=object)})
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere to write t\.csv in"):
        write_table(tmp_path / "nowhere" / "t.csv", {"a": [1]})


def test_new_files_get_the_usual_mode_and_old_ones_keep_theirs(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, {"a": [1]})
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_table(path, {"a": [2]})
    assert path.stat().st_mode & 0o777 == 0o640
