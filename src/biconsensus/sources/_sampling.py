"""Minimal samples for hypotheses: uniform, local, exhaustive; and how many of them are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import betainc

from biconsensus._checks import check_memory
from biconsensus.errors import InputError, TooLargeError, UnknownNameError
from biconsensus.protocols import FloatArray, IntArray

_TRIES, _BLOCK = 20, 1 << 21
"""Draws again of a degenerate sample; and distances held at a time, which bounds memory."""
_REPEATS = 4
"""Draws again, from a table, of an element that the sample has already; the others are drawn from the law itself."""
_NEW = 0.1
"""Smallest part of a draw that must be new, or the distinct samples are nearly used up."""
_WHOLE = 2000
"""Most elements for which a table of the law around each of them is made: 32 MB."""
_EXHAUSTIVE_LIMIT = 5_000_000
"""Most samples that are all listed."""


@dataclass(frozen=True)
class SamplingLaw:
    """How minimal samples are drawn."""

    name: str = "uniform"
    """"uniform", "local" or "exhaustive"."""
    sigma: float = 1.0
    """Scale of the distance law, in the units of the data."""
    mean_distance: float = 0.0
    """Distance at which the law has its mode."""


class LocalTable:
    """The local law around every element, on one long line: one search on it draws partners for many elements."""

    def __init__(self, data: FloatArray, law: SamplingLaw) -> None:
        if not law.sigma > 0:
            raise InputError(f"sigma must be positive, got {law.sigma!r}; it is a distance in the units of X.")
        shares = cdist(data / law.sigma, data / law.sigma)
        shares -= law.mean_distance / law.sigma
        shares *= shares
        np.negative(shares, out=shares)
        np.exp(shares, out=shares)
        np.fill_diagonal(shares, 0.0)
        np.cumsum(shares, axis=1, out=shares)
        self.totals: FloatArray = shares[:, -1].copy()
        # each row on its own interval of length two, so that rows do not meet
        shares /= np.maximum(self.totals, np.finfo(float).tiny)[:, None]
        shares += 2 * np.arange(len(data))[:, None]
        self._line = shares.ravel()

    @classmethod
    def of(cls, data: FloatArray, law: SamplingLaw) -> LocalTable | None:
        """The table, for a local law on as many elements as memory allows; otherwise none."""
        return cls(data, law) if law.name == "local" and len(data) <= _WHOLE else None

    def draw(self, first: IntArray, rng: np.random.Generator) -> IntArray:
        """A partner for each of the first elements."""
        m = len(self.totals)
        # never one itself: the last element of a row ends at one
        places = rng.random(first.size) + 2 * first
        # one row after the other, a search finds what it needs in the cache
        order = np.argsort(first)
        drawn = np.empty(first.size, np.int64)
        drawn[order] = np.searchsorted(self._line, places[order], side="right")
        return np.asarray(np.minimum(drawn - first * m, m - 1), np.int64)


def share_in_reach(data: FloatArray, law: SamplingLaw, n_looked_at: int = 256) -> float:
    """Mean part of the elements that a sample under this law may take its others from: 1 for the uniform law."""
    if law.name != "local" or len(data) < 2:
        return 1.0
    some = data[:: -(-len(data) // n_looked_at)]
    weights = np.exp(-(((cdist(some, data) - law.mean_distance) / law.sigma) ** 2))
    return float(np.clip((weights.sum(1).mean() - 1) / (len(data) - 1), 1 / len(data), 1.0))


def draw_samples(
    data: FloatArray,
    size: int,
    n_samples: int,
    rng: np.random.Generator,
    law: SamplingLaw | None = None,
    table: LocalTable | None = None,
) -> IntArray:
    """Draw distinct minimal samples.

    Parameters
    ----------
    data : float array, shape (m, d)
        Elements; the local law takes distances between their rows.
    size : int
        Elements in a sample.
    n_samples : int
        Samples wanted; all of them are returned where there are not more.
    rng : numpy.random.Generator
        Source of randomness.
    law : SamplingLaw, optional
        Uniform unless told otherwise.
    table : LocalTable, optional
        That of a local law, where more is to be drawn from the same elements.

    Returns
    -------
    int array, shape (k, size)
        Indices of k <= n_samples samples; no two hold the same elements.

    Notes
    -----
    The local law is the paper's: an element y joins the first element x of the sample with probability proportional to
    ``exp(-(|x - y| - mu)^2 / sigma^2)``, with mu = 0 but for the cells. Drawn by rejection from the uniform law, and
    from the law itself where a bounded number of tries finds no partner.

    Examples
    --------
    >>> points = np.arange(8.0).reshape(4, 2)
    >>> draw_samples(points, 2, 100, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    law = SamplingLaw() if law is None else law
    if law.name not in DRAWS and law.name != "exhaustive":
        raise UnknownNameError.of("sampling", law.name, [*DRAWS, "exhaustive"])
    if len(data) < size:
        raise InputError(f"X has {len(data)} elements, but a minimal sample of this model needs {size}.")
    total = comb(len(data), size)
    if law.name == "exhaustive" or total <= n_samples:
        return all_samples(len(data), size)
    check_memory(f"n_samples={n_samples:,}", 8 * n_samples * (3 * size + 2))
    samples, draw = np.empty((0, size), np.int64), DRAWS[law.name]
    if table is None and n_samples >= len(data):
        table = LocalTable.of(data, law)
    new = 1.0
    for _ in range(_TRIES):
        drawn = np.sort(draw(data, size, int(np.ceil((n_samples - len(samples)) / new)), rng, law, table), axis=1)
        before, samples = len(samples), np.concatenate([samples, drawn])
        samples = samples[_first_seen(samples, len(data))]
        new = (len(samples) - before) / len(drawn)
        if len(samples) >= n_samples or new < _NEW:
            break
    return samples[:n_samples]


def all_samples(n_elements: int, size: int) -> IntArray:
    """Every minimal sample, in order; an error where they are too many.

    Parameters
    ----------
    n_elements, size : int
        Elements, and elements in a sample.

    Returns
    -------
    int array, shape (n_elements choose size, size)

    Examples
    --------
    >>> all_samples(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    total = comb(n_elements, size)
    if total > _EXHAUSTIVE_LIMIT:
        raise TooLargeError(
            f"sampling='exhaustive' would make {total:,} samples of {size} out of {n_elements:,} elements, the limit "
            f"is {_EXHAUSTIVE_LIMIT:,}; use sampling='uniform' or 'local' with n_samples."
        )
    if size == 2:
        return np.stack(np.triu_indices(n_elements, 1), axis=1).astype(np.int64)
    flat = np.fromiter((i for sample in combinations(range(n_elements), size) for i in sample), np.int64, total * size)
    return flat.reshape(total, size)


def _first_seen(samples: IntArray, n_elements: int) -> IntArray:
    """Where each distinct sample comes first; samples are numbers in base m while these fit into 64 bits."""
    if n_elements ** samples.shape[1] < 2**62:
        _, first = np.unique(samples @ n_elements ** np.arange(samples.shape[1]), return_index=True)
    else:
        # sums of random multiples: two samples have the same one with a probability of 2^-64
        multiples = np.random.default_rng(0).integers(2**63, size=samples.shape[1], dtype=np.uint64) * np.uint64(2)
        _, first = np.unique((samples.astype(np.uint64) * (multiples + np.uint64(1))).sum(1), return_index=True)
    return np.sort(first)


def new_rows(drawn: IntArray, seen: IntArray, n_elements: int) -> IntArray:
    """Which of the drawn samples are not among those seen."""
    if not len(seen):
        return np.arange(len(drawn))
    first = _first_seen(np.concatenate([seen, drawn]), n_elements)
    return first[first >= len(seen)] - len(seen)


def _draw_uniform(
    data: FloatArray, size: int, count: int, rng: np.random.Generator, law: SamplingLaw, table: LocalTable | None
) -> IntArray:
    """Uniform samples without repeated elements."""
    n_elements = len(data)
    if n_elements < 4 * size:
        return np.argsort(rng.random((count, n_elements)), axis=1)[:, :size].astype(np.int64)
    samples = rng.integers(n_elements, size=(count, size))
    repeated = np.arange(count)
    while repeated.size:
        ordered = np.sort(samples[repeated], axis=1)
        repeated = repeated[(ordered[:, 1:] == ordered[:, :-1]).any(1)]
        samples[repeated] = rng.integers(n_elements, size=(repeated.size, size))
    return samples.astype(np.int64)


def _draw_local(
    data: FloatArray, size: int, count: int, rng: np.random.Generator, law: SamplingLaw, table: LocalTable | None
) -> IntArray:
    """Samples whose first element is uniform and whose others follow the distance law around it."""
    if not law.sigma > 0:
        raise InputError(f"sigma must be positive, got {law.sigma!r}; it is a distance in the units of X.")
    samples = np.full((count, size), -1, np.int64)
    samples[:, 0] = rng.integers(len(data), size=count)
    if table is not None:
        return _from_table(data, samples, rng, law, table)
    for place in range(1, size):
        rows = np.flatnonzero(samples[:, place - 1] >= 0)
        samples[rows, place] = _partners(data, samples[rows, :place], rng, law)
    alone = np.flatnonzero(samples[:, -1] < 0)
    for rows in np.array_split(alone, -(-alone.size * len(data) // _BLOCK) or 1):
        samples[rows] = _around(data, samples[rows, 0], size, rng, law)
    return samples


def _from_table(
    data: FloatArray, samples: IntArray, rng: np.random.Generator, law: SamplingLaw, table: LocalTable
) -> IntArray:
    """Samples whose first elements are given; the others are drawn from a table of the law around every element."""
    size, open_ = samples.shape[1], np.flatnonzero(table.totals[samples[:, 0]] > 0)
    chosen = np.ascontiguousarray(samples.T)
    for place in range(1, size):
        waiting = open_
        for _ in range(_REPEATS):
            drawn = table.draw(chosen[0, waiting], rng)
            fresh = (chosen[:place, waiting] != drawn).all(0)
            chosen[place, waiting[fresh]] = drawn[fresh]
            waiting = waiting[~fresh]
            if not waiting.size:
                break
    samples = np.ascontiguousarray(chosen.T)
    alone = np.flatnonzero((samples < 0).any(1))
    for rows in np.array_split(alone, -(-alone.size * len(data) // _BLOCK) or 1):
        samples[rows] = _around(data, samples[rows, 0], size, rng, law)
    return samples


def _partners(data: FloatArray, chosen: IntArray, rng: np.random.Generator, law: SamplingLaw) -> IntArray:
    """One more element for each sample, by rejection from the uniform law; -1 where the tries did not suffice."""
    partner, waiting = np.full(len(chosen), -1, np.int64), np.arange(len(chosen))
    for _ in range(_TRIES):
        trial = rng.integers(len(data), size=waiting.size)
        distance = np.sqrt(((data[trial] - data[chosen[waiting, 0]]) ** 2).sum(1))
        fits = rng.random(waiting.size) < np.exp(-(((distance - law.mean_distance) / law.sigma) ** 2))
        fits &= (chosen[waiting] != trial[:, None]).all(1)
        partner[waiting[fits]] = trial[fits]
        waiting = waiting[~fits]
    return partner


def _around(data: FloatArray, first: IntArray, size: int, rng: np.random.Generator, law: SamplingLaw) -> IntArray:
    """Samples (n, b) around first elements (n,): the largest of log-weights plus Gumbel noise are drawn by the law."""
    keys = rng.gumbel(size=(len(first), len(data))) - ((cdist(data[first], data) - law.mean_distance) / law.sigma) ** 2
    keys[np.arange(len(first)), first] = np.inf
    return np.argpartition(-keys, size - 1, axis=1)[:, :size].astype(np.int64)


Draw = Callable[[FloatArray, int, int, np.random.Generator, SamplingLaw, LocalTable | None], IntArray]
DRAWS: dict[str, Draw] = {"uniform": _draw_uniform, "local": _draw_local}


def detection_probability(n_samples: int, sample_probability: float, min_candidates: int = 4) -> float:
    """Probability that enough of the samples are free of outliers for a model to be found.

    Parameters
    ----------
    n_samples : int
        Samples drawn.
    sample_probability : float
        Probability that one sample holds only inliers of the model; (k / m) ** b for uniform samples.
    min_candidates : int, default 4
        Hypotheses that a model needs.

    Returns
    -------
    float

    Notes
    -----
    ``1 - sum over k < min_candidates of binom(n, k) p^k (1 - p)^(n - k)``. The paper prints binom(n, tau_C) in the sum;
    and Algorithm 1 needs more than tau_C hypotheses, so `min_candidates` is tau_C + 1.

    Examples
    --------
    >>> round(detection_probability(1000, 0.01), 4)
    0.9899
    """
    if n_samples < min_candidates:
        return 0.0
    return float(betainc(min_candidates, n_samples - min_candidates + 1, sample_probability))


def samples_needed(
    sample_probability: float, min_candidates: int = 4, detection: float = 0.99, n_models: int = 1
) -> int:
    """Smallest number of samples that finds all models with the wanted probability.

    Parameters
    ----------
    sample_probability : float
        Probability that one sample holds only inliers of a model, for the smallest model.
    min_candidates : int, default 4
        Hypotheses that a model needs.
    detection : float, default 0.99
        Wanted probability that no model is missed.
    n_models : int, default 1
        Models of that size; each may be missed with (1 - detection) / n_models (a union bound).

    Returns
    -------
    int

    Examples
    --------
    >>> n = samples_needed(0.01)
    >>> n, detection_probability(n, 0.01) >= 0.99 > detection_probability(n - 1, 0.01)
    (1001, True)
    """
    if not 0 < sample_probability <= 1:
        raise InputError(f"sample_probability must be in (0, 1], got {sample_probability!r}.")
    if not 0 < detection < 1:
        raise InputError(f"detection must be in (0, 1), got {detection!r}.")
    wanted = 1 - (1 - detection) / n_models
    low, high = min_candidates - 1, min_candidates
    while detection_probability(high, sample_probability, min_candidates) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if detection_probability(middle, sample_probability, min_candidates) < wanted:
            low = middle
        else:
            high = middle
    return high
