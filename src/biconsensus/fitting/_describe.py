"""What engineers ask of a fitted model: how certain its parameters are, how far it reaches, in how many parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from biconsensus.errors import InputError
from biconsensus.fitting._groups import Found, reweighted
from biconsensus.fitting._settings import positions
from biconsensus.protocols import FloatArray, IntArray

_GROUPS = 24
"""Groups of elements that the jackknife leaves out in turn: a covariance known to about a third."""
_STEPS = 4
"""Reweighted refits of each."""
_GAP = 4.0
"""Two elements are connected within this multiple of the typical distance of elements of the model to their nearest."""


@dataclass(frozen=True)
class Extent:
    """Where the elements of a model lie."""

    parts: list[IntArray]
    """Rows of X of each connected part, the largest first."""
    centre: FloatArray
    """(d,) mean of the largest part."""
    axes: FloatArray
    """(d, d) unit directions in its rows, from the longest side of the part to the shortest."""
    lengths: FloatArray
    """(d,) lengths of the part along the axes."""


def covariance_of(one: Found, data: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(p, p) covariance of the parameters of a model, by refits that leave out one group of its elements in turn.

    The jackknife asks nothing of the model but a refit, and nothing of the noise but independence.
    """
    model, params = one.family.model, one.fit.params
    view = one.family.view(data)
    own = rng.permutation(np.flatnonzero(model.residuals(params[None], view)[:, 0] <= 2 * one.fit.core))
    n_groups = min(_GROUPS, len(own) - model.sample_size)
    if n_groups < 2 or not hasattr(model, "refit"):
        return np.full((len(params), len(params)), np.nan)
    fits = list[FloatArray]()
    for group in range(n_groups):
        kept, again = view[own[np.arange(len(own)) % n_groups != group]], params
        for _ in range(_STEPS):  # weights follow the fit, or the covariance would be too small
            again = reweighted(model, kept, again, one.fit.core)
        # normals and homogeneous coordinates are the same model with the other sign
        fits.append(again if np.abs(again - params).sum() <= np.abs(again + params).sum() else -again)
    moved = np.array(fits) - np.mean(fits, axis=0)
    return np.asarray((n_groups - 1) / n_groups * moved.T @ moved, np.float64)


def extent_of(one: Found, data: FloatArray, members: IntArray, gap: float | None) -> Extent:
    """Connected parts of the elements of a model, and the box along the main axes of the largest."""
    places = positions(one.family.model, one.family.view(data))[members]
    if not len(members):
        empty = np.empty(0)
        return Extent([], empty, np.empty((0, 0)), empty)
    if gap is None:
        nearest = cKDTree(places).query(places, min(2, len(places)))[0].reshape(len(places), -1)[:, -1]
        gap = _GAP * float(np.median(nearest)) if nearest.any() else 1.0
    elif not gap > 0:
        raise InputError(f"gap must be a positive distance or None, got {gap!r}.")
    near = cKDTree(places).sparse_distance_matrix(cKDTree(places), gap, output_type="coo_matrix")
    near.data[:] = 1  # coincident elements are connected, though their distance is zero
    _, part = connected_components(near, directed=False)
    order = np.argsort(-np.bincount(part), kind="stable")
    parts = [members[part == number] for number in order]
    largest = places[part == order[0]]
    centre = largest.mean(0)
    axes = np.linalg.svd(largest - centre, full_matrices=True)[2]
    along = (largest - centre) @ axes.T
    return Extent(parts, centre, axes, np.ptp(along, axis=0))
