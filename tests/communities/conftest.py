"""One fitted estimator for many tests."""

from __future__ import annotations

import pytest

import biconsensus as bc
from tests.helpers.planted_networks import planted


@pytest.fixture(scope="session")
def fitted():
    return bc.ConsensusCommunities(random_state=0).fit(planted())
