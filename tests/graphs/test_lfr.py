from __future__ import annotations

import numpy as np
import pytest

from biconsensus.errors import InputError
from biconsensus.graphs._lfr import lfr_network


@pytest.mark.parametrize("mixing", [0.3, 0.5, 0.7])
def test_has_the_asked_for_statistics(mixing):
    graph, labels = lfr_network(2000, mixing, 16, communities=(30, 100), max_degree=60, random_state=1)
    sources, targets, weights = graph.edges()
    assert np.mean(labels[sources] != labels[targets]) == pytest.approx(mixing, abs=0.03)
    assert graph.degrees.mean() == pytest.approx(16, rel=0.07)
    assert graph.degrees.max() <= 60
    sizes = np.bincount(labels)
    assert sizes.min() >= 30
    assert sizes.max() <= 104  # the last draw may be spread over others
    assert (weights == 1).all()


def test_repeats_with_its_seed():
    first, second = (lfr_network(300, 0.2, 8, random_state=5) for _ in range(2))
    assert (first.graph.adjacency != second.graph.adjacency).nnz == 0
    np.testing.assert_array_equal(first.labels, second.labels)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mixing": 1.5}, "mixing: received 1.5"),
        ({"communities": (50, 20)}, "communities: received"),
        ({"average_degree": 60, "max_degree": 50}, "average_degree: received 60"),
    ],
)
def test_wrong_arguments(options, text):
    with pytest.raises(InputError, match=text):
        lfr_network(**{"n_nodes": 300, "mixing": 0.2, "average_degree": 10, **options})
