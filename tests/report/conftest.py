"""Small results and pages for the tests of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from tests.helpers.strategies import paper_consensus


@dataclass
class Opened:
    """A page in the browser, with everything it complained about or asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Write the report of a result and open it; at the end nothing may have failed or left the page."""
    opened: list[Opened] = []

    def open_it(consensus: bc.Consensus, *, dark: bool = False, **options: Any) -> Opened:
        path = tmp_path / f"page{len(opened)}.html"
        consensus.write_report(path, **options)
        context = browser.new_context(color_scheme="dark" if dark else "light", viewport={"width": 1200, "height": 900})
        found = Opened(context.new_page())
        found.page.on("console", lambda message: found.errors.append(message.text))
        found.page.on("pageerror", lambda error: found.errors.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(path.as_uri())
        found.page.wait_for_selector("body[data-ready]", timeout=10_000)
        opened.append(found)
        return found

    yield open_it
    for found in opened:
        outside = [url for url in found.requests if not url.startswith(("file:", "data:"))]
        found.page.context.close()
        assert found.errors == []
        assert outside == []


@pytest.fixture(scope="session")
def blobs() -> tuple[bc.Consensus, np.ndarray, np.ndarray]:
    """Three groups of 40 points, six base results, some of them wrong; ids are names."""
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 40)
    X = np.array([[0, 0], [6, 0], [0, 6]])[truth] + rng.normal(size=(120, 2))
    base = np.stack([np.where(rng.random(120) < 0.08, rng.integers(0, 3, 120), truth) for _ in range(6)], axis=1)
    pool = bc.Pool.from_labels(base, ids=np.array([f"point {i}" for i in range(120)]))
    return paper_consensus(pool), X, truth
