"""Numbers and names in sentences."""

from __future__ import annotations

import pytest

from biconsensus._words import MOST_NAMES, counted, listed


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 groups"), (1, "1 group"), (2, "2 groups"), (12345, "12,345 groups")]
)
def test_one_thing_is_singular_and_thousands_have_commas(number: int, said: str) -> None:
    assert counted(number, "group") == said


def test_names_that_do_not_fit_are_counted() -> None:
    names = [f"c{k}" for k in range(MOST_NAMES + 2)]
    assert listed(names[:MOST_NAMES]) == ", ".join(map(repr, names[:MOST_NAMES]))
    assert listed(names).endswith(f"{names[MOST_NAMES - 1]!r} (and 2 more)")
