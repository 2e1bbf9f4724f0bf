"""Cycle inequalities of the bipartite Boolean quadric polytope, for `exact`."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from biconsensus.protocols import FloatArray, IntArray

VIOLATED = 1e-3
"""Violation from which a cut is worth adding."""
MOST = 2000
"""Cuts added in one round: more slow the next linear program down."""


def cycle_cuts(
    gains: FloatArray, r: FloatArray, q: FloatArray, z: FloatArray, n_variables: int
) -> tuple[csr_array, FloatArray]:
    """Inequalities over two rows and two columns that a fractional answer violates most.

    Parameters
    ----------
    gains : (m, n) array of float
        Gain of each pair; only its sign matters.
    r, q, z : (m,), (n,), (m, n) array of float
        Answer of the relaxation.
    n_variables : int
        Width of the inequalities; r, q and z (row by row) come first.

    Returns
    -------
    matrix : (k, n_variables) csr_array
    limits : (k,) array of float
        The cuts ``matrix @ x <= limits``.

    Notes
    -----
    For rows i, i' and columns j, j' where (i, j), (i, j') and (i', j) gain and (i', j') loses,
    ``z_ij + z_ij' + z_i'j - z_i'j' <= r_i + q_j`` holds for every block; where the three lose and the last one gains,
    ``r_i + q_j - z_ij - z_ij' - z_i'j + z_i'j' <= 1``. At r = q = 1/2 both are violated by 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.full(2, 0.5)
    >>> gains = np.array([[0.5, 0.5], [0.5, -0.5]])
    >>> matrix, limits = cycle_cuts(gains, half, half, np.array([[0.5, 0.5], [0.5, 0.0]]), 8)
    >>> matrix.toarray().tolist(), limits.tolist()
    ([[-1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, -1.0]], [0.0])
    """
    m, n = gains.shape
    sign = np.sign(gains)
    found = [_worst(i, sign, r, q, z) for i in range(m)]
    violation = np.concatenate([amount for amount, _ in found])
    cycles = np.concatenate([cycle for _, cycle in found])
    worst = np.argsort(-violation, kind="stable")[:MOST]
    i, j, i2, j2 = cycles[worst[violation[worst] > VIOLATED]].T
    s = sign[i, j]
    first_z = m + n
    variables = [first_z + i * n + j, first_z + i * n + j2, first_z + i2 * n + j, first_z + i2 * n + j2, i, m + j]
    values = [s, s, s, -s, -s, -s]
    cut = np.tile(np.arange(i.size), 6)
    matrix = csr_array((np.concatenate(values), (cut, np.concatenate(variables))), shape=(i.size, n_variables))
    return matrix, np.where(s < 0, 1.0, 0.0)


def _worst(i: int, sign: FloatArray, r: FloatArray, q: FloatArray, z: FloatArray) -> tuple[FloatArray, IntArray]:
    """For row i and each column j, the most violated cycle through them: its violation and (i, j, i', j')."""
    m, n = sign.shape
    s = sign[i][:, None, None]
    total = (z[i] - r[i] - q)[:, None, None] + z[i][None, None, :] + z.T[:, :, None] - z[None]
    fits = (s != 0) & (sign[i][None, None, :] == s) & (sign.T[:, :, None] == s) & (sign[None] == -s)
    violation = np.where(fits, s * total - (s < 0), -1.0).reshape(n, m * n)
    place = violation.argmax(axis=1)
    row, column = np.divmod(place, n)
    here = np.arange(n)
    return violation[here, place], np.stack([np.full(n, i), here, row, column], axis=1)
