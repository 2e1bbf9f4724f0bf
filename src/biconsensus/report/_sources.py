"""The sources on the page: how each agrees, what it alone says, whether it is redundant, what it decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._groups import held_weight, largest_in_rows
from biconsensus.plots._bases import base_scores
from biconsensus.plots._numbers import source_numbers
from biconsensus.plots._overlaps import Overlaps
from biconsensus.pool._agreement import SAME, agreement_matrix, same_setting
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.report._encode import round_off
from biconsensus.result._consensus import of_elements

if TYPE_CHECKING:
    from biconsensus.report._data import Sample
    from biconsensus.result._consensus import Consensus

MOST_SOURCES = 1000
"""Sources that a page lists."""
MOST_COMPARED = 300
"""Sources up to which every two are compared, and each is left out once."""
MOST_DIAGNOSED = 3000
"""Candidates up to which all pairs are compared."""
OWN = 0.5
"""Jaccard index below which no other source has a candidate: half of the elements, so that the two would not be called
one group. A convention of the page; nothing is decided by it."""


def source_data(consensus: Consensus, sample: Sample, truth: Any) -> dict[str, Any]:
    """Records of the sources, the best agreeing first, with the scores against the truth where it is known.

    The sources of fitted models are counted only.
    """
    pool = consensus.pool
    single = pool.shape[1] == len(pool.sources) > 1
    scores = truth_scores(consensus, truth, single)
    told = {
        "scores": [{"name": score["name"], "consensus": round_off(score["consensus"])} for score in scores],
        "hypotheses": single,
        "sourcesTotal": len(pool.sources),
        "comparedOn": int(sample.even.sum()),
    }
    if consensus.settings.get("chosen_by") == "models":  # nobody wants to look at one sample of points
        return {**told, "sources": []}
    elements = sample.elements[sample.even]
    here = consensus if sample.whole else of_elements(consensus, elements, sample.even_pool)
    numbers = source_numbers(here, Overlaps.of(here))
    ranked = np.argsort(-np.nan_to_num(numbers.nmi), kind="stable")[:MOST_SOURCES]
    compared = compare_sources(consensus, sample) if not single else Comparison.nothing(len(pool.sources))
    rows = [
        {
            "index": int(k),
            "name": str(pool.sources[k].name),
            "params": _params(pool, int(k)),
            "candidates": int(numbers.candidates[k]),
            "used": int(numbers.used[k]),
            "nmi": round_off(numbers.nmi[k]),
            "scores": [round_off(score["base"][k]) for score in scores],
            **compared.of(int(k)),
        }
        for k in ranked
    ]
    for row in rows:
        row["remark"] = _remark(row)
    return {**told, "sources": rows}


def _params(pool: Pool, k: int) -> str:
    """Parameters of a source."""
    source = pool.sources[k]
    params = [f"{name}={value}" for name, value in source.params.items()]
    return ", ".join(params + ([] if source.seed is None else [f"seed={source.seed}"]))


def _remark(row: dict[str, Any]) -> str:
    """What deserves a look in a source."""
    if row["candidates"] == 0:
        return "no candidate left"
    if row["dissents"]:
        return "dissents from the others"
    if row["redundant"]:
        return "says nearly the same as others"
    return "" if row["used"] else "not used by any group"


class Comparison:
    """What the sources say of one another, on the elements of a sample."""

    def __init__(self, n_sources: int, elements: int, agreement: FloatArray | None) -> None:
        self.elements = elements
        self.agreement = agreement
        self.redundant: BoolArray = np.zeros((n_sources, n_sources), bool)
        self.alone: IntArray = np.zeros(n_sources, np.int64)
        self.decided: FloatArray = np.zeros(n_sources)
        self.dissents: BoolArray = np.zeros(n_sources, bool)

    @classmethod
    def nothing(cls, n_sources: int) -> Comparison:
        """Where there are too many sources, or each candidate is its own."""
        return cls(n_sources, 0, None)

    def of(self, k: int) -> dict[str, Any]:
        """The record of one source."""
        if self.agreement is None:
            keys = ("others", "likest", "likestAgreement", "alone", "decided")
            return {**dict.fromkeys(keys), "redundant": [], "dissents": False}
        others = np.delete(self.agreement[k], k)
        likest = int(np.argmax(np.where(np.arange(self.agreement.shape[0]) == k, -np.inf, self.agreement[k])))
        return {
            "others": round_off(others.mean()) if others.size else None,
            "likest": likest if others.size else None,
            "likestAgreement": round_off(self.agreement[k, likest]) if others.size else None,
            "redundant": np.flatnonzero(self.redundant[k]).tolist(),
            "alone": int(self.alone[k]),
            "decided": round_off(self.decided[k]),
            "dissents": bool(self.dissents[k]),
        }


def compare_sources(consensus: Consensus, sample: Sample) -> Comparison:
    """Agreement of every two sources, candidates that only one of them has, elements that one of them decides."""
    pool = consensus.pool
    n_sources = len(pool.sources)
    if n_sources > MOST_COMPARED or pool.shape[1] > MOST_DIAGNOSED:
        return Comparison.nothing(n_sources)
    elements, here = sample.elements[sample.even], sample.even_pool
    agreement = agreement_matrix(here)
    found = Comparison(n_sources, elements.size, agreement)
    found.redundant = ((agreement >= SAME) | same_setting(here)) & ~np.eye(n_sources, dtype=bool)
    found.alone = np.bincount(pool.source_of[_alone(here)], minlength=n_sources)
    found.decided = _decided(consensus, elements)
    if n_sources > 1:
        mean = (agreement.sum(axis=1) - 1.0) / (n_sources - 1)
        middle = float(np.median(mean))
        spread = 1.4826 * float(np.median(np.abs(mean - middle)))
        found.dissents = (mean < middle / 2) & (mean < middle - 3 * spread)
    return found


def _alone(pool: Pool) -> IntArray:
    """Candidates without a counterpart (Jaccard index of `OWN`) in any other source."""
    held = csr_array((pool.rows != 0).astype(np.float64))
    shared = (held.T @ csr_array(held.multiply(pool.counts[:, None]))).tocoo()
    one, other = shared.coords
    union = pool.sizes[one] + pool.sizes[other] - shared.data
    met = (shared.data >= OWN * union) & (pool.source_of[one] != pool.source_of[other])
    alone = pool.sizes > 0
    alone[one[met]] = False
    return np.flatnonzero(alone)


def _decided(consensus: Consensus, elements: IntArray) -> FloatArray:
    """(c,) share of elements that would have most votes in another group if a source did not vote."""
    pool, behind = consensus.pool, consensus.behind
    n_sources = len(pool.sources)
    found = np.zeros(n_sources)
    if len(consensus) == 0 or elements.size == 0:
        return found
    rows = pool.rows[pool.inverse[elements]]
    usual = largest_in_rows(held_weight(rows, behind))
    for k in range(n_sources):
        voting = np.where(pool.source_of == k, 0.0, 1.0)
        without = largest_in_rows(held_weight(rows, csr_array(behind.multiply(voting[:, None]))))
        found[k] = np.mean(without != usual)
    return found


def truth_scores(consensus: Consensus, truth: Any, single: bool) -> list[dict[str, Any]]:
    """ARI and NMI of the consensus and of every base result."""
    if truth is None:
        return []
    from biconsensus import metrics

    truth = np.asarray(truth)
    many = single or len(consensus.pool.sources) > MOST_SOURCES
    nothing = np.full(len(consensus.pool.sources), np.nan)
    return [
        {
            "name": name,
            "consensus": float(score(truth, consensus.labels)),
            "base": nothing if many else base_scores(consensus.pool, truth, score),
        }
        for name, score in (("ARI", metrics.ari), ("NMI", metrics.nmi))
    ]
