"""The tables of the leaderboard: means, ranks, what is lost, and cases that some method lacks."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import leaderboard
from benchmarks.ranks import Ranks

NETWORKS = {
    f"networks | LFR, nominal .48: #{seed}": {
        "actual mixing": 0.49,
        "ConsensusCommunities": [1.0, 1.0, 2.0],
        "Leiden": [score, 0.5, 0.1],
    }
    for seed, score in ((1, 0.4), (2, 0.6))
}
NETWORKS["networks | karate: #1"] = {
    "actual mixing": 0.14,
    "ConsensusCommunities": [0.3, 0.4, 1.0],
    "Leiden": [0.7, 0.8, 0.1],
    "ECG": [0.9, 0.9, 0.2],
}


def test_cases_count_once_and_losses_are_printed() -> None:
    scores = leaderboard.scores_of(NETWORKS, "networks")
    assert scores["LFR, nominal .48"]["Leiden"] == [0.5, 0.5, pytest.approx(0.1)]
    text = leaderboard.page(NETWORKS)
    assert "| *ConsensusCommunities* | **0.650 / 0.700** | **1.000 / 1.000** | 1.50 | 1.5 |" in text
    assert "| ECG | 0.900 / 0.900 (1 sets) | – | – | 0.2 |" in text, "no rank where a case is missing"
    assert "0.490 (LFR, nominal .48)" in text
    assert "| karate | 0.300 | 0.900 | ECG |" in text
    assert "1 of 2 cases" in text
    found = leaderboard.summary(NETWORKS)
    assert found["networks"] == {"ConsensusCommunities": 0.65, "ECG": 0.9, "Leiden": 0.6}
    assert found["networks, cases"] == 2


def test_ranks_of_methods_that_never_change_places() -> None:
    scores = {str(k): {"a": 3.0, "b": 2.0, "c": 1.0} for k in range(30)}
    ranks = Ranks.of(scores, ["c", "b", "a"])
    assert ranks.mean == {"c": 3.0, "b": 2.0, "a": 1.0}
    # Demsar (2006): q of 0.05 for three methods is 2.343
    assert ranks.critical == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 30)), rel=1e-3)
