"""How a random element looks: the background that a model is tested against."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import FloatArray

Seed = int | np.random.Generator | None


def uniform_background(box: FloatArray, n: int, rng: Seed = None) -> FloatArray:
    """Spread n elements evenly (scrambled Sobol points) over a box.

    Parameters
    ----------
    box : (2, d) array
        Lower and upper corner.
    n : int
        How many elements.
    rng : int, Generator or None
        Scrambling of the quasi-random points.

    Returns
    -------
    (n, d) array

    Examples
    --------
    >>> points = uniform_background([[0, 10], [1, 20]], 64, 0)
    >>> points.shape, points.mean(axis=0).round(1)
    ((64, 2), array([ 0.5, 15. ]))
    """
    from scipy.stats import qmc

    low, high = np.asarray(box, dtype=float)
    # the old name of the argument: SciPy before 1.15 has no other
    sobol = qmc.Sobol(low.size, scramble=True, seed=np.random.default_rng(rng))
    # whole powers of two keep the balance of the sequence (and SciPy silent); the surplus is cut off
    unit = sobol.random_base2(max(int(np.ceil(np.log2(max(n, 1)))), 0))[:n]
    return np.asarray(low + unit * (high - low), dtype=float)


def like_observed(segments: FloatArray, n: int, rng: Seed = None) -> FloatArray:
    """Draw n random segments with the places and lengths of observed ones and directions of chance.

    Real segments are far shorter than two random ends would make them, so chance alone lets both ends fall near the
    same curve. Keeping the lengths, and only the lengths and places, makes a background that does not raise false
    alarms.

    Parameters
    ----------
    segments : (m, 4) array
        Observed segments x1, y1, x2, y2.
    n : int
        How many to draw; the observed ones are used in turn.
    rng : int, Generator or None
        Randomness of the directions.

    Returns
    -------
    (n, 4) array

    Examples
    --------
    >>> drawn = like_observed(np.array([[0.0, 0, 3, 4]]), 10, 0)
    >>> np.hypot(*(drawn[:, 2:] - drawn[:, :2]).T).round(6).tolist() == [5.0] * 10
    True
    """
    rng = np.random.default_rng(rng)
    segments = np.asarray(segments, dtype=float)
    chosen = segments[rng.permutation(np.arange(n) % segments.shape[0])]
    middle, length = (chosen[:, :2] + chosen[:, 2:]) / 2, np.hypot(*(chosen[:, 2:] - chosen[:, :2]).T)
    angle = rng.uniform(0, np.pi, n)
    half = np.column_stack([np.cos(angle), np.sin(angle)]) * length[:, None] / 2
    return np.hstack([middle - half, middle + half])


def box_sides(box: FloatArray) -> FloatArray:
    """Give the side lengths of a box (2, d), each large enough to divide by."""
    low, high = np.asarray(box, dtype=float)
    return np.asarray(np.maximum(high - low, np.finfo(float).tiny ** 0.25), dtype=float)


def as_probability(values: FloatArray, k: int) -> FloatArray:
    """Clip closed forms, which are bounds and can exceed one, and repeat them for k models."""
    return np.clip(np.broadcast_to(values, (k,)), 0.0, 1.0).copy()
