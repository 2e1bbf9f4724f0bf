"""A-contrario tails at their edges, and the grids of the bounds against plain loops."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, expm1, gamma, log, log1p, log10

import numpy as np
import pytest
from scipy.special import betainc, gammainc

from biconsensus.significance._models import (
    log_binomial_tail,
    log_excess_tail,
    log_tests,
    log_tightness,
    log_weighted_tail,
)


def test_probabilities_beyond_zero_and_one_are_taken_as_zero_and_one() -> None:
    assert log_binomial_tail(10, [0, 1, 5, 10], 1.5).tolist() == [0.0] * 4
    assert log_binomial_tail(10, [0, 1, 5, 10], -0.5).tolist() == [0.0, -np.inf, -np.inf, -np.inf]
    assert log_binomial_tail(10, [0, 1, 2], 0.0).tolist() == [0.0, -np.inf, -np.inf]


def test_tail_far_below_the_mean_is_certain() -> None:
    assert log_binomial_tail(10_000, [1, 100], 0.5).tolist() == [0.0, 0.0]


def test_tail_where_the_series_is_long() -> None:
    """The ratio of its terms is near one: 13,600 of 400,000 at 2%, against the sum of the logarithms."""
    n, k, p = 400_000, 13_600, 0.02
    terms = np.arange(k, k + 5000)
    ratios = np.concatenate([[0.0], np.cumsum(np.log(p / (1 - p) * (n - terms) / (terms + 1.0)))])
    first = sum(log(n - i) - log(k - i) for i in range(k)) + k * log(p) + (n - k) * log1p(-p)
    exact = (first + log(np.exp(ratios).sum())) / log(10)
    assert exact < -200
    assert log_binomial_tail(n, k, p) == pytest.approx(exact, rel=1e-10)


def test_tail_of_ten_million_million_trials_is_near_enough_after_a_hundred_thousand_terms() -> None:
    n, p = 10**13, 0.5
    k = int(n * p + 30.5 * (n * p * (1 - p)) ** 0.5)
    exact = np.log10(betainc(k, n - k + 1, p))  # below what the library takes from here, above the smallest float
    assert -290 < exact < -200
    assert exact - 0.15 < log_binomial_tail(n, k, p) <= exact + 1e-3


def test_no_more_than_their_share_is_no_evidence() -> None:
    assert log_excess_tail(10, 3, 20, 6) == 0.0
    assert log_excess_tail(10, 3, 20, 7) == 0.0
    assert log_excess_tail(10, 3, 20, 5) < 0.0
    assert log_excess_tail(10, [0, 10, 11], 20, 0)[::2].tolist() == [0.0, -np.inf]


@pytest.mark.parametrize(("n", "k", "q", "h"), [(1, 1, 5, 0), (10, 10, 20, 0), (10, 10, 20, 20), (7, 1, 90, 2)])
def test_excess_tail_of_small_numbers_is_the_exact_sum(n: int, k: int, q: int, h: int) -> None:
    exact = sum(Fraction(comb(n, i) * comb(q, k + h - i), comb(n + q, k + h)) for i in range(k, min(n, k + h) + 1))
    expected = log10(exact) if k * q > h * n else 0.0
    assert log_excess_tail(n, k, q, h) == pytest.approx(expected, abs=1e-12)


def test_rounding_makes_no_probability_larger_than_one() -> None:
    hits = np.round(np.geomspace(1e6, 1e12, 200))
    assert (log_excess_tail(1, 1, hits + 1, hits) <= 0).all()


def bound_by_loops(weights: list[float], held: float, p: float) -> float:
    """Chernoff's bound for one hit probability: the best of no tilt and of 48 tilts from 0.01 to 20."""
    tilts = [0.0] + [0.01 * 2000 ** (k / 47) for k in range(48)]
    unit = [weight / max(weights) for weight in weights]
    logs = [sum(log1p(p * expm1(t * w)) for w in unit) - t * held / max(weights) for t in tilts]
    return min(logs) / log(10)


@pytest.mark.parametrize("share", [0.12, 0.2, 0.5, 0.9, 1.0])
def test_weighted_tail_of_one_chance_is_the_best_of_the_grid(share: float) -> None:
    weights = [1.0, 2.0, 2.0, 3.5, 5.0, 0.5]
    held = share * sum(weights)
    bound = log_weighted_tail(np.array(weights), [held], [0.1])
    assert bound == pytest.approx([bound_by_loops(weights, held, 0.1)], abs=1e-12)


def test_weighted_tail_rounds_chances_up_to_a_grid() -> None:
    weights, chances = [1.0, 2.0, 3.0], [0.001, 0.0101, 0.2]
    levels = [0.001 * 200 ** (k / 63) for k in range(64)]
    rounded = [0.001, min(level for level in levels if level >= 0.0101), 0.2]
    bounds = log_weighted_tail(np.array(weights), [4.0] * 3, chances)
    assert bounds == pytest.approx([bound_by_loops(weights, 4.0, p) for p in rounded], abs=1e-9)


def test_weighted_tail_does_not_depend_on_the_unit() -> None:
    weights, held, chances = np.array([1.0, 2.0, 3.0, 3.0]), np.array([2.0, 6.0, 9.0]), [0.1, 0.2, 0.1]
    plain = log_weighted_tail(weights, held, chances)
    for unit in (2.0**-9, 2.0**9):
        assert log_weighted_tail(unit * weights, unit * held, chances).tolist() == plain.tolist()


def test_weighted_tail_below_the_mean_is_certain_and_an_element_adds_at_most_the_largest_tilt() -> None:
    assert log_weighted_tail(np.ones(9), [0.0, 1.0], [0.5, 0.5]).tolist() == [0.0, 0.0]
    assert log_weighted_tail(np.ones(3), [3.0], [0.0]) == pytest.approx([-3 * 20.0 / log(10)], abs=1e-12)
    # beside another chance, nothing is rounded up to 1e-12
    mixed = log_weighted_tail(np.ones(3), [3.0, 3.0], [0.0, 0.1])
    assert mixed == pytest.approx([3 * log10(exp(-20.0) + 1e-12 * -expm1(-20.0)), 3 * log10(0.1 - 0.9 * -exp(-20.0))])


@pytest.mark.parametrize("codimension", [1.0, 2.0])
def test_tightness_is_the_best_of_its_grid(codimension: float) -> None:
    tilts, half = [0.01 * 1e7 ** (k / 127) for k in range(128)], codimension / 2
    moments = [gamma(half + 1) * gammainc(half, t) * t**-half for t in tilts]
    for mean_square in (0.0, 1e-4, 0.02, 0.2, 0.5):
        best = max(-t * mean_square - log(moment) for t, moment in zip(tilts, moments))
        assert log_tightness([mean_square], codimension) == pytest.approx([max(best, 0.0) / log(10)], abs=1e-10)
    assert log_tightness([0.01]).tolist() == log_tightness([0.01], 1.0).tolist()


def test_no_hypothesis_counts_as_one_test() -> None:
    assert log_tests(10, 2, 0) == log_tests(10, 2, 1) == 0.0
    assert log_tests(10, 2, 2) == pytest.approx(log10(2))
    assert 10 ** log_tests(10, 2, 5, 3) == pytest.approx(15)
    assert 10 ** log_tests(10, 2, 5, rule="combinatorial") == pytest.approx(45)
    assert log_tests(3, 3, 5, rule="combinatorial") == pytest.approx(0.0, abs=1e-12)
