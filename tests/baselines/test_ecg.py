"""ECG: the weights of edges."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.errors import InputError


def test_ecg_weights_edges_by_the_share_of_sources_that_keep_them() -> None:
    pytest.importorskip("sknetwork")
    cliques = [(i, j) for base in (0, 6) for i in range(base, base + 6) for j in range(i + 1, base + 6)]
    truth = np.repeat([0, 1], 6)
    edges = [*cliques, (0, 6), (1, 7), (2, 8)]
    pool = bc.Pool.from_labels([truth, truth, np.zeros(12, int)])
    assert adjusted_rand_score(truth, get_baseline("ecg")(pool, graph=edges, random_state=0)) == 1.0
    with pytest.raises(InputError, match="graph"):
        get_baseline("ecg")(pool)
