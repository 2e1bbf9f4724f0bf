"""`biconsensus datasets`: what there is, and fetching it, against a server on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biconsensus.datasets._table import PACKAGED, table
from tests.helpers.web import Repositories, place

GLASS = table()["uci/glass.data"]


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data but those of the package, no connection but to this machine."""
    monkeypatch.delenv("BICONSENSUS_DATA", raising=False)
    monkeypatch.setenv("BICONSENSUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BICONSENSUS_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)


def test_list_shows_sets_and_what_is_here(here: Callable[..., Any]) -> None:
    done = here("datasets", "list")
    assert done.returncode == 0
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert rows["hopkins155"][1:3] == ["155", "156"]
    assert rows["uci"][1:6] == ["7", "12", "458", "kB", "4"]


def test_list_of_one_set_shows_its_names(here: Callable[..., Any]) -> None:
    assert here("datasets", "list", "cells").stdout.split() == ["coins", "nuclei"]
    assert "Did you mean 'network'" in here("datasets", "list", "networks").stderr


def test_fetch_keeps_files_and_says_where(here: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    iris = table()["uci/iris.csv"]
    monkeypatch.setattr("biconsensus.datasets._folder.PACKAGED", Path("nowhere"))
    with Repositories({place(iris): (PACKAGED / iris.file).read_bytes}) as server:
        monkeypatch.setenv("BICONSENSUS_DATA_URL", server.address)
        done = here("datasets", "fetch", "uci/iris")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("uci/iris: 1 file, 5 kB, in ")
    assert done.stderr == "", "no bar where there is no terminal"


def test_fetch_names_what_is_missing_and_goes_on(here: Callable[..., Any]) -> None:
    done = here("datasets", "fetch", "uci/glass", "uci/wine")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {GLASS.file} of the data set 'uci' is not in ")
    assert "`biconsensus datasets fetch uci`" in done.stderr
    assert done.stdout.startswith("uci/wine: 1 file, 11 kB, in ")
