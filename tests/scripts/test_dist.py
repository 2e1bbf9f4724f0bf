"""The check of a release: what counts as a fault, and that the description for the package index is whole."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import dist

ROOT = Path(__file__).resolve().parents[2]


def test_only_the_base_has_limits() -> None:
    assert dist.Trial("base", "", 300, 0.1, 0.2).faults() == []
    assert dist.Trial("base", "", 351, 0.25, 0.35).faults() == [
        "351 MB, more than 350",
        "import takes 0.25 s, more than 0.2",
        "--help takes 0.35 s, more than 0.3",
    ]
    assert dist.Trial("tables", "", 900, 0.1, 0.5).faults() == []
    assert dist.Trial("tables", "no polars", 900, 0.1, 0.2).faults() == ["no polars"]


def test_an_unknown_extra_is_named_before_anything_is_built() -> None:
    with pytest.raises(SystemExit, match="no such extra: nothing; there are: base, plots"):
        dist.main(["nothing"])


def test_failures_are_told_and_time_is_measured(tmp_path: Path) -> None:
    assert dist.failure([sys.executable, "-c", "print('fine')"], tmp_path) == ""
    assert "ValueError: why" in dist.failure([sys.executable, "-c", "raise ValueError('why')"], tmp_path)
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    assert dist.seconds([sys.executable, "-c", busy], tmp_path) > 0.17  # in steps of a hundredth


def test_links_of_the_description_are_whole_addresses() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert len(targets) > 15
    assert [target for target in targets if not target.startswith("https://")] == []
