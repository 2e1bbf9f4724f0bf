"""Fast consensus needs its network."""

from __future__ import annotations

import pytest

from biconsensus.baselines import get_baseline
from biconsensus.errors import InputError


def test_fast_consensus_needs_its_network(network, pool):
    with pytest.raises(InputError, match="graph"):
        get_baseline("fast_consensus")(pool)
    with pytest.raises(InputError, match="3 nodes"):
        get_baseline("fast_consensus")(pool, graph=[(0, 1), (1, 2)])
