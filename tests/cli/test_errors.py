"""Wrong input and usage: one sentence, exit code 2, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
    "text in points": (["cluster", "words.csv"], "line 3"),
    "empty file": (["merge", "empty.csv"], "empty.csv"),
    "ragged lines": (["merge", "ragged.csv"], "line 3"),
    "groups and quorum": (["merge", "labels.csv", "--quorum", "0.3", "-k", "3"], "n_groups"),
    "not a result": (["inspect", "labels.csv"], "labels.csv"),
    "zero elements": (["merge", "labels.csv", "--min-elements", "0"], "min-elements"),
}


@pytest.fixture
def files(tmp_path: Path, labels_csv: Path) -> None:
    """Files with faults."""
    (tmp_path / "words.csv").write_text("x,y\n1,2\n3,four\n")
    (tmp_path / "numbers.csv").write_text("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(20)))
    (tmp_path / "net.edges").write_text("a b\nb c\nc a\n")
    (tmp_path / "empty.csv").write_text("")
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
    assert done.stderr.startswith("note: no group: the pool has 2 sources, fewer than min_candidates=4")
    assert "0 groups, 20 of 20 elements in no group." in done.stdout
