"""How much memory the machine has to give."""

from __future__ import annotations

import os


def available() -> int | None:
    """Bytes of memory that the machine has free, where it tells."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
