"""The numbers of sources against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

import biconsensus as bc
from biconsensus import plots
from tests.helpers.masks import seen_of
from tests.helpers.strategies import paper_consensus


def test_source_nmi_is_that_of_sklearn_on_what_was_seen(consensus: bc.Consensus) -> None:
    numbers = plots.source_numbers(consensus)
    seen = seen_of(consensus)
    for k in range(11):
        labels = plots.source_labels(consensus.pool, k)
        expected = normalized_mutual_info_score(labels[seen[:, k]], consensus.labels[seen[:, k]])
        assert numbers.nmi[k] == pytest.approx(expected, abs=1e-12)
    assert numbers.nmi.argmin() == 10  # the random one
    assert numbers.used.sum() == sum(group.candidates.size for group in consensus.biclusters)


def test_sources_with_overlapping_candidates_have_no_nmi() -> None:
    pool = bc.Pool.from_groups([range(8), range(4, 12)] * 4, n_elements=12, sources=[0, 0, 1, 1, 2, 2, 3, 3])
    consensus = paper_consensus(pool, min_elements=2)
    assert np.isnan(plots.source_numbers(consensus).nmi).all()
