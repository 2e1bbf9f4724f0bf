"""Tables of labels and of points from files."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from biconsensus.errors import FileFormatError, PoolWarning, UnknownNameError
from biconsensus.pool.io import read_labels, read_points
from biconsensus.pool.io._roles import Reading
from biconsensus.pool.io._tables import label_table
from tests.helpers.files import values, written


def test_empty_cell_is_not_seen_and_minus_one_stays(tmp_path):
    table = read_labels(written(tmp_path, "a,b,c\n0,,x\n-1,2.0,\nNA,3,-1\n"))
    assert values(table.columns["a"]) == [0, -1, None]
    assert values(table.columns["b"]) == [None, 2, 3]
    assert values(table.columns["c"]) == ["x", None, -1]
    assert table.columns["a"].dtype == table.columns["b"].dtype == np.int64


@pytest.mark.parametrize(("header", "option"), [("id,k", None), (",k", None), ("name,k", "name"), ("name,k", 0)])
def test_id_column(tmp_path, header, option):
    table = read_labels(written(tmp_path, f"{header}\nann,0\nbob,1\n"), id_column=option)
    assert table.ids.tolist() == ["ann", "bob"]
    assert list(table.columns) == ["k"]


def test_one_column_with_a_gap(tmp_path):
    assert values(read_labels(written(tmp_path, "k\n0\n\n1\n\n")).columns["k"]) == [0, None, 1]


def test_what_a_result_says_of_its_groups_is_no_grouping(tmp_path):
    path = written(tmp_path, "id,group,Confidence,backing,log10_nfa\na,0,.9,1,-3\nb,1,.8,1,-2\n")
    with pytest.warns(PoolWarning, match="group nothing: 'Confidence', 'backing', 'log10_nfa'; columns="):
        table = read_labels(path)
    assert list(table.columns) == ["group"]
    assert table.roles["backing"] == "left out"
    assert list(read_labels(path, columns=["group", "backing"]).columns) == ["group", "backing"]
    assert read_points(path).names[1:] == ["Confidence", "backing", "log10_nfa"], "they are features like others"
    alone = read_labels(written(tmp_path, "id,confidence\na,0\nb,1\n"))
    assert list(alone.columns) == ["confidence"], "there is nothing else that it could be"


def test_unknown_column_ending_and_file(tmp_path):
    path = written(tmp_path, "name,k\nann,0\n")
    with pytest.raises(UnknownNameError, match=r"unknown id column 'nme'\. Did you mean 'name'"):
        read_labels(path, id_column="nme")
    with pytest.raises(UnknownNameError, match="columns 0 to 1"):
        read_labels(path, id_column=2)
    with pytest.raises(FileFormatError, match="no column of labels"):
        read_labels(written(tmp_path, "id\na\nb\n"))
    with pytest.raises(
        FileFormatError, match=r"unknown ending '.xls'; allowed are .csv.*Save the table as one of these"
    ):
        read_labels(tmp_path / "t.xls")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_labels(tmp_path / "none.csv")


# -- points ---------------------------------------------------------------------------------------------------------
def test_points(tmp_path):
    table = read_points(written(tmp_path, "id,x,y\na,1,2.5\nb,-3e2,4\n"))
    assert table.X.tolist() == [[1.0, 2.5], [-300.0, 4.0]]
    assert table.names == ["x", "y"]
    assert table.ids.tolist() == ["a", "b"]


def test_place_counts_the_id_column_and_lines_in_quotes(tmp_path):
    with pytest.raises(FileFormatError, match=r"line 4, column 3 \(y\)"):
        read_points(written(tmp_path, 'id,x,y\n"a\nb",1,2\nc,3,?\n'))


@pytest.mark.parametrize("ending", [".xyz", ".asc", ".dat"])
def test_text_of_measuring_devices_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scan{ending}"
    path.write_text("1.5 2 3\n4 5.5 6\n")
    assert read_points(path).X.tolist() == [[1.5, 2, 3], [4, 5.5, 6]]


def test_python_objects_in_an_array_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="it holds Python objects; save numbers or text"):
        read_points(tmp_path / "a.npy")


def test_measurements_beside_a_grouping_are_no_ids(tmp_path: Path) -> None:
    rows = "".join(f"{i / 7:.3f},{i / 3 + 0.1:.3f},c{i % 3}\n" for i in range(20))
    (tmp_path / "x.csv").write_text("a,b,kind\n" + rows)
    with pytest.warns(PoolWarning, match="measurements, which group nothing: 'a', 'b'; `biconsensus cluster`"):
        table = read_labels(tmp_path / "x.csv")
    assert (list(table.columns), table.ids, table.measured) == (["kind"], None, ("a", "b"))


def test_sheets_with_a_title_or_further_sheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")

    def written_book(*sheets: list[list[object]]) -> Path:
        book = openpyxl.Workbook()
        for number, rows in enumerate(sheets):
            sheet = book.active if number == 0 else book.create_sheet("more")
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    rows = [["name", "a", "b"], *([f"p{k}", k % 2, "#N/A" if k == 3 else k % 3] for k in range(12))]
    with pytest.raises(FileFormatError, match=r"line 1 has one cell \('Study'\) .* delete the lines above the table"):
        read_labels(written_book([["Study"], [], *rows]))
    with pytest.warns(PoolWarning) as said:
        table = read_labels(written_book(rows, [["x"]]))
    assert "only the first sheet 'Sheet' was read; for another one (more), save it as a file" in str(said[0].message)
    assert table.columns["b"].mask.tolist().count(True) == 1


@pytest.mark.parametrize(
    ("lines", "ids"),
    [
        (["name,a,b", "ann,1,1", "bob,1,2", "eve,2,2"], ["ann", "bob", "eve"]),
        (["who,a,b", "ann,x,1", "bob,x,2", "eve,y,2"], None),
        (["run 1,run 2,run 3", "0,1,1", "1,1,2", "2,2,2"], None),
    ],
)
def test_names_of_a_few_elements_do_not_vote(tmp_path: Path, lines: list[str], ids: list[str] | None) -> None:
    (tmp_path / "few.csv").write_text("\n".join(lines) + "\n")
    told = pytest.warns(PoolWarning, match="'name' is different in every row") if ids else contextlib.nullcontext()
    with told:
        table = read_labels(tmp_path / "few.csv")
    assert len(table.columns) == (2 if ids else 3)
    assert (None if table.ids is None else list(table.ids)) == ids


def test_names_that_stand_twice_are_a_header_all_the_same(tmp_path):
    rows = "".join(f"p{k},{k % 2},{k % 3},{k % 2}\n" for k in range(6))
    table = label_table(written(tmp_path, "patient,run,run,run\n" + rows), Reading())
    assert list(table.columns) == ["run", "run (3)", "run (4)"]
    assert table.ids.tolist() == [f"p{k}" for k in range(6)]
    words = "".join(f"p{k},{'xy'[k % 2]},{'xyz'[k % 3]}\n" for k in range(6))
    assert list(label_table(written(tmp_path, "patient,run,run\n" + words), Reading()).columns) == ["run", "run (3)"]
    labels = label_table(written(tmp_path, "p9,x,x\n" + words), Reading())
    assert len(labels.ids) == 7


def test_columns_without_a_value_are_left_out(tmp_path):
    table = label_table(written(tmp_path, "a,b,c\n0,,1\n1,,1\n0,NA,0\n"), Reading())
    assert list(table.columns) == ["a", "c"]
    assert table.notes == ("left out because they are empty: 'b'; columns=[...] (--columns) chooses otherwise",)
    assert list(label_table(written(tmp_path, "a,b\n0,\n1,\n"), Reading(columns=["b"])).columns) == ["b"]


def test_a_single_line_of_words_is_pointed_out(tmp_path):
    table = label_table(written(tmp_path, "a,b,c\n"), Reading())
    assert table.notes == ("the only line (a, b, c) was read as data",)


def test_many_columns_are_shown_with_the_last(tmp_path):
    names = ",".join(f"run{k}" for k in range(9))
    table = label_table(written(tmp_path, f"{names},city\n" + f"{'0,' * 9}x\n{'1,' * 9}y\n"), Reading())
    assert "(run0, run1, run2, run3, run4, ..., city)" in table.decided


def test_warnings_of_python_name_no_options_of_the_command_line(tmp_path):
    rows = "".join(f"p{k},{k % 2},{k % 2}\n" for k in range(6))
    with pytest.warns(PoolWarning, match=r"taken as the ids; columns=\[...\] chooses otherwise\.$"):
        read_labels(written(tmp_path, "patient,a,b\n" + rows))
