"""The how-to guides run as printed, with the packages that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import run_pages

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", sorted(HOWTO.glob("*.md")), ids=lambda page: page.stem)
def test_the_page_runs_as_printed(page: Path) -> None:
    run_pages.run_page(page)
