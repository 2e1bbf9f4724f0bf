"""Groups of hypotheses, their fits and their tests: the same numbers, computed from their definitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from biconsensus.fitting import Nfa, Sampling
from biconsensus.fitting import _groups as groups
from biconsensus.fitting._groups import (
    Candidates,
    Exclusion,
    Fit,
    ModelHits,
    Unexplained,
    log_spread,
    outside_spots,
    spot_radius,
)
from biconsensus.fitting._hypotheses import Screened
from biconsensus.fitting._settings import Family, families_of
from biconsensus.models import LineModel, get_model
from biconsensus.protocols import BoolArray, FloatArray
from biconsensus.significance._models import Background, NfaTest, log_tests, log_tightness
from tests.helpers.crossing_lines import lines

LEVELS = np.array([0.01, 0.02, 0.04])
LINES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -0.2], [0.0, 1.0, -0.6]])
"""The level line, the upright one, and one without points."""


class Mean:
    """A number, fitted by the weighted mean; it remembers what it was asked."""

    sample_size = 1

    def __init__(self) -> None:
        self.asked = list[tuple[FloatArray, FloatArray]]()
        self.broken_from = 10**9

    def fit(self, samples: FloatArray) -> FloatArray:
        return samples[:, 0]

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        return np.abs(data - params[:, 0])

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        self.asked.append((data, weights))
        if len(self.asked) >= self.broken_from:
            return np.array([np.nan])
        return np.array([weights @ data[:, 0] / weights.sum()])


class Improving(Mean):
    """A number that goes towards the mean of all data, step by step, unless it is negative."""

    label_reach = 2.0

    def improve(self, params: FloatArray, data: FloatArray, threshold: float, steps: int) -> FloatArray:
        return np.where(params < 0, np.nan, params + steps + 100 * threshold)


def line_test(x: FloatArray, rule: str = "background", **options: Any) -> NfaTest:
    """A test of lines at three thresholds."""
    chance = Background.of(LineModel(), x, 2000, np.random.default_rng(1), rule)
    return NfaTest(LineModel(), len(x), LEVELS, chance, 4.0, 2, **options)


def line_family(x: FloatArray) -> Family:
    return families_of("line", x, Sampling(), Nfa())[0]


def screened_of(params: FloatArray, x: FloatArray, samples: Any = None, log_nfa: Any = None) -> Screened:
    """Hypotheses as if they had passed the screening."""
    near = LineModel().residuals(params, x) <= 0.02
    samples = np.zeros((len(params), 2), np.int64) if samples is None else np.asarray(samples)
    log_nfa = np.arange(len(params)) - 50.0 if log_nfa is None else np.asarray(log_nfa)
    used = np.full(len(params), 0.02)
    return Screened(params, samples, csc_array(near.astype(np.uint8)), log_nfa, used, params, len(params))


def candidates(x: FloatArray, test: NfaTest, **of_family: Any) -> Candidates:
    """The three lines, each with a group of one hypothesis or two."""
    params = np.concatenate([LINES, LINES[:1] + [0, 0, 0.001]])
    screened = screened_of(params, x, [[0, 1], [60, 61], [100, 101], [2, 3]], [-60.0, -20, 1, -59])
    family = replace(line_family(x), **of_family)
    columns = [np.array([0, 3]), np.array([1]), np.array([2])]
    return Candidates(family, test, screened, columns, [Fit(one, 0.04, 0.04) for one in LINES])


def level_score(
    test: NfaTest, x: FloatArray, theta: FloatArray, level: float, live: BoolArray, quiet: BoolArray
) -> Any:
    """Log-10 NFA of a line at one threshold, and what its tightness and its parameters are counted on."""
    distance = np.abs(x @ theta[:2] + theta[2])
    inside = (distance <= level) & live
    beside = np.abs(test.chance.points @ theta[:2] + theta[2]) <= level
    share, n_points = float((beside & quiet).sum() / quiet.sum()), float(quiet.sum())
    held = inside.sum() - 2
    nfa = test.log_nfa(np.array([held]), np.array([share]), n_points, live, levels=np.array([level]))[0]
    return nfa, held, ((distance[inside] / level) ** 2).sum()


class TestSmallSteps:
    def test_weights_of_tukey(self) -> None:
        np.testing.assert_allclose(groups.biweight(np.array([0.0, 1, 2, 3]), 2.0), [1, 0.5625, 0, 0])

    def test_groups_are_alike_from_four_fifths_on(self) -> None:
        def only(*numbers: int) -> BoolArray:
            return np.isin(np.arange(10), numbers)

        others = [only(8, 9), only(0, 1, 2, 3, 4), only(0, 1, 2, 3)]
        assert groups.first_alike(only(0, 1, 2, 3), others) == 1
        assert groups.first_alike(only(0, 1, 2), others[:2]) is None
        assert groups.first_alike(only(0, 1, 2), others) is None
        assert groups.first_alike(only(), [only()]) is None
        assert groups.first_alike(only(1), []) is None

    def test_groups_with_the_same_votes_become_one_the_best_first(self) -> None:
        table = np.zeros((8, 6), np.uint8)
        table[:5, 0] = table[:5, 1] = table[:5, 5] = 1
        table[5:, 2] = table[5:, 3] = 1
        table[4:, 4] = 1
        none = np.zeros((6, 1))
        log_nfa = np.array([-3.0, -9, -5, -4, -1, -7])
        screened = Screened(none, none.astype(int), csc_array(table), log_nfa, np.ones(6), none, 6)
        kept, elements = groups.merged_by_votes(screened, [np.array([2, 3, 4]), np.array([0, 1]), np.array([5, 4])])
        # the last group: element 4 has both votes, the others one of two, which is no majority
        assert [one.tolist() for one in kept] == [[1, 0], [5, 4], [2, 3, 4]]
        assert [np.flatnonzero(one).tolist() for one in elements] == [[0, 1, 2, 3, 4], [4], [5, 6, 7]]
        kept, elements = groups.merged_by_votes(screened, [np.array([0]), np.array([5]), np.array([1])])
        assert [one.tolist() for one in kept] == [[1, 5, 0]]
        assert len(elements) == 1

    def test_settling_goes_on_until_the_elements_stay(self) -> None:
        model, data = Mean(), np.array([[0.0], [1], [2], [3], [20]])
        end = groups.settle(data, model, np.array([1, 1, 0, 0, 0], bool), 1.6)
        # 0.5 holds 0, 1 and 2; their weighted mean holds the same
        weights = (1 - (np.array([0.5, 0.5, 1.5]) / 1.6) ** 2) ** 2
        mean = weights @ [0, 1, 2] / weights.sum()
        assert end is not None
        np.testing.assert_allclose(end, [mean])
        assert [len(one) for one, _ in model.asked] == [2, 3]
        np.testing.assert_array_equal(model.asked[0][1], [1, 1])
        np.testing.assert_allclose(model.asked[1][1], weights)

    def test_settling_from_too_few_elements_ends_nowhere(self) -> None:
        data = np.array([[0.0], [1], [2]])
        assert groups.settle(data, Mean(), np.array([1, 0, 0], bool), 1.0) is None
        model = Mean()
        model.broken_from = 1
        assert groups.settle(data, model, np.ones(3, bool), 1.0) is None
        model = Mean()
        model.broken_from = 2
        np.testing.assert_array_equal(groups.settle(np.arange(9.0)[:, None], model, np.arange(9) < 2, 2.0), [0.5])

    def test_settling_ends_after_ten_refits(self) -> None:
        model = Mean()
        groups.settle(np.arange(400.0)[:, None] ** 0.8, model, np.arange(400) < 3, 9.0)
        assert len(model.asked) == 10

    def test_a_step_of_weighted_least_squares(self) -> None:
        data = np.array([[0.0], [1], [2], [9]])
        weights = (1 - (np.array([1.0, 0, 1]) / 2) ** 2) ** 2
        np.testing.assert_allclose(
            groups.reweighted(Mean(), data[[0, 1, 2, 3]] + [[0], [0], [0.5], [0]], np.array([1.0]), 2.0),
            [(weights[0] * 0 + 1 + (1 - 0.75**2) ** 2 * 2.5) / (weights[0] + 1 + (1 - 0.75**2) ** 2)],
        )
        model = Mean()
        groups.reweighted(model, data, np.array([1.0]), 2.0)
        np.testing.assert_array_equal(model.asked[0][0], data[:3])
        alone = np.array([8.5])
        np.testing.assert_array_equal(groups.reweighted(Mean(), data, alone, 2.0), alone)  # one element is too few
        model.broken_from = 0
        np.testing.assert_array_equal(groups.reweighted(model, data, np.array([1.3]), 2.0), [1.3])

    def test_sharpened_with_weights_of_twice_the_level(self) -> None:
        data, model = np.array([[0.0], [1], [2], [3], [9]]), Mean()
        fits = groups.sharpen(data, model, np.array([[1.2], [2.0]]), 3.0, np.array([0.8, 2.0]))
        assert [(one.threshold, one.core) for one in fits] == [(3.0, 1.6), (3.0, 3.0)]
        for start, core, fit in ((1.2, 1.6, fits[0]), (2.0, 3.0, fits[1])):
            place = start
            for _ in range(3):
                weights = np.clip(1 - ((data[:, 0] - place) / core) ** 2, 0, None) ** 2
                place = weights @ data[:, 0] / weights.sum()
            np.testing.assert_allclose(fit.params, [place])
        assert len(model.asked) == 6

    def test_sharpened_together_where_the_model_can(self) -> None:
        start = np.array([[1.0], [2], [3], [-4]])
        fits = groups.sharpen(np.zeros((5, 1)), Improving(), start, 3.0, np.array([0.5, 2.0, 0.5, 1.0]))
        assert [one.core for one in fits] == [1.0, 3.0, 1.0, 2.0]
        # three steps, at the own core of each; where it fails, as it was
        assert [float(one.params[0]) for one in fits] == [104.0, 305.0, 106.0, -4.0]
        assert start[0, 0] == 1


class TestLevels:
    @pytest.mark.parametrize("rule", ["background", "paper"])
    def test_best_level_is_that_of_the_smallest_number_of_false_alarms(self, rule: str) -> None:
        x = lines()
        test = line_test(x, rule, clumping=np.array([1.0, 1.5, 3.0]))
        scores, levels = groups.best_levels(x, test, LINES)
        for theta, score, level in zip(LINES, scores, levels):
            distance = np.abs(x @ theta[:2] + theta[2])
            each = []
            for one in LEVELS:
                p = test.chance.probability(LineModel(), theta[None], np.array([one]))
                held = np.array([(distance <= one).sum() - 2.0])
                each.append(float(test.log_nfa(held, p, test.chance.size, levels=np.array([one]))[0]))
            assert score == pytest.approx(min(each))
            assert level == LEVELS[int(np.argmin(each))]

    @pytest.mark.parametrize("rule", ["background", "paper"])
    def test_hits_of_models(self, rule: str) -> None:
        x = lines()
        test = line_test(x, rule)
        hits = ModelHits.of(x, test, [Fit(one, 0.04, 0.04) for one in LINES[:2]])
        assert hits.n_levels == 3
        assert hits.codimension == 1
        np.testing.assert_array_equal(hits.levels, np.repeat(LEVELS, 2))
        for column, level in enumerate(hits.levels):
            theta = LINES[column % 2]
            distance = np.abs(x @ theta[:2] + theta[2])
            beside = np.abs(test.chance.points @ theta[:2] + theta[2]) <= level
            np.testing.assert_array_equal(hits.hits[:, column], distance <= level)
            np.testing.assert_allclose(
                hits.squares[:, column], np.where(distance <= level, (distance / level) ** 2, 0.0)
            )
            np.testing.assert_array_equal(hits.beside[:, column], beside)
            closed = test.chance.probability(LineModel(), theta[None], np.array([level]))[0]
            assert hits.chance[column] == pytest.approx(beside.mean() if rule == "background" else closed)

    def test_codimension_is_the_power_over_the_two_largest_thresholds(self) -> None:
        levels = np.array([0.1, 1.0, 2.0])
        for power in (1, 2, 3):
            chance = np.array([[0.5, 0.5], [0.01, 0.03], [0.01 * 2**power, 0.03 * 2**power]])
            assert groups._codimension(chance, levels) == power
        assert groups._codimension(np.array([[0.1], [0.1], [0.1]]), levels) == 1
        assert groups._codimension(np.array([[0.1], [0.0], [0.1]]), levels) == 1
        assert groups._codimension(np.array([[0.1]]), levels[:1]) == 1
        assert groups._codimension(np.array([[0.1], [0.4]]), levels[1:]) == 2


class TestUnexplained:
    def test_scores_are_those_of_the_definition(self) -> None:
        x = lines()
        test = line_test(x, clumping=np.array([1.0, 1.2, 2.0]))
        left = Unexplained([ModelHits.of(x, test, [Fit(one, 0.04, 0.04) for one in LINES])], np.ones(len(x)), 2000)
        gone = np.abs(x[:, 0] - 0.2) <= 0.04
        hidden = np.abs(test.chance.points[:, 0] - 0.2) <= 0.04
        less = left.without(gone, hidden)
        again = less.without(gone, hidden)  # what is gone already is not taken twice
        for one, live, quiet in (
            (left, np.ones(len(x), bool), np.ones(2000, bool)),
            (less, ~gone, ~hidden),
            (again, ~gone, ~hidden),
        ):
            np.testing.assert_array_equal(one.live, live)
            np.testing.assert_array_equal(one.quiet, quiet)
            for number, theta in enumerate(LINES):
                plain, scores = [], []
                for level, clumps in zip(LEVELS, (1.0, 1.2, 2.0)):
                    nfa, held, squares = level_score(test, x, theta, level, live, quiet)
                    tight = float(log_tightness(np.array([squares / max(held, 1)]), 1.0)[0])
                    plain.append(nfa)
                    scores.append(nfa - max(held, 0) * tight / clumps)
                assert one.log_nfa(0, number) == pytest.approx(min(plain))
                assert one.scores[number] == pytest.approx(min(scores))

    def test_families_are_compared_alike(self) -> None:
        x = lines()
        line, circle = families_of(["line", "circle"], x, Sampling(), Nfa())
        tests = [replace(line_test(x), model=one.model, left_out=one.model.sample_size) for one in (line, circle)]
        wheel = np.array([[0.2, 0.0, 0.5]])
        hits = [ModelHits.of(x, test, [Fit(theta, 0.04, 0.04)]) for test, theta in zip(tests, (LINES[0], wheel[0]))]
        left = Unexplained(hits, np.ones(len(x)), 2000)
        distance = np.abs(np.hypot(x[:, 0] - 0.2, x[:, 1]) - 0.5)
        beside = np.abs(np.hypot(tests[0].chance.points[:, 0] - 0.2, tests[0].chance.points[:, 1]) - 0.5)
        each = []
        for level in LEVELS:
            held = (distance <= level).sum() - 3
            p = np.array([(beside <= level).mean()])
            nfa = tests[1].log_nfa(np.array([held]), p, 2000.0, np.ones(len(x), bool), levels=np.array([level]))[0]
            squares = ((distance[distance <= level] / level) ** 2).sum()
            tight = float(log_tightness(np.array([squares / max(held, 1)]), 1.0)[0])
            each.append(nfa - max(held, 0) * tight + 0.5 * np.log10(max(held, 1)))
        assert left.scores[1] == pytest.approx(min(each))

    def test_a_flat_ellipse_is_no_tighter_than_the_line_within_it(self) -> None:
        # a threshold of 0.04 holds both sides of an ellipse that is 0.03 wide: chance is nearer to one of them, too
        rng = np.random.default_rng(0)
        x = np.vstack(
            [np.column_stack([rng.uniform(-0.8, 0.8, 60), rng.normal(0, 0.015, 60)]), rng.uniform(-1, 1, (200, 2))]
        )
        line, ellipse = families_of(["line", "ellipse"], x, Sampling(), Nfa())
        tests = [replace(line_test(x), model=one.model, left_out=one.model.sample_size) for one in (line, ellipse)]
        flat = np.array([0.0, 0.0, 1.0, 0.015, 0.0])
        of_line, of_flat = (ModelHits.of(x, test, [Fit(one, 0.04, 0.04)]) for test, one in zip(tests, (LINES[0], flat)))
        np.testing.assert_array_equal(of_line.nearer, 1.0)
        beside = np.minimum(tests[1].model.residuals(flat[None], tests[1].chance.points)[:, 0] / 0.04, 2.0)
        measured, n_hit = (beside[beside <= 1] ** 2).mean(), np.count_nonzero(beside <= 1)
        most = measured + np.sqrt((1 / 5 - 1 / 9) / n_hit)  # one standard error above
        assert of_flat.nearer[2] == pytest.approx(1 / 3 / most)
        assert of_flat.nearer[2] > 1.1
        together = Unexplained([of_line, of_flat], np.ones(len(x)), 2000).scores[1]
        unaware = replace(of_flat, nearer=np.ones(3))
        assert together > Unexplained([of_line, unaware], np.ones(len(x)), 2000).scores[1] + 1

    def test_weights_count_without_tightness(self) -> None:
        x = lines()
        weights = np.linspace(0.5, 2.0, len(x))
        test = line_test(x, weights=weights)
        left = Unexplained([ModelHits.of(x, test, [Fit(LINES[0], 0.04, 0.04)])], weights, 2000)
        each = []
        for level in LEVELS:
            held = weights[np.abs(x[:, 1]) <= level].sum() - 2 * weights.mean()
            p = np.array([(np.abs(test.chance.points[:, 1]) <= level).mean()])
            each.append(test.log_nfa(np.array([held]), p, 2000.0, np.ones(len(x), bool), levels=np.array([level]))[0])
        assert left.scores[0] == pytest.approx(min(each))


class TestExclusion:
    def test_groups_that_share_hypotheses(self) -> None:
        x = lines()
        one = candidates(x, line_test(x))
        shared = replace(one, groups=[np.array([0, 3]), np.array([1, 3]), np.array([2])])
        assert Exclusion(x, [shared, one])._same == [[0, 1], [0, 1], [2], [3], [4], [5]]

    @pytest.mark.parametrize("rule", ["background", "paper"])
    def test_a_witness_does_not_count_its_own_elements(self, rule: str) -> None:
        x = lines()
        test = line_test(x, rule)
        search = Exclusion(x, [candidates(x, test)])
        left = search._after(frozenset())
        after = search._after(frozenset({1}), frozenset(), 1)
        gone = np.abs(x[:, 0] - 0.2) <= 0.04
        hidden = np.abs(test.chance.points[:, 0] - 0.2) <= 0.04
        np.testing.assert_array_equal(after.live, ~gone)
        np.testing.assert_array_equal(after.quiet, ~hidden)
        pairs = [(0.0, [0, 1]), (0.001, [2, 3])]
        everything, points = (np.ones(len(x), bool), np.ones(2000, bool)), test.chance.points
        for state, (live, quiet) in ((left, everything), (after, (~gone, ~hidden)), (left, everything)):
            each = []
            for shift, sample in pairs:
                inside = (np.abs(x[:, 1] + shift) <= 0.02) & live
                inside[sample] = False
                own = int(live[sample].sum())
                share = (np.abs(points[:, 1] + shift) <= 0.02)[quiet].mean()
                n_points = float(quiet.sum())
                if rule == "paper":
                    theta = np.array([[0.0, 1.0, shift]])
                    share, n_points = test.chance.probability(LineModel(), theta, np.array([0.02]))[0], np.inf
                held = np.array([float(inside.sum())])
                each.append(test.log_nfa(held, np.array([share]), n_points, live, own, np.array([0.02]))[0])
            assert search._witness_log_nfa(0, state) == pytest.approx(min(each))

    def test_the_band_is_one_of_all_that_differ(self) -> None:
        x = lines()
        test = line_test(x)
        search = Exclusion(x, [candidates(x, test)])
        left = search._after(frozenset())
        bands = log_tests(145, 2, 1, 3, "combinatorial") + np.log10(4)
        expected = left.log_nfa(0, 1) + bands - 4.0 + np.log10(2)
        assert search._band_log_nfa(1, left) == pytest.approx(expected)
        dear = Exclusion(x, [candidates(x, replace(test, log_n_tests=20.0))])
        assert dear._band_log_nfa(1, left) == pytest.approx(left.log_nfa(0, 1) + np.log10(2))
        for change in ({"left_out": 0}, {"weights": np.ones(len(x))}):
            assert Exclusion(x, [candidates(x, replace(test, **change))])._band_log_nfa(1, left) == np.inf

    def test_what_is_held_without_the_densest_spot(self) -> None:
        x = lines()
        test = line_test(x)
        search = Exclusion(x, [candidates(x, test, dispersion=22.0)])
        left = search._after(frozenset({0}), frozenset(), 0) if search._after(frozenset()) else None
        assert left is not None
        live, quiet = np.abs(x[:, 1]) > 0.04, np.abs(test.chance.points[:, 1]) > 0.04
        each = []
        for level in LEVELS:
            inside = (np.abs(x[:, 0] - 0.2) <= level) & live
            gaps = np.linalg.norm(x[:, None] - x[None], axis=2)
            around = np.array([(inside & (gaps[i] <= 0.88)).sum() if inside[i] else -1 for i in range(len(x))])
            spot = x[int(np.argmax(around))]
            held = (inside & (np.linalg.norm(x - spot, axis=1) > 0.88)).sum()
            beside = (np.abs(test.chance.points[:, 0] - 0.2) <= level) & quiet
            beside &= np.linalg.norm(test.chance.points - spot, axis=1) > 0.88
            p = np.array([beside.sum() / quiet.sum()])
            each.append(test.log_nfa(np.array([held]), p, float(quiet.sum()), live, 0, np.array([level]))[0])
        assert search._spread(1, left) == pytest.approx(min(each) - 4.0)
        assert -2 < search._spread(1, left) < 0

    def test_models_are_taken_in_order_with_what_stands_behind_them(self) -> None:
        x = lines()
        test = line_test(x)
        search = Exclusion(x, [candidates(x, test)])
        first, second = search.run(1.0, 0.5)
        np.testing.assert_array_equal(first.fit.params, LINES[0])
        np.testing.assert_array_equal(second.fit.params, LINES[1])
        left = search._after(frozenset())
        after = left.without(np.abs(x[:, 1]) <= 0.04, np.abs(test.chance.points[:, 1]) <= 0.04)
        for number, one, state in ((0, first, left), (1, second, after)):
            best = min(search._witness_log_nfa(number, state), search._band_log_nfa(number, state))
            assert one.log_nfa == pytest.approx(best + 0.5)
            assert one.fitted_log_nfa == pytest.approx(state.scores[number] + 0.5)
            assert one.log_penalty == 0.5
        np.testing.assert_array_equal(first.support, np.array([[0, 1, 0], [0, 1, 0.001]]))
        np.testing.assert_array_equal(first.support_thresholds, [0.04, 0.04])
        assert first.elements is None
        assert Exclusion(x, []).run(1.0, 0.5) == []

    def test_a_stricter_limit_takes_less(self) -> None:
        x = lines()
        search = Exclusion(x, [candidates(x, line_test(x))])
        second = search.run(1.0, 0.0)[1].log_nfa
        for epsilon, penalty, number in ((10 ** (second + 0.1), 0.0, 2), (10 ** (second - 0.1), 0.0, 1)):
            assert len(Exclusion(x, [candidates(x, line_test(x))]).run(epsilon, penalty)) == number
        assert len(Exclusion(x, [candidates(x, line_test(x))]).run(1.0, 0.1 - second)) == 1
        assert len(Exclusion(x, [candidates(x, line_test(x), dispersion=100.0)]).run(1.0, 0.0)) == 0

    def test_a_model_that_crosses_two_others_is_dropped_if_they_mean_more(self) -> None:
        """Two short steps of one line each; the slanted line through both holds less of each, but of both."""
        rng = np.random.default_rng(3)
        x = rng.uniform(-1, 1, (160, 2))
        x[:50, 0], x[50:100, 0] = rng.uniform(-1, 0, 50), rng.uniform(0, 1, 50)
        x[:50, 1], x[50:100, 1] = rng.normal(-0.016, 0.004, 50), rng.normal(0.016, 0.004, 50)
        test = line_test(x)
        params = np.array([[0, 1.0, 0], [0, 1, 0.016], [0, 1, -0.016]])
        screened = screened_of(params, x, [[0, 50], [1, 2], [51, 52]])
        fits = [Fit(one, 0.04, 0.04) for one in params]
        one = Candidates(line_family(x), test, screened, [np.array([i]) for i in range(3)], fits)
        search = Exclusion(x, [one])
        greedy = list(search._greedy(0.0, 0.0, frozenset()))
        assert greedy[0] == int(np.argmin(search._after(frozenset()).scores))
        each = {first: search._greedy(0.0, 0.0, frozenset(), first) for first in range(3)}
        assert all(next(iter(taken)) == first for first, taken in each.items())
        assert 0 not in search._greedy(0.0, 0.0, frozenset({0}))
        best = min(groups._total(taken.values()) for taken in each.values())
        assert groups._total(search.run(1.0, 0.0)) <= best + groups._MARGIN


class TestRefined:
    def test_the_more_meaningful_of_two_ends_is_sharpened(self) -> None:
        x = lines()
        test = line_test(x)
        screened = screened_of(LINES, x)
        inside = [np.abs(x[:, 1]) <= 0.02, np.abs(x[:, 0] - 0.2) <= 0.02]
        columns = [np.array([0]), np.array([1])]
        owner, ends = groups._settled(x, test, screened, columns, inside)
        assert owner.tolist() == [0, 0, 1, 1]
        for index, theta in enumerate(LINES[:2]):
            near = np.abs(x @ theta[:2] + theta[2]) <= 0.04
            for end, start in zip(ends[2 * index : 2 * index + 2], (inside[index], near)):
                np.testing.assert_array_equal(end, groups.settle(x, LineModel(), start, 0.04))
        scores, levels = groups.best_levels(x, test, ends)
        fits = groups.refine_groups(x, test, screened, columns, inside)
        for index, fit in enumerate(fits):
            best = 2 * index + int(np.argmin(scores[2 * index : 2 * index + 2]))
            wanted = groups.sharpen(x, LineModel(), ends[[best]], 0.04, levels[[best]])[0]
            np.testing.assert_array_equal(fit.params, wanted.params)
            assert (fit.threshold, fit.core) == (0.04, wanted.core)

    def test_a_group_that_cannot_be_fitted_keeps_its_witness(self) -> None:
        x = lines()
        owner, ends = groups._settled(
            x, replace(line_test(x), thresholds=np.array([1e-9])), screened_of(LINES, x), [np.array([2])],
            [np.zeros(len(x), bool)],
        )  # fmt: skip
        assert owner.tolist() == [0]
        np.testing.assert_array_equal(ends, LINES[2:])

    def test_without_a_refit_the_best_hypothesis_is_the_fit(self) -> None:
        class Bare:
            sample_size = 2

        x = lines()
        test = replace(line_test(x), model=Bare())  # type: ignore[arg-type]
        fits = groups.refine_groups(x, test, screened_of(LINES, x), [np.array([1, 0]), np.array([2])], [])
        assert [one.params.tolist() for one in fits] == [LINES[1].tolist(), LINES[2].tolist()]
        assert [(one.threshold, one.core) for one in fits] == [(0.04, 0.04)] * 2

    def test_uneven_surfaces_have_a_second_fit_within_the_reach_of_votes(self) -> None:
        x = np.arange(30.0)[:, None]
        chance = Background(np.linspace(0, 500, 400)[:, None], np.array([[0.0], [500]]))
        test = NfaTest(Improving(), 30, np.array([0.1, 0.3]), chance, 1.0, 1, vote_radius=0.2)
        start = np.array([[1.0], [2], [3], [4]])
        none = np.empty(4)
        screened = Screened(start, start.astype(int), csc_array((30, 4)), none, none, start, 4)
        fits = groups.refine_groups(x, test, screened, [np.array([0, 1, 2]), np.array([3])], [])
        assert [one.threshold for one in fits] == [0.3] * 4
        # five steps at 0.3 or at 0.2 from the first two of a group, then three at twice the best level
        for index, (first, reach) in enumerate(
            ((start[:2], 0.3), (start[3:], 0.3), (start[:2], 0.2), (start[3:], 0.2))
        ):
            ends = first + 5 + 100 * reach
            scores, levels = groups.best_levels(x, test, ends)
            best = int(np.argmin(scores))
            core = min(0.3, 2 * levels[best])
            assert fits[index].core == core
            assert fits[index].params[0] == pytest.approx(ends[best, 0] + 3 + 100 * core)

    def test_fits_that_hold_the_same_elements_are_one_group(self) -> None:
        x = lines()
        test = line_test(x)
        near = np.concatenate([LINES[:2], LINES[:1] + [0, 0, 0.012]])
        screened = screened_of(near, x, log_nfa=[-40.0, -30, -50])
        screened = replace(screened, matrix=csc_array(np.eye(len(x), 3, dtype=np.uint8)))
        one = Candidates.of(line_family(x), x, test, screened, [np.array([0]), np.array([1]), np.array([2])])
        assert [columns.tolist() for columns in one.groups] == [[2, 0], [1]]
        assert len(one.fits) == 2
        assert Candidates.of(line_family(x), x, test, screened, []).fits == []


def family_of(name: str) -> Family:
    """A kind of model whose spots are three thresholds large."""
    model = get_model(name)
    return families_of(name, np.zeros((10, model.n_features)), Sampling(), Nfa())[0]


class TestSpots:
    """What determines a model says nothing for it."""

    def test_spots_are_those_of_brute_force(self) -> None:
        rng = np.random.default_rng(1)
        data, points = rng.random((60, 2)), rng.random((90, 2))
        kept, still = outside_spots(data, points, 0.2, 1)
        near = ((data[:, None] - data) ** 2).sum(2) <= 0.2**2
        assert (~kept).sum() == near.sum(1).max()
        centre = data[int(np.argmax(near.sum(1)))]
        np.testing.assert_array_equal(kept, np.linalg.norm(data - centre, axis=1) > 0.2)
        np.testing.assert_array_equal(still, np.linalg.norm(points - centre, axis=1) > 0.2)

    def test_the_second_spot_is_the_densest_of_the_rest(self) -> None:
        data = np.array([[0.0, 0], [0.1, 0], [0.2, 0], [5, 0], [5.1, 0], [9, 0]])
        for n_spots, left in ((1, [3, 4, 5]), (2, [5]), (3, []), (4, [])):
            np.testing.assert_array_equal(np.flatnonzero(outside_spots(data, data, 1.0, n_spots)[0]), left)
            np.testing.assert_array_equal(np.flatnonzero(outside_spots(data, data, 1.0, n_spots)[1]), left)

    def test_a_straight_line_leaves_the_band_of_a_circle_at_the_edge_of_the_spot(self) -> None:
        circle = family_of("circle")
        spot = spot_radius(circle, Fit(np.array([0.0, 0, 50]), 2.0, 2.0), 2.0)
        assert spot == pytest.approx(20.0)
        # tangent to the inner edge of the band, it reaches the outer one
        assert np.hypot(50.0 - 2.0, spot) == pytest.approx(50.0 + 2.0)
        assert spot_radius(circle, Fit(np.array([0.0, 0, 2]), 2.0, 2.0), 2.0) == 6.0
        line = family_of("line")
        assert spot_radius(line, Fit(np.array([0.0, 1, 0]), 2.0, 2.0), 2.0) == 6.0

    @pytest.mark.parametrize(("name", "n_spots"), [("line", 1), ("circle", 2), ("plane", 1), ("sphere", 2)])
    def test_a_flat_piece_determines_a_place_and_a_direction(
        self, name: str, n_spots: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = list[int]()

        def noted(data: FloatArray, points: FloatArray, radius: float, number: int) -> tuple[BoolArray, BoolArray]:
            seen.append(number)
            return np.ones(len(data), bool), np.ones(len(points), bool)

        monkeypatch.setattr(groups, "outside_spots", noted)
        model, rng = get_model(name), np.random.default_rng(0)
        x = rng.uniform(-1, 1, (100, model.n_features))
        family = family_of(name)
        test = replace(line_test(lines()), model=model, n_elements=100, chance=Background.of(model, x, 500, rng))
        fit = Fit(model.fit(x[None, : model.sample_size])[0], 0.04, 0.04)
        log_spread(family, fit, test, x, None, test.chance.points, 500)
        assert set(seen) == {n_spots}
