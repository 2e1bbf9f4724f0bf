"""Campigotto and others: the threshold."""

from __future__ import annotations

import pytest

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.errors import InputError


def test_campigotto_threshold_is_inclusive():
    runs = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]]
    assert get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.5).tolist() == [0, 0, 0, 0]
    assert get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.51).tolist() == [0, 1, 2, 2]
    with pytest.raises(InputError, match="alpha"):
        get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.0)
