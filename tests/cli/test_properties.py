"""Whatever is typed: an answer, or one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biconsensus.cli import run
from tests.helpers.strategies import examples

OPTIONS = ["--quorum", "--solver", "--method", "--min-elements", "--min-candidates", "--out", "--truth", "--id", "-k"]
FLAGS = ["--json", "-q", "--help", "--version", "--", "-", "--no-such-option"]
FILES = ["labels.csv", "nope.csv", "empty.csv", "saved.bic", "out.csv", "there/out.csv", "."]
VALUES = ["0.5", "1.5", "auto", "nan", "inf", "-1", "0", "3", "1e9", "vote", "joint", "a", "b", "", "\x00", "é"]
words = st.sampled_from(OPTIONS + FLAGS + FILES + VALUES) | st.text(max_size=6)
commands = st.sampled_from(["merge", "inspect", "models", "solvers", "algorithms", "merg", ""])


@pytest.fixture(scope="module", autouse=True)
def folder():
    """A folder with a table, an empty file and nothing else; everything is typed there."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path("labels.csv").write_text("a,b,c,d\n" + "0,0,0,x\n" * 8 + "1,1,1,y\n" * 8)
        Path("empty.csv").write_text("")
        yield
        os.chdir(before)


@examples(60)
@given(commands, st.lists(words, max_size=6))
def test_every_line_ends_in_an_answer_or_one_sentence(command, rest):
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        code = run([command, *rest])
    assert code in (0, 2), said.getvalue()
    assert "Traceback" not in said.getvalue()
    assert "BICONSENSUS_DEBUG" not in said.getvalue(), said.getvalue()
    if code == 2:
        assert said.getvalue().startswith("error: ")
        assert said.getvalue().count("\n") == 1
