"""Visit one explorer many times in a row with a real Chromium, and see that nothing is left behind.

``python -m tests.fuzz.visits [--visits N]``. Every visit opens the page in a new context, drops a table, switches a
source off, moves the quorum, keeps an answer, looks at the report, exports, and goes; every fifth closes it in the
middle of the work. The memory, open files, threads and processes of the server, and its temporary files, must not grow
after the first visits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.find_chromium import find_chromium

VISITS = 50
WARM = 10
"""Visits until caches are full: paths, answers, pages."""
ALLOWED = 1.15
"""Growth of memory that is no leak: what the allocator keeps."""
READY = "body[data-status=ready][data-ready]"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    memory: float
    """MB, with its children."""
    files: int
    threads: int
    processes: int
    temporary: int


def table(path: Path) -> None:
    """Noisy groupings of 2,000 elements."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 2000)
    columns = [np.where(rng.random(2000) < 0.1, rng.integers(0, 6, 2000), truth) for _ in range(10)]
    np.savetxt(path, np.stack(columns, axis=1), fmt="%d", delimiter=",", header=",".join("abcdefghij"), comments="")


def held(process: int, folder: Path) -> Held:
    """Numbers of a process and its children, from /proc."""
    own = Path(f"/proc/{process}")
    below = [path.parent for path in Path("/proc").glob("[0-9]*/stat") if _parent(path) == process]
    memory = sum(_resident(path) for path in (own, *below))
    files, threads = len(list((own / "fd").iterdir())), len(list((own / "task").iterdir()))
    return Held(memory, files, threads, len(below), len(list(folder.glob("*/*"))))


def _parent(path: Path) -> int:
    """Who started a process."""
    try:
        return int(path.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def _resident(process: Path) -> float:
    """MB in memory."""
    lines = (process / "status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def visit(browser: Any, url: str, path: Path, leave_early: bool) -> None:
    """One visit."""
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.goto(url)
    page.set_input_files("#file", path)
    if leave_early:
        page.wait_for_selector("body:not([data-ready])")
        context.close()
        return
    page.wait_for_selector(READY)
    page.click("#keep")
    page.uncheck("[aria-label='j votes']")
    page.wait_for_selector("tr.off")
    page.wait_for_selector(READY)
    page.focus("#quorum")
    page.keyboard.press("Home")
    page.wait_for_selector("#command:has-text('--quorum 0.9')")
    page.wait_for_selector("#both .cross")
    page.frame_locator("#frame").locator("body[data-ready]").wait_for()
    with page.expect_download() as download:
        page.click("[data-export='groups.csv']")
    assert Path(download.value.path()).stat().st_size > 2000
    context.close()


def run(visits: int) -> list[Held]:
    """What the server holds after every visit."""
    from playwright.sync_api import sync_playwright

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table(path)
        scratch = Path(folder) / "tmp"
        scratch.mkdir()
        command = [sys.executable, "-m", "biconsensus", "explore", "--no-browser"]
        environment = {**os.environ, "TMPDIR": str(scratch)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            try:
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
                    for k in range(visits):
                        visit(browser, url, path, leave_early=k % 5 == 4)
                        found.append(held(server.pid, scratch))
                        print(f"visit {k + 1}: {found[-1]}", flush=True)
                    browser.close()
            finally:
                server.terminate()
                server.wait(20)
        left = list(scratch.iterdir())
        assert left == [], left
    return found


def main() -> int:
    """Exit code 1 where something grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=VISITS)
    visits = parser.parse_args().visits
    found = run(visits)
    warm, last = found[min(WARM, len(found) // 2) :], found[-5:]
    faults = []
    for name in ("files", "threads", "processes", "temporary"):
        before, after = max(getattr(one, name) for one in warm[:5]), min(getattr(one, name) for one in last)
        if after > before:
            faults.append(f"{name} grew from {before} to {after}")
    before, after = max(one.memory for one in warm[:5]), min(one.memory for one in last)
    if after > ALLOWED * before:
        faults.append(f"memory grew from {before:.0f} to {after:.0f} MB")
    print("\n".join(faults) or f"{visits} visits, nothing left behind; {after:.0f} MB")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
