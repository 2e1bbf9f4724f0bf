"""The optimum at quorum 1/2, with a proof: cutting planes, then branch and bound (HiGHS). For small matrices."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from biconsensus.errors import InputError, TooLargeError
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray
from biconsensus.solvers._factors import admissible, require_majority
from biconsensus.solvers.exact._branch_and_cut import BlockSearch


class ExactSolver:
    """Best block of all at quorum 1/2, as a mixed-integer programme; binary matrices, missing votes allowed.

    Parameters
    ----------
    time_limit : float
        Seconds for one block; what is best by then is returned, and `gap_` says how far from proven it is.
    max_entries : int
        Live distinct rows x columns above which the solver refuses.

    Attributes
    ----------
    optimal_ : bool
        Whether the last block is proven to be the best.
    gap_ : float
        Proven upper bound less the gain, relative to the gain.

    Notes
    -----
    ``max sum of c_ij z_ij`` with ``c_ij = s_i M_ij w_j (B_ij - 1/2)`` and ``z_ij = r_i q_j``, r and q binary. A z with
    a positive coefficient only needs ``z <= r, z <= q``, one with a negative coefficient only ``z >= r + q - 1``. The
    bound of this relaxation is weak (r = q = 1/2 holds half of all memberships), so inequalities of cycles of four
    (two rows, two columns, see `cycle_cuts`) are added as long as they are violated; on planted blocks that often
    closes the gap without branching. What is left goes to branch and bound. Minimum sizes are constraints, used only
    where the best block without them is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.uint8))
    >>> problem = PreferenceMatrix(B, np.ones(3, int), np.ones(3), np.arange(3), eye_array(3, dtype=bool, format="csr"))
    >>> solver = ExactSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(3, bool), np.ones(3, bool), 1, 1).gain, solver.optimal_
    (2.0, True)
    """

    optimal_: bool
    gap_: float

    def __init__(self, *, time_limit: float = 60.0, max_entries: int = 20_000) -> None:
        self.time_limit = time_limit
        self.max_entries = max_entries

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; refuses a quorum other than 1/2 and real values."""
        require_majority(quorum, "exact")
        if not problem.binary:
            raise InputError("solver 'exact' takes binary memberships only; received real values. Use 'quantile'.")
        self._problem, self._quorum = problem, quorum

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best block inside the live rows and columns that has the minimum sizes, or None."""
        size = int(rows.sum()) * int(columns.sum())
        if size > self.max_entries:
            raise TooLargeError(
                f"solver 'exact' is for small matrices; received {rows.sum()} live distinct rows x {columns.sum()} "
                f"columns, above max_entries={self.max_entries}. Use solver='vote', or raise max_entries."
            )
        self.optimal_, self.gap_ = True, 0.0
        if size == 0:
            return None
        deadline = time.monotonic() + self.time_limit
        free = self._solve(BlockSearch(self._gains(rows, columns), None, None, deadline), rows, columns)
        if free is None or admissible(self._problem, free.rows, free.columns, min_elements, min_candidates):
            return free
        search = BlockSearch(
            self._gains(rows, columns),
            (self._problem.counts[rows].astype(np.float64), min_elements),
            (csr_array(self._problem.backers[columns].astype(np.float64).T), min_candidates),
            deadline,
        )
        return self._solve(search, rows, columns)

    def _gains(self, rows: BoolArray, columns: BoolArray) -> FloatArray:
        """Gain c_ij of each live pair."""
        held = self._problem.entries[rows][:, columns].toarray().astype(np.float64)
        seen = self._problem.seen(rows, columns)
        weights = self._problem.weights[columns]
        return np.asarray(self._problem.counts[rows][:, None] * seen * weights * (held - 0.5))

    def _solve(self, search: BlockSearch, rows: BoolArray, columns: BoolArray) -> Block | None:
        """Run one search and translate its answer."""
        search.run()
        self.optimal_ = search.bound - search.gain < search.grain
        self.gap_ = 0.0 if self.optimal_ else (search.bound - search.gain) / max(search.gain, 1e-9)
        if search.block is None:
            return None
        all_rows, all_columns = np.zeros(rows.size, bool), np.zeros(columns.size, bool)
        all_rows[rows], all_columns[columns] = search.block
        return Block(all_rows, all_columns, self._problem.gain(all_rows, all_columns, self._quorum))
