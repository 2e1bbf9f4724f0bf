"""The order and the names of the input do not matter (row 76): permuted or doubled, the answer is as good."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from tests.helpers.strategies import examples

METHODS: dict[str, dict[str, Any]] = {
    "greedy": {"quorum": 0.5},
    "joint": {"quorum": 0.5, "method": "joint"},
    "auto": {},
    "n_groups": {"n_groups": 3},
}


def noisy(seed: int, sizes: tuple[int, int] = (30, 60)) -> np.ndarray:
    """(c, m) labels of 30 to 60 elements, 10% to 70% of them noise."""
    rng = np.random.default_rng(seed)
    n_elements, n_groups, n_sources = (int(rng.integers(*bounds)) for bounds in (sizes, (2, 6), (4, 9)))
    truth, share = rng.integers(0, n_groups, n_elements), rng.uniform(0.1, 0.7)
    noise = rng.random((n_sources, n_elements)) < share
    return np.where(noise, rng.integers(0, n_groups, noise.shape), truth)


def answer(table: np.ndarray, method: str, elements: int = 2, sources: int = 2) -> bc.Consensus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bc.find_consensus(list(table), min_elements=elements, min_candidates=sources, **METHODS[method])


def assert_as_good(here: bc.Consensus, there: bc.Consensus, labels: np.ndarray, copies: int = 1) -> None:
    """The objective is the same; so are the groups, unless two answers are equally good."""
    assert there.objective == pytest.approx(copies * here.objective, rel=1e-12)
    assert len(here) == len(there)
    if np.unique(here.gains.round(9)).size == len(here):
        assert adjusted_rand_score(here.labels, labels) == 1.0


@pytest.mark.parametrize("method", METHODS)
@examples(6)
@given(seed=st.integers(0, 100_000))
def test_permuted_elements_sources_and_names(method: str, seed: int) -> None:
    table = noisy(seed)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(table.shape[1])
    names = [rng.permutation(20) for _ in table]
    changed = np.stack([name[row] for name, row in zip(names, table)])[rng.permutation(len(table))][:, order]
    here, there = answer(table, method), answer(changed, method)
    assert_as_good(here, there, there.labels[np.argsort(order)])


@pytest.mark.parametrize("method", METHODS)
@examples(4)
@given(seed=st.integers(0, 100_000))
def test_doubled_elements(method: str, seed: int) -> None:
    table = noisy(seed)
    here, there = answer(table, method), answer(np.repeat(table, 2, axis=1), method, elements=4)
    assert_as_good(here, there, there.labels[::2], copies=2)


@pytest.mark.parametrize("method", METHODS)
@examples(4)
@given(seed=st.integers(0, 100_000))
def test_doubled_sources(method: str, seed: int) -> None:
    table = noisy(seed)
    here, there = answer(table, method), answer(np.repeat(table, 2, axis=0), method, sources=4)
    assert_as_good(here, there, there.labels, copies=2)


def test_a_source_of_very_many_singletons_takes_no_longer_than_in_proportion() -> None:
    import time

    spent = []
    for size in (3_000, 12_000):
        table = np.column_stack([np.arange(size), *[np.repeat([0, 1], size // 2)] * 4])
        start = time.process_time()
        found = bc.find_consensus(table)
        spent.append(time.process_time() - start)
        assert np.array_equal(found.labels, np.repeat([0, 1], size // 2))
    assert spent[1] < 12 * spent[0]
