"""Points with labels, and pools of base clusterings made by others."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from biconsensus.datasets._folder import matching, path_of
from biconsensus.datasets._reading import codes, matlab
from biconsensus.datasets._sets import MODELS, file_of
from biconsensus.errors import MissingDependencyError, UnknownNameError
from biconsensus.protocols import FloatArray, IntArray


class Labelled(NamedTuple):
    """Points and their true labels."""

    X: FloatArray
    """(m, d) points."""
    labels: IntArray | None
    """(m,) labels from 0, -1 for outliers and noise; None where no truth is known."""


class EnsemblePool(NamedTuple):
    """Base clusterings made by others, with the truth."""

    members: IntArray
    """(m, 100) labels, one base clustering a column."""
    labels: IntArray
    """(m,) true labels from 0."""


PAPER_SETS = {
    "A": "Star5_S00075_O50",
    "B": "Star5_S00075_O75",
    "C": "Star11_S00075_O50",
    "D": "Circles5_S00075_O50",
}
"""The paper's letters for four of them."""

N_IDS = {"breast": 1, "glass": 1, "ecoli": 1}
"""How many columns in front are ids; none in the other UCI sets."""


def load_jlinkage(name: str) -> Labelled:
    """Lines, circles and planes of the J-linkage demo (the paper's sets A to D and Pozzoveggiani).

    Parameters
    ----------
    name : str
        A variable of the file, such as "Star5_S00075_O50", or one of the paper's letters "A", "B", "C", "D".

    Returns
    -------
    Labelled
        (m, 2) or (m, 3) points; labels None for the two sets of 3D points.

    Examples
    --------
    >>> load_jlinkage("A").X.shape  # doctest: +SKIP
    (500, 2)
    """
    variable = PAPER_SETS.get(name, name)
    if variable not in MODELS:
        raise UnknownNameError.of("jlinkage data set", name, [*MODELS, *PAPER_SETS])
    X = matlab(file_of("jlinkage", variable), variable)[variable].T.astype(np.float64)
    inliers = 50 * MODELS[variable]
    if not inliers:
        return Labelled(X, None)
    return Labelled(X, np.where(np.arange(len(X)) < inliers, np.arange(len(X)) // 50, -1))


def load_uci(name: str) -> Labelled:
    """One of seven UCI sets; rows with missing values are left out, ids too.

    Parameters
    ----------
    name : {"breast", "glass", "iris", "wine", "ecoli", "segment", "vehicle"}
        "breast" is the original Wisconsin set: 683 complete rows of 9 features.

    Returns
    -------
    Labelled
        Labels in the order of the sorted class names.

    Examples
    --------
    >>> load_uci("wine").X.shape
    (178, 13)
    """
    rows = [row for row in _cells(file_of("uci", name)) if "?" not in row]
    X = np.array([row[N_IDS.get(name, 0) : -1] for row in rows], dtype=np.float64)
    return Labelled(X, codes([row[-1] for row in rows]))


def load_self_tuning(name: str | int) -> Labelled:
    """Plane sets of self-tuning spectral clustering; "2" is taken to be the paper's smiley.

    Parameters
    ----------
    name : str or int
        "0" to "5", or "smiley".

    Returns
    -------
    Labelled
        Labels by single linkage for 0, 2 and 4, where it separates the groups; None for the others.

    Examples
    --------
    >>> load_self_tuning("smiley").X.shape  # doctest: +SKIP
    (266, 2)
    """
    name = "2" if name == "smiley" else str(name)
    X = np.loadtxt(file_of("self_tuning", name), delimiter=",")
    n_groups = {"0": 3, "2": 3, "4": 4}.get(name)
    if n_groups is None:
        return Labelled(X, None)
    from scipy.cluster.hierarchy import fcluster, linkage

    return Labelled(X, codes(fcluster(linkage(X, "single"), n_groups, "maxclust")))


def load_benchmark(name: str, labels: int = 0) -> Labelled:
    """One set of Gagolewski's clustering benchmark.

    Parameters
    ----------
    name : str
        Collection and set, such as "fcps/atom" or "sipu/a1"; see ``names_of("benchmark")``.
    labels : int, default 0
        Which of its reference labellings.

    Returns
    -------
    Labelled
        Noise points (0 in the file) are -1.

    Examples
    --------
    >>> load_benchmark("fcps/atom").X.shape  # doctest: +SKIP
    (800, 3)
    """
    X = np.loadtxt(file_of("benchmark", name), ndmin=2)
    stem = f"clustering_data_v1/{name}.labels"
    given = [file.removeprefix(stem).removesuffix(".gz") for file in matching(f"{stem}[0-9].gz")]
    if str(labels) not in given:
        raise UnknownNameError.of(f"labels of {name}", labels, given)
    return Labelled(X, np.loadtxt(path_of(f"{stem}{labels}.gz"), dtype=np.int64) - 1)


def load_ensemble_pool(name: str) -> EnsemblePool:
    """A ready-made pool of 100 base clusterings of Huang et al.

    Parameters
    ----------
    name : {"Caltech20", "IS", "MF", "SPF", "Semeion", "VS"}
        The published protocol draws 10 of the columns at random, many times.

    Returns
    -------
    EnsemblePool

    Examples
    --------
    >>> load_ensemble_pool("VS").members.shape  # doctest: +SKIP
    (846, 100)
    """
    variables = matlab(file_of("ensemble_pool", name), "members", "gt")
    return EnsemblePool(variables["members"].astype(np.int64), codes(variables["gt"].ravel()))


def load_single_cell() -> Labelled:
    """Expression of 20214 genes in 90 cells of early embryos (Yan et al.), with six stages.

    Returns
    -------
    Labelled
        (90, 20214) expression (RPKM, not transformed) and the stage of each cell.

    Examples
    --------
    >>> load_single_cell().X.shape  # doctest: +SKIP
    (90, 20214)
    """
    try:
        import pyreadr  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise MissingDependencyError("pyreadr is not installed; get it with: pip install pyreadr") from None
    tables = pyreadr.read_r(str(file_of("single_cell", "yan")))
    return Labelled(tables["yan"].to_numpy(np.float64).T, codes(tables["ann"].iloc[:, 0].astype(str).to_numpy()))


def _cells(path: Path) -> list[list[str]]:
    """Cells of a file with commas or blanks, without comments and the header of ARFF."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line and line[0] not in "%@"]
    return [line.split(",") if "," in line else line.split() for line in lines]
