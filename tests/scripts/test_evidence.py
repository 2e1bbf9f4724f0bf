"""What the present code has measured is left alone, and the time of the rest is told beforehand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.results import code_digest
from scripts import evidence


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three parts: measured, measured by other code, and never; the names of those that run."""
    scripts = {name: tmp_path / "benchmarks" / f"{name}.py" for name in ("new", "old", "never")}
    (tmp_path / "benchmarks").mkdir()
    for script in scripts.values():
        script.write_text("x = 1\n")
    monkeypatch.setattr("benchmarks.results.ROOT", tmp_path)
    found = [evidence.Part(name, script, tmp_path / f"{name}.json") for name, script in scripts.items()]
    for name, code in (("new", code_digest(scripts["new"])), ("old", "other")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"measured": [{"code": code, "seconds": 120, "done": True}]}))
    monkeypatch.setattr(evidence, "parts", lambda: found)
    names: list[str] = []
    monkeypatch.setattr(evidence, "run", lambda path: names.append(path.stem) or int(path.stem == "never"))
    return names


def test_only_what_is_out_of_date_runs(ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence.main([]) == 1, "one part failed"
    assert ran == ["old", "never"]
    said = capsys.readouterr()
    assert "2 of 3 parts to measure: about 2 minutes, and 1 whose time is not known yet." in said.out
    assert "failed, or without their data: never" in said.err


def test_again_measures_all_and_list_none(ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence.main(["--list"]) == 0
    assert ran == []
    evidence.main(["--again", "new", "old"])
    assert ran == ["new", "old"]
    with pytest.raises(SystemExit):
        evidence.main(["other"])
    assert "there are: new, old, never" in capsys.readouterr().err


def test_times_are_measured_alone_after_the_others_and_the_longest_part_comes_first(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "ALONE", ("new",))
    assert evidence.main(["--again", "--jobs", "2"]) == 1
    assert set(ran[:2]) == {"never", "old"}, "nobody knows how long the one takes"
    assert ran[2:] == ["new"]


def test_parts_side_by_side_have_one_thread_each_and_those_alone_all(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setattr(evidence, "ALONE", ("new",))
    seen: dict[str, tuple[str | None, str]] = {}

    def look(path: Path) -> int:
        seen[path.stem] = os.environ.get("OMP_NUM_THREADS"), os.environ["OPENBLAS_NUM_THREADS"]
        return 0

    monkeypatch.setattr(evidence, "run", look)
    assert evidence.main(["--again", "--jobs", "2"]) == 0
    assert seen == {"old": ("1", "3"), "never": ("1", "3"), "new": (None, "3")}


def test_what_is_measured_alone_is_a_part() -> None:
    assert set(evidence.ALONE) <= {part.name for part in evidence.parts()}


def test_everything_published_is_a_part() -> None:
    names = {part.name for part in evidence.parts()}
    assert {"accuracy", "leaderboard", "order_audit", "communities", "solvers", "reliability"} <= names
    assert "clustering_fig6_uci" in names
    assert "results" not in names
