"""Every number that a module names says what it means, in one line after it."""

from __future__ import annotations

import ast
from pathlib import Path

import biconsensus

SOURCE = Path(biconsensus.__file__).parent


def is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    parts = [part for part in ast.walk(node) if not isinstance(part, (ast.operator, ast.unaryop, ast.expr_context))]
    allowed = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Constant)
    return all(isinstance(part, allowed) for part in parts) and all(
        isinstance(part.value, (int, float)) and not isinstance(part.value, bool)
        for part in parts
        if isinstance(part, ast.Constant)
    )


def unexplained(path: Path) -> list[str]:
    """Names of numbers at the top of a module that no text follows; several in a row may share the text of the last."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found: list[str] = []
    waiting: list[str] = []
    for node, after in zip(body, [*body[1:], None]):
        if isinstance(node, ast.Assign) and is_number(node.value):
            waiting.append(ast.unparse(node.targets[0]))
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if told:
                waiting = []
            elif not (isinstance(after, ast.Assign) and is_number(after.value)):
                found, waiting = found + waiting, []
    return found


def test_every_named_number_is_explained() -> None:
    missing = {str(path.relative_to(SOURCE)): names for path in SOURCE.rglob("*.py") if (names := unexplained(path))}
    assert not missing


def test_the_check_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('A = 3\n\nB = 4\n"""Four."""\n\nC, D = 1, 2.5\nE = "text"\n')
    assert unexplained(path) == ["(C, D)"]
    path.write_text("A = 3\n\n\ndef f(): ...\n")
    assert unexplained(path) == ["A"]
