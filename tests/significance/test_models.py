"""Tails in logarithms against exact sums, bounds against simulation, hit probabilities against areas."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biconsensus.errors import InputError
from biconsensus.models import CircleModel, LineModel, VanishingPointModel, segment_hit_probability
from biconsensus.significance._background import HIT_RULES, Background
from biconsensus.significance._models import (
    log_binomial_tail,
    log_excess_tail,
    log_tests,
    log_tightness,
    log_weighted_tail,
)


def exact_log_tail(n: int, k: int, p: Fraction) -> float:
    """Logarithm of the exact tail, without underflow."""
    tail = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))
    return log10(tail.numerator) - log10(tail.denominator) if tail else -np.inf


@given(st.integers(1, 60), st.integers(0, 61), st.integers(1, 99))
def test_tail_is_the_exact_sum(n: int, k: int, percent: int) -> None:
    assert log_binomial_tail(n, k, percent / 100) == pytest.approx(
        exact_log_tail(n, k, Fraction(percent, 100)), abs=1e-9
    )


@pytest.mark.parametrize(("n", "k", "p"), [(800, 700, 0.01), (900, 400, 0.02), (500, 500, 0.001)])
def test_tail_below_the_smallest_float_is_exact_too(n: int, k: int, p: float) -> None:
    exact = exact_log_tail(n, k, Fraction(p).limit_denominator(10**6))
    assert exact < -308
    assert log_binomial_tail(n, k, p) == pytest.approx(exact, rel=1e-10)


def test_tail_is_continuous_where_the_series_takes_over() -> None:
    steps = np.diff(log_binomial_tail(5000, np.arange(400, 1200), 0.03))
    assert (steps < 0).all()
    assert np.abs(np.diff(steps)).max() < 0.01


def test_tail_at_the_edges() -> None:
    assert log_binomial_tail(10, [0, -3, 11, 5], [0.5, 0.5, 0.5, 0.0]).tolist() == [0.0, 0.0, -np.inf, -np.inf]
    assert log_binomial_tail(10, 10, 1.0) == 0.0


def test_weighted_tail_bounds_what_simulation_gives() -> None:
    rng = np.random.default_rng(0)
    weights, p = rng.exponential(1, 80), 0.1
    sums = (rng.random((200_000, 80)) < p) @ weights
    for held in np.quantile(sums, [0.9, 0.99, 0.999]):
        bound = 10 ** log_weighted_tail(weights, [held], [p])[0]
        seen = (sums >= held).mean()
        assert seen <= bound <= 20 * seen


@given(st.integers(20, 200), st.floats(0.01, 0.3), st.floats(0.1, 0.9))
def test_weighted_tail_of_equal_weights_is_never_below_the_binomial(n: int, p: float, share: float) -> None:
    k = int(np.ceil(n * (p + (1 - p) * share)))
    assert log_weighted_tail(np.full(n, 3.0), [3.0 * k], [p])[0] >= log_binomial_tail(n, k, p) - 1e-9


@pytest.mark.parametrize("codimension", [1, 2, 3])
def test_tightness_bounds_what_simulation_gives(codimension: int) -> None:
    # the distance of a hit is below x with probability x^c
    squares = np.random.default_rng(0).random((400_000, 12)) ** (2 / codimension)
    means = squares.mean(1)
    for level in np.quantile(means, [1e-4, 1e-3, 1e-2, 0.1]):
        seen, bound = (means <= level).mean(), 10 ** (-12 * log_tightness([level], codimension)[0])
        assert seen <= bound <= 12 * seen
    assert log_tightness([codimension / (codimension + 2), 0.9], codimension) == pytest.approx([0, 0], abs=1e-4)


def test_tightness_of_little_noise_is_the_likelihood_ratio() -> None:
    sigma = np.array([0.003, 0.01, 0.05])
    # log of the Gaussian over the uniform density of a distance, on the average
    ratio = np.log(2 / np.sqrt(2 * np.pi) / sigma) - 0.5
    assert log_tightness(sigma**2) == pytest.approx(ratio / np.log(10), abs=2e-3)


def test_weighted_tail_of_nothing() -> None:
    assert log_weighted_tail(np.ones(5), [], []).shape == (0,)
    for weights in (np.empty(0), np.zeros(3)):
        assert log_weighted_tail(weights, [0.0, 1.0], [0.1, 0.1]).tolist() == [0.0, -np.inf]


def test_number_of_tests() -> None:
    assert 10 ** log_tests(30, 3, 7, 5) == pytest.approx(35)
    assert 10 ** log_tests(30, 3, 7, 1, "combinatorial") == pytest.approx(comb(30, 3))
    with pytest.raises(InputError, match="'sampled' or 'combinatorial'"):
        log_tests(30, 3, 7, rule="all")


def square(rule: str = "background") -> Background:
    """Background of points in the square from -1 to 1."""
    corners = np.array([[-1.0, -1.0], [1.0, 1.0]])
    return Background.of(LineModel(), corners, 4096, np.random.default_rng(0), rule)


def test_measured_chance_is_the_area_of_the_band() -> None:
    lines = np.array([[1.0, 0.0, 0.0], [np.sqrt(0.5), np.sqrt(0.5), 0.0], [1.0, 0.0, 5.0]])
    diagonal = 4 - 2 * 0.5 * (2 - 0.1 * np.sqrt(2)) ** 2
    areas = np.array([0.2 * 2, diagonal, 0.0]) / 4
    assert square().probability(LineModel(), lines, np.full(3, 0.1)) == pytest.approx(areas, abs=0.003)


def test_closed_form_is_the_papers() -> None:
    chance = square("paper").probability(LineModel(), np.array([[1.0, 0.0, 0.0]] * 2), np.array([0.1, 3.0]))
    assert chance == pytest.approx([2 * 0.1 * np.sqrt(8) / 4, 1.0])
    ring = square("paper").probability(CircleModel(), np.array([[0.0, 0.0, 0.5]]), np.array([0.1]))
    assert ring == pytest.approx([np.pi * (0.6**2 - 0.4**2) / 4])


def test_empirical_chance_is_one_number() -> None:
    levels, densities = np.array([0.5, 1.0]), np.array([0.03, 0.07])
    chance = Background(np.zeros((1, 2)), np.zeros((2, 2)), "empirical", levels, densities)
    assert HIT_RULES["empirical"](chance, LineModel(), np.zeros((3, 3)), np.ones(3)).tolist() == [0.07] * 3


def test_closed_form_is_asked_for_where_there_is_none() -> None:
    with pytest.raises(InputError, match="hits='background'"):
        square("paper").probability(VanishingPointModel(), np.ones((1, 3)), np.ones(1))


def test_background_outside_of_what_was_found_forgets_it() -> None:
    line = np.array([[1.0, 0.0, 0.0]])
    hits = square().hits(LineModel(), line, np.array([0.1]))[:, 0]
    rest = square().outside(hits)
    assert len(rest.points) == 4096 - hits.sum()
    assert rest.probability(LineModel(), line, np.array([0.1])) == [0.0]


def test_random_segments_meet_a_vanishing_point_as_often_as_derived() -> None:
    rng = np.random.default_rng(1)
    ends = rng.uniform(0, 600, (400, 2))
    segments = np.hstack([ends, ends + rng.uniform(-60, 60, (400, 2))])
    chance = Background.of(VanishingPointModel(), segments, 4096, rng, "background")
    points = np.array([[300.0, 300.0, 1.0], [1e5, 3.0, 1.0], [1.0, 0.0, 0.0]])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    measured = chance.probability(VanishingPointModel(), points, np.full(3, 2.0))
    assert measured == pytest.approx(np.full(3, segment_hit_probability(segments, 2.0)), abs=0.02)


@given(st.integers(1, 40), st.integers(0, 41), st.integers(1, 60), st.integers(0, 60))
def test_excess_tail_is_the_exact_hypergeometric_sum(n: int, k: int, q: int, h: int) -> None:
    h = min(h, q)
    tail = log_excess_tail(n, k, q, h)
    if k > n:
        assert tail == -np.inf
    elif k == 0 or k * q <= h * n:
        assert tail == 0
    else:
        exact = sum(Fraction(comb(n, i) * comb(q, k + h - i), comb(n + q, k + h)) for i in range(k, min(n, k + h) + 1))
        assert tail == pytest.approx(log10(exact), abs=1e-7)


def test_excess_tail_tends_to_the_binomial() -> None:
    few, many = log_excess_tail(1000, 70, [10_000, 10_000_000], [300, 300_000])
    assert log_binomial_tail(1000, 70, 0.03) == pytest.approx(many, abs=0.01)
    assert few > many


def test_excess_tail_is_a_p_value_whatever_the_number_of_background_points() -> None:
    rng = np.random.default_rng(4)
    for q in (50, 1000):
        k, h = rng.binomial(400, 0.05, 50_000), rng.binomial(q, 0.05, 50_000)
        tails = log_excess_tail(400, k, q, h)
        for level in (0.05, 0.01, 0.001):
            assert (tails < np.log10(level)).mean() <= 1.15 * level + 1e-4


def test_binomial_with_a_measured_chance_is_not_a_p_value() -> None:
    rng = np.random.default_rng(4)
    k, h = rng.binomial(400, 0.05, 50_000), rng.binomial(1000, 0.05, 50_000)
    assert (log_binomial_tail(400, k, h / 1000) < -3).mean() > 3e-3
