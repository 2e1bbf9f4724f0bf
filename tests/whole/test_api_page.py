"""The API page lists exactly what can be imported publicly."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import biconsensus
from biconsensus import Consensus, Pool

ROOT = Path(__file__).resolve().parents[2]


def public_modules(package: ModuleType = biconsensus) -> Iterator[ModuleType]:
    """A package and everything below it that no underscore hides."""
    yield package
    for info in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package.__name__}."):
        if not _last(info.name).startswith("_"):
            yield from public_modules(importlib.import_module(info.name))


def public_names(module: ModuleType) -> set[str]:
    """What a module declares; functions and classes that it defines where it declares nothing."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    defined = {name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
    return {name for name in defined if not name.startswith("_")}


def everything_public() -> set[str]:
    """Full names of all that is public, each at one place; modules are places, not entries."""
    modules = {module.__name__ for module in public_modules()}
    full = {f"{module.__name__}.{name}" for module in public_modules() for name in public_names(module)}
    # the same function under the package and under its loose module is one entry: that of the package
    short = {f"biconsensus.{name}" for name in biconsensus.__all__}
    doubles = {name for name in full if name.startswith("biconsensus.find.") and _short(name) in short}
    return full - modules - doubles


def _short(name: str) -> str:
    return f"biconsensus.{_last(name)}"


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def listed() -> list[str]:
    """Full names on the page."""
    page = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    return [f"biconsensus.{name}" for name in re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)]


def test_every_public_name_is_on_the_page() -> None:
    assert everything_public() - set(listed()) == set()


@pytest.mark.parametrize("name", listed())
def test_every_name_on_the_page_can_be_imported(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert getattr(importlib.import_module(module), attribute) is not None


def test_nothing_is_on_the_page_that_is_not_public_or_twice() -> None:
    assert set(listed()) - everything_public() == set()
    assert len(listed()) == len(set(listed()))


@pytest.mark.parametrize("module", list(public_modules()), ids=lambda module: module.__name__)
def test_dir_shows_what_is_declared_and_what_is_declared_exists(module: ModuleType) -> None:
    declared = getattr(module, "__all__", None)
    assert declared is None or dir(module) == sorted(declared)
    for name in declared or ():
        assert getattr(module, name) is not None


def documented() -> dict[str, object]:
    """The functions on the page, and the methods of the two classes that everybody holds."""
    every = {name: getattr(importlib.import_module(name.rpartition(".")[0]), _last(name)) for name in listed()}
    functions = {name: value for name, value in every.items() if inspect.isroutine(value)}
    held = {f"{kind.__name__}.{name}": vars(kind)[name] for kind in (Consensus, Pool) for name in vars(kind)}
    methods = {name: value for name, value in held.items() if isinstance(value, (FunctionType, classmethod))}
    return functions | {name: value for name, value in methods.items() if not _last(name).startswith("_")}


@pytest.mark.parametrize(("name", "value"), documented().items())
def test_every_function_has_an_example(name: str, value: object) -> None:
    """`make check` runs the examples. That of `save` shows `load`, and `main` would end the program."""
    assert ">>> " in (inspect.getdoc(value) or "") or name in ("Consensus.load", "biconsensus.cli.main")


@pytest.mark.parametrize("folder", ["README.md", "docs", "examples"])
def test_pages_and_examples_use_public_names_only(folder: str) -> None:
    place = ROOT / folder
    pages = [place] if place.is_file() else [*place.glob("*.md"), *place.glob("start/*.md"), *place.glob("*.py")]
    hidden = re.compile(r"(?:from|import) biconsensus[\w.]*\._\w+|biconsensus(?:\.\w+)*\._\w+\.\w+")
    found = {
        f"{page.name}: {text}"
        for page in pages
        if page.name != "architecture.md"
        for text in hidden.findall(page.read_text(encoding="utf-8"))
    }
    assert found == set()
