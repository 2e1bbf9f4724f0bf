"""Agreement of two partitions, given as labels, and the modularity of one of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from biconsensus._names import parameters
from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError
from biconsensus.metrics._contingency import best_matching, contingency, label_codes
from biconsensus.protocols import FloatArray, IntArray


@parameters()
def noise_as_singletons(labels: ArrayLike) -> IntArray:
    """Labels in which every element of no group (-1) is a group of one, as methods that know no outliers have them.

    Parameters
    ----------
    labels : (m,) array of int
        Group of each element, -1 for none.

    Returns
    -------
    (m,) array of int

    Examples
    --------
    >>> noise_as_singletons([0, -1, 1, -1])
    array([0, 2, 1, 3])
    """
    groups = np.asarray(labels)
    alone = groups == -1
    return np.where(alone, groups.max(initial=-1) + np.cumsum(alone), groups)


@parameters()
def nmi(truth: ArrayLike, labels: ArrayLike) -> float:
    """Normalised mutual information of two partitions, with the arithmetic mean of their entropies.

    Parameters
    ----------
    truth, labels : (m,) array of labels
        Any labels that can be sorted. -1 counts as one more group.

    Returns
    -------
    float
        1 for equal partitions, 0 for independent ones.

    Notes
    -----
    ``2 (H(G) + H(C) - H(G, C)) / (H(G) + H(C))``. It rewards shattering: read `ari` or `ami` beside it.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*label_codes(truth, labels)))


def nmi_of_counts(table: FloatArray | csr_array) -> float:
    """Normalised mutual information of a (k, l) table of how many elements have each pair of labels.

    Examples
    --------
    >>> nmi_of_counts(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    counts = csr_array(table, dtype=np.float64)
    both, *sides = (_entropy(part) for part in (counts.data, counts.sum(axis=1), counts.sum(axis=0)))
    total = sum(sides)
    return 1.0 if total <= 0 else float(np.clip(2 * (total - both) / total, 0.0, 1.0))


def _entropy(counts: FloatArray) -> float:
    """Entropy of counts in nats; 0 where nothing was counted."""
    shares = counts[counts > 0] / counts.sum()
    return -float(shares @ np.log(shares))


@parameters()
def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Rand index of two partitions, adjusted for chance.

    Parameters
    ----------
    truth, labels : (m,) array of labels
        Any labels that can be sorted. -1 counts as one more group.

    Returns
    -------
    float
        1 for equal partitions, about 0 for random ones, never below -0.5.

    Examples
    --------
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*label_codes(truth, labels)))


@parameters()
def ami(truth: ArrayLike, labels: ArrayLike) -> float:
    """Mutual information of two partitions, adjusted for chance (arithmetic mean of the entropies).

    Parameters
    ----------
    truth, labels : (m,) array of labels
        Any labels that can be sorted. -1 counts as one more group.

    Returns
    -------
    float
        1 for equal partitions, about 0 for random ones. The expectation costs about m times the number of groups.

    Examples
    --------
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    a, b = label_codes(truth, labels)
    n_pairs = np.unique(a * (b.max(initial=0) + 1) + b).size
    if n_pairs == a.max(initial=-1) + 1 == b.max(initial=-1) + 1:
        return 1.0  # equal partitions; scikit-learn before 1.7 says 0 where all elements are alone
    return float(adjusted_mutual_info_score(a, b))


@parameters()
def f_measure(truth: ArrayLike, labels: ArrayLike, beta: float = 1.0) -> float:
    """Class-weighted best F: for each true class the best F over all groups, weighted by the size of the class.

    Parameters
    ----------
    truth, labels : (m,) array of labels
        -1 in `truth` is no class and -1 in `labels` no group; their elements still count in the sizes of others.
    beta : float, default 1
        Weight of recall against precision.

    Returns
    -------
    float
        In [0, 1]; the paper prints it as a percentage.

    Notes
    -----
    ``F = (beta^2 + 1) P R / (beta^2 P + R)`` for each pair of class and group. This reading reproduces all four
    k-means rows of Iris in the paper's table.

    Examples
    --------
    >>> round(f_measure([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]), 4)
    0.8286
    """
    counts, classes, groups = contingency(truth, labels)
    class_sizes, group_sizes = counts.sum(1), counts.sum(0)
    if not classes.any():
        return 0.0
    asked = beta**2 * class_sizes[counts.row] + group_sizes[counts.col]
    scores = (1 + beta**2) * counts.data / asked * groups[counts.col]
    best = np.zeros(class_sizes.size)
    np.maximum.at(best, counts.row, scores)
    return float(best[classes] @ class_sizes[classes] / class_sizes[classes].sum())


@parameters()
def misclassification_error(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of elements that are wrong under the best one-to-one matching of groups to classes.

    Parameters
    ----------
    truth, labels : (m,) array of labels
        -1 means outlier on both sides: it is matched with -1 only, as in the multi-model fitting benchmarks.

    Returns
    -------
    float
        In [0, 1]; the literature prints percentages.

    Examples
    --------
    >>> misclassification_error([0, 0, 1, 1, -1], [1, 1, 0, -1, -1])
    0.2
    """
    counts, classes, groups = contingency(truth, labels)
    total = int(counts.sum())
    if not total:
        return 0.0
    table = csr_array(counts)
    right = best_matching(table[classes][:, groups])[1].sum() + table[~classes][:, ~groups].sum()
    return float((total - right) / total)


@parameters()
def modularity(adjacency: Any, labels: ArrayLike, resolution: float = 1.0) -> float:
    """Modularity of a partition of a graph: edges inside groups, less those expected from the degrees.

    Parameters
    ----------
    adjacency : (m, m) array or sparse array
        Edge weights, not negative; symmetric, or directed from row to column. A self-loop counts as its diagonal entry.
    labels : (m,) array of int
        -1 means a group of its own for that node alone.
    resolution : float, default 1
        Weight of the expected part; larger values favour smaller groups.

    Returns
    -------
    float
        At most 1; 0 for a graph without edges.

    Notes
    -----
    ``Q = sum over groups of  e_g / W - resolution * (out_g / W) * (in_g / W)`` with W the sum of the matrix, e_g that
    of the entries inside the group, and out_g and in_g the row and column sums of its nodes.

    Examples
    --------
    >>> edges = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> modularity(edges, [0, 0, 0, 1, 1, 1])
    0.5
    """
    if hasattr(adjacency, "adjacency") and hasattr(adjacency, "nodes"):
        raise InputTypeError("adjacency is a network; give its matrix: graphs.read_graph(network).adjacency.")
    matrix = coo_array(adjacency)
    groups = np.unique(noise_as_singletons(labels), return_inverse=True)[1]
    if matrix.shape != (groups.size, groups.size):
        raise InputError(
            f"labels has {counted(groups.size, 'value')} for an adjacency of shape {matrix.shape}; give one a node."
        )
    total = float(matrix.sum())
    if not total:
        return 0.0
    inside = matrix.data[groups[matrix.row] == groups[matrix.col]].sum() / total
    outgoing, incoming = (np.bincount(groups, matrix.sum(axis)) / total for axis in (1, 0))
    return float(inside - resolution * (outgoing @ incoming))
