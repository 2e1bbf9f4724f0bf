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

SCREEN: Any = {"width": 1200, "height": 900}


@dataclass
class Opened:
    """A page in the browser, with everything it complained about or asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def tab(browser: Any) -> Iterator[Any]:
    """The one page of the browser that all reports are opened in: a new page costs more than most of them."""
    context = browser.new_context(viewport=SCREEN)
    yield context.new_page()
    context.close()


@pytest.fixture
def open_report(tab: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Write the report of a result and open it; at the end nothing may have failed or left the page."""
    found = Opened(tab)
    heard = {
        "console": lambda message: found.errors.append(message.text),
        "pageerror": lambda error: found.errors.append(str(error)),
        "request": lambda request: found.requests.append(request.url),
    }
    for event, listener in heard.items():
        tab.on(event, listener)

    def open_it(consensus: bc.Consensus, *, dark: bool = False, **options: Any) -> Opened:
        path = tmp_path / f"page{len(found.requests)}.html"
        consensus.write_report(path, **options)
        tab.mouse.move(0, 0)  # as in a new page: nothing is pointed at
        tab.set_viewport_size(SCREEN)
        tab.emulate_media(media="screen", color_scheme="dark" if dark else "light")
        tab.goto(path.as_uri())
        tab.wait_for_selector("body[data-ready]", timeout=10_000)
        return found

    yield open_it
    for event, listener in heard.items():
        tab.remove_listener(event, listener)
    assert found.requests != []
    assert [url for url in found.requests if not url.startswith(("file:", "data:"))] == []
    assert found.errors == []


@pytest.fixture(scope="session")
def blobs() -> tuple[bc.Consensus, np.ndarray, np.ndarray]:
    """Three groups of 40 points, six base results, some of them wrong; ids are names."""
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 40)
    X = np.array([[0, 0], [6, 0], [0, 6]])[truth] + rng.normal(size=(120, 2))
    base = np.stack([np.where(rng.random(120) < 0.08, rng.integers(0, 3, 120), truth) for _ in range(6)], axis=1)
    pool = bc.Pool.from_labels(base, ids=np.array([f"point {i}" for i in range(120)]))
    return paper_consensus(pool), X, truth


@pytest.fixture(scope="session")
def moving() -> bc.Consensus:
    """Twelve groups in four in two, so that the path has many points."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(12), 6)
    base = [np.where(rng.random(72) < 0.15, rng.integers(0, 12, 72), truth) // (1, 3, 6)[k % 3] for k in range(15)]
    return bc.find_consensus(bc.Pool.from_labels(base, ids=np.array([f"e{i}" for i in range(72)])))
