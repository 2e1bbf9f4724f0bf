"""What engineers ask of a fit: how certain parameters are, how far models reach, and what helps where none is found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from biconsensus._checks import warn_user
from biconsensus.errors import InputError, NoConsensusWarning, ThresholdWarning
from biconsensus.fitting._groups import Found, reweighted
from biconsensus.fitting._search import BESIDE, ModelSearch, Structures
from biconsensus.fitting._settings import Family, positions
from biconsensus.fitting._threshold import far_above, proposal_of
from biconsensus.protocols import FloatArray, IntArray

_GROUPS = 24
"""Groups of elements that the jackknife leaves out in turn: a covariance known to about a third."""
_STEPS = 4
"""Reweighted refits of each."""
_GAP = 4.0
"""Two elements are connected within this multiple of the typical distance of elements of the model to their nearest."""
_FEW = 4
"""Elements for each that determines a model, below which their number is the first thing to say: with fewer, a model
that holds all of them can be what chance makes."""


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


def warn_of_nothing(search: ModelSearch, families: list[Family], data: FloatArray, threshold: float | None) -> None:
    """Say that no model was found, why that may be, and what may help."""
    warn_user(
        f"no model is meaningful (epsilon={search.settings.epsilon}): {search.n_kept} of {search.n_tested} hypotheses "
        f"passed the screening. {_what_helps(search, families, data, threshold)}",
        NoConsensusWarning,
    )


def _what_helps(search: ModelSearch, families: list[Family], data: FloatArray, threshold: float | None) -> str:
    """One sentence or two."""
    size, n_different = max(one.model.sample_size for one in families), len(np.unique(data, axis=0))
    if n_different < _FEW * size:
        repeated = "" if n_different == len(data) else f", {n_different} of them different"
        return (
            f"X has {len(data)} elements{repeated}, and {size} of them determine a model: too few others are left to "
            "tell a model from chance. More elements are needed."
        )
    if threshold is None:
        return "The models are too weak at every threshold that was tried; if you know the noise, give a threshold."
    if not search.n_tested:
        return (
            "Each sample that was drawn is degenerate, as repeated elements are, or elements on one line where circles "
            "or planes are looked for."
        )
    proposal = proposal_of(families, data)
    if proposal is None:
        return (
            "No other threshold does better: as far as the data show, all of it is chance, or models have too few "
            f"elements. {_other_samples(search)}"
        )
    if far_above(threshold, proposal):
        return f"A larger threshold may help (the data suggest {proposal:.2g})."
    if far_above(proposal, threshold):
        return f"A smaller threshold may help (the data suggest {proposal:.2g})."
    return f"Another threshold may help (the data suggest {proposal:.2g}). {_other_samples(search)}"


def _other_samples(search: ModelSearch) -> str:
    """Advice about samples: more are of use only where the user limited their number."""
    given = search.settings.n_samples
    more = "" if given == "auto" else f'more samples than n_samples={given}, or n_samples="auto", or '
    return f"If you know better, try {more}samples of another kind (sampling)."


def warn_of_pieces(structures: Structures, families: list[Family], data: FloatArray) -> None:
    """Warn of models that lie side by side, if the threshold is far too small: they are pieces of one structure."""
    beside, thresholds = structures.n_beside_another(), structures.thresholds
    proposal = proposal_of(families, data)
    if proposal is not None and far_above(float(thresholds[0]), proposal):
        warn_user(
            f"threshold={thresholds[0]:g} is far below what the data suggest, about {proposal:.2g}: {beside} of the "
            f"{len(thresholds)} models lie within {BESIDE:g} thresholds of another one, as pieces of one structure "
            "do.",
            ThresholdWarning,
        )
