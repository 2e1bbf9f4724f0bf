"""Fixtures that all tests share: where the data is, which browser there is, and when a skip is a failure."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent

# timings say nothing on a machine that others use too
# a developer sees new examples in every run; continuous integration as many as Hypothesis takes by itself
settings.register_profile("biconsensus", deadline=None, max_examples=25)
settings.register_profile("integration", deadline=None, max_examples=100)
settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("BICONSENSUS_EXAMPLES", "10000")))
settings.register_profile(
    "mutate", deadline=None, max_examples=15, derandomize=True, phases=(Phase.explicit, Phase.generate)
)
_USUAL = "integration" if os.environ.get("BICONSENSUS_REQUIRE_ALL") or os.environ.get("CI") else "biconsensus"
settings.load_profile(os.environ.get("BICONSENSUS_PROFILE", _USUAL))

if os.environ.get("BICONSENSUS_PROFILE") == "mutate":
    if not hasattr(pytest.Item, "_nodeid"):
        pytest.Item._nodeid = property(lambda item: item.nodeid)  # mutmut 3.8 asks for what pytest 9.2 has renamed
    _STATS = ROOT / "mutmut-stats.json"
    _SECONDS: dict[str, float] = json.loads(_STATS.read_text())["duration_by_test"] if _STATS.exists() else {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        """The quickest tests first: most changes are noticed by one of them."""
        items.sort(key=lambda item: _SECONDS.get(item.nodeid, 0.0))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
        """A test that takes very much longer than it should has noticed the change; only its own work counts."""
        signal.signal(signal.SIGPROF, lambda *_: pytest.fail("does not come to an end"))
        signal.setitimer(signal.ITIMER_PROF, 30 + 10 * _SECONDS.get(item.nodeid, 0.0))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


# matplotlib must not look for a screen
os.environ.setdefault("MPLBACKEND", "Agg")

# scanpy, cdlib and others are heavy: `make test-integrations` brings them and asks for these tests
collect_ignore = [] if os.environ.get("BICONSENSUS_INTEGRATIONS") else ["integrations"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect tests without looking for garbage: there is none, and looking takes a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def not_here(reason: str) -> NoReturn:
    """Skip, or fail where BICONSENSUS_REQUIRE_ALL is set: continuous integration has everything."""
    if os.environ.get("BICONSENSUS_REQUIRE_ALL"):
        pytest.fail(f"BICONSENSUS_REQUIRE_ALL is set, but {reason}")
    pytest.skip(reason)


def find_data() -> Path | None:
    """The folder of data sets: BICONSENSUS_DATA, or `../shared/data` beside the repository."""
    given = os.environ.get("BICONSENSUS_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of the data sets of the experiments; skips with a reason where it is absent."""
    folder = find_data()
    if folder is None:
        not_here("the data sets are not here: set BICONSENSUS_DATA to their folder")
    os.environ["BICONSENSUS_DATA"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; skips with a reason where there is none."""
    from scripts.find_chromium import find_chromium

    path = find_chromium()
    if path is None:
        not_here("no Chromium was found: install one, or set BICONSENSUS_CHROMIUM to its path")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """One browser for all tests of a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()
