"""The choice among groupings: evidence times backing, and a second look where the evidence is weak."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.find import Search, solve


class Shallow:
    """Evidence that favours one grouping, below a level that a weaker one does not have."""

    kind = "points"

    def __init__(self, wanted: np.ndarray, value: float, weaker: Shallow | None = None, fewest: float = 0.0) -> None:
        self.wanted, self.value, self._weaker, self.fewest_backers = wanted, value, weaker, fewest

    def weaker(self) -> Shallow | None:
        return self._weaker

    def of_grouping(self, labels: np.ndarray) -> float:
        return self.value if len(set(zip(labels.tolist(), self.wanted.tolist()))) == 2 else -1.0

    def of_groups(self, labels: np.ndarray) -> np.ndarray:
        return np.zeros(int(labels.max(initial=-1)) + 1)

    def place(self, labels: np.ndarray) -> np.ndarray:
        return labels


HALVES = np.repeat([0, 1], 20)
POOL = bc.Pool.from_labels([*[HALVES] * 5, np.arange(40) % 2])


@pytest.mark.parametrize(
    ("value", "weaker", "n_groups"),
    [
        (1.0, None, 2),
        (-1.0, None, 1),
        (-1.0, Shallow(HALVES, 1.0, fewest=4.0), 2),
        (-1.0, Shallow(HALVES, 1.0, fewest=6.0), 1),
        (-1.0, Shallow(HALVES, -1.0), 1),
    ],
)
def test_weaker_evidence_decides_only_where_the_strong_one_finds_nothing(value, weaker, n_groups):
    assert len(solve(POOL, Search(), Shallow(HALVES, value, weaker))) == n_groups
