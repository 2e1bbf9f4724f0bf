"""The benchmarks of meaning: what is kept of a run, and what counts as an error."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

labels: Any = importlib.import_module("benchmarks.meaning_labels")
points: Any = importlib.import_module("benchmarks.meaning_points")
results: Any = importlib.import_module("benchmarks.results")


def test_labels_count_false_alarms_and_kept_groups() -> None:
    table, truth = labels.planted(60, 4, 6, 0.0, np.random.default_rng(0))
    assert truth.size == len(table)
    assert labels.false_alarm(table)
    assert not labels.false_alarm(labels.permuted((60, 4, 6), 0))
    kept, total = labels.groups_kept((60, 4, 6), 0.0)
    assert kept == total == 4 * labels.PLANTED


def test_labels_write_a_page_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "PUBLISHED", tmp_path)
    monkeypatch.setattr(labels, "KINDS", {"tiny": (40, 3, 5)})
    monkeypatch.setattr(labels, "NOISE", (0.0,))
    monkeypatch.setattr(labels, "PLANTED", 1)
    labels.main(2)
    monkeypatch.setattr(labels, "groups_kept", None)
    labels.main(3)
    said = json.loads((tmp_path / "meaning_labels.json").read_text())["summary"]
    assert said == {"tables": 3, "false alarms": 0, "family-wise error": 0.0, "kept": 1.0}
    assert "| tiny | 3 | 0 (0.0%) |" in (tmp_path / "meaning_labels.md").read_text()


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that other code of the package has measured."""
    monkeypatch.setattr(results, "PUBLISHED", tmp_path)
    answers = {name: [0.5, 2, 0.1] for name in ("ConsensusClustering() 0", "HDBSCAN 10 0")}
    values = {"sk/iris": {"truth": [3], "shape": [150, 4], **answers}, "null/ring": {"2 200 0": 1}}
    values["rivals"] = {"code": points.rivals_digest(), "measured": "2026-01-01 at commit 0123456789"}
    measured = [{"date": "2026-01-01", "commit": "0123456789", "code": "another", "seconds": 1}]
    (tmp_path / "meaning-points.json").write_text(json.dumps({"measured": measured, "values": values}))


@pytest.mark.usefixtures("recorded")
def test_rivals_are_kept_where_only_the_package_has_changed() -> None:
    kept = results.Results.open("meaning-points", points.page)
    points.keep_rivals(kept)
    assert kept.values["sk/iris"] == {"truth": [3], "shape": [150, 4], "HDBSCAN 10 0": [0.5, 2, 0.1]}
    assert "null/ring" not in kept.values
    assert "measured on 2026-01-01 at commit 0123456789" in points.page(kept.values)


@pytest.mark.usefixtures("recorded")
def test_rivals_are_measured_again_where_they_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_CLUSTERS", 40)
    kept = results.Results.open("meaning-points", points.page)
    points.keep_rivals(kept)
    assert list(kept.values) == ["rivals"]
    assert kept.values["rivals"]["measured"] != "2026-01-01 at commit 0123456789"
