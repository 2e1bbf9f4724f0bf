"""Points with labels, and pools of base clusterings made by others."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from biconsensus.datasets._folder import codes, existing, file_of, matlab
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


MODELS = {
    "Star5_S00075_O50": 5,
    "Star5_S00075_O75": 5,
    "Star11_S00075_O50": 11,
    "Circles5_S00075_O50": 5,
    "Stairs4_S00075_O60": 4,
    "Star5_S00075_O0": 5,
    "Star5_S0015_O0": 5,
    "Star5_S0_O5": 5,
    "Star11_S00075_O0": 11,
    "Star5_S0015_O50": 5,
    "Stairs_S0015_060": 4,
    "PozzoVeggiani": 0,
    "CastelVecchio": 0,
}
"""Number of true models of each J-linkage set, of fifty points each; the rest are outliers."""

PAPER_SETS = {
    "A": "Star5_S00075_O50",
    "B": "Star5_S00075_O75",
    "C": "Star11_S00075_O50",
    "D": "Circles5_S00075_O50",
}
"""The paper's letters for four of them."""

UCI = {
    "breast": ("breast-cancer-wisconsin.data", 1),
    "glass": ("glass.data", 1),
    "iris": ("iris.csv", 0),
    "wine": ("wine.csv", 0),
    "ecoli": ("ecoli.data", 1),
    "segment": ("segment.arff", 0),
    "vehicle": ("vehicle.arff", 0),
}
"""File of each UCI set and how many columns in front are ids."""


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
    X = matlab(existing("jlinkage", "JLinkageExamples.mat"))[variable].T.astype(np.float64)
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
    >>> load_uci("wine").X.shape  # doctest: +SKIP
    (178, 13)
    """
    if name not in UCI:
        raise UnknownNameError.of("uci data set", name, UCI)
    file, n_ids = UCI[name]
    rows = [row for row in _cells(existing("uci", file)) if "?" not in row]
    X = np.array([row[n_ids:-1] for row in rows], dtype=np.float64)
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
    path = file_of("benchmark", name)
    truth = path.with_name(path.name.replace(".data.gz", f".labels{labels}.gz"))
    if not truth.exists():
        raise UnknownNameError.of(f"labels of {name}", labels, [p.name for p in truth.parent.glob("*.labels*")])
    X = np.loadtxt(path, ndmin=2)
    return Labelled(X, np.loadtxt(truth, dtype=np.int64) - 1)


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
    variables = matlab(file_of("ensemble_pool", name))
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
    tables = pyreadr.read_r(str(existing("single_cell", "yan.rda")))
    return Labelled(tables["yan"].to_numpy(np.float64).T, codes(tables["ann"].iloc[:, 0].astype(str).to_numpy()))


def _cells(path: Path) -> list[list[str]]:
    """Cells of a file with commas or blanks, without comments and the header of ARFF."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line and line[0] not in "%@"]
    return [line.split(",") if "," in line else line.split() for line in lines]
