"""The tree of errors and warnings: what the page of the module shows is what there is."""

from __future__ import annotations

import pickle
import re

import pytest

from biconsensus import errors


def drawn() -> dict[str, str]:
    """Each class of the tree in the docstring, and the class above it."""
    above: dict[int, str] = {}
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│├└─ ]*)(\w+(?:Error|Warning))\b", line)
        if match:
            depth = len(match[1]) // 4
            above[depth] = match[2]
            found[match[2]] = above.get(depth - 1, "")
    return found


def test_the_tree_shows_every_class_under_its_base() -> None:
    every = {name: [base.__name__ for base in getattr(errors, name).__bases__] for name in errors.__all__}
    bases = {name: next((one for one in above if one in every), above[0]) for name, above in every.items()}
    assert {name: base or bases[name] for name, base in drawn().items()} == bases


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name.endswith("Error")])
def test_every_error_is_one_of_the_library_and_survives_another_process(name: str) -> None:
    made = getattr(errors, name)("what and why")
    assert isinstance(made, errors.BiconsensusError)
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), str(again)) == (type(made), "what and why")
    # so tblib makes it again, by which Dask sends errors from its workers
    assert type(type(made).__new__(type(made), "what and why")) is type(made)
