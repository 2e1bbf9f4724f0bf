"""The preference matrix before and after reordering by bi-cluster, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


@dataclass(frozen=True)
class MatrixImage:
    """A preference matrix as a picture: rows and columns are binned where there are too many."""

    shares: FloatArray
    """(a, b) mean entry of each cell, relative to the largest entry: the share of memberships."""
    row_edges: IntArray
    """(a + 1,) positions in the order of elements where the rows of the picture begin."""
    column_edges: IntArray
    """(b + 1,) positions in the order of candidates where its columns begin."""
    row_groups: IntArray
    """(a,) the group of most elements of each row, -1 for none."""
    column_groups: IntArray
    """(b,) the group that most candidates of each column back, -1 for none."""

    @property
    def binned(self) -> bool:
        """Whether a cell is the mean of several entries."""
        return any(np.diff(edges).max(initial=1) > 1 for edges in (self.row_edges, self.column_edges))

    @property
    def ink(self) -> FloatArray:
        """(a, b) how dark to draw: the shares, or where cells are means their roots, the fullest cell being full."""
        return np.sqrt(self.shares / max(float(self.shares.max()), 1e-300)) if self.binned else self.shares


def element_order(consensus: Consensus) -> IntArray:
    """Elements by group, in a group by falling backing, those in no group last.

    Parameters
    ----------
    consensus : Consensus
        A result.

    Returns
    -------
    (m,) int array
        Indices of elements.

    Examples
    --------
    >>> import biconsensus as bc
    >>> element_order(bc.find_consensus([[0, 1] * 7] * 4)).tolist()
    [0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9, 11, 13]
    """
    last = np.where(consensus.labels < 0, len(consensus), consensus.labels)
    return np.asarray(np.lexsort((-consensus.backing, last)), np.int64)


def candidate_groups(consensus: Consensus) -> IntArray:
    """The group that each candidate backs, -1 for none.

    Parameters
    ----------
    consensus : Consensus
        A result.

    Returns
    -------
    (n,) int array
        Groups.

    Examples
    --------
    >>> import biconsensus as bc
    >>> candidate_groups(bc.find_consensus([[0, 1] * 7] * 4)).tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """
    groups = np.full(consensus.pool.shape[1], -1, np.int64)
    for number, group in enumerate(consensus.biclusters):
        groups[group.candidates] = number
    return groups


def matrix_image(
    consensus: Consensus, reorder: bool = True, max_rows: int = 400, max_columns: int = 400
) -> MatrixImage:
    """The preference matrix as a picture of bounded size.

    Parameters
    ----------
    consensus : Consensus
        A result.
    reorder : bool
        Whether elements and candidates are ordered by bi-cluster.
    max_rows, max_columns : int
        Size of the picture; where there are more elements or candidates, a cell is a mean.

    Returns
    -------
    MatrixImage
        The picture as numbers.

    Examples
    --------
    >>> import biconsensus as bc
    >>> image = matrix_image(bc.find_consensus([[0, 1] * 8] * 4), max_rows=2, max_columns=2)
    >>> image.shares.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    m, n = consensus.pool.shape
    groups = candidate_groups(consensus)
    elements, candidates = np.arange(m), np.arange(n)
    if reorder:
        elements = element_order(consensus)
        candidates = np.argsort(np.where(groups < 0, len(consensus), groups), kind="stable")
    row_edges, column_edges = _edges(m, max_rows), _edges(n, max_columns)
    return MatrixImage(
        shares=_means(consensus, elements, candidates, row_edges, column_edges),
        row_edges=row_edges,
        column_edges=column_edges,
        row_groups=_majority(consensus.labels[elements], row_edges, len(consensus)),
        column_groups=_majority(groups[candidates], column_edges, len(consensus)),
    )


def _edges(size: int, bins: int) -> IntArray:
    """Bounds of at most `bins` nearly equal parts."""
    return np.asarray(np.linspace(0, size, min(size, bins) + 1), np.int64)


def _means(
    consensus: Consensus, elements: IntArray, candidates: IntArray, row_edges: IntArray, column_edges: IntArray
) -> FloatArray:
    """(a, b) mean entry of each cell over the largest entry."""
    pool = consensus.pool
    lengths = np.diff(row_edges)
    rows = pool.inverse[elements]
    pick = csr_array((np.ones(rows.size), rows, row_edges), shape=(lengths.size, pool.rows.shape[0]))
    sums = (pick @ pool.rows.astype(np.float64)).toarray()[:, candidates]
    cells = np.add.reduceat(sums, column_edges[:-1], axis=1) / np.outer(lengths, np.diff(column_edges))
    top = float(pool.rows.data.max()) if pool.rows.nnz else 1.0
    return np.asarray(cells / top)


def _majority(groups: IntArray, edges: IntArray, n_groups: int) -> IntArray:
    """The most frequent group between two edges, -1 where that is none."""
    bins = np.repeat(np.arange(edges.size - 1), np.diff(edges))
    counts = np.bincount(bins * (n_groups + 1) + groups + 1, minlength=(edges.size - 1) * (n_groups + 1))
    return np.asarray(counts.reshape(-1, n_groups + 1).argmax(axis=1) - 1, np.int64)
