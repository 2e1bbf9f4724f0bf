"""Classical non-negative matrix factorisation of rank one, for comparison (the paper's Fig. 4)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray, IntArray
from biconsensus.solvers._factors import block_of_factors, leading_triplets, live_matrix, require_seen


class FrobeniusSolver:
    """Best non-negative rank-one factor in the Frobenius norm; nothing missing.

    Notes
    -----
    ``min ||A - x y||_F^2`` with x, y >= 0 and A >= 0 is solved by the leading singular pair, which is not negative
    (Perron and Frobenius) and lives on one connected component of the bipartite graph of A. The quorum only enters the
    gain that is reported. Inside a component the factors are positive everywhere, so blocks are too large as soon as
    groups touch: that is what the L1 norm mends.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.uint8))
    >>> problem = PreferenceMatrix(B, np.ones(3, int), np.ones(3), np.arange(3), eye_array(3, dtype=bool, format="csr"))
    >>> solver = FrobeniusSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(3, bool), np.ones(3, bool), 1, 1).rows.tolist()
    [True, True, False]
    """

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; refuses missing votes."""
        require_seen(problem, "frobenius")
        self._problem, self._quorum = problem, quorum

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Block of the leading singular pair of the live matrix, or None if it is too small."""
        matrix, counts = live_matrix(self._problem, rows, columns)
        if not matrix.nnz:
            return None
        roots = np.sqrt(counts)
        matrix.data = matrix.data * np.repeat(roots, np.diff(matrix.indptr))
        left, value, right = leading_pair(matrix)
        return block_of_factors(
            self._problem,
            self._quorum,
            (rows, columns),
            (left * value / roots, right),
            (min_elements, min_candidates),
        )


def leading_pair(matrix: csr_array) -> tuple[FloatArray, float, FloatArray]:
    """Leading singular triplet of a non-negative matrix, not negative, on one connected component.

    Parameters
    ----------
    matrix : (m, n) csr_array
        Non-negative matrix with at least one non-zero.

    Returns
    -------
    left : (m,) array of float
    value : float
    right : (n,) array of float

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> left, value, right = leading_pair(csr_array(np.diag([1.0, 3.0])))
    >>> left.tolist(), value, right.tolist()
    ([0.0, 1.0], 3.0, [0.0, 1.0])
    """
    n_rows = matrix.shape[0]
    graph: Any = block_array([[None, matrix], [matrix.T, None]], format="csr")
    component: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    energy = np.bincount(np.repeat(component[:n_rows], np.diff(matrix.indptr)), matrix.data**2)
    best: tuple[float, int, FloatArray, FloatArray] | None = None
    for c in np.argsort(-energy, kind="stable"):
        # the Frobenius norm of a component bounds its singular values
        if best is not None and np.sqrt(energy[c]) <= best[0]:
            break
        part = matrix[component[:n_rows] == c][:, component[n_rows:] == c]
        left, values, right = leading_triplets(csr_array(part))
        if best is None or values[0] > best[0]:
            best = (float(values[0]), int(c), left[:, 0], right[0])
    assert best is not None
    u, v = np.zeros(n_rows), np.zeros(matrix.shape[1])
    u[component[:n_rows] == best[1]], v[component[n_rows:] == best[1]] = best[2], best[3]
    return u, best[0], v
