"""Minimal samples: distinct, complete where few, drawn by the paper's law; and how many are needed."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from biconsensus.errors import InputError, TooLargeError, UnknownNameError
from biconsensus.sources._sampling import (
    LocalTable,
    SamplingLaw,
    _draw_local,
    all_samples,
    detection_probability,
    draw_samples,
    samples_needed,
    share_in_reach,
)


@given(st.integers(2, 5), st.integers(0, 20), st.integers(1, 300), st.integers(0, 99))
def test_samples_are_distinct_sets_of_distinct_elements(size: int, more: int, wanted: int, seed: int) -> None:
    data = np.random.default_rng(seed).random((size + more, 2))
    for name in ("uniform", "local"):
        samples = draw_samples(data, size, wanted, np.random.default_rng(seed), SamplingLaw(name, 0.3))
        assert (np.diff(samples, axis=1) > 0).all()
        assert len({tuple(row) for row in samples.tolist()}) == len(samples) <= max(wanted, comb(len(data), size))
        assert 0 <= samples.min() <= samples.max() < len(data)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_all_samples_are_all_combinations(size: int) -> None:
    assert all_samples(7, size).tolist() == [list(c) for c in combinations(range(7), size)]


def test_more_wanted_than_there_are_gives_all() -> None:
    samples = draw_samples(np.zeros((6, 2)), 3, 10_000, np.random.default_rng(0))
    assert len(samples) == comb(6, 3)


@pytest.mark.parametrize("tabled", [True, False])
def test_local_law_is_the_papers(tabled: bool) -> None:
    places = np.array([[0.0], [0.5], [1.0], [1.5], [2.5]])
    rng, law = np.random.default_rng(0), SamplingLaw("local", 0.8, 0.4)
    drawn = np.sort(_draw_local(places, 2, 4000, rng, law, LocalTable(places, law) if tabled else None), axis=1)
    counts = np.zeros((5, 5))
    np.add.at(counts, tuple(drawn.T), 1)
    weight = np.exp(-(((np.abs(places - places.T) - 0.4) / 0.8) ** 2))
    np.fill_diagonal(weight, 0)
    share = weight / weight.sum(1, keepdims=True) / 5
    expected = np.triu(share + share.T)
    pairs = np.triu_indices(5, 1)
    assert chisquare(counts[pairs], expected[pairs] / expected[pairs].sum() * 4000).pvalue > 1e-3


def test_isolated_element_finds_its_nearest() -> None:
    places = np.concatenate([np.zeros((50, 1)), [[1000.0], [1007.0]]])
    places[:50, 0] = np.linspace(0, 1, 50)
    samples = draw_samples(places, 2, 200, np.random.default_rng(0), SamplingLaw("local", 0.5))
    far = samples[(samples >= 50).any(1)]
    assert len(far) == 1
    assert far[0].tolist() == [50, 51]


def test_law_holds_where_rejection_never_succeeds() -> None:
    # from the first place, at the origin, the others weigh exp(-1e4) times 1, exp(-1), exp(-2), exp(-3)
    places = np.append(0.0, np.sqrt(1e4 + np.arange(4.0)))[:, None]
    rng = np.random.default_rng(0)
    counts = np.zeros(5)
    for _ in range(20):
        samples = _draw_local(places, 3, 500, rng, SamplingLaw("local", 1.0), None)
        around = samples[(samples == 0).any(1)]
        drawn, number = np.unique(around[around > 0], return_counts=True)
        counts[drawn] += number
    weight = np.exp(-np.arange(4.0))
    one_then_other = np.outer(weight / (weight.sum() - weight), weight / weight.sum())
    np.fill_diagonal(one_then_other, 0)
    both = one_then_other.sum(0) + one_then_other.sum(1)
    assert counts[1:] / counts.sum() * 2 == pytest.approx(both, abs=0.02)


def test_same_seed_same_samples() -> None:
    data = np.random.default_rng(3).random((80, 2))
    draws = [draw_samples(data, 3, 500, np.random.default_rng(7), SamplingLaw("local", 0.2)) for _ in range(2)]
    assert (draws[0] == draws[1]).all()


def test_too_few_elements_names_both_numbers() -> None:
    with pytest.raises(InputError, match=r"2 elements.*needs 3"):
        draw_samples(np.zeros((2, 2)), 3, 10, np.random.default_rng(0))


def test_too_many_for_exhaustive_says_what_to_do() -> None:
    with pytest.raises(TooLargeError, match="sampling='uniform'"):
        draw_samples(np.zeros((5000, 3)), 3, 10, np.random.default_rng(0), SamplingLaw("exhaustive"))


def test_unknown_law_and_bad_sigma() -> None:
    with pytest.raises(UnknownNameError, match="local"):
        draw_samples(np.zeros((50, 2)), 2, 10, np.random.default_rng(0), SamplingLaw("locall"))
    with pytest.raises(InputError, match="sigma must be positive"):
        draw_samples(np.zeros((50, 2)), 2, 10, np.random.default_rng(0), SamplingLaw("local", 0.0))


@given(st.integers(1, 200), st.floats(0.001, 0.5), st.integers(1, 6))
def test_detection_probability_is_the_corrected_sum(n: int, p: float, least: int) -> None:
    missed = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(min(least, n + 1)))
    assert detection_probability(n, p, least) == pytest.approx(1 - missed, abs=1e-9)


@given(st.floats(1e-4, 0.9), st.integers(1, 6), st.sampled_from([0.5, 0.9, 0.999]), st.integers(1, 12))
def test_samples_needed_is_the_least_that_suffices(p: float, least: int, wanted: float, models: int) -> None:
    n, each = samples_needed(p, least, wanted, models), 1 - (1 - wanted) / models
    assert detection_probability(n, p, least) >= each
    assert n == least or detection_probability(n - 1, p, least) < each


def test_samples_needed_refuses_the_impossible() -> None:
    with pytest.raises(InputError, match="sample_probability"):
        samples_needed(0.0)
    with pytest.raises(InputError, match="detection"):
        samples_needed(0.1, detection=1.0)


def test_a_local_law_reaches_its_share_of_the_plane() -> None:
    places = np.random.default_rng(0).uniform(0, 1, (3000, 2))
    reached = share_in_reach(places, SamplingLaw("local", 0.05))
    assert reached == pytest.approx(np.pi * 0.05**2, rel=0.15)  # less at the border of the square
    assert share_in_reach(places, SamplingLaw()) == 1.0
