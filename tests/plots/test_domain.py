"""Drawings of the data itself."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex

import biconsensus as bc
from biconsensus import plots


def test_scatter_draws_each_group_in_its_colour(consensus: bc.Consensus) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    ax = plots.scatter(consensus, X)
    drawn = {to_hex(points.get_facecolor()[0]).upper(): len(points.get_offsets()) for points in ax.collections}
    for group in np.unique(consensus.labels):
        assert drawn[plots.color_of(int(group))] == (consensus.labels == group).sum()
