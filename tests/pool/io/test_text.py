"""Text with any separator comes in, or is refused with line and column."""

from __future__ import annotations

import warnings

import pytest

from biconsensus.errors import FileFormatError, PoolWarning
from biconsensus.pool.io import read_labels, read_points
from tests.helpers.files import values, written


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


def test_no_header(tmp_path):
    table = read_labels(written(tmp_path, "0,a\n1,b\n"))
    assert list(table.columns) == ["source 0", "source 1"]
    forced = read_labels(written(tmp_path, "x,a\ny,b\n"), header=False)
    assert forced.columns["source 0"].tolist() == ["x", "y"]


def test_quoted_cells_keep_separators_and_line_breaks(tmp_path):
    table = read_labels(written(tmp_path, 'a,b\n"x,1","p\nq"\ny,r\n'), header=True)
    assert table.columns["a"].tolist() == ["x,1", "y"]
    assert table.columns["b"].tolist() == ["p\nq", "r"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"a,b\n", "no row below|2"),
        (b"a,b\n0,1\n0\n", "line 3, column 2: the line has 1 cell, line 1 has 2"),
        (b"a,b\n0,1\n0,1,2\n", "line 3, column 3: the line has 3 cells, line 1 has 2"),
        (b"a,b\n0,1\n\n0,1\n", "line 3, column 1: the line is blank; delete it"),
        (b"a,b\n0,1,,x\n", "line 2, column 3: the line has 4 cells, line 1 has 2"),
        (b"a,b\n0,1\n\xff\xfa,1\n", "line 3 is not UTF-8 text"),
        (b"a,b\n0,1\n0,\x001\n", "line 3 holds a zero byte"),
        (b"\x1f\x8b\x08\x00", "packed by gzip"),
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


@pytest.mark.parametrize("text", ["a,b,\n0,1,\n1,0,\n", "a,b\n0,1,\n1,0,,\n", "a,b, \n0,1\n1,0\n"])
def test_separators_at_the_end_of_lines_make_no_column(tmp_path, text):
    table = read_labels(written(tmp_path, text))
    assert {name: column.tolist() for name, column in table.columns.items()} == {"a": [0, 1], "b": [1, 0]}


def test_a_last_cell_that_is_empty_in_some_lines_stays(tmp_path):
    table = read_labels(written(tmp_path, "a,b\n0,\n1,0\n"))
    assert values(table.columns["b"]) == [None, 0]


def test_a_tsv_file_with_commas_is_no_single_column(tmp_path):
    table = read_labels(written(tmp_path, "a,b\n0,1\n1,0\n", "table.tsv"))
    assert list(table.columns) == ["a", "b"]
    table = read_labels(written(tmp_path, "a\tb\nx,1\ty,2\nx,2\ty,2\n", "table.tsv"), header=True)
    assert table.columns["a"].tolist() == ["x,1", "x,2"]


@pytest.mark.parametrize("text", ["# x y\n1.5 2\n3 4\n", "#x,y\n1.5,2\n3,4\n", "# made by me\n#\n# x y\n1.5 2\n3 4\n"])
def test_a_header_behind_a_mark_of_comments_is_a_header(tmp_path, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        points = read_points(written(tmp_path, text))
    assert points.names == ["x", "y"]
    assert points.X.tolist() == [[1.5, 2], [3, 4]]


def test_comments_above_the_table_are_left_out_with_a_note(tmp_path):
    path = written(tmp_path, "# of 2024, by me, with love\n# no more\na,b\n0,1\n1,?\n")
    with pytest.warns(PoolWarning, match="lines above the table that begin with # were left out: 2"):
        table = read_labels(path)
    assert "line 3 is the header" in table.decided
    with pytest.raises(FileFormatError, match=r"line 5, column 2 \(b\)"):
        read_points(path)


def test_names_that_begin_with_a_mark_are_no_comments(tmp_path):
    table = read_labels(written(tmp_path, "#a,0,1\n#b,1,1\nc,0,0\n"), id_column=0)
    assert table.ids.tolist() == ["#a", "#b", "c"]
    assert read_labels(written(tmp_path, "#a,0\n#b,1\n"), id_column=0).ids.tolist() == ["#a", "#b"]


def test_a_header_without_a_name_for_the_names_of_the_rows(tmp_path):
    table = read_labels(written(tmp_path, '"a" "b"\n"x" 0 1\n"y" 1 0\n'))
    assert table.ids.tolist() == ["x", "y"]
    assert list(table.columns) == ["a", "b"]
    with pytest.raises(FileFormatError, match="the line has 3 cells, line 1 has 2"):
        read_labels(written(tmp_path, "a b\nx 0 1\nx 1 0\n"))
    with pytest.raises(FileFormatError, match="the line has 3 cells, line 1 has 2"):
        read_labels(written(tmp_path, "My study, 2024\nid,a,b\nx,0,1\ny,1,0\n"))


@pytest.mark.parametrize("text", [",,\n,a,b\n,0,1\n,1,1\n", ",,\n,,\na,,b\n0,,1\n1,,1\n"])
def test_a_table_may_begin_below_and_beside_the_first_cell(tmp_path, text):
    table = read_labels(written(tmp_path, text))
    assert {name: column.tolist() for name, column in table.columns.items()} == {"a": [0, 1], "b": [1, 1]}
    assert table.ids is None
    line = text.count("\n") - 2
    assert f"line {line} is the header" in table.decided
