"""The server: who is let in, what is refused, what comes out."""

from __future__ import annotations

import contextlib
import gzip
import io
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import biconsensus as bc
from biconsensus.explore import Explorer, explore
from biconsensus.explore._server import MOST_SAID, MOST_UPLOADED, Backend
from tests.explore.conftest import Client, groupings


@pytest.fixture(scope="module")
def explorer(table: Path) -> Iterator[Explorer]:
    with explore(table, browser=False, max_upload=2 << 20) as one:
        folder = one._backend.folder
        yield one
    assert not folder.exists()


@pytest.fixture(scope="module")
def client(explorer: Explorer) -> Client:
    found = Client(explorer.url)
    found.settled()
    return found


@pytest.fixture
def backend(explorer: Explorer) -> Backend:
    found: Backend = explorer._backend
    return found


PRIVATE = ["", "state", "report", "export/groups.csv", "explore.js", "elements"]


@pytest.mark.parametrize("path", PRIVATE)
def test_without_the_token_nothing_is_told(client: Client, path: str) -> None:
    for token in ("", "wrong", client.token[:-1], client.token + "x", "%C3%A9", client.token.swapcase()):
        answer = client.raw("GET", f"/{token}/{path}")
        assert answer.status == 403
        assert "groups" not in answer.text
    assert client.raw("GET", f"/{path}").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil:PORT"]
)
def test_other_names_of_this_machine_are_refused(client: Client, host: str) -> None:
    assert client.get("state", host=host.replace("PORT", str(client.address[1]))).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://127.0.0.1:1"])
def test_other_pages_are_refused(client: Client, backend: Backend, origin: str) -> None:
    port = client.address[1]
    origin = origin.replace("PORT", str(port))
    before = backend.space.choices
    assert client.send("choices", {"off": [1]}, origin=origin).status == 403
    assert client.get("state", origin=origin).status == 403
    assert client.send("choices", {"off": [1]}, **{"sec-fetch-site": "cross-site"}).status == 403
    assert client.send("choices", {"off": [1]}, **{"content-type": "text/plain"}).status == 415
    assert backend.space.choices is before
    assert client.get("state", origin=f"http://127.0.0.1:{port}").status == 200
    assert client.get("state", host=f"localhost:{port}", origin=f"http://localhost:{port}").status == 200


TRICKS = [
    "../../etc/passwd",
    "..%2f..%2fetc/passwd",
    "export/..%2f..%2fetc%2fpasswd",
    "export/%2e%2e%2fsession.bic",
    "export/groups.py",
    "export/session.csv",
    "export/",
    "explore.js/../_server.py",
    "assets/page.html",
    "report/../../x",
    "//etc/passwd",
]


@pytest.mark.parametrize("path", TRICKS)
def test_no_path_leads_to_another_file(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status in (403, 404)
    assert "root:" not in answer.text


@pytest.mark.parametrize("name", ["../../x.csv", "..\\..\\x.csv", "/etc/passwd.csv", "%2e%2e%2fx.csv"])
def test_the_name_of_an_upload_is_no_path(client: Client, backend: Backend, name: str) -> None:
    assert client.upload(name, b"a,b\n0,0\n0,0\n1,1\n1,1\n").status == 200
    backend.space.wait(None)
    assert backend.space.subject is not None
    assert "/" not in backend.space.subject.name
    assert [path.parent for path in backend.folder.iterdir()] == [backend.folder]  # the one before is gone


@pytest.mark.parametrize("name", ["labels.csv.gz", "labels.gz"])
def test_a_packed_table_can_be_dropped(client: Client, backend: Backend, name: str) -> None:
    assert client.upload(name, gzip.compress(b"a,b\n0,0\n0,0\n1,1\n1,1\n")).status == 200
    backend.space.wait(None)
    assert backend.space.subject is not None
    assert backend.space.subject.name == name
    assert backend.space.subject.pool.shape == (4, 4)
    answer = client.upload("labels.exe.gz", b"x")
    assert answer.status == 415
    assert "unknown ending '.exe'" in answer.json()["error"]


def test_an_upload_that_is_too_large_is_refused_before_it_is_there(client: Client, backend: Backend) -> None:
    before = sorted(backend.folder.iterdir())
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1 << 14):
            sent += 1 << 16
            yield b"0" * (1 << 16)

    answer = client.upload("a.csv", b"", **{"content-length": str(1 << 30)})
    assert answer.status == 413
    assert "larger than 2 MB" in answer.json()["error"]
    with contextlib.suppress(ConnectionError):  # nobody listens any more while a gigabyte is being sent
        assert client.upload("a.csv", chunks()).status == 413
    assert sent < 64 << 20
    assert client.upload("a.exe", b"x").status == 415
    assert sorted(backend.folder.iterdir()) == before
    assert MOST_UPLOADED == 200 << 20


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b"[]", 400), (b'{"off": [99]}', 409), (b"{" + b" " * MOST_SAID + b"}", 413)]
)
def test_what_is_no_choice_is_refused_with_a_sentence(client: Client, body: bytes, status: int) -> None:
    answer = client.raw("POST", f"/{client.token}/choices", body, {"content-type": "application/json"})
    assert answer.status == status
    assert answer.json()["error"].endswith(".")


def test_everything_says_what_may_be_loaded(client: Client) -> None:
    for path in ("", "state", "nothing", "explore.js"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    page = client.get("").text
    assert "http:" not in page
    assert "https:" not in page


def test_a_file_goes_in_and_the_answer_comes_out(client: Client, backend: Backend, table: Path) -> None:
    assert client.upload("mine.csv", table.read_bytes()).status == 200
    assert client.settled()["input"]["name"] == "mine.csv"
    assert client.send("choices", {"mode": "n_groups", "n_groups": 3, "off": [5, 6]}).status == 200
    state = client.settled()
    wanted = bc.find_consensus(list(groupings()[:, :5].T), n_groups=3)
    lines = client.get("export/groups.csv").text.splitlines()
    assert lines[0] == "id,group,confidence,backing"
    assert [int(line.split(",")[1]) for line in lines[1:]] == wanted.labels.tolist()
    read = pl.read_parquet(io.BytesIO(client.get("export/groups.parquet").content))
    assert read["group"].to_list() == wanted.labels.tolist()
    assert read["id"].to_list()[:2] == ["e0", "e1"]
    assert (
        state["lines"]["command"] == "biconsensus merge mine.csv --drop chance --drop noise --groups 3 --out groups.csv"
    )
    report = client.get("report")
    assert "3 groups in 75 elements" in report.text
    assert "--drop chance --drop noise --quorum QUORUM --method path --out groups.csv" in report.text
    assert "sandbox allow-scripts" in report.headers["content-security-policy"]
    saved = backend.folder / "again.bic"
    saved.write_bytes(client.get("export/session.bic").content)
    assert np.array_equal(bc.Consensus.load(saved).labels, wanted.labels)
    saved.unlink()
    until = time.monotonic() + 5
    while len(left := list(backend.folder.iterdir())) > 1 and time.monotonic() < until:
        time.sleep(0.01)  # an export is removed just after it was sent
    assert len(left) == 1  # the upload
    refused = client.send("save", {})
    assert refused.status == 409
    assert "--session" in refused.json()["error"]


def test_what_was_kept_of_another_file_is_gone_without_an_error(client: Client, table: Path) -> None:
    client.upload("mine.csv", table.read_bytes())
    client.settled()
    assert client.send("keep", {}).json()["kept"][0]["name"] == "A"
    assert client.get("compare?with=A").json()["moved"] == 0
    client.upload("mine.csv", table.read_bytes())
    assert client.settled()["kept"] == []
    late = client.get("compare?with=A")  # of a page that still shows the first file
    assert (late.status, late.json()) == (200, {"waiting": True})
    assert client.send("drop", {"name": "A"}).status == 409


def test_columns_are_taken_as_the_page_says(client: Client, table: Path) -> None:
    client.upload("mine.csv", table.read_bytes())
    roles = {column["name"]: column["role"] for column in client.settled()["input"]["columns"]}
    roles |= {"truth": "used", "chance": "left out", "noise": "truth"}
    assert client.send("reading", {"kind": "groupings", "roles": roles}).status == 200
    state = client.settled()
    assert [source["name"] for source in state["sources"]] == ["fine", "coarse", "one", "two", "three", "truth"]
    assert {column["name"]: column["role"] for column in state["input"]["columns"]} == roles
    assert "scores" in state["answer"]
    for wrong in ({"fine": "id", "one": "id"}, {"fine": "king"}, {"fine": "left out"}):
        assert client.send("reading", {"kind": "groupings", "roles": wrong}).status == 409
    assert client.send("reading", {"kind": "poem"}).status == 409
