"""What each source saw, as dense masks."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus.plots._bases import source_seen


def seen_of(consensus: bc.Consensus) -> np.ndarray:
    """(m, c) dense mask of what each source saw."""
    return np.stack(
        [
            np.ones(consensus.labels.size, bool) if (seen := source_seen(consensus.pool, k)) is None else seen
            for k in range(len(consensus.pool.sources))
        ],
        axis=1,
    )
