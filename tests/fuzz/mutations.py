"""Mutants of a module: one operator, constant, condition or branch changed at a time."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "biconsensus"

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
    lines: tuple[int, int]
    """First and last line of the statement, without its body."""
    before: str
    after: str
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


@dataclass(frozen=True)
class Site:
    """A node, and where it stands."""

    function: str
    lines: tuple[int, int]
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST


def sites(parent: ast.AST, function: str = "", lines: tuple[int, int] = (0, 0)) -> Iterator[Site]:
    """All nodes of a tree; annotations, error texts and imports for types apart."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list") or isinstance(parent, ast.Raise | ast.JoinedStr):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _for_types(node):
                continue
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            here = f"{function}.{node.name}".lstrip(".") if named else function
            there = _header(node) if isinstance(node, ast.stmt) else lines
            yield Site(here, there, parent, field, index, node)
            yield from sites(node, here, there)


def _header(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, without its body."""
    body = getattr(statement, "body", None)
    last = max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno
    return statement.lineno, last


def _for_types(node: ast.AST) -> bool:
    """Whether a statement is there for type checkers only."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def mutants(module: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """All mutants of a module, as trees ready to compile."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    times: Counter[tuple[str, str, str]] = Counter()
    found = [(site, new) for site in list(sites(tree)) for new in changes(site.node)]
    for site, new in found:
        _put(site, ast.copy_location(new, site.node))
        changed = ast.fix_missing_locations(copy.deepcopy(tree))
        _put(site, site.node)
        before, after = (ast.unparse(one).split("\n")[0] for one in (site.node, new))
        times[site.function, before, after] += 1
        yield Mutant(module, site.function, site.lines, before, after, times[site.function, before, after]), changed


def _put(site: Site, node: ast.AST) -> None:
    """Put a node into its place."""
    if site.index is None:
        setattr(site.parent, site.field, node)
    else:
        getattr(site.parent, site.field)[site.index] = node
