"""The last step of the paper taken literally, to reproduce it; the library's own is in `_search`."""

from __future__ import annotations

import numpy as np

from biconsensus.fitting._groups import Fit, Found
from biconsensus.fitting._hypotheses import Screened
from biconsensus.fitting._settings import Family
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.significance._models import NfaTest


def confirm_as_paper(
    family: Family,
    data: FloatArray,
    test: NfaTest,
    screened: Screened,
    groups: list[tuple[IntArray, IntArray]],
    epsilon: float,
) -> list[Found]:
    """Bi-clusters whose elements are meaningful, and still are without those that belong to other bi-clusters."""
    inside = np.zeros((len(data), len(groups)), bool)
    for index, (elements, _) in enumerate(groups):
        inside[elements, index] = True
    params = [_fit(data, test, screened, *one) for one in groups]
    chance = np.array([_chance(test, one) for one in params])
    nfa = test.log_nfa(inside.sum(0).astype(np.float64), chance, np.inf)
    kept = _exclusive(inside, np.flatnonzero(nfa < np.log10(epsilon)), test, chance, epsilon)
    threshold = float(test.thresholds[0])
    return [
        Found(
            family,
            Fit(params[index], threshold, threshold),
            float(nfa[index]),
            float(nfa[index]),
            screened.params[groups[index][1]],
            screened.thresholds[groups[index][1]],
            elements=inside[:, index],
        )
        for index in kept[np.argsort(nfa[kept], kind="stable")]
    ]


def _exclusive(inside: BoolArray, kept: IntArray, test: NfaTest, chance: FloatArray, epsilon: float) -> IntArray:
    """Groups that are meaningful by elements of their own alone; the smallest that is not goes first.

    Asked of all groups at once the rule leaves nothing: slanted bi-clusters of a few hypotheses share the elements of
    every good one.
    """
    while kept.size:
        alone = inside[:, kept] & (inside[:, kept].sum(1) == 1)[:, None]
        nfa = test.log_nfa(alone.sum(0).astype(np.float64), chance[kept], np.inf)
        failing = kept[~(nfa < np.log10(epsilon))]
        if not failing.size:
            break
        smallest = failing[int(np.argmin(inside[:, failing].sum(0)))]
        kept = kept[kept != smallest]
    return kept


def _fit(data: FloatArray, test: NfaTest, screened: Screened, elements: IntArray, columns: IntArray) -> FloatArray:
    """Least squares on the elements of a bi-cluster; its best hypothesis where that fails."""
    best = screened.params[columns[int(np.argmin(screened.log_nfa[columns]))]]
    if not hasattr(test.model, "refit") or len(elements) < test.model.sample_size:
        return np.asarray(best, np.float64)
    params = np.asarray(test.model.refit(data[elements], np.ones(len(elements))), np.float64)
    return params if np.isfinite(params).all() else np.asarray(best, np.float64)


def _chance(test: NfaTest, params: FloatArray) -> float:
    """Hit probability of one model."""
    return float(test.chance.probability(test.model, params[None], test.thresholds[:1])[0])
