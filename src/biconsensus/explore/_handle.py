"""Start the explorer; the object that stands for a running one."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
from html import escape
from pathlib import Path
from typing import Any

from biconsensus._checks import check_choice, check_count
from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError, MissingDependencyError
from biconsensus.pool._pool import Pool
from biconsensus.pool.io._roles import Reading
from biconsensus.result._consensus import Consensus

START_SECONDS = 20.0
"""How long the server may take to answer: it has nothing to load but itself."""
LAST_PORT = 65535
"""Largest number of a port."""
HEIGHT = 900
"""Pixels of the page inside a notebook: controls and the first groups are in view."""


class Explorer:
    """A running explorer; made by `explore`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> explorer = bc.find_consensus([[0, 1] * 8] * 4).explore(browser=False)
    >>> explorer.url.startswith("http://127.0.0.1:")
    True
    >>> explorer.close()
    """

    def __init__(self, backend: Any, *, port: int = 0, in_notebook: bool = False) -> None:
        import uvicorn

        from biconsensus.explore._server import application

        self._backend = backend
        self._in_notebook = in_notebook
        token = secrets.token_urlsafe(24)
        self._socket = socket.socket()
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as error:
            self._socket.close()
            backend.close()
            raise InputError(f"port {port} cannot be used: {error.strerror}; leave it out for a free one.") from error
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/{token}/"
        """The link: whoever has it can see and move this consensus, from this machine only."""
        config = uvicorn.Config(
            application(backend, token, in_notebook),
            lifespan="off",
            log_level="critical",
            access_log=False,
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        until = time.monotonic() + START_SECONDS
        while not self._server.started and self.running and time.monotonic() < until:
            time.sleep(0.005)

    def _serve(self) -> None:
        """The thread of the server."""
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()

    @property
    def running(self) -> bool:
        """Whether the server answers."""
        return not self._ended.is_set()

    def wait(self) -> None:
        """Wait until the explorer is closed."""
        # not by joining the thread: a signal that comes in between would make it seem ended (Python issue 45274)
        while not self._ended.wait(0.2):
            pass

    def close(self) -> None:
        """Stop the server and all work; temporary files go."""
        self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()
        self._backend.close()

    def __enter__(self) -> Explorer:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """The link."""
        return f"Explorer({self.url if self.running else 'closed'})"

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        if not self.running:
            return "<p>This explorer is closed.</p>"
        frame = f'<iframe src="{escape(self.url)}" width="100%" height="{HEIGHT}" style="border:0"></iframe>'
        return f'{frame}<p><a href="{escape(self.url)}" target="_blank">Open in a tab of its own</a></p>'


def explore(
    what: Consensus | Pool | str | Path | None = None,
    *,
    kind: str | None = None,
    reading: Reading | None = None,
    name: str = "Consensus",
    X: Any = None,
    graph: Any = None,
    truth: Any = None,
    session: str | Path | None = None,
    browser: bool | None = None,
    port: int = 0,
    max_upload: int | None = None,
) -> Explorer:
    """Open the explorer: the report in a browser, with the engine behind it.

    Parameters
    ----------
    what : Consensus, Pool, or path of a file, optional
        What to explore; without it the page asks for a file. A file is a table of groupings or of numbers, a network,
        a result that was saved, or a session.
    kind : {"groupings", "points", "network"}, optional
        What a file holds; by default its ending and its numbers decide.
    reading : Reading, optional
        What is known of the columns of a table.
    name : str
        What the page calls a consensus or a pool.
    X, graph, truth : optional
        As in `Consensus.write_report`: points, network and true groups for the report.
    session : str or Path, optional
        File that the page may save the session to; it is opened where nothing else is given and it exists.
    browser : bool, optional
        Whether to open a browser; by default outside of notebooks, where the page is shown inside.
    port : int
        Port on the loopback address; 0 takes a free one.
    max_upload : int, optional
        Bytes that a file from the browser may have; 200 MB by default.

    Returns
    -------
    Explorer
        With the link in `url`; `close` stops everything.

    Notes
    -----
    The server listens on 127.0.0.1 only, answers only to the link with its random token, reads no file but those named
    here or sent by the page, and sends nothing anywhere.

    Examples
    --------
    >>> explorer = explore(Pool.from_labels([[0, 0, 1, 1]] * 3), browser=False)
    >>> explorer.close()
    """
    try:
        from biconsensus.explore._server import MOST_UPLOADED, Backend
        from biconsensus.report._page import page_template
    except ImportError as error:
        raise MissingDependencyError.of("starlette and uvicorn", "explore") from error
    from biconsensus.explore._subject import GROUPINGS, NETWORK, POINTS, RESULT, Subject, of_result

    page_template()
    if kind is not None:
        check_choice("kind", kind, (GROUPINGS, POINTS, NETWORK))
    if check_count("port", port, 0) > LAST_PORT:
        raise InputError(f"port must be from 0 to {LAST_PORT}, got {port}.")
    place = None if session is None else Path(session)
    if what is None and place is not None and place.exists():
        what = place
    in_notebook = _in_notebook()
    backend = Backend(session=place, most_uploaded=MOST_UPLOADED if max_upload is None else max_upload)
    try:
        if isinstance(what, Consensus):
            backend.space.take(of_result(what, name, X, graph, truth))
        elif isinstance(what, Pool):
            backend.space.take(
                Subject(name, RESULT, what, decided=f"{name}: a pool of {counted(len(what.sources), 'source')}.")
            )
        elif isinstance(what, str | Path):
            path = Path(what)
            if not path.exists():
                raise FileNotFoundError(f"there is no file {path}; check the path.")
            backend.space.open(path, str(what), kind, reading)
        elif what is not None:
            raise InputTypeError(f"what must be a Consensus, a Pool or the path of a file, got {type(what).__name__}.")
    except BaseException:
        backend.close()
        raise
    explorer = Explorer(backend, port=port, in_notebook=in_notebook)
    if browser if browser is not None else not in_notebook:
        import webbrowser

        webbrowser.open(explorer.url)
    return explorer


def _in_notebook() -> bool:
    """Whether this runs in a notebook."""
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return type(found).__name__ == "ZMQInteractiveShell"
