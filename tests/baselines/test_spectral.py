"""Spectral consensus against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

from biconsensus.baselines._spectral import spectral
from tests.helpers.noisy_pools import PARTITION, noisy_pool, same


def test_spectral_finds_the_number_by_the_eigengap():
    pool, _ = noisy_pool(5)
    assert same(spectral(pool, random_state=0), PARTITION)
