"""Figures 12, 13 and 17 in their small versions: what they must show."""

from __future__ import annotations

from pathlib import Path

import pytest

from biconsensus import MultiModelFitter
from experiments import models_fig12_lines_circles as fig12
from experiments import models_fig13_other_techniques as fig13
from experiments import models_fig17_dot as fig17


def pictures_are_there(section: object, out: Path) -> None:
    """Every picture of a section was written and is not blank."""
    for name, _ in section.pictures:  # type: ignore[attr-defined]
        assert (out / name).stat().st_size > 5000


def test_fig12_recall_is_that_of_the_paper(data: Path, tmp_path: Path) -> None:
    section = fig12.run(tmp_path, quick=True)
    pictures_are_there(section, tmp_path)
    row = dict(zip(section.tables[0].header, section.tables[0].rows[0]))
    assert row["models"] == "5–5 of 5"
    assert float(str(row["recall"])) >= 99.5 > float(str(row["J-linkage"]))
    assert row["true models %"] == "9.4"


def test_fig13_is_better_than_what_it_is_compared_with(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fig13.SETS, "A", ("line", 2000))
    section = fig13.run(tmp_path, quick=True)
    pictures_are_there(section, tmp_path)
    *rivals, ours = section.tables[0].rows
    assert all(float(str(ours[1])) > float(str(rival[1])) for rival in rivals)
    assert all(float(str(ours[2])) < float(str(rival[2])) for rival in rivals)


def test_fig17_the_dot_is_no_line_and_the_line_through_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"n_samples": 600}
    monkeypatch.setattr(fig17, "MultiModelFitter", lambda *given, **named: MultiModelFitter(*given, **named | few))
    section = fig17.run(tmp_path, quick=True)
    pictures_are_there(section, tmp_path)
    dot, line = section.tables[0].rows
    assert float(str(dot[2])) >= 1
    assert float(str(dot[3])) == 0
    assert float(str(line[3])) == 1
