"""Drawings of groups against their numbers."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus import plots


def test_bars_have_the_heights_of_the_numbers(consensus: bc.Consensus) -> None:
    ax = plots.group_sizes(consensus)
    assert [bar.get_height() for bar in ax.patches] == plots.group_numbers(consensus).sizes.tolist()
    ax = plots.backing(consensus, bins=8)
    assert sum(bar.get_height() for bar in ax.patches) == (consensus.labels >= 0).sum()
    ax = plots.sources(consensus)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(plots.source_numbers(consensus).nmi))


def test_scores_draw_the_consensus_above_its_base(consensus: bc.Consensus) -> None:
    truth = np.repeat([0, 1, 2], 20)
    ax = plots.scores(consensus, truth)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(bc.metrics.ari(truth, consensus.labels))
    base = plots.base_scores(consensus.pool, truth, bc.metrics.ari)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], np.sort(base)[::-1])
