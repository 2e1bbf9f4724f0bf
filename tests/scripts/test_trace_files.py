"""The ways through the package stay short: no task runs through more files than it does today."""

from __future__ import annotations

from functools import cache

import pytest

from scripts import trace_files
from scripts.trace_files import TASKS, Task, main

files_of = cache(trace_files.files_of)
"""Every task is traced once for all tests."""

ABOVE = {
    "ConsensusCommunities.fit": 33,
}
"""Files of the tasks that are above their goals today; lower a figure when it falls, drop it when the goal is met."""


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_task_runs_through_more_files_than_today(task: Task) -> None:
    files = files_of(task)
    assert len(files) <= ABOVE.get(task.name, task.goal), "\n".join(files)
    assert "result/_consensus.py" in files or task.name == "MultiModelFitter.fit"


def test_the_table_names_every_task_and_its_goal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_files, "files_of", files_of)
    missed = main([])
    said = capsys.readouterr().out
    assert missed == said.count("above")
    for task in TASKS:
        assert f"{task.name:32}" in said
        assert f"{task.goal:6}" in said
