"""The threshold from the data: how far the elements of the most meaningful models lie from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._checks import check_finite, check_is_plain, warn_user
from biconsensus._names import parameters
from biconsensus.errors import InputError, ThresholdWarning
from biconsensus.fitting._groups import settle
from biconsensus.fitting._hypotheses import improved, propose
from biconsensus.fitting._settings import Family, Nfa, Sampling, diagonal, distinct, families_of, with_law
from biconsensus.protocols import BoolArray, FloatArray, Model
from biconsensus.significance._models import Background, log_binomial_tail

N_SCALES = 12
"""Scales that are tried; they count as tests."""
RANGE = (5e-4, 5e-2)
"""Smallest and largest scale over the diagonal of the data: a pixel of a large image, a twentieth of what is seen."""
_PILOT = 1000
"""Hypotheses that are looked at; the best at each scale are refitted."""
_MEASURED = 20
"""Background points that must hit for a measured chance; below, it is taken to fall by the power of the codimension."""
_BEST, _MODELS = 3, 8
"""Hypotheses that are refitted for each model, and most models that are taken at a scale."""
_HELD = 0.95
"""Part of the elements of a structure, beyond clutter, that the threshold holds."""
_FAR = 3.0
"""A threshold this number of times the proposed one is far too large, and one this part of it far too small."""
_LOOKED_AT = 2000
"""Elements that a proposal for a warning looks at."""
_CLUTTER = 4.0
"""Clutter is measured from this multiple of the most meaningful scale to twice as far."""


@parameters()
def propose_threshold(
    X: ArrayLike, model: str | Model = "line", *, n_samples: int = _PILOT, random_state: int | None = None
) -> float:
    """Look at the data for a threshold: how far the elements of the most meaningful models lie from them.

    Parameters
    ----------
    X : float array, shape (m, d)
        Elements.
    model : str or Model
        Name of a model, or a model.
    n_samples : int, default 1000
        Hypotheses to look at; their samples are local.
    random_state : int or None
        Seed.

    Returns
    -------
    float
        Median, over the models at the scale at which they are most meaningful together, of the distance that holds 95%
        of their elements.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (200, 2))
    >>> x[:100, 1] = x[:100, 0] / 2 + rng.normal(0, 0.01, 100)
    >>> 0.01 < propose_threshold(x, "line", random_state=0) < 0.05
    True
    """
    check_is_plain(X)
    data = check_finite(np.asarray(X, np.float64))
    families = families_of(model, data, Sampling(), Nfa())
    found = scale_of(families, distinct(data, families), np.random.default_rng(random_state), n_samples)
    if found is None:
        low, high = (part * diagonal(families[0].model, data) for part in RANGE)
        raise InputError(
            f"no hypothesis is meaningful at any threshold from {low:.3g} to {high:.3g}; give more samples "
            f"(n_samples={n_samples}), or a threshold from what is known of the noise."
        )
    return found


def warn_if_too_large(threshold: float, families: list[Family], data: FloatArray) -> None:
    """Warn of a threshold that is far above what the data suggest, with a proposal."""
    proposal = proposal_of(families, data)
    if proposal is None or not far_above(proposal, threshold):
        return
    size = diagonal(families[0].model, families[0].view(data))
    warn_user(
        f"threshold={threshold:g} is {threshold / size:.0%} of the extent of the data ({size:.3g}): nearly anything is "
        f"within it. The data suggest about {proposal:.2g}.",
        ThresholdWarning,
    )


def far_above(low: float, high: float) -> bool:
    """Whether one threshold is far above another."""
    return high >= _FAR * low


def proposal_of(families: list[Family], data: FloatArray) -> float | None:
    """Threshold that suits the data, from some of them where there are many; None where nothing is meaningful."""
    chosen = data if len(data) <= _LOOKED_AT else data[:: -(-len(data) // _LOOKED_AT)]
    # 0 where elements repeat, which says nothing about the noise
    return scale_of(families, chosen, np.random.default_rng(0)) or None


def scale_of(
    families: list[Family], data: FloatArray, rng: np.random.Generator, n_samples: int = _PILOT
) -> float | None:
    """Threshold that suits the data; None where nothing is meaningful at any scale."""
    found = list[float]()
    for family in families:
        found += _scales(with_law(family, "local"), family.view(data), rng, n_samples)
    return float(np.median(found)) if found else None


def _scales(family: Family, data: FloatArray, rng: np.random.Generator, n_samples: int) -> list[float]:
    """Thresholds of the models at the scale at which all models together are most meaningful.

    One loose model over two structures can be more meaningful than either of the two tight ones, but not than both.
    """
    model = family.model
    levels = np.geomspace(*RANGE, N_SCALES) * diagonal(model, data)
    params = propose(family, data, n_samples, rng).params
    if not len(params):
        return []
    chance = Background.of(model, data, max(4096, 4 * len(data)), rng, "background", float(levels[0]))
    codimension = float(getattr(model, "codimension", 1))
    shares = _extrapolated(chance, model, params, levels, codimension)
    residuals = model.residuals(params, data)
    number = float(np.log10(len(params) * N_SCALES))
    best, total = list[float](), 0.0
    for index, level in enumerate(levels):
        reference = (chance, levels, codimension, index)
        score, reaches = _greedy(family, data, params, residuals <= level, shares[index], reference, number)
        if score < total:
            best, total = reaches, score
    return best


_Reference = tuple[Background, FloatArray, float, int]


def _greedy(
    family: Family,
    data: FloatArray,
    params: FloatArray,
    hits: BoolArray,
    shares: FloatArray,
    reference: _Reference,
    number: float,
) -> tuple[float, list[float]]:
    """Sum of the log-10 NFA of models that are taken greedily at one scale, and the reach of each."""
    model, size = family.model, family.model.sample_size
    chance, levels, codimension, index = reference
    level, votes = float(levels[index]), hits.astype(np.float32)
    live, total, reaches = np.ones(len(data), bool), 0.0, list[float]()
    while len(reaches) < _MODELS and live.sum() > 2 * size:
        held = np.maximum(live.astype(np.float32) @ votes - size, 0)
        first = np.argsort(log_binomial_tail(int(live.sum()) - size, held, shares), kind="stable")[:_BEST]
        ends = _refitted(family, data[live], params[first], level)
        own = _extrapolated(chance, model, ends, levels, codimension)[index]
        distance = model.residuals(ends, data[live])
        counts = np.maximum(np.count_nonzero(distance <= level, axis=0) - size, 0)
        scores = log_binomial_tail(int(live.sum()) - size, counts, own)
        chosen = int(np.argmin(scores))
        if not scores[chosen] + number < 0:
            break
        total += float(scores[chosen]) + number
        reaches.append(_reach(distance[:, chosen], level, codimension))
        live[np.flatnonzero(live)[distance[:, chosen] <= max(level, reaches[-1])]] = False
    return total, reaches


def _refitted(family: Family, data: FloatArray, params: FloatArray, level: float) -> FloatArray:
    """Hypotheses after a refit at one scale."""
    model = family.model
    if hasattr(model, "improve"):
        return improved(data, params, level, model, 3)
    if not hasattr(model, "refit"):
        return params
    ends = [settle(data, model, model.residuals(one[None], data)[:, 0] <= level, level) for one in params]
    return np.array([one if end is None else end for one, end in zip(params, ends)])


def _extrapolated(
    chance: Background, model: Model, params: FloatArray, levels: FloatArray, codimension: float
) -> FloatArray:
    """(t, k) hit probabilities; where few background points are hit, from larger scales by the power law."""
    shares = chance.shares(model, params, levels)
    enough = _MEASURED / max(len(chance.points), 1)
    shares[-1] = np.maximum(shares[-1], enough)
    for index in range(len(levels) - 2, -1, -1):
        smaller = shares[index + 1] * (levels[index] / levels[index + 1]) ** codimension
        shares[index] = np.where(shares[index] >= enough, shares[index], smaller)
    return shares


def _reach(distance: FloatArray, level: float, codimension: float) -> float:
    """Distance that holds nearly all elements of a structure beyond the clutter around it."""
    far = _CLUTTER * level
    around = np.count_nonzero((distance > far) & (distance <= 2 * far))
    density = around / (2**codimension - 1)
    near = np.sort(distance[distance <= far])
    excess = np.arange(1, len(near) + 1) - density * (near / far) ** codimension
    return float(near[np.argmax(excess >= _HELD * excess.max())])
