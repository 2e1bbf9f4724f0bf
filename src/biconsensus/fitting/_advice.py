"""What to say where nothing was found, or where one structure came in pieces: what the data show, and what helps."""

from __future__ import annotations

import numpy as np

from biconsensus._checks import warn_user
from biconsensus.errors import NoConsensusWarning, ThresholdWarning
from biconsensus.fitting._search import ModelSearch, Structures
from biconsensus.fitting._settings import Family
from biconsensus.fitting._threshold import far_above, proposal_of
from biconsensus.protocols import FloatArray

_FEW = 4
"""Elements for each that determines a model, below which their number is the first thing to say: with fewer, a model
that holds all of them can be what chance makes."""
_BESIDE = 5.0
"""Thresholds from another model within which a piece of the same structure lies: where the threshold is a tenth of what
it should be, two pieces are four thresholds apart in the median (Gaussian noise)."""


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
    """Warn where models lie side by side, as pieces of one structure do where the threshold is far too small."""
    residuals, labels, thresholds = structures.residuals, structures.labels, structures.thresholds
    beside = 0
    for t in range(len(thresholds)):
        own = np.delete(residuals[labels == t], t, axis=1)
        beside += bool(own.size) and float(np.median(own, axis=0).min()) <= _BESIDE * float(thresholds[t])
    if 2 * beside <= len(thresholds):
        return
    proposal = proposal_of(families, data)
    if proposal is not None and far_above(float(thresholds[0]), proposal):
        warn_user(
            f"threshold={thresholds[0]:g} is far below what the data suggest, about {proposal:.2g}: {beside} of the "
            f"{len(thresholds)} models lie within {_BESIDE:g} thresholds of another one, as pieces of one structure "
            "do.",
            ThresholdWarning,
        )
