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
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src"
CPU_SECONDS = 90
CORE = ["tests/core/test_pool.py", "tests/core/test_preference.py", "tests/core/test_input_errors.py"]
WIDE = ["tests/test_limits.py", "tests/test_find.py", "tests/core/test_consensus.py", "tests/test_faults.py"]
VOTE = ["tests/solvers/test_ballot.py", "tests/solvers/test_vote.py", "tests/solvers/test_solver_contract.py"]
TESTS = {
    "core/compress.py": ["tests/core/test_hashes.py", "tests/core/test_compress.py", *CORE],
    "core/combine.py": ["tests/core/test_combine.py", "tests/core/test_pool.py", *CORE[1:], *WIDE],
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
SKIP = (
    "not (processes or million or killed or hangs or report or image or test_2 or test_3 or test_4 or joint_never"
    " or hard or bombs or n_groups or auto_ or estimate or pmd or ssvd or admm or frobenius or exact)"
)
"""Tests of other parts, and those that start processes: none of them tells more about the core."""

OVERWRITTEN = "the first value is always overwritten before it is read"
SPEED = "decides how fast the answer comes, not which"
RESHAPE = "NumPy takes every negative size as the one to be found"
TOGETHER = "both are there or none is; two tests are for type checkers"
EQUIVALENT = {
    "core/combine.py _of_sources: -1 -> 1 #1": OVERWRITTEN,
    "core/combine.py _of_sources: 1 -> 2 #1": OVERWRITTEN,
    "core/combine.py join: 1 -> 2 #2": RESHAPE,
    "core/combine.py join: 1 -> 2 #4": RESHAPE,
    "core/encode.py number_values: 0 -> 1 #1": "the lowest value is added again to whatever it was subtracted from",
    "core/encode.py number_values: 0 -> 1 #2": SPEED,
    "core/encode.py number_values: 4 -> 5 #1": SPEED,
    "core/encode.py number_values: 1000 -> 1001 #1": SPEED,
    "core/encode.py number_values: 4 * cells.size -> 4 // cells.size #1": SPEED,
    "core/encode.py number_values: 4 * cells.size + 1000 -> 4 * cells.size - 1000 #1": SPEED,
    "core/encode.py number_values: int(kept.max(initial=0)) - low > 4 * cells.size + 1000 -> "
    "int(kept.max(initial=0)) - low >= 4 * cells.size + 1000 #1": SPEED,
    "core/combine.py _views_of: pool.unseen is None or pool.view_of is None -> "
    "pool.unseen is None and pool.view_of is None #1": TOGETHER,
    "core/preference.py PreferenceMatrix.seen: self.unseen is None or self.view is None -> "
    "self.unseen is None and self.view is None #1": TOGETHER,
    "core/preference.py PreferenceMatrix.gain: self.unseen is not None and self.view is not None -> "
    "self.unseen is not None or self.view is not None #1": TOGETHER,
    "solvers/ballot.py : 1 << 20 -> 1 >> 20 #1": SPEED,
    "solvers/ballot.py Ballot.__init__: n_jobs is None and problem.entries.nnz > MANY -> "
    "n_jobs is None or problem.entries.nnz > MANY #1": SPEED,
    "solvers/ballot.py Ballot.above: whole or self.unit is not None -> whole and self.unit is not None #1": (
        "the guard of the other branch decides the same for fewer than 10^12 elements"
    ),
    "solvers/vote.py : 1 -> 2 #3": SPEED,
    "solvers/vote.py : 64 -> 65 #2": SPEED,
    "solvers/vote.py VoteSolver.best_block: rows.any() and columns.any() -> rows.any() or columns.any() #1": (
        "a search without live rows or columns finds nothing"
    ),
    "solvers/vote.py VoteSolver._forget: ~self._columns -> self._columns #1": SPEED,
    "core/preference.py : 1 -> 2 #1": SPEED,
    "core/preference.py : 12 -> 13 #1": SPEED,
    "core/preference.py : 1 << 12 -> 1 >> 12 #1": SPEED,
}
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
    nth: int
    """Number among the equal changes of the function."""

    @property
    def name(self) -> str:
        """Module, function and change: what stays when lines move."""
        return f"{self.module} {self.function}: {self.before} -> {self.after} #{self.nth}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Mutants of a node."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            if type(operator) in SWAPS:
                new = copy.deepcopy(node)
                new.ops[k] = SWAPS[type(operator)]()
                yield new
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        yield _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def _with(node: ast.AST, **parts: ast.AST) -> ast.AST:
    """Copy of a node with some parts replaced."""
    new = copy.copy(node)
    for name, part in parts.items():
        setattr(new, name, part)
    return copy.deepcopy(new)


def sites(parent: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Function, parent, field, place in it and node; annotations, error texts and imports for types apart."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list") or isinstance(parent, ast.Raise | ast.JoinedStr):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _for_types(node):
                continue
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            here = f"{function}.{node.name}".lstrip(".") if named else function
            yield here, parent, field, index, node
            yield from sites(node, here)


def _for_types(node: ast.AST) -> bool:
    """Whether a statement is there for type checkers only."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def mutants(module: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """All mutants of a module, as trees ready to compile."""
    tree = ast.parse((SOURCE / "biconsensus" / module).read_text(encoding="utf-8"))
    found = [(*site, new) for site in list(sites(tree)) for new in changes(site[-1])]
    times: Counter[tuple[str, str, str]] = Counter()
    for place, (function, parent, field, index, node, new) in enumerate(found):
        _put(parent, field, index, ast.copy_location(new, node))
        changed = ast.fix_missing_locations(copy.deepcopy(tree))
        _put(parent, field, index, node)
        before, after = (ast.unparse(one).split("\n")[0] for one in (node, new))
        times[function, before, after] += 1
        nth = times[function, before, after]
        yield Mutant(module, function, getattr(node, "lineno", 0), before, after, place, nth), changed


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    """Put a node into its place."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


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


def passes(module: str, tree: ast.Module | None = None) -> bool:
    """Whether all tests of a module pass, as it is or as a mutant, in a process of its own."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            code = _run_tests(module, tree)
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
    for name in ("hypothesis.extra.numpy", "joblib", "networkx", "scipy.linalg", "scipy.stats", "sklearn.cluster"):
        importlib.import_module(name)


def run(chosen: list[tuple[Mutant, ast.Module]], out: Path | None, jobs: int, mine: int) -> list[tuple[Mutant, bool]]:
    """Outcome of every `jobs`-th mutant, written to the file as they come."""
    results = []
    for mutant, tree in chosen[mine::jobs]:
        survived = passes(mutant.module, tree)
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
        print(f"  survived at line {mutant.line}: {mutant.name}")
    total, killed = len(results), sum(not s for _, s in results)
    equal = sum(s and m.name in EQUIVALENT for m, s in results)
    print(
        f"all: {killed} of {total} killed ({killed / max(total, 1):.1%}), "
        f"{killed / max(total - equal, 1):.1%} of those not equivalent"
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
            print(f"line {mutant.line}: {mutant.name}")
        print(len(chosen))
        return 0
    preload()
    broken = [module for module in dict.fromkeys(mutant.module for mutant, _ in chosen) if not passes(module)]
    for module in broken:
        print(f"{module}: its tests fail without any change; nothing can be said about its mutants.", flush=True)
    chosen = [(mutant, tree) for mutant, tree in chosen if mutant.module not in broken]
    if options.jobs == 1:
        return int(report(run(chosen, options.out, 1, 0)) > 0 or len(broken) > 0)
    from multiprocessing import get_context

    with get_context("fork").Pool(options.jobs) as pool:
        parts = pool.starmap(run, [(chosen, options.out, options.jobs, k) for k in range(options.jobs)])
    return int(report([pair for part in parts for pair in part]) > 0 or len(broken) > 0)


if __name__ == "__main__":
    sys.exit(main())
