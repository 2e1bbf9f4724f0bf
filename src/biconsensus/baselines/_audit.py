"""Whether the answer of a method depends on the order of its input, which says nothing about the data."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import check_count
from biconsensus._names import parameters
from biconsensus.baselines._pools import label_table
from biconsensus.errors import InputError
from biconsensus.metrics import ari, nmi
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

SAME = 1.0 - 1e-9
"""Adjusted Rand index from which two answers are the same: 1, up to rounding."""


@dataclass(frozen=True)
class Audit:
    """Agreement of a method with its own first answer (adjusted Rand index) when nothing of substance changes.

    Examples
    --------
    >>> import numpy as np
    >>> import biconsensus as bc
    >>> table = np.repeat([[0, 0], [1, 1], [2, 1]], 10, axis=0)
    >>> print(bc.baselines.audit("evidence_accumulation", table, 2))
    The answer does not depend on the order (mean agreement with the first answer: rows 1.000, sources 1.000, labels
    1.000, seeds alone 1.000).
    """

    rows: FloatArray
    """(k,) elements shuffled."""
    sources: FloatArray
    """(k,) groupings shuffled."""
    labels: FloatArray
    """(k,) labels renamed inside every grouping."""
    seeds: FloatArray
    """(k,) other seeds, same order; empty for methods that take no `random_state`."""
    score: float | None = None
    """NMI with the truth in the order that was given; None without a truth."""
    shuffled_score: float | None = None
    """Mean NMI with the truth over the shuffles of the elements."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Which of "rows", "sources", "labels" change the answer."""
        kinds = {"rows": self.rows, "sources": self.sources, "labels": self.labels}
        return tuple(name for name, found in kinds.items() if found.min(initial=1.0) < SAME)

    def __str__(self) -> str:
        """The findings in two sentences."""
        found = " and ".join(self.depends_on)
        first = (
            f"The answer depends on the order of the {found}" if found else "The answer does not depend on the order"
        )
        parts = [
            f"rows {self.rows.mean():.3f}",
            f"sources {self.sources.mean():.3f}",
            f"labels {self.labels.mean():.3f}",
        ]
        if self.seeds.size:
            parts.append(f"seeds alone {self.seeds.mean():.3f}")
        told = f"{first} (mean agreement with the first answer: {', '.join(parts)})."
        if self.score is None:
            return told
        return f"{told} NMI with the truth: {self.score:.3f} in the given order, {self.shuffled_score:.3f} shuffled."


@parameters()
def audit(
    method: str | Callable[..., Any],
    pool: Any,
    n_groups: int | None = None,
    *,
    truth: Any = None,
    n_shuffles: int = 5,
    random_state: int | None = 0,
    **own: Any,
) -> Audit:
    """Say whether the answer of a method depends on the order of the elements, of the groupings, or on names of labels.

    Parameters
    ----------
    method : str or callable
        Name of a baseline, or ``f(table, n_groups, **own)`` that returns (m,) labels; one that takes a `random_state`
        is given the same seed every time, so that only the order changes.
    pool : Pool of partitions, or anything that `Pool.from_labels` takes
        The groupings. The method is handed an (m, c) table of integer labels, -1 for elements in no group; elements
        must have been seen by every source.
    n_groups : int, optional
        Passed on, if given.
    truth : (m,) array, optional
        True groups: their NMI with the answer is measured before and after shuffling.
    n_shuffles : int
        How often each order is shuffled.
    random_state : int, optional
        Seed of the shuffles.
    own
        Further arguments of the method.

    Returns
    -------
    Audit

    Notes
    -----
    A method that breaks ties by position may change its answer a little and is still sound; compare with `seeds`, what
    its own randomness changes. A method whose agreement with the truth falls when elements are shuffled has read the
    truth from the order of the file.

    Examples
    --------
    >>> import numpy as np
    >>> import biconsensus as bc
    >>> table = np.repeat([[0, 0], [1, 1], [2, 1]], 10, axis=0)
    >>> bc.baselines.audit("evidence_accumulation", table, 2).depends_on
    ()
    >>> halves = lambda table, n_groups: np.arange(len(table)) * n_groups // len(table)
    >>> bc.baselines.audit(halves, table, 2).depends_on
    ('rows',)
    """
    check_count("n_shuffles", n_shuffles)
    run = _named(method) if isinstance(method, str) else method
    table = _table(pool)
    m, c = table.shape
    known = None if truth is None else np.asarray(truth)
    if known is not None and known.shape != (m,):
        raise InputError(f"truth has shape {known.shape} for {m} elements; give one label each.")
    seeded = _is_seeded(run)
    arguments = own if n_groups is None else {"n_groups": n_groups, **own}

    def answer(labels: IntArray, seed: int = 0) -> IntArray:
        found = np.asarray(run(labels, **arguments, **({"random_state": seed} if seeded else {})))
        if found.shape != (m,):
            raise InputError(f"method returned shape {found.shape} for {m} elements; it must return one label each.")
        return found

    rng = np.random.default_rng(random_state)
    first = answer(table)
    orders = [rng.permutation(m) for _ in range(n_shuffles)]
    by_rows = [answer(table[order]) for order in orders]
    by_sources = [answer(table[:, rng.permutation(c)]) for _ in range(n_shuffles)]
    by_labels = [answer(_renamed(table, rng)) for _ in range(n_shuffles)]
    by_seeds = [answer(table, seed + 1) for seed in range(n_shuffles)] if seeded else []
    return Audit(
        rows=np.array([ari(first[order], found) for order, found in zip(orders, by_rows, strict=True)]),
        sources=np.array([ari(first, found) for found in by_sources]),
        labels=np.array([ari(first, found) for found in by_labels]),
        seeds=np.array([ari(first, found) for found in by_seeds]),
        score=None if known is None else nmi(known, first),
        shuffled_score=None
        if known is None
        else float(np.mean([nmi(known[order], found) for order, found in zip(orders, by_rows, strict=True)])),
    )


def _named(name: str) -> Callable[..., Any]:
    """Baseline of a name."""
    from biconsensus.baselines import get_baseline

    return get_baseline(name)


def _table(pool: Any) -> IntArray:
    """(m, c) labels of a pool of partitions."""
    given = pool if isinstance(pool, Pool) else Pool.from_labels(pool)
    if given.unseen is not None and given.unseen.nnz:
        raise InputError("pool: some elements were not seen by every source; audit needs complete label tables.")
    table = label_table(given)
    if np.count_nonzero(table >= 0) != given.sizes.sum():
        raise InputError("pool: groups of one source share elements; audit needs partitions.")
    return table


def _renamed(table: IntArray, rng: np.random.Generator) -> IntArray:
    """The same groupings with other numbers for their groups; -1 stays."""
    found = np.full_like(table, -1)
    for k, column in enumerate(table.T):
        names, codes = np.unique(column, return_inverse=True)
        fresh: NDArray[np.int64] = rng.permutation(names.size)
        found[:, k] = np.where(column >= 0, fresh[codes], -1)
    return found


def _is_seeded(method: Callable[..., Any]) -> bool:
    """Whether a method takes a `random_state`."""
    try:
        return "random_state" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False
