"""The choice by evidence, on a sample of the rows beside all of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.matrix import _condensed
from biconsensus.quorum._choice import options_of, score_options
from biconsensus.quorum._path import QuorumPath
from biconsensus.significance import _points


class AllElements:
    """Evidence of the same points that does not say that it looks at a few of them only."""

    def __init__(self, evidence: _points.PointEvidence) -> None:
        self.of_grouping = evidence.of_grouping
        self.fewest_backers, self.sharpness = evidence.fewest_backers, evidence.sharpness
        self.backing_power = evidence.backing_power


@pytest.fixture(scope="module")
def sampled() -> tuple[QuorumPath, bc.Pool, _points.PointEvidence]:
    """A path of a sample, its pool, and evidence that looks at 150 of 1,500 points."""
    rng = np.random.default_rng(0)
    X = 5.0 * rng.normal(size=(5, 3))[rng.integers(0, 5, 1500)] + rng.normal(size=(1500, 3))
    runs = [KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in (3, 4, 5, 5, 6, 8, 12, 20, 40)]
    pool = bc.Pool.from_labels(runs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_condensed, "SAMPLE_ROWS", 20)
        patch.setattr(_condensed, "ROWS_OF_A_CANDIDATE", 2)
        patch.setattr(_points, "LANDMARKS", 150)
        return QuorumPath.of(pool), pool, _points.PointEvidence(X)


def test_options_of_a_sample_are_scored_at_the_elements_that_the_evidence_looks_at(sampled) -> None:
    path, pool, evidence = sampled
    assert path.condensed.sampled
    assert evidence.looked_at.size == 150
    options = options_of(path)
    few = score_options(path, options, evidence, pool.inverse)
    every = score_options(path, options, AllElements(evidence), pool.inverse)
    assert few[0].option is every[0].option
    # the best one was scored on all rows
    assert few[0].evidence == every[0].evidence
    assert len(few[0].option.point) == 5


def test_an_option_that_all_rows_refuse_is_not_chosen(sampled, monkeypatch) -> None:
    path, pool, evidence = sampled
    options = options_of(path)[:3]
    refused = score_options(path, options, evidence, pool.inverse)[0].option
    whole = QuorumPath.labels

    def labels(self: QuorumPath, point):  # one group on all rows, whatever the sample saw
        return whole(self, point) if point is not refused.point else np.zeros(pool.rows.shape[0], np.int64)

    monkeypatch.setattr(QuorumPath, "labels", labels)
    scored = score_options(path, options, evidence, pool.inverse)
    assert scored[0].option is not refused
    assert next(one for one in scored if one.option is refused).evidence == 0.0
