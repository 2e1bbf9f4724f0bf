"""Mutation testing: names, changes and reasons; the mutants themselves take hours."""

from __future__ import annotations

import subprocess
from collections import Counter
from types import SimpleNamespace

import pytest

from scripts import mutate

RESULTS = """
    biconsensus.pool._rows.x_inverse__mutmut_1: killed
    biconsensus.pool._rows.x_inverse__mutmut_2: survived
    biconsensus.pool._labels.x__distinct__mutmut_7: survived
    biconsensus.pool._labels.x__distinct__mutmut_8: not checked
"""
DIFF = """# biconsensus.pool._labels.x__distinct__mutmut_7: survived
--- src/biconsensus/pool/_labels.py
+++ src/biconsensus/pool/_labels.py
@@ -1,3 +1,3 @@
 def _distinct(cells):
-    if int(cells.max()) - low > 4 * cells.size + 1000:
+    if int(cells.max()) - low >= 4 * cells.size + 1000:
         return None
"""
OTHER = DIFF.replace("_labels", "_rows").replace(">= 4", "> 5")


def test_reasons_for_lines_that_are_gone_are_found() -> None:
    there = "pool/_rows.py: undone = np.empty(order.size, np.int32) -> undone = None"
    away = ["pool/_rows.py: no such line -> none", "none.py: a -> b"]
    assert mutate.gone(dict.fromkeys([there, *away], "")) == away


def test_a_change_is_named_by_file_and_lines() -> None:
    change = mutate.change_of(DIFF)
    assert change.startswith("pool/_labels.py: if int(cells.max()) - low > 4")
    assert change.endswith("-> if int(cells.max()) - low >= 4 * cells.size + 1000:")
    assert "decides how fast the answer comes, not which" in mutate.explained().values()


def test_outcomes_leave_out_what_was_not_run() -> None:
    assert list(mutate.outcomes(RESULTS).values()) == ["killed", "survived", "survived"]


def test_survivors_without_a_reason_are_printed_and_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"results": RESULTS, "x__distinct__mutmut_7": DIFF, "x_inverse__mutmut_2": OTHER}

    def run(command: list[str], **_: object) -> SimpleNamespace:
        return SimpleNamespace(stdout=next(text for key, text in said.items() if key in " ".join(command)))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(mutate, "explained", lambda: {mutate.change_of(DIFF): "only how fast"})
    assert mutate.main(["--report"]) == 1
    printed = capsys.readouterr().out
    assert "pool._rows | 1 | 0 | 0 | 1 | 0 | 0" in printed
    assert "pool._labels | 0 | 0 | 1 | 0 | 0 | 0" in printed
    assert "x_inverse__mutmut_2, survived: pool/_rows.py" in printed
    assert "x__distinct__mutmut_7, survived" not in printed


def test_all_is_the_sum_of_the_modules() -> None:
    lines = mutate.table(Counter({("a", "killed"): 3, ("b", "killed"): 2, ("b", "survived"): 1}))
    assert lines[-1] == "all | 5 | 0 | 0 | 1 | 0 | 0"


def test_a_sample_is_the_same_whatever_else_is_there() -> None:
    names = [f"biconsensus.pool._rows.x__mutmut_{k}" for k in range(50)]
    drawn = mutate.sample(dict.fromkeys(names, "killed"), "pool", 8)
    assert len(set(drawn)) == 8
    assert mutate.sample(dict.fromkeys([*reversed(names), "biconsensus.quorum.x"], ""), "pool._rows", 8) == drawn
    assert mutate.sample({}, "pool", 8) == []


def test_scores_leave_out_what_cannot_be_told() -> None:
    counts = Counter({("pool._a", "killed"): 80, ("pool._b", "timeout"): 5, ("pool._a", "survived"): 10})
    counts["pool._b", "killed"], counts["pool._b", "explained"] = 5, 7
    assert mutate.scores(counts, ["pool", "quorum"]) == ["pool: 90 of 100 noticed, 90.0% (83 to 94)"]
