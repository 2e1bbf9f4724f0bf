"""The last step of the paper taken literally, to reproduce it; the library's own is in `fitting_rounds`."""

from __future__ import annotations

import numpy as np

from biconsensus.estimators.fitting_hypotheses import Screened, Trial
from biconsensus.estimators.fitting_rounds import Found
from biconsensus.protocols import FloatArray, IntArray


def confirm_as_paper(
    data: FloatArray, trial: Trial, screened: Screened, groups: list[tuple[IntArray, IntArray]], epsilon: float
) -> list[Found]:
    """Bi-clusters whose elements are meaningful, and still are without those that belong to other bi-clusters."""
    inside = np.zeros((len(data), len(groups)), bool)
    for index, (elements, _) in enumerate(groups):
        inside[elements, index] = True
    params = [_fit(data, trial, screened, *one) for one in groups]
    chance = np.array([_chance(trial, one) for one in params])
    all_, alone = _counts(inside)
    nfa, nfa_alone = (trial.log_nfa(held, chance, np.inf) for held in (all_, alone))
    kept = np.flatnonzero(np.maximum(nfa, nfa_alone) < np.log10(epsilon))
    threshold = float(trial.thresholds[0])
    return [
        Found(
            params[index],
            threshold,
            float(nfa[index]),
            screened.params[groups[index][1]],
            screened.thresholds[groups[index][1]],
            elements=inside[:, index],
        )
        for index in kept[np.argsort(nfa[kept], kind="stable")]
    ]


def _counts(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[FloatArray, FloatArray]:
    """Elements of each group, and those that are in no other."""
    alone = inside & (inside.sum(1) == 1)[:, None]
    return inside.sum(0).astype(np.float64), alone.sum(0).astype(np.float64)


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
