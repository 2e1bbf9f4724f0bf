"""Numbers and names as parts of a sentence."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMES = 3
"""Names that a sentence lists; of more it says how many."""


def counted(number: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "group"), counted(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> listed("abc"), listed("abcdefg")
    ("'a', 'b', 'c'", "'a', 'b', 'c' (and 4 more)")
    """
    every = [repr(name) for name in names]
    more = len(every) - MOST_NAMES
    return ", ".join(every[:MOST_NAMES]) + (f" (and {more} more)" if more > 0 else "")
