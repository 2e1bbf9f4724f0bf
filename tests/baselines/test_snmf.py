"""Symmetric NMF against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._snmf import _factor, snmf
from biconsensus.errors import InputError
from tests.helpers.noisy_pools import noisy_pool


def test_snmf_on_distinct_rows_is_that_of_the_elements():
    pool, _ = noisy_pool(3)
    B, start = cooccurrence(pool), np.random.default_rng(0).uniform(size=(pool.rows.shape[0], 3))
    short, error = _factor(B, pool.counts.astype(float), start, 50, 0)
    whole = B[np.ix_(pool.inverse, pool.inverse)]
    long, whole_error = _factor(whole, np.ones(21), start[pool.inverse], 50, 0)
    np.testing.assert_allclose(short[pool.inverse], long, atol=1e-8)
    assert error == pytest.approx(whole_error, abs=1e-8)


def test_snmf_never_gets_worse():
    pool, _ = noisy_pool(4)
    B, s = cooccurrence(pool), pool.counts.astype(float)
    start = np.random.default_rng(1).uniform(size=(len(B), 3))
    errors = [_factor(B, s, start, n, -1)[1] for n in (5, 20, 80, 300)]
    assert errors[-1] < errors[0]
    with pytest.raises(InputError, match="snmf cannot find the number of groups"):
        snmf(pool)
