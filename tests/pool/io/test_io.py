"""What people have on disk comes in, or is refused with line and column; what goes out comes back."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biconsensus.errors import FileFormatError, InputError, MissingDependencyError, UnknownNameError
from biconsensus.pool.io import atomic_path, read_labels, read_points, write_table

slow_disk = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def values(column):
    return [None if v is None or v != v else v for v in column.tolist()]


# -- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
def test_separator_is_found(tmp_path, separator):
    text = "a,b,c\n0,1,x\n1,1,y y\n".replace(" y", "-y").replace(",", separator)
    table = read_labels(written(tmp_path, text))
    assert list(table.columns) == ["a", "b", "c"]
    assert table.columns["a"].tolist() == [0, 1]
    assert table.columns["c"].tolist() == ["x", "y-y"]
    assert table.ids is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_no_part_of_the_first_name(tmp_path, encoding):
    table = read_labels(written(tmp_path, "größe,b\r\n0,1\r\n1,0\r\n".encode(encoding)))
    assert list(table.columns) == ["größe", "b"]


def test_empty_cell_is_not_seen_and_minus_one_stays(tmp_path):
    table = read_labels(written(tmp_path, "a,b,c\n0,,x\n-1,2.0,\nNA,3,-1\n"))
    assert values(table.columns["a"]) == [0, -1, None]
    assert values(table.columns["b"]) == [None, 2, 3]
    assert values(table.columns["c"]) == ["x", None, -1]
    assert table.columns["a"].dtype == table.columns["b"].dtype == np.int64


def test_no_header(tmp_path):
    table = read_labels(written(tmp_path, "0,a\n1,b\n"))
    assert list(table.columns) == ["source 0", "source 1"]
    forced = read_labels(written(tmp_path, "x,a\ny,b\n"), header=False)
    assert forced.columns["source 0"].tolist() == ["x", "y"]


@pytest.mark.parametrize(("header", "option"), [("id,k", None), (",k", None), ("name,k", "name"), ("name,k", 0)])
def test_id_column(tmp_path, header, option):
    table = read_labels(written(tmp_path, f"{header}\nann,0\nbob,1\n"), id_column=option)
    assert table.ids.tolist() == ["ann", "bob"]
    assert list(table.columns) == ["k"]


def test_one_column_with_a_gap(tmp_path):
    assert values(read_labels(written(tmp_path, "k\n0\n\n1\n\n")).columns["k"]) == [0, None, 1]


def test_quoted_cells_keep_separators_and_line_breaks(tmp_path):
    table = read_labels(written(tmp_path, 'a,b\n"x,1","p\nq"\ny,r\n'))
    assert table.columns["a"].tolist() == ["x,1", "y"]
    assert table.columns["b"].tolist() == ["p\nq", "r"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"a,b\n", "no row below|2"),
        (b"a,b\n0,1\n0\n", "line 3, column 2: the line has 1 cells, line 1 has 2"),
        (b"a,b\n0,1\n0,1,2\n", "line 3, column 3: the line has 3 cells, line 1 has 2"),
        (b"a,b\n0,1\n\n0,1\n", "line 3, column 1: the line is blank"),
        (b"a,b\n0,1\n\xff\xfa,1\n", "line 3 is not UTF-8"),
        (b"a,b\n0,1\n0,\x001\n", "line 3 holds a zero byte"),
    ],
)
def test_bad_text_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        read_labels(written(tmp_path, text), header=True)


def test_wrong_separator_names_the_right_one(tmp_path):
    path = written(tmp_path, "a;b\n0;1\n1;1\n")
    with pytest.raises(
        FileFormatError, match=r"line 2, column 1: no ',' in '0;1'; the separator seems to be a semicolon"
    ):
        read_labels(path, separator=",")
    with pytest.raises(
        FileFormatError, match=r"line 2, column 1 \(a;b\): '0;1' is no finite number; is the separator a sem"
    ):
        read_points(path, separator=",")


def test_unknown_column_ending_and_file(tmp_path):
    path = written(tmp_path, "name,k\nann,0\n")
    with pytest.raises(UnknownNameError, match=r"unknown id column 'nme'\. Did you mean 'name'"):
        read_labels(path, id_column="nme")
    with pytest.raises(UnknownNameError, match="columns 0 to 1"):
        read_labels(path, id_column=2)
    with pytest.raises(FileFormatError, match="no column of labels"):
        read_labels(written(tmp_path, "id\na\nb\n"))
    with pytest.raises(FileFormatError, match=r"unknown ending '.xlsx'; allowed are .csv"):
        read_labels(tmp_path / "t.xlsx")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_labels(tmp_path / "none.csv")


# -- points ---------------------------------------------------------------------------------------------------------


def test_points(tmp_path):
    table = read_points(written(tmp_path, "id,x,y\na,1,2.5\nb,-3e2,4\n"))
    assert table.X.tolist() == [[1.0, 2.5], [-300.0, 4.0]]
    assert table.names == ["x", "y"]
    assert table.ids.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "the cell is empty"),
        ("abc", "'abc' is no finite number"),
        ("nan", "'nan'"),
        ("inf", "'inf'"),
        ("1;2", "semicolon"),
    ],
)
def test_cells_that_are_no_numbers_have_line_and_column(tmp_path, cell, message):
    with pytest.raises(FileFormatError, match=rf"line 4, column 2 \(y\): .*{message}"):
        read_points(written(tmp_path, f"x,y\n1,2\n3,4\n5,{cell}\n"))


def test_place_counts_the_id_column_and_lines_in_quotes(tmp_path):
    with pytest.raises(FileFormatError, match=r"line 4, column 3 \(y\)"):
        read_points(written(tmp_path, 'id,x,y\n"a\nb",1,2\nc,3,?\n'))


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


# -- writing --------------------------------------------------------------------------------------------------------

plain_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1)
label = plain_text.filter(lambda t: t not in ("NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"))
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
    found = read_labels(path, header=True if ending != ".parquet" else None)
    assert found.ids.tolist() == ids
    assert [values(column) for column in found.columns.values()] == table


@slow_disk
@given(
    st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1, max_size=20),
    st.sampled_from([".csv", ".tsv", ".parquet", ".npz"]),
)
def test_points_come_back_bit_for_bit(tmp_path, rows, ending):
    X = np.array(rows)
    path = tmp_path / f"p{ending}"
    if ending == ".npz":
        write_table(path, {"only": X[:, 0]})
        assert read_points(path).X[:, 0].tobytes() == X[:, 0].tobytes()
        return
    write_table(path, {f"x{k}": X[:, k] for k in range(3)})
    assert (read_points(path).X == X).all()


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
