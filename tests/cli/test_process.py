"""The program as a process: help, speed, pipes, completion, interruption and resuming."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc

COMMANDS = [
    "merge",
    "cluster",
    "communities",
    "fit",
    "explore",
    "demo",
    "inspect",
    "models",
    "modes",
    "solvers",
    "algorithms",
    "datasets",
]


def test_help_answers_at_once(call: Callable[..., Any]) -> None:
    # the time of the processor: the machine of the tests may be busy with others
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = call("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.returncode == 0
        if times[-1] < 0.3:
            break
    assert all(command in done.stdout for command in COMMANDS)
    assert min(times) < 0.3


def test_help_lists_commands_by_task(here: Callable[..., Any]) -> None:
    said = here("--help").stdout
    tasks = ["Find groups, by what you have:", "Try it, and look again at a result:", "List what there is:", "Options:"]
    assert sorted(tasks, key=said.index) == tasks
    find, look = said.split(tasks[0])[1].split(tasks[1])
    assert [line.split()[0] for line in find.splitlines() if line[:3].strip()] == [
        "merge",
        "cluster",
        "communities",
        "fit",
        "modes",
    ]
    assert "explore" in look


@pytest.mark.parametrize("command", [*COMMANDS, "datasets list", "datasets fetch"])
def test_help_of_a_command_has_an_example(here: Callable[..., Any], command: str) -> None:
    done = here(*command.split(), "--help")
    assert done.returncode == 0
    assert f"biconsensus {command}" in done.stdout.partition("\n  Example")[2]


def test_help_of_a_command_lists_options_by_purpose(here: Callable[..., Any]) -> None:
    said = here("merge", "--help").stdout
    headings = ["Arguments:", "Groups:", "Running:", "Table:", "Output:", "Options:"]
    assert [line for line in said.splitlines() if line in headings] == headings
    assert "--quorum SHARE" in said.split("Groups:")[1].split("Running:")[0]


def test_help_loads_no_numerics(program: list[str]) -> None:
    code = "import sys; from biconsensus.cli import run; run(['merge', '--help']);"
    code += "print({'numpy', 'sklearn'} & set(sys.modules))"
    python = Path(program[0]).with_name("python")
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("set()")


def test_output_in_a_pipe_has_no_control_codes(here: Callable[..., Any], points_csv: Path) -> None:
    # pipes of a process are looked at where one is needed anyway: in the tests of terminals and of interrupts
    done = here("cluster", points_csv, "--truth", "kind")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""


def test_a_closed_pipe_is_no_error(program: list[str], labels_csv: Path) -> None:
    unread, pipe = os.pipe()
    os.close(unread)  # as if `head` had read enough
    command = [*program, "merge", str(labels_csv), "--drop", "kind", "--quorum", "0.5", "--json"]
    done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["models", "solvers", "algorithms"])
def test_lists_have_one_line_each(here: Callable[..., Any], command: str) -> None:
    done = here(command)
    lines = done.stdout.splitlines()
    known = {"models": "circle", "solvers": "admm", "algorithms": "louvain"}[command]
    assert any(line.startswith(known) for line in lines)
    assert all(len(line.split()) > 2 for line in lines[1:])


def test_shell_completion_knows_the_models(program: list[str]) -> None:
    environment = {
        **os.environ,
        "_BICONSENSUS_COMPLETE": "complete_bash",
        "COMP_WORDS": "biconsensus fit p.csv --model ci",
        "COMP_CWORD": "4",
    }
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["circle"]


def test_version(here: Callable[..., Any]) -> None:
    import biconsensus

    assert here("--version").stdout == f"biconsensus {biconsensus.__version__}\n"


@pytest.fixture
def slow_points(tmp_path: Path) -> Path:
    """Enough points that the base clusterings take a few seconds."""
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(4), 150)
    X = 4 * rng.normal(size=(4, 3))[truth] + rng.normal(size=(600, 3))
    path = tmp_path / "slow.csv"
    np.savetxt(path, X, delimiter=",")
    return path


def test_an_interrupted_run_is_resumed(
    program: list[str], here: Callable[..., Any], slow_points: Path, tmp_path: Path
) -> None:
    command = ["cluster", str(slow_points), "--seed", "1", "--json"]
    folder = tmp_path / "kept"
    process = subprocess.Popen(
        [*program, *command, "--jobs", "2", "--resume", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run with interrupts off
    )
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*.json"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: to the workers, too
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("interrupted")  # and nothing else before: errors are no terminal here
    assert "Traceback" not in said
    assert "\x1b" not in said
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.npy")}
    assert len(kept) >= 2
    resumed = json.loads(here(*command, "--resume", folder).stdout)
    undisturbed = json.loads(here(*command).stdout)
    assert {name: (folder / name).stat().st_mtime_ns for name in kept} == kept
    assert [resumed[key] for key in ("sizes", "gains", "sources")] == [
        undisturbed[key] for key in ("sizes", "gains", "sources")
    ]


def test_a_folder_of_other_data_is_refused(here: Callable[..., Any], points_csv: Path) -> None:
    assert here("cluster", points_csv, "--truth", "kind", "-q", "--resume", "kept").returncode == 0
    points_csv.write_text(points_csv.read_text().replace("1.", "2."))
    done = here("cluster", points_csv, "--truth", "kind", "--resume", "kept")
    assert done.returncode == 2
    assert "made from other data" in done.stderr


def test_progress_only_on_a_terminal(
    here: Callable[..., Any], points_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pty

    main, child = pty.openpty()
    seen = b""

    def look() -> None:
        nonlocal seen
        with contextlib.suppress(OSError):  # the terminal is closed
            while part := os.read(main, 4096):
                seen += part

    looking = threading.Thread(target=look)
    looking.start()
    with open(child, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        done = here("cluster", points_csv, "--truth", "kind")
    looking.join()
    os.close(main)
    assert done.returncode == 0
    assert b"base results" in seen
    assert "3 groups" in done.stdout
    assert "\x1b" not in done.stdout


def test_newcomer_gets_a_report_in_under_a_minute(call: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 10_000)
    base = np.stack(
        [np.where(rng.random(truth.size) < 0.1, rng.integers(0, 8, truth.size), truth) for _ in range(12)], axis=1
    )
    header = ",".join(f"run{k}" for k in range(12))
    np.savetxt(tmp_path / "labels.csv", base, fmt="%d", delimiter=",", header=header, comments="")
    started = time.perf_counter()
    done = call("merge", "labels.csv", "--report", "page.html", "--json")
    assert time.perf_counter() - started < 60
    assert json.loads(done.stdout)["groups"] == 8
    assert (tmp_path / "page.html").stat().st_size < 10_000_000


def test_the_package_and_its_command_line_can_be_run_as_modules() -> None:
    for module in ("biconsensus", "biconsensus.cli"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout == f"biconsensus {bc.__version__}\n"
