"""What is there: models, solvers, algorithms, one line each."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any


def show_models() -> None:
    """Models with the size of their minimal sample."""
    from biconsensus.models import MODELS, get_model

    rows = [(name, str(get_model(name).sample_size), first_line(MODELS.get(name))) for name in model_names()]
    show(("model", "sample", "what it is"), rows)


def model_names() -> list[str]:
    """Names of models, including models of other packages."""
    from biconsensus.models import MODELS

    return [*MODELS, *sorted(point.name for point in entry_points(group="biconsensus.models"))]


def show_solvers() -> None:
    """Solvers by name."""
    from biconsensus.solvers import SOLVERS, solver_names

    rows = []
    for name in solver_names():
        module, _, kind = SOLVERS.get(name, ":").partition(":")
        rows.append((name, first_line(getattr(import_module(module), kind)) if module else "from another package"))
    show(("solver", "what it does"), rows)


def algorithm_names() -> list[str]:
    """Names of network algorithms, including algorithms of other packages."""
    from biconsensus.sources.networks import ALGORITHMS, ENTRY_POINTS

    return [*ALGORITHMS, *sorted(point.name for point in entry_points(group=ENTRY_POINTS))]


def show_algorithms() -> None:
    """Network algorithms, and what each needs."""
    from biconsensus.sources.networks import get_algorithm

    rows = []
    for name in algorithm_names():
        algorithm = get_algorithm(name)
        rows.append((name, first_line(algorithm.run), availability(algorithm)))
    show(("algorithm", "what it does", "state"), rows)
    print(
        "`biconsensus cluster` runs k-means, Gaussian mixtures, Ward's tree, a linkage guarded against tiny clusters, "
        "spectral clustering of the neighbour graph, basins of the density, and HDBSCAN."
    )


def availability(algorithm: Any) -> str:
    """Whether the package behind an algorithm is there, and how to get it."""
    package, extra = getattr(algorithm, "package", None), getattr(algorithm, "extra", None)
    if package is None or find_spec(package) is not None:
        return "ready"
    return f"pip install 'biconsensus[{extra or 'graph'}]'"


def first_line(thing: Any) -> str:
    """First line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("``", "`")


def show(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Lines in columns: plain text, also in pipes."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header) - 1)]
    for row in [header, *rows]:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip())
