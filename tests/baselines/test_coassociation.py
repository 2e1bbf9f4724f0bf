"""Co-association against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import pytest

import biconsensus as bc
from biconsensus.baselines._coassociation import coassociation
from biconsensus.errors import InputError


def test_coassociation_needs_more_than_the_threshold():
    table = [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]]
    assert coassociation(bc.Pool.from_labels(table)).tolist() == [0, 1, 2]
    assert coassociation(bc.Pool.from_labels(table), threshold=0.49).tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="threshold: got 1"):
        coassociation(bc.Pool.from_labels(table), threshold=1)
