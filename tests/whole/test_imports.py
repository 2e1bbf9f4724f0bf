"""What is imported when, and who may know whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import biconsensus

SOURCE = Path(biconsensus.__file__).parent
OPTIONAL = {"matplotlib", "plotly", "jinja2", "networkx", "sknetwork", "igraph", "leidenalg", "infomap", "cv2"}
OPTIONAL |= {"dask", "distributed", "polars", "pandas", "pyarrow", "anndata"}
# folders and files from left to right: each may import at module level only what stands to its left, or itself
STAGES: dict[str, int] = {
    "errors": 0,
    "protocols": 0,
    "validation": 1,
    "core": 3,
    "metrics": 3,
    "memory": 4,
    "weights": 4,
    "solvers": 4,
    "biclustering": 5,
    "joint": 5,
    "quorum": 6,
    "find": 7,
    "plots": 8,
    "io": 8,
    "report": 9,
    "demo": 10,
    "cli": 11,
}
HEAVY_FREE = ("core", "solvers", "methods")


def loaded_by(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has after some code."""
    program = f"import sys\n{code}\nprint(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import biconsensus",
        "import biconsensus as bc; bc.find_consensus([[0] * 8 + [1] * 8] * 4).labels",
        "import biconsensus.cli",
        "import biconsensus.plots, biconsensus.report, biconsensus.pool.io",
    ],
)
def test_no_optional_package_is_loaded(code: str) -> None:
    assert loaded_by(code).isdisjoint(OPTIONAL)


def test_import_alone_does_not_load_scikit_learn() -> None:
    assert "sklearn" not in loaded_by("import biconsensus")


def test_all_is_exact() -> None:
    assert biconsensus.__all__ == sorted(biconsensus.__all__)
    assert all(getattr(biconsensus, name) is not None for name in biconsensus.__all__)
    assert biconsensus.__all__ == dir(biconsensus)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'find_consenus'"):
        biconsensus.find_consenus  # noqa: B018


def module_imports(path: Path) -> set[str]:
    """Modules of the package that a file imports when it is loaded."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("biconsensus"):
            below = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "biconsensus" else []
            names.update(below or [node.module])
    return names


def stage_of(module: str) -> int | None:
    """Stage of a module by its first part; none for those without a place in the line."""
    return STAGES.get(module.removeprefix("biconsensus.").partition(".")[0])


def staged_files() -> list[Path]:
    """Files that belong to a stage."""
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if stage_of(path.relative_to(SOURCE).parts[0].removesuffix(".py")) is not None
    ]


@pytest.mark.parametrize("path", staged_files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    own = stage_of(path.relative_to(SOURCE).parts[0].removesuffix(".py"))
    assert own is not None
    later = {name for name in module_imports(path) if (stage := stage_of(name)) is not None and stage > own}
    assert not later


@pytest.mark.parametrize("part", HEAVY_FREE)
def test_the_core_knows_no_scikit_learn(part: str) -> None:
    place = SOURCE / part
    for path in [place] if place.suffix else place.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.partition(".")[0] for name in names}
            assert roots.isdisjoint({"sklearn", "networkx", "matplotlib"}), path
