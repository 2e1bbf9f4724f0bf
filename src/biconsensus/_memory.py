"""How much memory there is to give: of the machine, of its container, of the limits of the process."""

from __future__ import annotations

import os
from pathlib import Path

CONTAINER = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
"""Files with the limit and the use of a control group, and what the use consists of: version 2 and 1."""


def available_memory() -> int | None:
    """Bytes of memory that can still be had, where the system tells."""
    figures = [figure for figure in (_machine(), _container(), _process()) if figure is not None]
    return max(min(figures), 0) if figures else None


def _machine() -> int | None:
    """What the machine can give without swapping; caches count as free where the system says how much they hold."""
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _container() -> int | None:
    """What the control group of the process leaves, old pages of files counted as free; none where it sets no limit."""
    for paths in CONTAINER:
        limit, used, parts = (_text(path).strip() for path in paths)
        if limit.isdigit() and used.isdigit():
            cached = [int(line.split()[1]) for line in parts.splitlines() if line.startswith("inactive_file ")]
            return int(limit) - int(used) + sum(cached)
    return None


def _process() -> int | None:
    """What the limit on the address space (`ulimit -v`) leaves; none where there is no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _text("/proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return int(limit) - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _text(path: str) -> str:
    """Content of a small file, nothing where it cannot be read."""
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""
