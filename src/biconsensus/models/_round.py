"""Circles and spheres in any dimension: what they share."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.protocols import FloatArray


def round_through(samples: FloatArray) -> FloatArray:
    """Centre and radius (k, d + 1) of the sphere through d + 1 points (k, d + 1, d); NaN where they are flat."""
    first = samples[:, 0]
    spokes = samples[:, 1:] - first[:, None]
    reach = np.sqrt(np.einsum("kbd,kbd->kb", spokes, spokes)).max(axis=1, initial=0.0)
    # the determinant over the reach to its power is zero exactly for collinear or coplanar points
    with np.errstate(invalid="ignore", divide="ignore"):
        flat = ~(np.abs(np.linalg.det(spokes / reach[:, None, None])) > 1e-9)
    spokes = np.where(flat[:, None, None], np.eye(first.shape[1]), spokes)
    offset = np.linalg.solve(spokes, np.einsum("kbd,kbd->kb", spokes, spokes)[..., None] / 2)[..., 0]
    radius = np.sqrt(np.einsum("kd,kd->k", offset, offset))
    params = np.column_stack([first + offset, radius])
    params[flat] = np.nan
    return params


def round_distances(params: FloatArray, data: FloatArray) -> FloatArray:
    """Distances (m, k) of points to circles or spheres."""
    distance = cdist(data, params[:, :-1])
    distance -= params[:, -1]
    return np.asarray(np.abs(distance, out=distance), dtype=float)


def round_refit(data: FloatArray, weights: FloatArray) -> FloatArray:
    """Geometric least squares, from an algebraic start."""
    centre = weights @ data / weights.sum()
    scale = np.sqrt(weights @ ((data - centre) ** 2).sum(axis=1) / weights.sum()) or 1.0
    unit = (data - centre) / scale
    root = np.sqrt(weights)[:, None]
    # |x|^2 = 2 c.x + (r^2 - |c|^2) is linear in c and in the last term
    lhs = root * np.column_stack([2 * unit, np.ones(len(unit))])
    solution, _, rank, _ = np.linalg.lstsq(lhs, root[:, 0] * (unit**2).sum(axis=1), rcond=1e-9)
    if rank < lhs.shape[1]:
        return np.full(data.shape[1] + 1, np.nan)
    middle = solution[:-1]
    start = np.append(middle, np.sqrt(max(solution[-1] + middle @ middle, 0.0)))

    def system(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        spokes = unit - theta[:-1]
        length = np.sqrt(np.einsum("md,md->m", spokes, spokes))
        slopes = np.column_stack([spokes / np.maximum(length, 1e-300)[:, None], np.ones(len(unit))])
        return root[:, 0] * (length - theta[-1]), -root * slopes

    best = levenberg_marquardt(system, np.add, start)
    return np.append(centre + scale * best[:-1], scale * abs(best[-1]))
