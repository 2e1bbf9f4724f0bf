"""A look at the pool itself: trivial, empty and duplicate candidates, sources that dissent from all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from biconsensus.pool._agreement import redundant_sources, source_agreement
from biconsensus.pool._pool import TRIVIAL_SHARE, Pool
from biconsensus.pool._rows import group_rows
from biconsensus.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Diagnosis:
    """What deserves a look in a pool; all indices are into its candidates or sources."""

    empty: IntArray
    """Candidates without elements."""
    trivial: IntArray
    """Candidates that hold 90% or more of what their source saw."""
    duplicates: list[IntArray]
    """Sets of candidates with the same elements and the same mask."""
    agreement: FloatArray
    """(c,) mean adjusted Rand index of each source with the others, on what both saw."""
    redundant: list[IntArray]
    """Sets of sources that say nearly the same or are runs of one setting; ``weights="shared"`` gives them one vote."""
    dissenting: IntArray
    """Sources whose agreement is below half the median and three deviations under it."""


def diagnose(pool: Pool) -> Diagnosis:
    """Find what deserves a look in a pool.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.pool._diagnostics import diagnose
    >>> found = diagnose(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]))
    >>> found.trivial, [d.tolist() for d in found.duplicates]
    (array([4]), [[0, 2], [1, 3]])
    """
    sizes = pool.sizes
    _, groups = group_rows(csr_array(pool.rows.T), pool.masks()[0])
    shared = np.flatnonzero(np.bincount(groups) > 1)
    agreement = source_agreement(pool)
    middle = float(np.median(agreement))
    spread = 1.4826 * float(np.median(np.abs(agreement - middle)))
    return Diagnosis(
        empty=np.flatnonzero(sizes == 0),
        trivial=np.flatnonzero((sizes > 0) & (sizes >= TRIVIAL_SHARE * pool.seen_sizes)),
        duplicates=[np.flatnonzero(groups == g) for g in shared if sizes[groups == g][0] > 0],
        agreement=agreement,
        redundant=redundant_sources(pool),
        dissenting=np.flatnonzero((agreement < middle / 2) & (agreement < middle - 3 * spread)),
    )
