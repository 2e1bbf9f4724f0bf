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
