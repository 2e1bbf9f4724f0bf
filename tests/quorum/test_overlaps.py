"""Certainty and agreement of sources against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._overlaps import Overlaps
from tests.helpers.quorum_pools import problem_of


def test_certainty_is_the_entropy_over_the_other_sources() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    values = Overlaps.of(problem).certainty()
    # both groups of four are cut in half by the other source: one bit over c = 2 sources at scale 0.4
    assert values[sizes == 4] == pytest.approx(np.exp(-1.0 / 0.8))
    assert values[sizes == 2] == pytest.approx(1.0)


def test_agreement_is_the_mean_adjusted_rand_index() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(4, size=(3000, 1)) * (rng.random((3000, 5)) < [0.9, 0.8, 0.7, 0.5, 0.2])
    pairs = [adjusted_rand_score(table[:, i], table[:, j]) for i in range(5) for j in range(i)]
    assert Overlaps.of(problem_of(*table.T)).agreement() == pytest.approx(np.mean(pairs))
    assert Overlaps.of(problem_of(*[table[:, 0]] * 3)).agreement() == pytest.approx(1.0)
    assert Overlaps.of(problem_of(table[:, 0])).agreement() == 1.0


def test_agreement_is_on_what_both_sources_saw() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(4, size=4000)
    noisy = np.where(rng.random((3, 4000)) < 0.7, truth, rng.integers(4, size=(3, 4000))).astype(float)
    noisy[0, :1000] = noisy[1, 2500:] = np.nan
    pairs = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        seen = ~np.isnan(noisy[a] + noisy[b])
        pairs.append(adjusted_rand_score(noisy[a][seen], noisy[b][seen]))
    assert Overlaps.of(problem_of(*noisy)).agreement() == pytest.approx(np.mean(pairs))
