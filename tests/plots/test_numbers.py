"""The numbers of groups against loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

import biconsensus as bc
from biconsensus import plots
from biconsensus.plots._overlaps import Overlaps
from tests.helpers.masks import seen_of
from tests.helpers.strategies import paper_consensus


def test_group_numbers_against_loops(consensus: bc.Consensus) -> None:
    numbers = plots.group_numbers(consensus)
    jaccard, source_of = Overlaps.of(consensus).jaccard.toarray(), consensus.pool.source_of
    assert len(consensus) == 3
    for t, group in enumerate(consensus.biclusters):
        own = consensus.labels == t
        assert numbers.sizes[t] == own.sum()
        assert numbers.candidates[t] == group.candidates.size
        assert numbers.sources[t] == len({source_of[j] for j in group.candidates})
        assert numbers.gains[t] == group.gain
        assert numbers.backing[t] == pytest.approx(consensus.backing[own].mean())
        best = [max(jaccard[j, t] for j in np.flatnonzero(source_of == s)) for s in range(11)]
        assert numbers.stability[t] == pytest.approx(np.mean(best))


def test_stability_of_candidates_that_are_their_own_sources() -> None:
    pool = bc.Pool.from_groups([range(10)] * 4 + [range(2, 10)] + [range(10, 20)] * 4, n_elements=20)
    numbers = plots.group_numbers(paper_consensus(pool))
    np.testing.assert_allclose(np.sort(numbers.stability), [(4 + 0.8) / 5, 1.0])


def test_backing_histogram_counts_every_grouped_element(consensus: bc.Consensus) -> None:
    edges, counts = plots.backing_histogram(consensus, bins=10)
    for t in range(len(consensus)):
        expected = np.histogram(consensus.backing[consensus.labels == t] - 1e-12, bins=edges - 1e-12)[0]
        assert counts[t].sum() == expected.sum() == (consensus.labels == t).sum()


def test_least_certain_are_the_smallest(consensus: bc.Consensus) -> None:
    first = plots.least_certain(consensus, 5)
    inside = np.flatnonzero(consensus.labels >= 0)
    np.testing.assert_allclose(consensus.backing[first], np.sort(consensus.backing[inside])[:5])


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
