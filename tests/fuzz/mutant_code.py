"""Put a mutant into the package: as new code of running functions, or as the content of a module not yet imported."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.util
import inspect
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tests.fuzz.mutations import PACKAGE, Mutant


def name_of(module: str) -> str:
    """Import name of a module of the package."""
    return f"biconsensus.{module.removesuffix('.py').replace('/', '.')}"


def compiled(module: str, tree: ast.Module) -> CodeType:
    """Code of a module."""
    return compile(tree, str(PACKAGE / module), "exec", dont_inherit=True)


def changed_functions(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Outermost functions that differ, old and new; nothing where a module or class body differs itself."""
    pairs = list(zip(old.co_consts, new.co_consts))
    plain = [(a, b) for a, b in pairs if not isinstance(a, CodeType)]
    if len(old.co_consts) != len(new.co_consts) or old.co_code != new.co_code or old.co_names != new.co_names:
        return None
    if any(type(a) is not type(b) or a != b for a, b in plain):
        return None
    found: list[tuple[CodeType, CodeType]] = []
    for a, b in pairs:
        if isinstance(a, CodeType) and a != b:
            inner = [(a, b)] if a.co_flags & inspect.CO_OPTIMIZED else changed_functions(a, b)
            if inner is None:
                return None
            found += inner
    return found


def live_function(module: ModuleType, code: CodeType) -> FunctionType | None:
    """The function of a loaded module that runs this code, behind properties and other wrappers."""
    thing: Any = module
    for part in code.co_qualname.split("."):
        thing = vars(thing).get(part)
        if thing is None:
            return None
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, functools.cached_property):
        thing = thing.func
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    return thing if isinstance(thing, FunctionType) and thing.__code__ == code else None


def put_in(mutant: Mutant, tree: ast.Module) -> bool:
    """Give the functions of the running module their mutated code; False where that cannot be done."""
    original = compiled(mutant.module, ast.parse((PACKAGE / mutant.module).read_text(encoding="utf-8")))
    pairs = changed_functions(original, compiled(mutant.module, tree))
    module = importlib.import_module(name_of(mutant.module))
    found = [] if pairs is None else [(live_function(module, old), new) for old, new in pairs]
    if not found or any(function is None for function, _ in found):
        return False
    for function, new in found:
        function.__code__ = new  # type: ignore[union-attr]
    return True


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the package another content."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.path, self.name, self.code = PACKAGE / module, name_of(module), compiled(module, tree)

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """This loader for its module, nothing for others."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated code."""
        exec(self.code, module.__dict__)
