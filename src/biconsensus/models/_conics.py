"""Ellipses as numbers: from conics to axes, the direct fit, and the exact distance of a point."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import FloatArray


def conic_to_ellipse(conics: FloatArray) -> FloatArray:
    """Turn conics A x^2 + B x y + C y^2 + D x + E y + F = 0 into centre, half-axes and angle.

    Parameters
    ----------
    conics : (k, 6) array
        Coefficients A to F.

    Returns
    -------
    (k, 5) array
        cx, cy, longer half-axis, shorter half-axis, angle of the longer one in [0, pi); NaN where a conic is no real
        ellipse.

    Examples
    --------
    >>> conic_to_ellipse(np.array([[1.0, 0, 4, 0, 0, -4]])) + 0.0
    array([[0., 0., 2., 1., 0.]])
    """
    a, b, c, d, e, f = conics.T
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        disc = 4 * a * c - b**2
        cx, cy = (b * e - 2 * c * d) / disc, (b * d - 2 * a * e) / disc
        level = -(f + (d * cx + e * cy) / 2)
        root = np.hypot(a - c, b)
        low, high = (a + c - root) / 2, (a + c + root) / 2
        flip = level < 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        level = np.abs(level)
        # the long axis belongs to the small eigenvalue, at right angles to the large one's direction
        angle = (np.arctan2(b, a - c) / 2 + np.where(flip, 0.0, np.pi / 2)) % np.pi
        ellipses = np.column_stack([cx, cy, np.sqrt(level / low), np.sqrt(level / high), angle])
        bad = ~(disc > 1e-12 * (a**2 + b**2 + c**2)) | ~(low > 0) | ~np.isfinite(ellipses).all(axis=1)
    ellipses[bad] = np.nan
    return ellipses


def direct_fit(points: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Fit an ellipse to each batch of points by the direct least squares of Halir and Flusser (1998).

    Parameters
    ----------
    points : (k, n, 2) array
        Batches of n >= 5 points.
    weights : (k, n) array or None
        Importance of the points.

    Returns
    -------
    (k, 5) array
        As from `conic_to_ellipse`; NaN where the points are degenerate.

    Examples
    --------
    >>> t = np.linspace(0, 6, 12)
    >>> direct_fit(np.column_stack([3 * np.cos(t) + 1, 2 * np.sin(t)])[None]).round(6) + 0.0
    array([[1., 0., 3., 2., 0.]])
    """
    unit, centre, scale = _standardise(points)
    x, y = unit[..., 0], unit[..., 1]
    quadratic = np.stack([x * x, x * y, y * y], axis=-1)
    linear = np.stack([x, y, np.ones_like(x)], axis=-1)
    heavy = quadratic if weights is None else quadratic * weights[..., None]
    light = linear if weights is None else linear * weights[..., None]
    s1 = np.swapaxes(heavy, 1, 2) @ quadratic
    s2 = np.swapaxes(heavy, 1, 2) @ linear
    s3 = np.swapaxes(light, 1, 2) @ linear
    flat = ~(np.abs(np.linalg.det(s3)) > 1e-12 * x.shape[1] ** 3)
    s3[flat] = np.eye(3)
    transfer = -np.linalg.solve(s3, np.swapaxes(s2, 1, 2))
    reduced = s1 + s2 @ transfer
    # multiply by the inverse of the constraint matrix of 4 A C - B^2 = 1
    reduced = np.stack([reduced[:, 2] / 2, -reduced[:, 1], reduced[:, 0] / 2], axis=1)
    _, vectors = np.linalg.eig(np.where(np.isfinite(reduced), reduced, 0.0))
    vectors = vectors.real
    positive = 4 * vectors[:, 0] * vectors[:, 2] - vectors[:, 1] ** 2
    best = np.take_along_axis(vectors, positive.argmax(axis=1)[:, None, None], axis=2)[..., 0]
    conics = np.hstack([best, (transfer @ best[..., None])[..., 0]])
    conics[flat | (positive.max(axis=1) <= 0)] = np.nan
    return _restore(conic_to_ellipse(conics), centre, scale)


def through_five(points: FloatArray) -> FloatArray:
    """Ellipses (k, 5) through five points each (k, 5, 2); NaN where the conic is no ellipse or not unique."""
    unit, centre, scale = _standardise(points)
    x, y = unit[..., 0], unit[..., 1]
    rows = np.stack([x * x, x * y, y * y, x, y, np.ones_like(x)], axis=-1)
    rows = np.where(np.isfinite(rows), rows, 0.0)
    _, size, basis = np.linalg.svd(rows, full_matrices=True)
    conics = basis[:, -1].copy()
    conics[size[:, -1] <= 1e-9 * size[:, 0]] = np.nan
    return _restore(conic_to_ellipse(conics), centre, scale)


def ellipse_distances(ellipses: FloatArray, points: FloatArray) -> FloatArray:
    """Exact distances of points to ellipses.

    Parameters
    ----------
    ellipses : (k, 5) array
        Centre, half-axes, angle.
    points : (m, 2) array
        Points.

    Returns
    -------
    (m, k) array

    Notes
    -----
    In the frame of the ellipse and in the first quadrant the foot point is (a^2 y0 / (t + a^2), b^2 y1 / (t + b^2))
    with G(t) = 1, G(t) = (a y0 / (t + a^2))^2 + (b y1 / (t + b^2))^2. Newton's method on the concave 1 / sqrt(G)
    climbs to the root from below without overshooting; the distance is |t| |(y0 / (t + a^2), y1 / (t + b^2))|.

    Examples
    --------
    >>> ellipse_distances(np.array([[0.0, 0, 2, 1, 0]]), np.array([[0.0, 0.0], [3.0, 0.0]]))
    array([[1.],
           [1.]])
    """
    y0, y1 = _first_quadrant(ellipses, points)
    a, b = ellipses[:, 2], ellipses[:, 3]
    s, hard = _root(y0, y1, a, b)
    t = s - b**2
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.abs(t) * np.hypot(y0 / (s + (a**2 - b**2)), np.where(hard, 0.0, y1 / np.where(hard, 1.0, s)))
    if hard.any():
        i, j = np.nonzero(hard)
        distance[i, j] = _hard_distance(y0[i, j], a[j], b[j])
    return distance


def foot_angles(ellipse: FloatArray, points: FloatArray) -> FloatArray:
    """Parameter angles (m,) of the points of one ellipse (5,) nearest to given points (m, 2)."""
    y0, y1 = _first_quadrant(ellipse[None], points)
    s, hard = _root(y0, y1, ellipse[None, 2], ellipse[None, 3])
    a, b = ellipse[2], ellipse[3]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = a * y0 / (s + (a**2 - b**2))
        sine = np.where(hard, np.sqrt(np.maximum(1 - np.nan_to_num(cosine) ** 2, 0.0)), b * y1 / s)
    u, v = _own_frame(ellipse[None], points)
    return np.asarray(np.arctan2(np.copysign(sine, v), np.copysign(np.nan_to_num(cosine), u))[:, 0], dtype=float)


def _root(y0: FloatArray, y1: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """Root s = t + b^2 of G = 1 for each pair, and where the foot point lies on the evolute's axis instead."""
    gap = a**2 - b**2
    p, q = a * y0, b * y1
    s = np.maximum(q, p - gap)
    hard = s <= 1e-14 * b**2
    s[hard] = 1.0
    shifted, g, slope = np.empty_like(s), np.empty_like(s), np.empty_like(s)
    for _ in range(6):
        np.add(s, gap, out=shifted)
        np.divide(p, shifted, out=g)
        np.square(g, out=g)
        np.divide(g, shifted, out=slope)
        ratio = q / s
        ratio *= ratio
        g += ratio
        ratio /= s
        slope += ratio
        # Newton step of 1 / sqrt(G) - 1, whose derivative is slope / G^(3/2)
        step = np.sqrt(g)
        step -= 1.0
        step *= g
        step /= np.maximum(slope, 1e-300)
        s += step
    s[hard] = 0.0
    return s, hard


def _hard_distance(y0: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Distance of points on the long axis between the centres of curvature."""
    gap = a**2 - b**2
    with np.errstate(invalid="ignore", divide="ignore"):
        x0 = np.where(gap > 1e-14 * a**2, np.minimum(a**2 * y0 / gap, a), 0.0)
    return np.hypot(x0 - y0, b * np.sqrt(np.maximum(1 - (x0 / a) ** 2, 0.0)))


def _own_frame(ellipses: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coordinates (m, k) of points along the long and the short axis."""
    cos, sin = np.cos(ellipses[:, 4]), np.sin(ellipses[:, 4])
    along = points @ np.stack([cos, sin]) - (ellipses[:, 0] * cos + ellipses[:, 1] * sin)
    across = points @ np.stack([-sin, cos]) - (ellipses[:, 1] * cos - ellipses[:, 0] * sin)
    return along, across


def _first_quadrant(ellipses: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Absolute coordinates in the frame of the ellipses."""
    along, across = _own_frame(ellipses, points)
    return np.abs(along, out=along), np.abs(across, out=across)


def _standardise(points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre each batch and scale it to unit spread, so that fourth powers stay comparable."""
    centre = points.mean(axis=1, keepdims=True)
    scale = np.sqrt(((points - centre) ** 2).sum(axis=2).mean(axis=1)) + np.finfo(float).tiny
    return (points - centre) / scale[:, None, None], centre[:, 0], scale


def _restore(ellipses: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """Undo the standardisation."""
    ellipses[:, :4] *= scale[:, None]
    ellipses[:, :2] += centre
    return ellipses
