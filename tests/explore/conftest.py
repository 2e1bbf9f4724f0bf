"""A table of groupings with two bad sources, and requests to an explorer."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sys
import time
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

TRUTH = np.repeat([0, 1, 2], [30, 25, 20])
SOURCES = ["fine", "coarse", "one", "two", "three", "chance", "noise"]


def groupings() -> np.ndarray:
    """(75, 7) groupings of three groups: a finer and a coarser one, three with errors, two that say nothing."""
    rng = np.random.default_rng(3)
    good = [np.where(rng.random(75) < 0.1, rng.integers(0, 3, 75), TRUTH) for _ in range(3)]
    fine, coarse = 2 * TRUTH + rng.integers(0, 2, 75), TRUTH // 2
    return np.stack([fine, coarse, *good, rng.integers(0, 4, 75), rng.integers(0, 3, 75)], axis=1)


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The groupings as a file, with names of the elements and a column of truth."""
    path = tmp_path_factory.mktemp("explore") / "groupings.csv"
    lines = ["name," + ",".join(SOURCES) + ",truth"]
    lines += [f"e{i}," + ",".join(map(str, row)) + f",{'abc'[TRUTH[i]]}" for i, row in enumerate(groupings())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass
class Answer:
    """What a server said."""

    status: int
    headers: Message
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Client:
    """Plain requests to an explorer: paths and headers go out exactly as they are given."""

    url: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    @property
    def token(self) -> str:
        return urlsplit(self.url).path.strip("/")

    def raw(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """One request to a path of the server."""
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may answer before it was told all
                connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """A page behind the token."""
        return self.raw("GET", f"/{self.token}/{path}", headers=headers)

    def send(self, path: str, body: Any, **headers: str) -> Answer:
        """JSON to a path behind the token."""
        known = {"content-type": "application/json", **headers}
        return self.raw("POST", f"/{self.token}/{path}", json.dumps(body), known)

    def upload(self, name: str, content: Any, **headers: str) -> Answer:
        """A file."""
        return self.raw("POST", f"/{self.token}/upload", content, {"x-name": name, **headers})

    def settled(self) -> dict[str, Any]:
        """The state when all work is done."""
        until = time.monotonic() + 60
        while (state := self.get("state").json())["working"] and time.monotonic() < until:
            time.sleep(0.02)
        assert state["status"] == "ready", state["error"]
        found: dict[str, Any] = state
        return found


def children() -> set[int]:
    """Processes that this one has started and that are still there."""
    if not sys.platform.startswith("linux"):
        return set()
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(path.parent.name))
    return found
