"""Mutation testing of the core: change one operator or constant at a time, and see whether a test notices.

``python tests/fuzz/mutants.py [modules] [--sample N] [--jobs N] [--out FILE]``. Every mutant runs in a forked process
that has NumPy, SciPy and pytest loaded already, with the tests of its module in an order in which the quick ones come
first and with few random examples (the profile "mutate"). A mutant is killed by a test that fails, or by running for
much longer than the tests do. Survivors are printed with their place; those in EQUIVALENT cannot be told apart from
the original by any result, for the reason given there.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src"
CPU_SECONDS = 90
CORE = ["tests/core/test_pool.py", "tests/core/test_preference.py", "tests/core/test_input_errors.py"]
WIDE = ["tests/test_limits.py", "tests/test_find.py", "tests/core/test_consensus.py", "tests/test_faults.py"]
VOTE = ["tests/solvers/test_vote.py", "tests/solvers/test_ballot.py", "tests/solvers/test_solver_contract.py"]
TESTS = {
    "core/compress.py": ["tests/core/test_compress.py", *CORE],
    "core/combine.py": ["tests/core/test_pool.py", "tests/core/test_combine.py", *CORE[1:], *WIDE],
    "core/encode.py": [
        "tests/core/test_pool.py",
        "tests/core/test_encode.py",
        "tests/core/test_input_errors.py",
        *WIDE,
    ],
    "core/build.py": [*CORE, "tests/core/test_combine.py", *WIDE],
    "core/preference.py": ["tests/core/test_preference.py", "tests/core/test_pool.py", *VOTE, *WIDE],
    "biclustering.py": ["tests/test_biclustering.py", *WIDE],
    "solvers/ballot.py": [*VOTE, *WIDE],
    "solvers/descent.py": [*VOTE, *WIDE],
    "solvers/vote.py": [*VOTE, *WIDE],
}
SKIP = "not (processes or million or killed or hangs or report or image or test_2 or test_3 or test_4)"
"""Tests of other parts, and those that start processes: none of them tells more about the core."""

EQUIVALENT: dict[str, str] = {}
"""Mutants that no result can tell from the original, by module, function and change, and why."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: str
    function: str
    line: int
    before: str
    after: str
    place: int
    """Number of the change in the order of the walk."""

    @property
    def name(self) -> str:
        """Module, function and change: what stays when lines move."""
        return f"{self.module} {self.function}: {self.before} -> {self.after}"


def changes(node: ast.AST) -> Iterator[Callable[[ast.AST], ast.AST]]:
    """What can be changed in a node: functions from a copy of it to its mutant."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            if type(operator) in SWAPS:
                yield lambda copied, k=k: (copied.ops.__setitem__(k, SWAPS[type(copied.ops[k])]()), copied)[1]  # type: ignore[attr-defined,misc]
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        yield lambda copied: (setattr(copied, "op", SWAPS[type(copied.op)]()), copied)[1]  # type: ignore[attr-defined]
    elif isinstance(node, ast.UnaryOp):
        yield lambda copied: copied.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.IfExp):
        yield lambda copied: ast.IfExp(copied.test, copied.orelse, copied.body)  # type: ignore[attr-defined]
    elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield lambda copied: (setattr(copied, "test", ast.UnaryOp(ast.Not(), copied.test)), copied)[1]  # type: ignore[attr-defined]
    elif isinstance(node, ast.Break):
        yield lambda copied: ast.Continue()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        new = not node.value if isinstance(node.value, bool) else node.value + 1
        yield lambda copied: ast.Constant(new)


def sites(tree: ast.Module) -> Iterator[tuple[str, ast.AST, ast.AST, str, int | None]]:
    """Function, parent, node, and the field of the parent that holds it; annotations and error texts apart."""

    def walk(parent: ast.AST, function: str) -> Iterator[tuple[str, ast.AST, ast.AST, str, int | None]]:
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list") or isinstance(parent, ast.Raise | ast.JoinedStr):
                continue
            for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if (
                    not isinstance(node, ast.AST)
                    or isinstance(node, ast.If)
                    and "TYPE_CHECKING" in ast.unparse(node.test)
                ):
                    continue
                here = (
                    f"{function}.{node.name}".lstrip(".")
                    if hasattr(node, "name") and hasattr(node, "body")
                    else function
                )
                yield here, parent, node, field, index
                yield from walk(node, here)

    yield from walk(tree, "")


def mutants(module: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """All mutants of a module, as trees ready to compile."""
    tree = ast.parse((SOURCE / "biconsensus" / module).read_text(encoding="utf-8"))
    place = 0
    for function, parent, node, field, index in list(sites(tree)):
        for change in changes(node):
            new = ast.copy_location(change(copy.deepcopy(node)), node)
            held = getattr(parent, field)
            before, after = (ast.unparse(one).split("\n")[0] for one in (node, new))
            if index is None:
                setattr(parent, field, new)
            else:
                held[index] = new
            yield (
                Mutant(module, function, getattr(node, "lineno", 0), before, after, place),
                ast.fix_missing_locations(copy.deepcopy(tree)),
            )
            if index is None:
                setattr(parent, field, node)
            else:
                held[index] = node
            place += 1


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the package another content."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.path = SOURCE / "biconsensus" / module
        self.name = f"biconsensus.{module.removesuffix('.py').replace('/', '.')}"
        self.code = compile(tree, str(self.path), "exec")

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """This loader for its module, nothing for others."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated code."""
        exec(self.code, module.__dict__)


def survives(mutant: Mutant, tree: ast.Module) -> bool:
    """Whether all tests pass with the mutant, in a process of its own."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            code = _run_tests(mutant.module, tree)
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1] == 0


def _run_tests(module: str, tree: ast.Module | None) -> int:
    """Exit code of the tests of a module; silent, and stopped by the system where they take too long."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    if tree is not None:
        sys.meta_path.insert(0, Loader(module, tree))
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
    files = [file for file in TESTS[module] if (ROOT / file).exists()]
    options = ["-x", "-q", "--no-header", "--assert=plain", "-o", "addopts=", "-p", "no:cacheprovider", "-k", SKIP]
    return int(pytest.main([*options, *files]))


def preload() -> None:
    """Load what all mutants need, but nothing of the package."""
    import hypothesis.extra.numpy
    import hypothesis.strategies
    import joblib
    import networkx
    import scipy.linalg
    import scipy.sparse.csgraph
    import scipy.special
    import scipy.stats
    import sklearn.cluster  # noqa: F401


def run(chosen: list[tuple[Mutant, ast.Module]], out: Path | None, jobs: int, mine: int) -> list[tuple[Mutant, bool]]:
    """Outcome of every `jobs`-th mutant, written to the file as they come."""
    results = []
    for mutant, tree in chosen[mine::jobs]:
        survived = survives(mutant, tree)
        results.append((mutant, survived))
        if out is not None:
            with out.open("a") as stream:
                stream.write(json.dumps({**asdict(mutant), "survived": survived}) + "\n")
    return results


def report(results: list[tuple[Mutant, bool]]) -> int:
    """Print the score of each module and the survivors; the number of unexplained survivors."""
    open_ones = []
    for module in dict.fromkeys(mutant.module for mutant, _ in results):
        here = [(m, s) for m, s in results if m.module == module]
        alive = [m for m, s in here if s]
        equal = [m for m in alive if m.name in EQUIVALENT]
        open_ones += [m for m in alive if m.name not in EQUIVALENT]
        killed, total = len(here) - len(alive), len(here)
        print(
            f"{module}: {killed} of {total} killed ({killed / total:.1%}); {len(equal)} equivalent; "
            f"{killed / max(total - len(equal), 1):.1%} of the others",
            flush=True,
        )
    for mutant in open_ones:
        print(f"  survived: {mutant.module}:{mutant.line} {mutant.function}: {mutant.before}  ->  {mutant.after}")
    total, killed = len(results), sum(not s for _, s in results)
    equal = sum(s and m.name in EQUIVALENT for m, s in results)
    print(
        f"all: {killed} of {total} killed ({killed / total:.1%}), {killed / max(total - equal, 1):.1%} of those not equivalent"
    )
    return len(open_ones)


def main() -> int:
    """Mutate the modules that were asked for; exits 1 where a mutant survives without an explanation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TESTS))
    parser.add_argument("--sample", type=int, help="so many mutants, drawn with a fixed seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="one line of JSON for each mutant")
    parser.add_argument("--again", type=Path, help="only the survivors of an earlier file")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["BICONSENSUS_PROFILE"] = "mutate"
    chosen = [pair for module in options.modules for pair in mutants(module)]
    if options.again:
        alive = {row["module"] + str(row["place"]) for row in map(json.loads, options.again.open()) if row["survived"]}
        chosen = [(m, tree) for m, tree in chosen if m.module + str(m.place) in alive]
    random.Random(0).shuffle(chosen)  # what is done when time runs out is a fair sample
    chosen = chosen[: options.sample]
    if options.list:
        for mutant, _ in chosen:
            print(f"{mutant.module}:{mutant.line} {mutant.function}: {mutant.before}  ->  {mutant.after}")
        print(len(chosen))
        return 0
    preload()
    for module in dict.fromkeys(mutant.module for mutant, _ in chosen):
        process = os.fork()
        if process == 0:
            os._exit(_run_tests(module, None))
        if os.waitpid(process, 0)[1] != 0:
            print(f"{module}: its tests fail without any change; nothing can be said about mutants.")
            return 1
    if options.jobs == 1:
        return int(report(run(chosen, options.out, 1, 0)) > 0)
    from multiprocessing import get_context

    with get_context("fork").Pool(options.jobs) as pool:
        parts = pool.starmap(run, [(chosen, options.out, options.jobs, k) for k in range(options.jobs)])
    return int(report([pair for part in parts for pair in part]) > 0)


if __name__ == "__main__":
    sys.exit(main())
