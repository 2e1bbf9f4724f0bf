"""The how-to guides run as printed, with the packages that they are about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts import run_pages

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"
NEEDS = {
    "label_images.md": "skimage",
    "network_tools.md": "cdlib",
    "single_cell.md": "scanpy",
    "tables.md": "duckdb",
}


def needed(package: str) -> None:
    """Skip where a package of the group `integrations` is missing; `make test-integrations` lets that fail."""
    if os.environ.get("BICONSENSUS_REQUIRE_ALL"):
        __import__(package)
    pytest.importorskip(package)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", sorted(HOWTO.glob("*.md")), ids=lambda page: page.stem)
def test_the_page_runs_as_printed(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name in NEEDS:
        needed(NEEDS[page.name])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run_pages.run_page(page)
