"""Names of a package that are imported when they are first used, so that imports stay quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str | None]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package whose public names live in private modules.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to str or None
        Module that defines each public name; None for a name that is itself a module of the package.

    Returns
    -------
    getattr, dir : callable
        To be bound to `__getattr__` and `__dir__` of the package.

    Examples
    --------
    >>> find, names = lazy_names("biconsensus", {"Pool": "biconsensus.pool._pool"})
    >>> find("Pool").__name__, names()
    ('Pool', ['Pool'])
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        value = import_module(f"{package}.{name}") if module is None else getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(modules)
