"""A small consensus to draw."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from tests.helpers.strategies import paper_consensus


@pytest.fixture(scope="module")
def consensus() -> bc.Consensus:
    """Three groups of 20, ten base results with 10% of wrong labels and 10% of gaps, one result at random."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 20)
    base = np.stack([np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), truth) for _ in range(10)], axis=1)
    table = base.astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    table = np.column_stack([table, rng.integers(0, 3, 60)])
    return paper_consensus(table, min_elements=5, min_candidates=3)
