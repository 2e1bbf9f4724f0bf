"""The server: it answers on this machine only, to whoever has the link, and reads no file that was not given to it."""

from __future__ import annotations

import json
import secrets
import tempfile
import threading
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from biconsensus.errors import BiconsensusError, FileFormatError, InputError
from biconsensus.explore import _views as views
from biconsensus.explore._session import save_session
from biconsensus.explore._subject import GROUPINGS, NETWORK, POINTS, Subject, check_ending
from biconsensus.explore._worker import StoppedError, Worker
from biconsensus.explore._workspace import NotSettledError, Workspace
from biconsensus.pool.io._arrays import PACKED
from biconsensus.pool.io._roles import Reading
from biconsensus.report import render_report
from biconsensus.report._modes import modes_view
from biconsensus.result._notebook import write_elements

MOST_UPLOADED = 200 << 20
"""Bytes of an upload by default: larger files are better named on the command line, where nothing is copied."""
MOST_SAID = 1 << 20
"""Bytes of any other request: choices, which name some thousands of elements at most."""
HOSTS = ("127.0.0.1", "localhost")
"""Names under which the server answers: another name in a request means that somebody redirected it here."""
ASSETS = {"explore.js": "text/javascript", "explore.css": "text/css"}
"""The only files that are served, with their types."""
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:"
"""Pages that may show this one inside them, where it was started in a notebook."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'none'; base-uri 'none'"
)
"""What the page may load: its own script and style, nothing from elsewhere."""
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; sandbox allow-scripts allow-downloads"
)
"""What the report inside may do: run the script that its own, stricter policy names, and offer files; no request."""
ENDINGS = (".csv", ".tsv", ".parquet", ".json")
"""Endings of exported labels."""


class Json(Response):
    """JSON in plain ASCII, because names of files and elements need not be valid text."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(content, allow_nan=False).encode("ascii")


class Backend:
    """Everything one server has: the workspace, the files it may write, and where uploads go."""

    def __init__(self, *, session: Path | None = None, most_uploaded: int = MOST_UPLOADED) -> None:
        self.space = Workspace()
        self.session = session
        self.most_uploaded = most_uploaded
        self.renderer = Worker()
        self._folder = tempfile.TemporaryDirectory(prefix="biconsensus-explore-")
        self._page: tuple[Any, str, dict[str, Any] | None] = (None, "", None)
        """The last answer of which a report was made, by its members, and the report."""
        self._one = threading.Lock()

    @property
    def folder(self) -> Path:
        """Folder of uploads and exports, removed at the end."""
        return Path(self._folder.name)

    def report(self) -> str:
        """The report of the answer on the page, made in a process of its own."""
        with self._one:  # a page that moved on meanwhile gets the report of where it is now
            return self._rendered()[1]

    def modes(self) -> dict[str, Any]:
        """Whether the sources form camps: what the report says of it, with the sources counted as on the page."""
        with self._one:
            subject, choices, _ = self.space.settled()
            _, _, found = self._rendered()
            return {"number": self.space.answer_number(), "modes": views.modes(subject, choices, found)}

    def _rendered(self) -> tuple[Any, str, dict[str, Any] | None]:
        """The answer that the report was made of, the report, and what it says of modes."""
        subject, choices, answer = self.space.whole()
        if self._page[0] is not answer.members:
            text, found = self.renderer.run(_render, subject, answer, views.commands(subject, choices))
            self._page = answer.members, text, found
        return self._page

    def close(self) -> None:
        """Stop all work and remove all files."""
        self.space.close()
        self.renderer.close()
        self._folder.cleanup()


def _render(subject: Subject, answer: Any, command: tuple[str, str]) -> tuple[str, dict[str, Any] | None]:
    """The report as text, and the modes in it."""
    options = {"title": f"Consensus of {subject.name}", "X": subject.X, "graph": subject.graph, "truth": subject.truth}
    if subject.X is not None and subject.columns:
        options["features"] = [name for name, role in subject.columns.items() if role == "used"]
    text = render_report(answer, **options, about={"Input": subject.name}, command=command)
    return text, modes_view(answer)


class Guard:
    """Lets in only requests to this machine, from this page, with the token; tells browsers to load nothing else."""

    def __init__(self, app: ASGIApp, token: str, in_notebook: bool = False) -> None:
        self.app = app
        self.token = token
        self.ancestors = f"frame-ancestors 'self' {NOTEBOOKS}" if in_notebook else "frame-ancestors 'self'"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, hand on without the token, and add the headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = dict(self._headers()) | {name.lower(): value for name, value in message["headers"]}
                headers[b"content-security-policy"] += f"; {self.ancestors}".encode()
                message = {**message, "headers": list(headers.items())}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            status, why = refusal
            headers = {"connection": "close"}
            await Json({"error": why}, status, headers)(scope, receive, send_guarded)
            return
        path = scope["path"][len(self.token) + 1 :]
        await self.app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, send_guarded)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        """Headers of every answer."""
        return [
            (b"content-security-policy", POLICY.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cache-control", b"no-store"),
            (b"cross-origin-opener-policy", b"same-origin"),
        ]

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not let in, or None."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, _, port = headers.get(b"host", "").partition(":")
        if host not in HOSTS or (scope.get("server") and port != str(scope["server"][1])):
            return 403, "this server answers on this machine only."
        origin = headers.get(b"origin")
        if origin is not None and origin != f"http://{host}:{port}":
            return 403, "this request came from another page."
        if headers.get(b"sec-fetch-site", "none") == "cross-site" and scope["method"] != "GET":
            return 403, "this request came from another page."
        first, slash, _ = scope["path"][1:].partition("/")
        if not secrets.compare_digest(first.encode(), self.token.encode()) or not slash:
            return 403, "the link needs its token; open the one that was printed."
        return None


def application(backend: Backend, token: str, in_notebook: bool = False) -> ASGIApp:
    """The application for one backend."""
    routes = [
        Route("/", _shell),
        *(Route(f"/{name}", _asset_route(name), methods=["GET"]) for name in ASSETS),
        Route("/state", _asked(lambda backend, request: views.state(backend.space))),
        Route("/details", _asked(lambda backend, request: views.details(backend.space))),
        Route("/elements", _asked(_elements)),
        Route("/question", _asked(lambda backend, request: views.question(backend.space))),
        Route("/modes", _asked(lambda backend, request: backend.modes())),
        Route("/compare", _asked(lambda backend, request: views.compare(backend.space, _query(request, "with", "")))),
        Route("/report", _report),
        Route("/choices", _told(lambda backend, said: backend.space.change(said)), methods=["POST"]),
        Route("/reading", _told(_read_again), methods=["POST"]),
        Route("/cancel", _told(lambda backend, said: backend.space.cancel()), methods=["POST"]),
        Route("/keep", _told(lambda backend, said: backend.space.keep()), methods=["POST"]),
        Route("/drop", _told(lambda backend, said: backend.space.drop(str(said.get("name")))), methods=["POST"]),
        Route("/back", _told(lambda backend, said: backend.space.go_back(str(said.get("name")))), methods=["POST"]),
        Route("/save", _told(_save), methods=["POST"]),
        Route("/upload", _upload, methods=["POST"]),
        Route("/export/{name}", _export),
    ]
    handlers: Any = {BiconsensusError: _explained, OSError: _explained, HTTPException: _refused}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.backend = backend
    return Guard(app, token, in_notebook)


def _explained(request: Request, error: Exception) -> Response:
    """An error of the library as one sentence."""
    return Json({"error": str(error)}, 409)


def _refused(request: Request, error: HTTPException) -> Response:
    """What cannot be done, as one sentence."""
    return Json({"error": error.detail}, error.status_code, error.headers)


def _asset(name: str) -> str:
    """Text of a file that comes with the package."""
    return resources.files("biconsensus.explore").joinpath("assets", name).read_text(encoding="utf-8")


async def _shell(request: Request) -> Response:
    """The page."""
    return HTMLResponse(_asset("page.html"))


def _asset_route(name: str) -> Callable[[Request], Awaitable[Response]]:
    """One file of the page."""

    async def answer(request: Request) -> Response:
        return Response(_asset(name), media_type=ASSETS[name])

    return answer


def _asked(view: Callable[[Backend, Request], Any]) -> Callable[[Request], Awaitable[Response]]:
    """A view as JSON, made in a thread."""

    async def answer(request: Request) -> Response:
        try:
            return Json(await run_in_threadpool(view, request.app.state.backend, request))
        except NotSettledError:  # the page has moved on while it asked, and will ask again
            return Json({"waiting": True})

    return answer


def _told(change: Callable[[Backend, dict[str, Any]], None]) -> Callable[[Request], Awaitable[Response]]:
    """A change that a page asks for; the answer is the new state."""

    async def answer(request: Request) -> Response:
        backend = request.app.state.backend
        said = await _said(request)

        def work() -> dict[str, Any]:
            change(backend, said)
            return views.state(backend.space)

        return Json(await run_in_threadpool(work))

    return answer


async def _said(request: Request) -> dict[str, Any]:
    """The JSON object of a request; larger ones are refused before they are read."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise HTTPException(415, "send JSON.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_SAID:
            raise HTTPException(413, f"a request may have {MOST_SAID:,} bytes.", {"connection": "close"})
    try:
        said = json.loads(body or b"{}")
    except ValueError as error:
        raise HTTPException(400, "this is no JSON.") from error
    if not isinstance(said, dict):
        raise HTTPException(400, "send an object.")
    return said


def _query(request: Request, name: str, default: str) -> str:
    """One value of the address."""
    return request.query_params.get(name, default)


def _elements(backend: Backend, request: Request) -> dict[str, Any]:
    """A sheet of the list of elements."""
    group, page = _query(request, "group", ""), _query(request, "page", "0")
    for name, value in (("group", group or "0"), ("page", page)):
        if not value.lstrip("-").isdecimal() or len(value) > 12:
            raise InputError(f"{name} must be a whole number, got {value[:20]!r}.")
    return views.elements(backend.space, int(group) if group else None, _query(request, "text", "")[:200], int(page))


def _read_again(backend: Backend, said: dict[str, Any]) -> None:
    """Take the columns of the file otherwise: `roles` says what each is."""
    kind = said.get("kind")
    if kind not in (GROUPINGS, POINTS, NETWORK, None):
        raise InputError(f"kind must be {GROUPINGS}, {POINTS} or {NETWORK}, got {kind!r:.40}.")
    roles = said.get("roles")
    if not roles or kind == NETWORK:
        backend.space.read_again(kind, Reading())
        return
    if not isinstance(roles, dict):
        raise InputError("roles must be an object: the name of each column and what it is.")
    by_role: dict[str, list[str]] = {"used": [], "id": [], "truth": [], "left out": []}
    for name, role in roles.items():
        if role not in by_role:
            raise InputError(f"a column is {', '.join(by_role)}; {name[:40]!r} is {role!r:.40}.")
        by_role[role].append(name)
    for role in ("id", "truth"):
        if len(by_role[role]) > 1:
            raise InputError(f"only one column can be the {role}; {len(by_role[role])} are.")
    if not by_role["used"]:
        raise InputError("no column is left; choose at least one.")
    one = {role: by_role[role][0] if by_role[role] else None for role in ("id", "truth")}
    reading = Reading(id_column=one["id"], columns=by_role["used"], drop=by_role["left out"], truth=one["truth"])
    backend.space.read_again(kind, reading)


def _save(backend: Backend, said: dict[str, Any]) -> None:
    """Save the session where the command line said."""
    if backend.session is None:
        raise InputError("no file was named for the session; download it, or start with --session FILE.bic.")
    save_session(backend.session, *backend.space.whole())


async def _upload(request: Request) -> Response:
    """A file from the browser, counted while it comes: one that is too large is neither in memory nor on the disk."""
    backend: Backend = request.app.state.backend
    name = Path(unquote(request.headers.get("x-name", "")).replace("\\", "/")).name[:120]
    try:
        check_ending(Path(name), name)
    except FileFormatError as error:
        raise HTTPException(415, str(error)) from None
    ending = "".join(Path(name).suffixes[-2 if Path(name).suffix.lower() in PACKED else -1 :]).lower()
    most = backend.most_uploaded
    too_large = HTTPException(
        413,
        f"the file is larger than {most >> 20:,} MB; start with biconsensus explore FILE, or a larger --max-upload.",
        {"connection": "close"},
    )
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    target = backend.folder / f"upload-{secrets.token_hex(4)}{ending}"
    size = 0
    try:
        with target.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise too_large
                file.write(chunk)
    except (HTTPException, ClientDisconnect):
        target.unlink()
        raise

    def take() -> dict[str, Any]:
        before = backend.space.path_of_input
        backend.space.open(target, name)
        if before is not None and before.parent == backend.folder:
            before.unlink(missing_ok=True)
        return views.state(backend.space)

    return Json(await run_in_threadpool(take))


async def _report(request: Request) -> Response:
    """The report of the answer, for the frame of the page."""
    try:
        text = await run_in_threadpool(request.app.state.backend.report)
    except (NotSettledError, StoppedError):
        text = "<!DOCTYPE html><title>Report</title><p>The answer is being worked out; its report follows.</p>"
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


async def _export(request: Request) -> Response:
    """A file to keep: labels, report, result, session or the base groupings."""
    backend: Backend = request.app.state.backend
    name = request.path_params["name"]
    stem, ending = Path(name).stem, Path(name).suffix
    if (stem, ending) not in {("session", ".bic"), ("report", ".html"), *(("groups", one) for one in ENDINGS)}:
        raise HTTPException(404, f"there is no {name[:40]!r} to export.")
    target = backend.folder / f"export-{secrets.token_hex(4)}{ending}"
    await run_in_threadpool(_write, backend, stem, target)
    return FileResponse(target, filename=name, background=BackgroundTask(target.unlink))


def _write(backend: Backend, what: str, target: Path) -> None:
    """Write one export."""
    if what == "report":
        target.write_text(backend.report(), encoding="utf-8", errors="replace")
        return
    if what == "session":
        save_session(target, *backend.space.whole())
        return
    write_elements(backend.space.settled()[2], target, {})
