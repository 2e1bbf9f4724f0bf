"""A candidate counts as much as the result it comes from is good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray


def by_quality(quality: Any, sharpness: float = 5.0) -> Callable[[Pool], FloatArray]:
    """Rule that weighs each candidate by a smooth increasing function of the quality of its source.

    Parameters
    ----------
    quality : (c,) array
        Quality of each source, for example the modularity of a community structure.
    sharpness : float
        How fast the weight ``exp(sharpness * (q - max q))`` falls below the best source.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]])
    >>> by_quality([0.4, 0.2])(pool).round(3)
    array([1.   , 1.   , 0.368, 0.368])

    Notes
    -----
    The paper uses "a smooth increasing nonlinear function" of modularity in its Table 2 and does not say which.
    """
    values = np.asarray(quality, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError("quality must be finite, one value for each source.")

    def rule(pool: Pool) -> FloatArray:
        if values.size != len(pool.sources):
            raise InputError(f"quality has {counted(values.size, 'value')} for {counted(len(pool.sources), 'source')}.")
        weights: FloatArray = np.exp(sharpness * (values - values.max()))[pool.source_of]
        return weights

    return rule
