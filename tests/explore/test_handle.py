"""Starting and ending the explorer: from Python, in a notebook, on the command line; what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.errors import InputError, InputTypeError
from biconsensus.explore import explore
from tests.explore.conftest import Client, children, groupings


def test_a_consensus_opens_its_explorer_and_nothing_is_left_of_it() -> None:
    threads, processes = threading.active_count(), children()
    given = bc.find_consensus(list(groupings().T))
    with given.explore(browser=False, name="mine") as explorer:
        client = Client(explorer.url)
        state = client.settled()
        assert client.address[0] == "127.0.0.1"
        assert (state["choices"]["mode"], state["answer"]["groups"]) == ("given", len(given))
        folder = explorer._backend.folder
        assert explorer.url in repr(explorer)
    assert repr(explorer) == "Explorer(closed)"
    assert "closed" in explorer._repr_html_()
    assert not folder.exists()
    assert (threading.active_count(), children()) == (threads, processes)


def test_a_notebook_shows_the_page_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with bc.find_consensus(list(groupings().T)).explore() as explorer:
        assert opened == []
        assert f'<iframe src="{explorer.url}"' in explorer._repr_html_()
        policy = Client(explorer.url).get("").headers["content-security-policy"]
        assert "frame-ancestors 'self' http://localhost:*" in policy
    monkeypatch.delitem(sys.modules, "IPython")
    with explore() as explorer:
        assert opened == [explorer.url]
        assert Client(explorer.url).get("state").json()["status"] == "empty"


def test_what_cannot_be_explored_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="must be a Consensus, a Pool or the path"):
        explore(3, browser=False)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="check the path"):
        explore(tmp_path / "none.csv", browser=False)
    with explore(browser=False) as explorer, pytest.raises(InputError, match="cannot be used"):
        explore(browser=False, port=Client(explorer.url).address[1])


def started(table: Path, *more: str) -> tuple[subprocess.Popen[str], Client]:
    """The program, and who asks it."""
    command = [sys.executable, "-m", "biconsensus", "explore", *map(str, (table, *more)), "--no-browser"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    return program, Client(program.stdout.readline().split()[-1])


def test_a_saved_session_survives_a_kill_and_a_signal_ends_in_order(table: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.bic"
    program, client = started(table, "--session", str(kept))
    with program:
        client.settled()
        client.send("choices", {"mode": "n_groups", "n_groups": 2, "off": [5]})
        client.settled()
        assert client.send("save", {}).status == 200
        before = kept.read_bytes()
        client.send("choices", {"off": [1, 2]})
        program.send_signal(signal.SIGKILL)
    assert kept.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["kept.bic"]
    labels = bc.Consensus.load(kept).labels
    assert len(np.unique(labels)) == 2
    program, client = started(kept)
    with program:
        state = client.settled()
        assert (state["choices"]["mode"], state["choices"]["n_groups"]) == ("n_groups", 2)
        lines = client.get("export/groups.csv").text.splitlines()[1:]
        assert [int(line.split(",")[1]) for line in lines] == labels.tolist()
        folder = list(Path(tempfile.gettempdir()).glob("biconsensus-explore-*"))
        program.send_signal(signal.SIGTERM)
        assert program.wait(20) == 143
    assert any(not path.exists() for path in folder)


def test_visits_leave_nothing_behind(table: Path) -> None:
    with explore(browser=False) as explorer:
        client = Client(explorer.url)

        def visit() -> None:
            assert client.get("").status == 200
            client.upload("mine.csv", table.read_bytes())
            client.settled()
            client.send("choices", {"off": [6]})
            client.settled()
            assert client.get("export/groups.csv").status == 200

        counts: list[Callable[[], Any]] = [
            lambda: len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0,
            lambda: len(children()),
            lambda: len(list(explorer._backend.folder.iterdir())),
        ]
        visit()
        before = [count() for count in counts]
        for _ in range(2):
            visit()
        until = time.monotonic() + 5
        while any(count() > most for count, most in zip(counts, before)) and time.monotonic() < until:
            time.sleep(0.05)
        assert all(count() <= most for count, most in zip(counts, before))
