"""The last step of the paper taken literally, to reproduce it; the library's own is in `fitting_rounds`."""

from __future__ import annotations

import numpy as np

from biconsensus.fitting._hypotheses import Screened, Trial
from biconsensus.fitting._refit import Fit
from biconsensus.fitting._rounds import Found
from biconsensus.protocols import BoolArray, FloatArray, IntArray


def confirm_as_paper(
    data: FloatArray, trial: Trial, screened: Screened, groups: list[tuple[IntArray, IntArray]], epsilon: float
) -> list[Found]:
    """Bi-clusters whose elements are meaningful, and still are without those that belong to other bi-clusters."""
    inside = np.zeros((len(data), len(groups)), bool)
    for index, (elements, _) in enumerate(groups):
        inside[elements, index] = True
    params = [_fit(data, trial, screened, *one) for one in groups]
    chance = np.array([_chance(trial, one) for one in params])
    nfa = trial.log_nfa(inside.sum(0).astype(np.float64), chance, np.inf)
    kept = _exclusive(inside, np.flatnonzero(nfa < np.log10(epsilon)), trial, chance, epsilon)
    threshold = float(trial.thresholds[0])
    return [
        Found(
            Fit(params[index], threshold, threshold),
            float(nfa[index]),
            float(nfa[index]),
            screened.params[groups[index][1]],
            screened.thresholds[groups[index][1]],
            elements=inside[:, index],
        )
        for index in kept[np.argsort(nfa[kept], kind="stable")]
    ]


def _exclusive(inside: BoolArray, kept: IntArray, trial: Trial, chance: FloatArray, epsilon: float) -> IntArray:
    """Groups that are meaningful by elements of their own alone; the smallest that is not goes first.

    Asked of all groups at once the rule leaves nothing: slanted bi-clusters of a few hypotheses share the elements of
    every good one.
    """
    while kept.size:
        alone = inside[:, kept] & (inside[:, kept].sum(1) == 1)[:, None]
        nfa = trial.log_nfa(alone.sum(0).astype(np.float64), chance[kept], np.inf)
        failing = kept[~(nfa < np.log10(epsilon))]
        if not failing.size:
            break
        smallest = failing[int(np.argmin(inside[:, failing].sum(0)))]
        kept = kept[kept != smallest]
    return kept


def _fit(data: FloatArray, trial: Trial, screened: Screened, elements: IntArray, columns: IntArray) -> FloatArray:
    """Least squares on the elements of a bi-cluster; its best hypothesis where that fails."""
    best = screened.params[columns[int(np.argmin(screened.log_nfa[columns]))]]
    if not hasattr(trial.model, "refit") or len(elements) < trial.model.sample_size:
        return np.asarray(best, np.float64)
    params = np.asarray(trial.model.refit(data[elements], np.ones(len(elements))), np.float64)
    return params if np.isfinite(params).all() else np.asarray(best, np.float64)


def _chance(trial: Trial, params: FloatArray) -> float:
    """Hit probability of one model."""
    return float(trial.chance.probability(trial.model, params[None], trial.thresholds[:1])[0])
