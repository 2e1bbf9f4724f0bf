"""What the overlaps of the candidates say: how certain the pool is of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import FloatArray
from biconsensus.quorum._measures import unseen_by_source

CERTAINTY_SCALE = 0.4
"""Scale of the certainty of candidates, as published for locally weighted ensembles."""


@dataclass(frozen=True)
class Overlaps:
    """The elements that each two columns of a pool share.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> overlaps = Overlaps.of(bc.PreferenceMatrix.from_pool(pool))
    >>> sorted(overlaps.certainty().round(3).tolist())
    [0.287, 0.317, 1.0, 1.0]
    """

    problem: PreferenceMatrix
    shared: csr_array
    """(q, q) elements that two columns share; sparse, because most of many columns share none."""

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> Overlaps:
        """Count them on the distinct rows."""
        entries = problem.entries.astype(np.float64)
        return cls(problem, csr_array(entries.T @ (entries * problem.counts[:, None])))

    @cached_property
    def _left(self) -> FloatArray:
        """(q, c) elements of each column that each source saw and put in no candidate."""
        sizes = self.problem.counts @ self.problem.entries.astype(np.float64)
        left = sizes[:, None] - self.shared @ self._backers
        if self.problem.unseen is not None:
            members = self.problem.entries.astype(np.float64) * self.problem.counts[:, None]
            left = left - unseen_by_source(self.problem, members).T
        return np.asarray(np.maximum(left, 0.0))

    @cached_property
    def _backers(self) -> FloatArray:
        """(q, c) sources behind each column."""
        return np.asarray(self.problem.backers.astype(np.float64).toarray())

    def certainty(self, scale: float = CERTAINTY_SCALE) -> FloatArray:
        """How certain the pool is of each column.

        Parameters
        ----------
        scale : float
            Small values punish uncertain candidates more.

        Returns
        -------
        (q,) array
            In (0, 1]: 1 for a column that no source cuts.

        Notes
        -----
        ``exp(-H_j / (scale c))`` with H_j the entropy (bits) of column j over the candidates of each source that saw
        it, summed over the c sources; what a source saw and put in no candidate is one more class.
        """
        parts = self.shared.copy()
        parts.data = _xlogx(parts.data)
        # entropy of parts x of a whole n: sum of -(x/n) log(x/n) = (n log n - sum of x log x) / n
        whole = np.maximum(self.shared @ self._backers + self._left, 1e-12)
        bits = np.maximum(_xlogx(whole) - parts @ self._backers - _xlogx(self._left), 0.0) / whole
        return np.asarray(np.exp(-bits.sum(axis=1) / (scale * self._backers.shape[1])))


def _xlogx(x: FloatArray) -> FloatArray:
    """x log2 x, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))
