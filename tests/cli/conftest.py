"""Real processes of the program, and small files for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROGRAM = [sys.executable, "-m", "biconsensus"]


@pytest.fixture(scope="session")
def program() -> list[str]:
    """How the program is started: the installed script where it is there."""
    script = Path(sys.executable).with_name("biconsensus")
    return [str(script)] if script.exists() else PROGRAM


@pytest.fixture
def call(program: list[str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in an empty folder and return what it said."""

    def run(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        quiet = "default,ignore::DeprecationWarning:typer"  # its lowest version beside a new click
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONWARNINGS": quiet}
        command = [*program, *map(str, arguments)]
        settings = {"capture_output": True, "text": True, "cwd": tmp_path, "env": environment, "timeout": 120}
        return subprocess.run(command, check=False, **{**settings, **options})

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The same as `call` inside this process: for what needs no process of its own."""
    from biconsensus.cli import run

    monkeypatch.chdir(tmp_path)

    def run_here(*arguments: Any) -> subprocess.CompletedProcess[str]:
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return run_here


@pytest.fixture
def labels_csv(tmp_path: Path) -> Path:
    """Three groups of 20 in six base results, each wrong on three elements of its own; ids, and a column of truth."""
    truth = np.repeat([0, 1, 2], 20)
    base = np.stack([truth] * 6, axis=1)
    for k in range(6):
        base[k::20, k] = (base[k::20, k] + 1) % 3
    lines = ["id,kind," + ",".join(f"run{k}" for k in range(6))]
    lines += [f"e{i},{'abc'[truth[i]]}," + ",".join(map(str, base[i])) for i in range(60)]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def points_csv(tmp_path: Path) -> Path:
    """Three far groups of 15 points."""
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], 15)
    X = np.array([[0, 0], [9, 0], [0, 9]])[truth] + rng.normal(size=(45, 2))
    path = tmp_path / "points.csv"
    path.write_text("x,y,kind\n" + "".join(f"{x:.6f},{y:.6f},{k}\n" for (x, y), k in zip(X, truth)), encoding="utf-8")
    return path
