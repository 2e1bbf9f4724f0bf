"""Consensus of communities, by every baseline that repeats its algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.errors import InputError

NAMES = ["campigotto", "iterated_consensus", "fast_consensus"]


TRUTH = np.repeat(np.arange(4), 16)


def own(name, network):
    return {"graph": network} if name == "fast_consensus" else {}


@pytest.mark.parametrize("name", NAMES)
def test_finds_planted_communities(name, network, pool):
    labels = get_baseline(name)(pool, random_state=0, **own(name, network))
    assert adjusted_rand_score(TRUTH, labels) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_identical_runs_come_back(name, network):
    pool = bc.Pool.from_labels([TRUTH] * 5)
    labels = get_baseline(name)(pool, random_state=0, **own(name, network))
    np.testing.assert_array_equal(labels, TRUTH)


@pytest.mark.parametrize("name", ["iterated_consensus", "fast_consensus"])
def test_repeats_with_the_same_seed_and_finds_the_number_itself(name, network, pool):
    first, second = (get_baseline(name)(pool, random_state=3, **own(name, network)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(InputError, match="n_groups: got 4"):
        get_baseline(name)(pool, 4, **own(name, network))
