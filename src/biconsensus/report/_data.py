"""The numbers of the report as plain values: bounded in size, however large the data."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.plots._bases import base_scores
from biconsensus.plots._matrix import MatrixImage, matrix_image
from biconsensus.plots._numbers import backing_histogram, chance_text, group_numbers, least_certain
from biconsensus.plots._overlaps import Overlaps
from biconsensus.plots._source_numbers import source_numbers
from biconsensus.pool._diagnostics import diagnose
from biconsensus.protocols import BoolArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_ELEMENTS = 5000
"""Elements that a page lists: a browser searches them at once."""
MOST_CELLS = 320
"""Rows and columns of the picture of the matrix: about the pixels that it has."""
MOST_BARS = 40
"""Bars that can still be read."""
MOST_SOURCES = 1000
"""Sources that a page lists."""
MOST_DIAGNOSED = 2000
"""Candidates up to which all pairs are compared."""


def group_rows(consensus: Consensus, overlaps: Overlaps, extra: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """One record for each group."""
    numbers = group_numbers(consensus, overlaps)
    return [
        {
            "size": int(numbers.sizes[k]),
            "candidates": int(numbers.candidates[k]),
            "sources": int(numbers.sources[k]),
            "gain": round_off(numbers.gains[k], 3),
            "backing": round_off(numbers.backing[k]),
            "stability": round_off(numbers.stability[k]),
            "chance": chance_text(float(numbers.significance[k])),
            "significance": round_off(float(np.clip(numbers.significance[k], -1e6, 1e6)), 2),
            "extra": [plain(column[k]) for column in extra.values()],
        }
        for k in range(len(consensus))
    ]


def histogram(consensus: Consensus) -> dict[str, Any]:
    """Elements by backing and group."""
    edges, counts = backing_histogram(consensus)
    return {"edges": [round_off(edge) for edge in edges], "counts": counts.tolist()}


def element_rows(consensus: Consensus) -> dict[str, Any]:
    """Names, groups and backing of all elements, or of the least certain and an even sample of the others."""
    m = consensus.labels.size
    chosen = np.arange(m)
    note = "All elements; the least certain first."
    if m > MOST_ELEMENTS:
        even = np.linspace(0, m - 1, MOST_ELEMENTS // 2).astype(np.int64)
        chosen = np.unique(np.concatenate([least_certain(consensus, MOST_ELEMENTS // 2), even]))
        note = (
            f"A sample: {chosen.size:,} of {m:,} elements, the {MOST_ELEMENTS // 2:,} least certain among them, "
            "which come first."
        )
    return {
        "note": note,
        "ids": element_names(consensus, chosen),
        "labels": consensus.labels[chosen].tolist(),
        "backing": [round_off(value) for value in consensus.backing[chosen]],
    }


def element_names(consensus: Consensus, elements: IntArray) -> list[str]:
    """The user's names of some elements, or their numbers."""
    ids = consensus.pool.ids
    return [str(value) for value in (elements if ids is None else ids[elements])]


def source_rows(consensus: Consensus, overlaps: Overlaps, truth: Any) -> dict[str, Any]:
    """Records of the sources, their scores where the truth is known, and which are drawn as bars."""
    numbers = source_numbers(consensus, overlaps)
    score = np.nan_to_num(numbers.nmi)
    ranked = np.argsort(-score, kind="stable")[:MOST_SOURCES]
    scores = _truth_scores(consensus, truth)
    dissenting = _dissenting(consensus)
    rows = [
        {
            **_source(consensus, int(k)),
            "candidates": int(numbers.candidates[k]),
            "used": int(numbers.used[k]),
            "nmi": round_off(numbers.nmi[k]),
            "scores": [round_off(score["base"][k]) for score in scores],
            "remark": _remark(int(numbers.candidates[k]), int(numbers.used[k]), bool(dissenting[k])),
            "bar": place < MOST_BARS,
        }
        for place, k in enumerate(ranked)
    ]
    total = len(consensus.pool.sources)
    note = "Normalised mutual information of each base result with the consensus; elements in no group are one class."
    if total > MOST_BARS:
        note += f" The first {MOST_BARS} of {total:,} sources are drawn."
    return {
        "sources": rows,
        "scores": [{"name": score["name"], "consensus": round_off(score["consensus"])} for score in scores],
        "barsNote": note,
    }


def _source(consensus: Consensus, k: int) -> dict[str, str]:
    """Name and parameters of a source."""
    source = consensus.pool.sources[k]
    params = [f"{name}={value}" for name, value in source.params.items()]
    params += [] if source.seed is None else [f"seed={source.seed}"]
    return {"name": str(source.name), "params": ", ".join(params)}


def _dissenting(consensus: Consensus) -> BoolArray:
    """(c,) sources that agree with the others much less than is usual."""
    marked = np.zeros(len(consensus.pool.sources), bool)
    if consensus.pool.shape[1] <= MOST_DIAGNOSED and marked.size < consensus.pool.shape[1]:
        marked[diagnose(consensus.pool).dissenting] = True
    return marked


def _remark(candidates: int, used: int, dissents: bool) -> str:
    """What deserves a look in a source."""
    if candidates == 0:
        return "no candidate left"
    if dissents:
        return "dissents from the others"
    return "" if used else "not used by any group"


def _truth_scores(consensus: Consensus, truth: Any) -> list[dict[str, Any]]:
    """ARI and NMI of the consensus and of every base result."""
    if truth is None:
        return []
    from biconsensus import metrics

    truth = np.asarray(truth)
    many = len(consensus.pool.sources) > MOST_SOURCES
    nothing = np.full(len(consensus.pool.sources), np.nan)
    return [
        {
            "name": name,
            "consensus": float(score(truth, consensus.labels)),
            "base": nothing if many else base_scores(consensus.pool, truth, score),
        }
        for name, score in (("ARI", metrics.ari), ("NMI", metrics.nmi))
    ]


def matrices(consensus: Consensus) -> dict[str, Any]:
    """The preference matrix before and after, as bytes."""
    m, n = consensus.pool.shape
    note = ""
    if m > MOST_CELLS or n > MOST_CELLS:
        note = (
            f"{m:,} elements and {n:,} candidates do not fit: a cell is the mean of several, drawn darker than it is."
        )
    before, after = (matrix_image(consensus, reorder, MOST_CELLS, MOST_CELLS) for reorder in (False, True))
    return {"before": _picture(consensus, before, False), "after": _picture(consensus, after, True), "note": note}


def _picture(consensus: Consensus, image: MatrixImage, reordered: bool) -> dict[str, Any]:
    """One matrix; names of the candidates where each has its own column in the order of the pool."""
    cells = np.clip(np.round(255 * image.ink), 0, 255).astype(np.uint8)
    single = image.column_edges.size - 1 == len(consensus.pool.names)
    return {
        "top": round_off(image.shares.max(initial=0), 6) if image.binned else None,
        "cells": base64.b64encode(cells.tobytes()).decode("ascii"),
        "rowGroups": image.row_groups.tolist(),
        "columnGroups": image.column_groups.tolist(),
        "names": list(consensus.pool.names) if single and not reordered else None,
    }


def round_off(value: Any, digits: int = 4) -> float | None:
    """A short number for the page; None where there is none."""
    return round(float(value), digits) if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, bool | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return round_off(value, 6)
    return str(value)


MOST_KEPT = 25
"""Groups whose sizes are drawn: more bars cannot be read."""


def group_sizes(consensus: Consensus, overlaps: Overlaps) -> dict[str, Any]:
    """Sizes of the groups, with the minimum sizes."""
    numbers = group_numbers(consensus, overlaps)
    shown = min(len(consensus), MOST_KEPT)
    rows = [
        {"name": f"group {k}", "elements": int(numbers.sizes[k]), "sources": int(numbers.sources[k]), "group": k}
        for k in range(shown)
    ]
    note = "Groups are kept while they have the minimum numbers of elements and of sources (dashed)."
    if shown < len(consensus):
        note += f" The first {shown} of {len(consensus):,} groups are drawn."
    settings = consensus.settings
    sizes = {"minElements": settings.get("min_elements"), "minCandidates": settings.get("min_candidates")}
    return {"rows": rows, "note": note, **sizes}
