"""A web server on this machine that stands in for the public repositories.

``python -m tests.helpers.web FOLDER [PORT]`` serves a folder of data sets under the addresses of the table, for trying
out a fresh clone: ``BICONSENSUS_DATA_URL=http://127.0.0.1:PORT make reproduce ONLY=clustering``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from biconsensus.datasets._table import File, table


def place(file: File) -> str:
    """Path of a file on the server."""
    return f"/{file.repository}/{file.commit}/{file.path}"


class Repositories:
    """Serves files by path, counts what was asked for, and fails as it is told."""

    def __init__(self, files: Mapping[str, Callable[[], bytes]], port: int = 0) -> None:
        self.files = dict(files)
        self.asked: list[str] = []
        self.cut: int = 0
        """How many of the next answers end in the middle."""
        self.together: threading.Barrier | None = None
        """Answers wait here for each other."""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append(self.path)
                if owner.together is not None:
                    owner.together.wait(30)
                if self.path not in owner.files:
                    self.send_error(404)
                    return
                content = owner.files[self.path]()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                broken, owner.cut = owner.cut > 0, max(owner.cut - 1, 0)
                self.wfile.write(content[: len(content) // 2] if broken else content)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @classmethod
    def of_folder(cls, folder: Path, port: int = 0) -> Repositories:
        """All files of the table that a folder of data sets has."""
        found = {place(file): folder / file.file for file in table().values() if (folder / file.file).exists()}
        return cls({key: path.read_bytes for key, path in found.items()}, port)

    def __enter__(self) -> Repositories:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


if __name__ == "__main__":
    with Repositories.of_folder(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) as repositories:
        print(repositories.address, flush=True)
        repositories.thread.join()
