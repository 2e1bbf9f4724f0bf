"""Wrong input and usage: one sentence, exit code 2, never a traceback."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biconsensus.cli import run
from biconsensus.pool.io import write_table

CASES = {
    "no such file": (["merge", "nope.csv"], "there is no file nope.csv"),
    "no such command": (["merg"], "Did you mean 'merge'?"),
    "no such option": (["merge", "labels.csv", "--quorm", "0.5"], "--quorm"),
    "quorum too large": (["merge", "labels.csv", "--quorum", "1.5"], "quorum"),
    "quorum is a word": (["merge", "labels.csv", "--quorum", "half"], "neither a number between 0 and 1 nor 'auto'"),
    "unknown column": (["merge", "labels.csv", "--truth", "knd"], "Did you mean 'kind'?"),
    "unknown id": (["merge", "labels.csv", "--id", "runn0"], "runn0"),
    "unknown solver": (["merge", "labels.csv", "--solver", "vot"], "Did you mean 'vote'?"),
    "unknown model": (["fit", "numbers.csv", "--model", "lin", "--threshold", "1"], "Did you mean 'line'?"),
    "unknown algorithm": (["communities", "net.edges", "-a", "louvan"], "Did you mean 'louvain'?"),
    "unknown ending": (["merge", "labels.csv", "--out", "groups.xls"], ".xls"),
    "no folder": (["merge", "labels.csv", "--out", "there/groups.csv"], "there is no folder there"),
    "read-only target": (["merge", "labels.csv", "--out", "kept.csv"], "kept.csv is read-only; choose another name"),
    "text in points": (["cluster", "words.csv"], "line 3"),
    "empty file": (["merge", "empty.csv"], "empty.csv"),
    "ragged lines": (["merge", "ragged.csv"], "line 3"),
    "groups and quorum": (["merge", "labels.csv", "--quorum", "0.3", "-k", "3"], "--groups"),
    "not a result": (["inspect", "labels.csv"], "labels.csv"),
    "option of another library": (
        ["merge", "labels.csv", "--n-clusters", "3"],
        "No such option: --n-clusters. Use --groups.",
    ),
    "name of Python": (["merge", "labels.csv", "--random_state", "3"], "Use --seed."),
    "quorum by name": (["merge", "labels.csv", "--quorum", "half"], "--quorum half is neither"),
    "threshold by name": (["fit", "numbers.csv", "-t", "two"], "--threshold two is neither a distance nor 'auto'"),
    "no processes": (["cluster", "numbers.csv", "--jobs", "0"], "--jobs must not be 0"),
    "output to nowhere": (["merge", "labels.csv", "--out", "-"], "--out - is no file; give it a name, or /dev/stdout"),
    "network from a pipe": (["communities", "-"], "it cannot come from the standard input; save it"),
    "runs kept in a file": (["cluster", "numbers.csv", "--resume", "words.csv"], "words.csv is a file; finished runs"),
    "columns that do not count": (["fit", "counted.csv", "-t", "1"], "for instance --columns x,y."),
    "demo into a file": (["demo", "--out", "words.csv"], "words.csv is a file; give the name of a folder"),
    "kind of input": (["explore", "labels.csv", "--kind", "net"], "unknown kind 'net'. Did you mean 'network'?"),
    "port": (["explore", "labels.csv", "--port", "99999"], "port must be from 0 to 65535, got 99999"),
    "a file without a command": (["labels.csv"], "labels.csv is a file; say first what is to be done with it"),
    "several files": (["merge", "labels.csv", "kept.csv"], "one file. Of several groupings make one table"),
    "an option without its value": (["merge", "labels.csv", "--report"], "Try 'biconsensus merge --help'."),
    "a page of another kind": (["merge", "labels.csv", "--report", "page.pdf"], "page.pdf: the report is an HTML page"),
    "a result in a table": (["merge", "labels.csv", "--save", "all.csv"], "give it a name such as result.bic"),
    "no picture": (["fit", "numbers.csv", "-t", "1", "-r", "a.html", "--image", "nope.png"], "no file nope.png; check"),
    "no weight": (["merge", "labels.csv", "--weight", "run0"], "--weight must be NAME=X, such as run0=2; received"),
    "one element together": (["merge", "labels.csv", "--together", "e0"], "--together e0 names one element; name two"),
    "no result": (["inspect", "nope.bic"], "there is no file nope.bic; check the path."),
    "zero elements": (["merge", "labels.csv", "--min-elements", "0"], "min-elements"),
}


@pytest.fixture
def files(tmp_path: Path, labels_csv: Path) -> None:
    """Files with faults."""
    (tmp_path / "words.csv").write_text("x,y\n1,2\n3,four\n")
    (tmp_path / "numbers.csv").write_text("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(20)))
    (tmp_path / "counted.csv").write_text("point,x,y\n" + "".join(f"{i},{i % 7}.5,{i % 3}\n" for i in range(20)))
    (tmp_path / "net.edges").write_text("a b\nb c\nc a\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "kept.csv").write_text("keep me")
    (tmp_path / "kept.csv").chmod(0o444)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.usefixtures("files")
def test_one_sentence_and_exit_code_two(here: Callable[..., Any], case: str) -> None:
    arguments, expected = CASES[case]
    done = here(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.rstrip().endswith((".", "'.", "?"))
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_real_process_says_the_same(call: Callable[..., Any], labels_csv: Path) -> None:
    done = call("merge", labels_csv, "--truth", "knd")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: unknown column 'knd'. Did you mean 'kind'?")


def test_unwritable_target_keeps_the_old_file(here: Callable[..., Any], labels_csv: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    done = here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--save", "taken")
    assert done.returncode == 2
    assert "taken" in done.stderr
    assert (tmp_path / "taken").is_dir()


def test_a_warning_is_a_note(here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("a,b\n" + "0,0\n" * 10 + "1,1\n" * 10)
    done = here("merge", "few.csv", "--min-candidates", "4")
    assert done.returncode == 0
    assert done.stderr.startswith("note: no group: the pool has 2 sources, fewer than --min-candidates 4; set --min")
    assert "0 groups at quorum 0.5" in done.stdout
    assert "20 elements are in no group." in done.stdout


CITIES = "a,b,city,note\n1.5,2,Bern,\n2.5,,Rome,x\n3.5,1,Bern,\n4.5,5,Rome,\n0.5,4,Bern,y\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CITIES, ["--drop city,note", "1 of 5 rows has no number in 'b'"]),
        ("x;y\n1,5;2,5\n2,5;3,5\n", ["'1,5' is no finite number.", "decimal point", "decimal=','"]),
        (
            "x;y;kind\n1,5;2,5;a\n2,5;3,5;b\n4,5;3,7;b\n5,5;3,8;a\n6,5;3,9;a\n",
            ["'1,5' is no finite number.", "decimal point"],
        ),
        ("one,two\na,b\nb,a\na,a\n", ["No column holds numbers", "biconsensus merge"]),
        ("My data\nx,y\n1,2\n", ["a title or comments"]),
        ("x,y\n1.5,1\n2.5,1\n?,2\n4.5,2\n5.5,3\n", ["'?' is no finite number", "1 of 5 rows", "--drop x"]),
        (
            "name,x,y\n" + "".join(f"a{k},1{k}.5,{k % 3}\n" for k in range(6)) + "a6,n/a,1\n",
            ["'n/a' is no", "--drop x."],
        ),
        (
            "name,x,y\n" + "".join(f"a{k},1{k}.5%,{k % 3}\n" for k in range(6)),
            ["'10.5%' is no finite number. A number has"],
        ),
        (
            "name,x,y\n" + "".join(f"a{k},1{k}.5 kg,{k % 3}\n" for k in range(6)),
            ["'10.5 kg' is no finite number. A number", "--id x"],
        ),
        (
            "x,y\n" + "".join(f'"{k},500.5",1\n' for k in range(1, 7)),
            ["'1,500.5' is no finite number. A number has a decimal point"],
        ),
    ],
    ids=[
        "text and gaps",
        "decimal commas",
        "commas and text",
        "labels",
        "title",
        "broken column",
        "beside ids",
        "percent",
        "units",
        "thousands",
    ],
)
def test_errors_of_tables_say_what_to_do(
    here: Callable[..., Any], tmp_path: Path, content: str, said: list[str]
) -> None:
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    done = here("cluster", "t.csv")
    assert done.returncode == 2
    assert [part for part in said if part not in done.stderr] == []
    assert done.stderr.count("\n") == 1


def test_a_table_without_header_has_the_names_that_the_error_proposes(here: Callable[..., Any], tmp_path: Path) -> None:
    rows = "".join(f"{k % 7}.5,{k % 3},{'ab'[k % 2]}\n" for k in range(20))
    (tmp_path / "flowers.csv").write_text(rows)
    refused = here("cluster", "flowers.csv")
    assert refused.returncode == 2
    assert "column 3 (x2): 'a' is no finite number" in refused.stderr
    assert "--drop x2 (--truth x2 uses it for scores)" in refused.stderr
    assert here("cluster", "flowers.csv", "--truth", "x2", "--json").returncode == 0


def test_columns_that_a_model_does_not_take(here: Callable[..., Any], tmp_path: Path) -> None:
    np.savetxt(tmp_path / "p.csv", np.random.default_rng(0).random((30, 3)), delimiter=",", header="x,y,z", comments="")
    many = here("fit", "p.csv", "-m", "line", "-t", "0.1").stderr
    assert "3 columns of numbers (x, y, z), but --model line needs 2" in many
    assert "--columns x,y" in many
    few = here("fit", "p.csv", "-m", "homography", "-t", "0.1").stderr
    assert "needs 4" in few


def test_the_explorer_refuses_other_files_at_once(here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text("{}", encoding="utf-8")
    done = here("explore", "net.json", "--no-browser")
    assert done.returncode == 2
    assert "unknown ending '.json'" in done.stderr


@pytest.mark.parametrize("words", [[], ["datasets"]], ids=["alone", "datasets"])
def test_without_a_command_the_help_is_shown_as_it_is(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Usage: biconsensus")
    assert len(lines) > 10


@pytest.mark.parametrize(("ended", "code"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130)], ids=["TERM", "INT"])
def test_an_end_while_an_archive_is_written_is_no_error(
    ended: BaseException,
    code: int,
    here: Callable[..., Any],
    labels_csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handles = []

    def stopped(archive: zipfile.ZipFile, name: str, data: Any) -> None:
        handles.append(archive.open(name, "w"))  # an archive with an open member cannot be closed
        raise ended

    monkeypatch.setattr(zipfile.ZipFile, "writestr", stopped)
    found = here("merge", "labels.csv", "--save", "result.bic")
    assert (found.returncode, "Error" in found.stderr) == (code, False)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_what_people_type_is_led_to_what_there_is(here: Callable[..., Any], tmp_path: Path) -> None:
    done = here("report", "labels.csv")
    assert done.returncode == 2
    assert "A report is an option of every command that finds groups" in done.stderr
    assert "explore" not in done.stderr
    (tmp_path / "net.gml").write_text("graph []")
    assert "`biconsensus communities` takes networks." in here("merge", "net.gml").stderr


def test_a_report_is_a_page(here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a,b\n" + "0,0\n1,1\n" * 10)
    done = here("merge", "labels.csv", "--report", "page.pdf")
    assert done.returncode == 2
    assert "give it a name that ends in .html" in done.stderr
    assert not (tmp_path / "page.pdf").exists()


def test_a_folder_of_different_tables_is_no_table(here: Callable[..., Any], tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", {"id": np.arange(20), "one": np.arange(20) % 2, "two": np.arange(20) % 2})
    write_table(tmp_path / "b.parquet", {"id": np.arange(20, 40), "one": np.arange(20) % 2, "two": np.arange(20) % 2})
    done = here("merge", ".", "--quorum", "0.5", "--min-candidates", "1")
    assert done.returncode == 0
    assert "2 groupings (one, two); ids from 'id'" in done.stderr + done.stdout
    write_table(tmp_path / "c.parquet", {"x": np.arange(20) / 3, "y": np.arange(20) / 7})
    done = here("merge", ".")
    assert done.returncode == 2
    assert "a.parquet has the columns id, one, two, and c.parquet has x, y" in done.stderr
    (tmp_path / "c.parquet").write_bytes(b"junk")
    assert "c.parquet: cannot be read as Parquet" in here("merge", ".").stderr
    assert "is a folder; name the file of the table" in here("cluster", ".").stderr


def test_names_of_python_point_to_options(here: Callable[..., Any]) -> None:
    assert "No such option: --n-runs. Use --runs." in here("communities", "g.gml", "--n-runs", "3").stderr
