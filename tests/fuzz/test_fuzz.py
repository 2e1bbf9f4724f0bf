"""A bounded run of the fuzzer, and every input that once failed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import large, readers

ROOT = Path(__file__).resolve().parents[2]
RUNS = 1000


def test_a_bounded_run_finds_no_fault():
    pytest.importorskip("atheris", reason="atheris is not available on this system")
    command = [sys.executable, "-m", "tests.fuzz.readers", "--runs", str(RUNS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert [line for line in done.stdout.splitlines() if "inputs" in line] == [
        f"{target}: {RUNS} inputs, no fault" for target in readers.ENDINGS
    ]


@pytest.mark.parametrize("case", sorted(readers.CASES.glob("*-*")), ids=lambda path: path.name)
def test_inputs_that_once_failed(case, tmp_path):
    readers.read(case.name.split("-")[0], case.read_bytes(), tmp_path)


def test_valid_seeds_are_read(tmp_path):
    from biconsensus.result._consensus import Consensus

    (tmp_path / "whole.bic").write_bytes(readers.changed_archive(b"\x00\x00\x00" + b""))
    for target in readers.ENDINGS:
        for seed in readers.seeds(target):
            readers.read(target, seed, tmp_path)
    parts = readers.parts_of("saved")
    unchanged = bytes([0, 0, 0]) + parts[sorted(parts)[0]][:4]
    (tmp_path / "whole.bic").write_bytes(readers.changed_archive(unchanged))
    assert len(Consensus.load(tmp_path / "whole.bic")) == 2


def test_killed_runs_resume_without_loss():
    command = [sys.executable, "-m", "tests.fuzz.kills", "--kills", "8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "8 kills" in done.stdout


def test_a_streamed_pool_has_the_numbers_that_were_planted():
    assert large.check(250_000).startswith("250000 elements, 5000000 memberships")
