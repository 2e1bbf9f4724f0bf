"""Weight rules for candidates, one a file, by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from biconsensus._checks import as_numbers, check_weights
from biconsensus._words import counted
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray

__all__ = ["RULES", "weigh"]
__dir__ = __all__.copy  # what dir() shows

RULES = {
    "uniform": "biconsensus.pool.weights._uniform:uniform",
    "size": "biconsensus.pool.weights._size:by_size",
    "agreement": "biconsensus.pool.weights._agreement:by_agreement",
    "shared": "biconsensus.pool.weights._shared:shared",
}
"""Name of each rule and where it is; imported when asked for."""


def weigh(weights: Any, pool: Pool) -> FloatArray:
    """Weights of the candidates of a pool, by the name of a rule, a callable, or given.

    Parameters
    ----------
    weights : str, callable, (n,) array or (c,) array
        Rule name, function of the pool, or one value for each candidate or each source.
    pool : Pool
        The candidates.

    Returns
    -------
    (n,) float array

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> weigh("size", pool).round(2)
    array([0.71, 0.71, 0.58, 1.  ])
    """
    if isinstance(weights, str):
        if weights not in RULES:
            raise UnknownNameError.of("weight rule", weights, RULES)
        module, _, name = RULES[weights].partition(":")
        weights = getattr(import_module(module), name)
    values = as_numbers(weights(pool) if callable(weights) else weights, "weights")
    n, c = pool.shape[1], len(pool.sources)
    if values.size not in (n, c):
        raise InputError(
            f"weights has {counted(values.size, 'value')}; give {c}, one for each source, or {n}, one "
            "for each candidate."
        )
    return check_weights(values, c)[pool.source_of] if values.size == c else check_weights(values, n)
