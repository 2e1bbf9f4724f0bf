"""Tails in logarithms against exact sums, bounds against simulation, hit probabilities against areas."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, expm1, gamma, log, log1p, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, gammainc

from biconsensus.errors import InputError
from biconsensus.models import CircleModel, LineModel, VanishingPointModel, segment_hit_probability
from biconsensus.significance import _models
from biconsensus.significance._models import (
    HIT_RULES,
    Background,
    NfaTest,
    _log_hypergeometric,
    bounding_box,
    clumping,
    count_hits,
    log_binomial_tail,
    log_excess_tail,
    log_tests,
    log_tightness,
    log_weighted_tail,
    smoothed,
)


def exact_log_tail(n: int, k: int, p: Fraction) -> float:
    """Logarithm of the exact tail, without underflow."""
    tail = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))
    return log10(tail.numerator) - log10(tail.denominator) if tail else -np.inf


@pytest.mark.parametrize("width", [0, 1, 32, 33, 100])
def test_hits_of_few_and_of_many_models_are_counted_alike(width: int) -> None:
    hits = np.random.default_rng(width).random((1000, width)) < 0.9  # more than a byte holds
    np.testing.assert_array_equal(count_hits(hits), hits.sum(axis=0))


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
    sums = (rng.random((50_000, 80)) < p) @ weights
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
    squares = np.random.default_rng(0).random((100_000, 12)) ** (2 / codimension)
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


def test_a_constant_column_gets_the_longest_side_around_it() -> None:
    box = bounding_box(np.array([[0.0, 5.0, 1.0], [4.0, 5.0, 3.0]]))
    assert np.array_equal(box, [[0.0, 3.0, 1.0], [4.0, 7.0, 3.0]])


@pytest.mark.parametrize(("n", "k", "q", "h"), [(500, 300, 500, 290), (40, 12, 200, 30), (6, 6, 9, 1)])
def test_hypergeometric_tail_is_the_exact_sum(n: int, k: int, q: int, h: int) -> None:
    exact = sum(Fraction(comb(n, i) * comb(q, k + h - i), comb(n + q, k + h)) for i in range(k, min(n, k + h) + 1))
    found = _log_hypergeometric(*(np.array([float(one)]) for one in (n, k, q, h)))
    assert found[0] == pytest.approx(log10(exact.numerator) - log10(exact.denominator), abs=1e-8)


LEVELS = np.array([0.02, 0.05, 0.2])


def nfa_test(**settings: object) -> NfaTest:
    """A test of lines on 100 elements, for a thousand tests, two elements of its own left out."""
    given = {"model": LineModel(), "n_elements": 100, "thresholds": LEVELS, "chance": square(), "log_n_tests": 3.0}
    return NfaTest(**{**given, "left_out": 2, **settings})


def test_false_alarms_are_tests_times_the_tail() -> None:
    held, chance = np.array([30.0, 12.0]), np.array([0.1, 0.05])
    known = log_binomial_tail(98, held, chance)
    test = nfa_test()
    assert test.threshold == 0.2
    assert test.log_nfa(held, chance, np.inf) == pytest.approx(3 + known)
    measured = log_excess_tail(98, held, 1000, np.array([100, 50]))
    assert test.log_nfa(held, chance + 0.0004, 1000.0) == pytest.approx(3 + measured)
    live = np.arange(100) < 60
    assert test.log_nfa(held, chance, np.inf, live) == pytest.approx(3 + log_binomial_tail(58, held, chance))
    own = np.array([0, 5])
    assert test.log_nfa(held, chance, np.inf, live, own) == pytest.approx(3 + log_binomial_tail(60 - own, held, chance))
    everything = log_binomial_tail(100, held, chance)
    assert nfa_test(left_out=0).log_nfa(held, chance, np.inf) == pytest.approx(3 + everything)


def test_clumps_divide_the_logarithm_of_the_tail() -> None:
    held, chance = np.array([30.0, 12.0]), np.array([0.1, 0.05])
    tail = log_binomial_tail(98, held, chance)
    test = nfa_test(clumping=np.array([1.0, 2.0, 5.0]))
    assert test.clumps(np.array([0.01, 0.02, 0.035, 0.05, 0.2, 1.0])) == pytest.approx([1, 1, 1.5, 2, 5, 5])
    assert nfa_test(clumping=4.0).clumps(0.05) == pytest.approx(4)
    assert test.log_nfa(held, chance, np.inf) == pytest.approx(3 + tail / 5)
    levels = np.array([0.05, 0.02])
    assert test.log_nfa(held, chance, np.inf, levels=levels) == pytest.approx(3 + tail / [2, 1])


def test_weights_are_tested_with_a_probability_that_is_not_too_small() -> None:
    weights = np.random.default_rng(0).uniform(0.5, 3.0, 100)
    held, chance = np.array([60.0, 30.0]), np.array([0.1, 0.05])
    test = nfa_test(weights=weights, clumping=2.0)
    above = chance + 2 * np.sqrt(chance / 400) + 1 / 400
    assert test.log_nfa(held, chance, 400.0) == pytest.approx(3 + log_weighted_tail(weights, held, above) / 2)
    live = np.arange(100) < 60
    expected = 3 + log_weighted_tail(weights[:60], held, above) / 2
    assert test.log_nfa(held, chance, 400.0, live) == pytest.approx(expected)
    sure = 3 + log_weighted_tail(weights, held, np.ones(2)) / 2
    assert test.log_nfa(held, chance, 0.0) == pytest.approx(sure)  # nothing is known of chance


def test_what_a_model_holds_is_without_its_own_sample() -> None:
    rng = np.random.default_rng(1)
    hits, samples = rng.random((100, 5)) < 0.3, rng.integers(0, 100, (5, 2))
    weights = rng.uniform(0.5, 3.0, 100)
    own = [sum(hits[i, k] for i in sample) for k, sample in enumerate(samples)]
    assert nfa_test().held(hits, samples) == pytest.approx(hits.sum(axis=0) - own)
    assert nfa_test().held(hits, None) == pytest.approx(hits.sum(axis=0) - 2)
    assert nfa_test(left_out=0).held(hits, samples) == pytest.approx(hits.sum(axis=0))
    assert nfa_test(left_out=0).held(hits, samples).dtype == np.float64
    heavy = [sum(hits[i, k] * weights[i] for i in sample) for k, sample in enumerate(samples)]
    assert nfa_test(weights=weights).held(hits, samples) == pytest.approx(weights @ hits - heavy)
    assert nfa_test(weights=weights).held(hits, None) == pytest.approx(weights @ hits - 2 * weights.mean())


def lines_of_chance(number: int) -> np.ndarray:
    return LineModel().fit(np.random.default_rng(5).uniform(-1, 1, (number, 2, 2)))


def test_clumping_is_the_spread_of_hits_over_that_of_independent_elements() -> None:
    chance, lines = square(), lines_of_chance(120)
    data = np.repeat(np.random.default_rng(6).uniform(-1, 1, (150, 2)), 3, axis=0)
    shares = np.array([[(LineModel().residuals(lines, chance.points) <= level).mean(axis=0)] for level in LEVELS])[:, 0]
    expected = []
    for level, share in zip(LEVELS, shares):
        hits = (LineModel().residuals(lines, data) <= level).sum(axis=0)
        spread = np.sqrt(450 * share * (1 - share) * (1 + 450 / 4096))
        usable = 450 * share >= 1
        assert usable.sum() >= _models._CLUMPED
        expected.append(np.quantile((np.abs(hits - 450 * share) / spread)[usable], 0.6827) ** 2)
    found = clumping(LineModel(), lines, data, chance, LEVELS)
    assert found == pytest.approx(np.maximum(expected, 1.0))
    assert 2 < found.mean() < 4.5


def test_clumps_are_not_measured_on_few_models_or_rare_hits() -> None:
    chance, data = square(), np.repeat(np.random.default_rng(6).uniform(-1, 1, (150, 2)), 3, axis=0)
    assert clumping(LineModel(), lines_of_chance(_models._CLUMPED - 1), data, chance, LEVELS).tolist() == [1.0] * 3
    assert clumping(LineModel(), lines_of_chance(_models._CLUMPED), data, chance, LEVELS)[2] > 1
    # one element or two within the threshold, on average, are enough
    runs = np.repeat(np.random.default_rng(7).uniform(-1, 1, (14, 2)), 5, axis=0)
    assert clumping(LineModel(), lines_of_chance(120), runs, chance, LEVELS[:1])[0] > 1
    # where less than one element is within the threshold on average, nothing can be told
    assert clumping(LineModel(), lines_of_chance(120), data[:12], chance, LEVELS).tolist()[0] == 1.0
    assert clumping(LineModel(), lines_of_chance(120), data, chance, np.array([9.0])).tolist() == [1.0]  # all hit
    assert clumping(LineModel(), lines_of_chance(0), data, chance, LEVELS).tolist() == [1.0] * 3
    assert clumping(LineModel(), lines_of_chance(9), data, chance.outside(np.ones(4096, bool)), LEVELS).max() == 1.0


def test_shares_are_those_of_the_first_background_points(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, lines = square(), lines_of_chance(7)
    residuals = LineModel().residuals(lines, chance.points)
    expected = np.array([(residuals <= level).mean(axis=0) for level in LEVELS])
    few = np.array([(residuals[:500] <= level).mean(axis=0) for level in LEVELS])
    for block in (_models._BLOCK, 3 * 4096, 1):  # all models together, three at a time, one by one
        monkeypatch.setattr(_models, "_BLOCK", block)
        assert chance.shares(LineModel(), lines, LEVELS) == pytest.approx(expected)
        assert chance.shares(LineModel(), lines, LEVELS, 500) == pytest.approx(few)
        assert chance.probabilities(LineModel(), lines, LEVELS) == pytest.approx(expected)
        each = np.resize(LEVELS, 7)
        one_each = [(residuals[:, k] <= each[k]).mean() for k in range(7)]
        assert chance.probability(LineModel(), lines, each) == pytest.approx(one_each)
    assert chance.outside(np.ones(4096, bool)).shares(LineModel(), lines, LEVELS).tolist() == [[0.0] * 7] * 3
    paper = square("paper").probabilities(LineModel(), lines, LEVELS)
    assert paper == pytest.approx(np.array([np.full(7, min(2 * level * np.sqrt(8) / 4, 1.0)) for level in LEVELS]))


def test_the_size_of_a_background_that_is_known_is_infinite() -> None:
    assert square().size == 4096
    assert square("paper").size == np.inf


@pytest.mark.parametrize("threshold", [0.01, 0.06])
def test_smoothed_points_are_elements_moved_as_wide_as_their_neighbours_lie(threshold: float) -> None:
    rng = np.random.default_rng(3)
    data = np.hstack([rng.uniform(0, 1, (1000, 2)), np.arange(1000.0)[:, None]])
    points = smoothed(data, 20_000, threshold, rng, width=2)
    # each element is taken equally often, with the columns that are no places as they are
    number = points[:, 2].astype(int)
    assert np.bincount(number).tolist() == [20] * 1000
    assert ((points >= data.min(axis=0)) & (points <= data.max(axis=0))).all()
    middle = np.flatnonzero((np.abs(data[:, :2] - 0.5) < 0.1).all(axis=1))
    distances = np.linalg.norm(data[middle, None, :2] - data[:, :2], axis=2)
    radius = np.sort(distances, axis=1)[:, 100].mean()  # a tenth of all elements are neighbours
    kept = np.isin(number, middle)
    moved = (points[:, :2] - data[number, :2])[kept]
    assert moved.std(axis=0) == pytest.approx(np.full(2, max(radius / 2, 2 * threshold)), rel=0.1)
    assert moved.mean(axis=0) == pytest.approx(np.zeros(2), abs=0.02)


def test_steps_out_of_the_box_are_reflected_and_few_elements_have_all_others_as_neighbours() -> None:
    rng = np.random.default_rng(4)
    points = smoothed(np.array([[0.0, 0.0], [1.0, 1.0]]), 4000, 10.0, rng)
    assert points.min() >= 0
    assert points.max() <= 1
    assert points.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.03)  # spread out over the whole box
    assert points.std(axis=0) == pytest.approx(np.full(2, np.sqrt(1 / 12)), abs=0.02)
    assert smoothed(np.array([[2.0, 3.0]]), 5, 0.1, rng).shape == (5, 2)


def test_a_model_may_bring_a_background_of_its_own() -> None:
    class Corner(LineModel):
        def background(self, box: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
            return np.repeat(box[:1], n, axis=0)

    class Like(Corner):
        def background_like(self, data: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
            return np.repeat(data[-1:], n, axis=0)

    data, rng = np.array([[-1.0, -2.0], [3.0, 4.0], [0.0, 1.0]]), np.random.default_rng(0)
    assert Background.of(Corner(), data, 3, rng).points.tolist() == [[-1.0, -2.0]] * 3
    assert Background.of(Corner(), data, 3, rng, "paper", 0.1).points.tolist() == [[-1.0, -2.0]] * 3
    assert len(np.unique(Background.of(Corner(), data, 3, rng, threshold=0.1).points)) > 2  # that of the data
    assert Background.of(Like(), data, 3, rng, threshold=0.1).points.tolist() == [[0.0, 1.0]] * 3
