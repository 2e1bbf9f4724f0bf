"""An answer at once: the groups that are there, moved by the sources that vote now, while the path is traced anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biconsensus.find import Traced
from biconsensus.methods._joint import Votes
from biconsensus.protocols import FloatArray
from biconsensus.quorum._path import PathPoint, blocks_of, in_order
from biconsensus.quorum._score import FitMeasures
from biconsensus.result._consensus import Consensus


def preview(traced: Traced, factors: FloatArray, point: PathPoint, sizes: tuple[int, int]) -> Consensus:
    """Groups near a point of a path, with other weights of the sources.

    Parameters
    ----------
    traced : Traced
        Path of all sources.
    factors : (c,) array
        New weight of each source, as a share of its old one; 0 for sources that do not vote.
    point : PathPoint
        Where to start.
    sizes : tuple of two int
        Smallest group: elements and sources.

    Returns
    -------
    Consensus
        Over the pool of all sources. Its groups are a fixed point of the votes: rows and columns that choose each
        other. Nothing is merged or divided, which is what the search does that takes longer.
    """
    path, pool = traced.path, traced.asked.joined
    condensed = path.condensed
    old = np.bincount(condensed.given.members, pool.weights, minlength=condensed.given.shape[1])
    new = np.bincount(condensed.given.members, pool.weights * factors[pool.source_of], minlength=old.size)
    change = np.divide(new, old, out=np.zeros_like(new), where=old > 0)[condensed.columns]
    weights = point.weights * change
    problem = replace(path.problem, weights=weights)
    votes = Votes.at_quorum(problem, point.quorum)
    columns, _ = votes.alternate(point.columns)
    rows, _ = votes.best_rows(columns)
    blocks = blocks_of(problem, point.quorum, rows, columns, condensed.smallest(*sizes))
    return traced.cut(PathPoint(point.quorum, tuple(in_order(blocks)), rows, columns, weights, FitMeasures()))
