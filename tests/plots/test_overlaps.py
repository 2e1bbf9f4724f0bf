"""Overlaps of candidates with groups against dense counting."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus.plots._overlaps import Overlaps
from tests.helpers.masks import seen_of


def test_overlaps_are_what_dense_counting_gives(consensus: bc.Consensus) -> None:
    A = consensus.pool.to_matrix().toarray()
    members = consensus.membership.toarray().astype(float)
    seen = seen_of(consensus)[:, consensus.pool.source_of].astype(float)
    overlaps = Overlaps.of(consensus)
    np.testing.assert_allclose(overlaps.shared.toarray(), A.T @ members)
    np.testing.assert_allclose(overlaps.seen[overlaps.mask], seen.T @ members)
    np.testing.assert_allclose(overlaps.candidate_sizes, A.sum(axis=0))
    union = [
        [((A[:, j] + members[:, t]) * seen[:, j] > 0).sum() for t in range(len(consensus))] for j in range(A.shape[1])
    ]
    np.testing.assert_allclose(overlaps.jaccard.toarray(), (A.T @ members) / np.array(union))
