"""What is imported when, and who may know whom."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import biconsensus

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = {"matplotlib", "plotly", "jinja2", "networkx", "sknetwork", "igraph", "leidenalg", "infomap", "cv2"}
OPTIONAL |= {"dask", "distributed", "polars", "pandas", "pyarrow", "anndata", "pooch"}


def loaded_by(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has after some code."""
    program = f"import sys\n{code}\nprint(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_no_optional_package_is_loaded() -> None:
    code = """
import biconsensus as bc, biconsensus.cli, biconsensus.plots, biconsensus.report, biconsensus.pool.io
bc.find_consensus([[0] * 8 + [1] * 8] * 4).labels
"""
    assert loaded_by(code) & OPTIONAL == set()


def test_labels_and_networks_do_without_scikit_learn(tmp_path: Path) -> None:
    """It takes longer to import than all the rest: labels to a report, and what a process of base runs imports."""
    table = tmp_path / "labels.csv"
    table.write_text("a,b\n" + 4 * "0,0\n" + 4 * "1,1\n", encoding="utf-8")
    words = ["merge", str(table), "--out", str(tmp_path / "groups.csv"), "--report", str(tmp_path / "page.html"), "-q"]
    code = f"""
from biconsensus.cli import run
assert run({words!r}) == 0
import biconsensus.sources._running, biconsensus.communities._runs
"""
    assert "sklearn" not in loaded_by(code)


def test_a_small_table_waits_for_nothing_that_it_does_not_use() -> None:
    """Processes, graphs and linear algebra take as long to import as a small consensus takes."""
    code = "import biconsensus as bc\nbc.find_consensus([[0] * 8 + [1] * 8] * 4).labels"
    code += "\nfrom biconsensus.pool._agreement import redundant_sources"
    code += "\nassert len(redundant_sources(bc.Pool.from_labels([[0] * 8 + [1] * 8] * 4))) == 1"
    code += "\nassert 'scipy.sparse.csgraph' not in sys.modules"
    assert "joblib" not in loaded_by(code)


def test_all_is_exact_and_sorted() -> None:
    assert biconsensus.__all__ == sorted(biconsensus.__all__) == dir(biconsensus)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'find_consenus'"):
        biconsensus.find_consenus  # noqa: B018


def test_every_exception_to_the_contracts_is_a_thin_method_of_consensus() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    ignored = {line for contract in contracts for line in contract.get("ignore_imports", ())}
    assert all(line.startswith("biconsensus.result._consensus -> ") for line in ignored)
    layers = next(contract for contract in contracts if contract["type"] == "layers")
    assert layers["exhaustive"]
