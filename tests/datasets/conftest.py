"""A server in place of the public repositories, and an empty cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from biconsensus.datasets._table import PACKAGED, table
from tests.helpers.web import Repositories, place


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; no folder of the user, no other mirror, no proxy, no waiting between tries."""
    for name in ("BICONSENSUS_DATA", "BICONSENSUS_DATA_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BICONSENSUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return tmp_path / "cache"


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repositories]:
    """Has the files that come with the package: their content is right by the table that is tested."""
    files = {place(file): (PACKAGED / file.file).read_bytes for file in table().values()}
    files = {key: read for key, read in files.items() if Path(read.__self__).exists()}  # type: ignore[attr-defined]
    with Repositories(files) as running:
        monkeypatch.setenv("BICONSENSUS_DATA_URL", running.address)
        yield running
