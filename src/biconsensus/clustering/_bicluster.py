"""BiclusterConsensus: the loop as a scikit-learn bi-clustering estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative, validate_data

from biconsensus._names import NOT_RANDOM, parameters
from biconsensus.find import find_consensus
from biconsensus.pool._pool import Pool
from biconsensus.protocols import Solver


@parameters("BiclusterConsensus(n_groups=4)", random_state=NOT_RANDOM)
class BiclusterConsensus(BiclusterMixin, BaseEstimator):  # type: ignore[misc]
    """Bi-clusters of a preference matrix, in the manner of `sklearn.cluster.SpectralBiclustering`.

    Parameters
    ----------
    min_elements, min_candidates, overlap, quorum, method, unassigned, n_groups, stop, solver, n_jobs
        As in `find_consensus`.

    Attributes
    ----------
    rows_ : (T, m) bool array
        Rows of each bi-cluster.
    columns_ : (T, n) bool array
        Columns of each bi-cluster.
    consensus_ : Consensus
        The whole result.
    labels_ : (m,) int array
        Group of each row, -1 for none.

    Examples
    --------
    >>> import biconsensus as bc
    >>> A = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> model = bc.BiclusterConsensus(min_elements=2, min_candidates=2).fit(A)
    >>> model.columns_
    array([[ True,  True, False, False],
           [False, False,  True,  True]])
    """

    def __init__(
        self,
        min_elements: int | None = None,
        min_candidates: int | None = None,
        *,
        overlap: bool = False,
        quorum: Any = "auto",
        method: str = "auto",
        unassigned: str = "nearest",
        n_groups: int | None = None,
        stop: str = "size",
        solver: str | Solver = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.min_elements = min_elements
        self.min_candidates = min_candidates
        self.overlap = overlap
        self.quorum = quorum
        self.method = method
        self.unassigned = unassigned
        self.n_groups = n_groups
        self.stop = stop
        self.solver = solver
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        """Takes sparse matrices, and no negative values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, A: Any, y: Any = None) -> BiclusterConsensus:
        """Bi-cluster an (m, n) matrix, dense or sparse, binary or real.

        Parameters
        ----------
        A : (m, n) array or sparse matrix
            Preference matrix: rows are elements, columns candidates.
        y : ignored
            Present for scikit-learn.
        """
        kinds = [np.float64, np.float32, np.uint8, np.int64, bool]
        # from_matrix says more about NaN and infinity: which candidate has them
        A = validate_data(self, A, accept_sparse="csr", dtype=kinds, ensure_all_finite=False)
        check_non_negative(A, type(self).__name__)
        self.consensus_ = find_consensus(
            Pool.from_matrix(A),
            min_elements=self.min_elements,
            min_candidates=self.min_candidates,
            overlap=self.overlap,
            quorum=self.quorum,
            method=self.method,
            unassigned=self.unassigned,
            n_groups=self.n_groups,
            stop=self.stop,
            solver=self.solver,
            n_jobs=self.n_jobs,
        )
        self.rows_, self.columns_ = self.consensus_.indicators
        self.labels_ = self.consensus_.labels
        return self
