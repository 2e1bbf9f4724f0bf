"""Agreement of two partitions, given as labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from biconsensus.metrics._contingency import best_matching, contingency
from biconsensus.protocols import FloatArray, IntArray


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
    counts = contingency(truth, labels)[0]
    mutual, h_truth, h_labels = _information(counts)
    return _ratio(mutual, (h_truth + h_labels) / 2, counts)


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
    counts = contingency(truth, labels)[0]
    total = _pairs(counts.sum())
    both, in_truth, in_labels = (_pairs(v).sum() for v in (counts.data, counts.sum(1), counts.sum(0)))
    expected = in_truth * in_labels / total if total else 0.0
    best = (in_truth + in_labels) / 2
    return 1.0 if best == expected else float((both - expected) / (best - expected))


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
    from sklearn.metrics.cluster import expected_mutual_information

    counts = contingency(truth, labels)[0]
    if np.count_nonzero(csr_array(counts).data) == counts.shape[0] == counts.shape[1]:
        return 1.0
    mutual, h_truth, h_labels = _information(counts)
    expected = expected_mutual_information(csr_array(counts), int(counts.sum()))
    spread = (h_truth + h_labels) / 2 - expected
    tiny = np.finfo(np.float64).eps
    return float((mutual - expected) / (min(spread, -tiny) if spread < 0 else max(spread, tiny)))


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


def _information(counts: coo_array) -> tuple[float, float, float]:
    """Mutual information and the two entropies, in nats."""
    h_both, h_truth, h_labels = (_entropy(v) for v in (counts.data, counts.sum(1), counts.sum(0)))
    return max(h_truth + h_labels - h_both, 0.0), h_truth, h_labels


def _entropy(sizes: IntArray) -> float:
    """Entropy of a distribution given as counts, in nats."""
    p = sizes[sizes > 0] / max(sizes.sum(), 1)
    return float(-(p @ np.log(p)))


def _ratio(mutual: float, mean: float, counts: coo_array) -> float:
    """Mutual information over a mean entropy; equal partitions give exactly 1."""
    if max(counts.shape) <= 1 or counts.nnz == counts.shape[0] == counts.shape[1]:
        return 1.0
    return float(np.clip(mutual / mean, 0.0, 1.0)) if mean > 0 else 0.0


def _pairs(sizes: Any) -> FloatArray:
    """Number of pairs inside each size."""
    sizes = np.asarray(sizes, dtype=np.float64)
    return np.asarray(sizes * (sizes - 1) / 2)
