"""Steps of the search, labels and bands: the same numbers, computed from their definitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from biconsensus.fitting import Nfa, Sampling
from biconsensus.fitting import _search as search_module
from biconsensus.fitting._groups import Fit, Found
from biconsensus.fitting._hypotheses import Hypotheses, Screened, propose
from biconsensus.fitting._search import ModelSearch, Structures
from biconsensus.fitting._settings import FRACTIONS, Settings, families_of
from biconsensus.models import LineModel
from biconsensus.protocols import FloatArray
from biconsensus.significance._models import Background, NfaTest, log_binomial_tail, log_tests
from biconsensus.sources._sampling import samples_needed, share_in_reach
from tests.helpers.crossing_lines import lines


def search_of(x: FloatArray, model: Any = "line", threshold: float = 0.02, n_scales: int = 1, **of: Any) -> ModelSearch:
    """A search; options are those of the settings."""
    settings = replace(Settings("auto", 1.0, Sampling(), Nfa(), None, None), **of)
    families = families_of(model, x, settings.sampling, settings.test)
    return ModelSearch(families, x, threshold, settings, np.random.default_rng(0), n_scales)


def found(x: FloatArray, params: list[float], threshold: float = 0.02, model: str = "line") -> Found:
    """A model that was found, with three hypotheses behind it."""
    (family,) = families_of(model, x, Sampling(), Nfa())
    theta = np.array(params)
    support = np.array([theta, theta * 1.0, theta])
    return Found(family, Fit(theta, threshold, threshold), -9.0, -9.0, support, threshold * np.array([1.0, 0.5, 0.3]))


LEVEL, UPRIGHT = [0.0, 1.0, 0.0], [1.0, 0.0, -0.2]


class TestStructures:
    def test_nearest_model_in_its_own_bands(self) -> None:
        residuals = np.array([[1.0, 1.0], [2.0, 2.0], [2.1, 4.1], [0.5, 9.0], [2.0, 9.0]])
        assert search_module.nearest_of(residuals, np.array([2.0, 4.0])).tolist() == [1, 1, -1, 0, 0]
        assert search_module.nearest_of(residuals, np.array([2.0, 4.0]), 0.3).tolist() == [1, -1, -1, 0, -1]
        assert search_module.nearest_of(np.empty((3, 0)), np.empty(0)).tolist() == [-1, -1, -1]

    @pytest.mark.parametrize(("reach", "codimension"), [(1.0, 1.0), (1.0, 2.0), (2.5, 2.0)])
    def test_labels_end_where_right_less_wrong_ones_are_most(self, reach: float, codimension: float) -> None:
        rng = np.random.default_rng(int(10 * reach + codimension))
        for clutter in (10, 60, 300):
            distance = np.append(np.abs(rng.normal(0, 0.8, 60)), rng.uniform(0, 12, clutter))
            own, free = distance <= 2 * reach, (distance > 2) & (rng.random(60 + clutter) < 0.9)
            ring = sum(1 for d, f in zip(distance, free) if f and 2 * reach < d <= 4 * reach) + 0.5
            volume = (2 * reach) ** codimension - reach**codimension
            best, band = -np.inf, 0.0
            for step in range(8):
                low = 1.0 if reach > 1 else 0.3
                width = low + (reach - low) * step / 7
                right = sum(1 for d, o in zip(distance, own) if o and d <= 2 * width)
                value = right - 2 * ring / volume * width**codimension
                if value > best + 1e-12:
                    best, band = value, 2 * width
            assert search_module._band(distance, own, free, 2.0, codimension, reach) == pytest.approx(band)

    def test_scale_holds_nearly_all(self) -> None:
        assert search_module._scale(np.arange(101.0), 7.0) == 95
        assert search_module._scale(np.empty(0), 7.0) == 7
        assert search_module._median(np.array([1.0, 5.0, 2.0])) == 2
        assert search_module._median(np.empty(0)) == np.inf

    def test_all_at_once(self) -> None:
        x = lines()
        both = [found(x, LEVEL), found(x, UPRIGHT, 0.03)]
        one = Structures.of(both, x, [1.0, 1.0], 1.5)
        np.testing.assert_allclose(one.residuals, np.abs(np.column_stack([x[:, 1], x[:, 0] - 0.2])))
        np.testing.assert_allclose(one.bands, [0.03, 0.045])
        np.testing.assert_array_equal(one.thresholds, [0.02, 0.03])
        scaled = one.residuals / one.bands
        labels = np.where(scaled.min(1) <= 1, scaled.argmin(1), -1)
        np.testing.assert_array_equal(one.labels, labels)
        np.testing.assert_array_equal(one.explained, scaled.min(1) <= 1)
        np.testing.assert_allclose(one.scales, [np.quantile(one.residuals[labels == t, t], 0.95) for t in (0, 1)])
        # own bands: nearest within the threshold, and clutter that is near none
        own = Structures.of(both, x, [1.0, 1.0], None)
        near = own.residuals / [0.02, 0.03]
        nearest = np.where(near.min(1) <= 1, near.argmin(1), -1)
        for t, width in enumerate((0.02, 0.03)):
            band = search_module._band(own.residuals[:, t], nearest == t, nearest == -1, width, 1.0, 1.0)
            assert own.bands[t] == band

    def test_a_model_within_the_scale_of_others_is_covered(self) -> None:
        residuals = np.array([[0.1, 0.2], [0.1, 0.2], [0.1, 5.0], [0.2, 0.1], [5.0, 0.1], [5.0, 0.1]])
        labels = np.array([0, 0, 0, 1, 1, 1])
        scales = np.array([1.0, 1.0])
        x = lines()
        both = [found(x, LEVEL), found(x, UPRIGHT)]
        one = Structures(both, residuals, scales, scales, scales, labels)
        assert one.covered() == 0
        half = replace(one, residuals=residuals[[0, 2, 3, 4]], labels=labels[[0, 2, 3, 4]])
        assert half.covered() is None  # half is no majority
        assert replace(one, labels=np.zeros(6, int), residuals=residuals[:, ::-1] * 9).covered() == 1
        assert replace(one, found=both[:1]).covered() is None

    def test_members_labels_and_pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x = lines()
        both = [found(x, LEVEL), found(x, UPRIGHT, 0.03)]
        near = np.abs(np.column_stack([x[:, 1], x[:, 0] - 0.2]))
        monkeypatch.setattr(search_module, "_BLOCK", 40)
        assert [len(piece) for piece in search_module.blocks(x, 2)] == [20] * 7 + [5]
        np.testing.assert_array_equal(search_module.members_of(both, x).toarray(), near <= [0.02, 0.03])
        assert search_module.members_of([], x).shape == (145, 0)
        scaled = near / [0.01, 0.04]
        labels = np.where(scaled.min(1) <= 1, scaled.argmin(1), -1)
        np.testing.assert_array_equal(search_module.labels_of(both, np.array([0.01, 0.04]), x), labels)

    def test_hypotheses_behind_the_models(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x = lines()
        both = [found(x, LEVEL), found(x, UPRIGHT)]
        members, labels = search_module.members_of(both, x), search_module.labels_of(both, np.full(2, 0.02), x)
        one = search_module.consensus_of(both, x, members, labels)
        assert [part.tolist() for part in one.candidates] == [[0, 1, 2], [3, 4, 5]]
        assert list(one.pool.names[:4]) == [f"model {t}: hypothesis {i}" for t, i in ((0, 0), (0, 1), (0, 2), (1, 0))]
        votes = search_module._votes(both[0], 2, x)
        np.testing.assert_array_equal(votes, np.abs(x[:, 1:]) <= [0.02, 0.01])
        monkeypatch.setattr(search_module, "_SUPPORT", 2 * len(x))
        fewer = search_module.consensus_of(both, x, members, labels)
        assert [part.tolist() for part in fewer.candidates] == [[0, 1], [2, 3]]


class TestPlan:
    @pytest.mark.parametrize(("n_samples", "rows", "planned"), [(10_000, 73, 2535), (10_000, 20, 2000), (900, 20, 900)])
    def test_a_number_of_samples_shrinks_with_the_elements(self, n_samples: int, rows: int, planned: int) -> None:
        x = lines()
        search = search_of(x, n_samples=n_samples)
        assert search._n_samples(search.families[0], x[:rows], 0.02) == planned
        few = search_of(x, n_samples=n_samples, sampling=Sampling(max_elements=20))
        assert few._n_samples(few.families[0], x[:20], 0.02) == n_samples

    def test_samples_that_find_the_smallest_meaningful_model(self) -> None:
        x = lines()
        search = search_of(x, sampling=Sampling("uniform"), epsilon=0.5)
        search._chance = search._background(x, 0.02)
        for clumps in (np.ones(3), np.array([1.0, 1.5, 2.0])):
            search._clumps = {"line": clumps}
            search.rng = np.random.default_rng(5)
            family = search.families[0]
            pilot = propose(family, x, 64, np.random.default_rng(5)).params
            own = len(x)
            for level, size in zip(0.02 * FRACTIONS, clumps):
                distance = np.abs(search._chance.points @ pilot[:, :2].T + pilot[:, 2])
                p = float(np.median((distance <= level).mean(0)))
                smallest = next(
                    k
                    for k in range(1, len(x))
                    if log_tests(len(x), 2, family.most, 3) + float(log_binomial_tail(len(x) - 2, k, p)) / size
                    <= np.log10(0.5)
                )
                own = min(own, max(2 + smallest - round(p * len(x)), 2))
            chance = (own / len(x)) ** 2 * share_in_reach(x, family.law) ** -0.5
            wanted = int(np.clip(samples_needed(min(1.0, chance), 4, 0.99), 2000, family.most))
            assert search._n_samples(family, x, 0.02) == wanted

    def test_local_samples_are_more_often_of_one_model(self) -> None:
        x = np.random.default_rng(0).random((200, 3))
        (plane,) = families_of("plane", x, Sampling("local", sigma=0.1), Nfa())
        share = share_in_reach(x, plane.law)
        assert share < 0.9
        assert search_module._local_gain(plane, x) == pytest.approx(share ** (-2 / 3))
        pairs = np.random.default_rng(0).random((50, 4))
        (homography,) = families_of("homography", pairs, Sampling(), Nfa())
        assert search_module._local_gain(homography, pairs) == 1

    def test_the_test_of_a_family(self) -> None:
        x = lines()
        search = search_of(x, ["line", "circle"], n_scales=2)
        search._chance = search._background(x, 0.02)
        search._clumps = {"line": np.array([1.0, 2, 3]), "circle": np.ones(3)}
        test = search._test(search.families[0], np.arange(50), 700, search._chance, 0.02)
        assert test.log_n_tests == pytest.approx(log_tests(50, 2, 700, 2 * 2 * 3))
        np.testing.assert_allclose(test.thresholds, [0.006, 0.011, 0.02])
        assert (test.n_elements, test.left_out, test.soft) == (50, 2, False)
        assert test.vote_radius == pytest.approx(0.011)
        assert test.weights is None
        np.testing.assert_array_equal(test.clumping, [1, 2, 3])
        search.auto = True
        again = search._test(search.families[1], np.arange(50), 700, search._chance, 0.02)
        assert again.log_n_tests == pytest.approx(log_tests(50, 3, 700, 2 * 12 * 3))
        soft = search_of(x, sampling=Sampling(preference="soft"))
        soft._clumps = search._clumps
        test = soft._test(soft.families[0], np.arange(50), 700, search._chance, 0.02)
        assert test.soft
        assert test.vote_radius == 0.02
        literal = search_of(x, test=Nfa.paper())
        test = literal._test(literal.families[0], np.arange(50), 700, search._chance, 0.02)
        assert (test.left_out, test.clumping, test.vote_radius) == (0, 1.0, 0.02)
        assert test.thresholds.tolist() == [0.02]
        assert test.log_n_tests == pytest.approx(log_tests(50, 2, 700, 1, "combinatorial"))

    def test_segments_count_with_their_lengths(self) -> None:
        x = np.array([[0.0, 0, 3, 4], [1, 1, 1, 2], [0, 0, 6, 8]])
        search = search_of(x, "vanishing_point", test=Nfa(lengths=True))
        weights = search._weights(np.array([0, 2]))
        assert weights is not None
        assert weights.tolist() == [5, 10]
        assert search_of(x, "vanishing_point")._weights(np.array([0])) is None

    def test_density_of_the_matrix_at_each_threshold(self) -> None:
        x = lines()
        chance = Background.of(LineModel(), x, 100, np.random.default_rng(0), "empirical")
        test = NfaTest(LineModel(), len(x), np.array([0.01, 0.05]), chance, 3.0, 2)
        params = np.array([LEVEL] * 64 + [UPRIGHT])
        made = search_module._with_density(test, x, Hypotheses(params, np.zeros((65, 2), np.int64), 65))
        assert made.chance.levels is not None
        assert made.chance.densities is not None
        assert made.chance.levels.tolist() == [0.01, 0.05]
        # only the first 64 are looked at
        np.testing.assert_allclose(made.chance.densities, [(np.abs(x[:, 1]) <= level).mean() for level in (0.01, 0.05)])

    def test_batches_as_one(self) -> None:
        x = lines()
        (family,) = families_of("line", x, Sampling(), Nfa())

        def part(start: int, n: int) -> Screened:
            numbers = np.arange(start, start + n, dtype=np.float64)
            table = csc_array((np.arange(145)[:, None] % (2 + numbers) == 0).astype(np.uint8))
            wide = np.column_stack([numbers] * 3)
            return Screened(wide, wide[:, :2].astype(int), table, -numbers, numbers / 9, wide + 1, 10 * n)

        first, second = part(0, 2), part(2, 3)
        assert search_module._together([first], x, family) is first
        both, whole = search_module._together([first, second], x, family), part(0, 5)
        for name in ("params", "samples", "log_nfa", "thresholds", "improved"):
            np.testing.assert_array_equal(getattr(both, name), getattr(whole, name))
        np.testing.assert_array_equal(both.matrix.toarray(), whole.matrix.toarray())
        assert both.n_tested == 50
        none = search_module._together([], x, family)
        assert (none.matrix.shape, none.matrix.dtype, none.samples.shape) == ((145, 0), np.uint8, (0, 2))
        assert (len(none.log_nfa), none.n_tested) == (0, 0)


class TestModels:
    def test_false_alarms_by_elements_of_its_own(self) -> None:
        x = lines()
        search = search_of(x, n_samples=400, label_width=1.5)
        search._round()
        search._clumps = {"line": np.array([1.0, 1.5, 2.0])}
        search.found = [found(x, LEVEL), found(x, UPRIGHT)]
        structures = search.structures()
        chance = search._chance
        free = np.abs(x[:, 1]) > 0.03
        points = chance.points[np.abs(chance.points[:, 1]) > 0.03]
        each = []
        for level, clumps in zip(0.02 * FRACTIONS, (1.0, 1.5, 2.0)):
            test = NfaTest(
                LineModel(),
                int(free.sum()),
                np.array([level]),
                replace(chance, points=points),
                log_tests(int(free.sum()), 2, 400, 3),
                2,
                clumping=clumps,
            )
            held = np.array([(np.abs(x[free, 0] - 0.2) <= level).sum() - 2.0])
            p = np.array([(np.abs(points[:, 0] - 0.2) <= level).mean()])
            each.append(test.log_nfa(held, p, len(points))[0])
        assert search._own_log_nfa(1, structures, chance) == pytest.approx(min(each))

    @pytest.mark.parametrize(("shift", "kept"), [(5.0, True), (1.0, False)])
    def test_the_evidence_speaks_for_a_model_within_the_band_of_another(self, shift: float, kept: bool) -> None:
        rng = np.random.default_rng(0)
        first = rng.uniform(0, 300, (140, 2)) + np.repeat([[0, 0], [300, 0]], 70, axis=0)
        second = first + np.repeat([[8.0, 3], [8 + shift, 3]], 70, axis=0) + rng.normal(0, 0.4, (140, 2))
        x = np.vstack([np.hstack([first, second]), rng.uniform(0, 600, (60, 4))])
        search = search_of(x, "homography", 3.0, label_width=2.5)
        search._round()
        for away in (8, 8 + shift):
            theta = np.ravel(np.eye(3) + [[0, 0, away], [0, 0, 3], [0, 0, 0]])
            search.found.append(found(x, list(theta / np.linalg.norm(theta)), 3.0, "homography"))
        search.found[1] = replace(search.found[1], log_nfa=np.inf)
        state = search.exchange.explain(search.found)
        assert all(search._own_log_nfa(t, search.structures(), search._whole) > 0 for t in range(2))
        values, smaller = search._beside_others(state)
        if not kept:  # where nearly as much is said by one model, one is left
            assert smaller is not None
            assert len(smaller.found) == 1
            return
        assert smaller is None
        gains = [state.evidence - search.exchange.without(state, t).evidence for t in range(2)]
        np.testing.assert_allclose(values, -np.array(gains) / np.log(10))
        assert min(gains) > 70
        search.exchange.run = lambda found, others: state  # type: ignore[method-assign]
        search.exchanged([])
        assert [one.log_nfa for one in search.found] == [-9.0, values[1]]

    def test_a_model_as_the_evidence_sees_it(self) -> None:
        rng = np.random.default_rng(0)
        x = np.hstack([rng.uniform(0, 100, (60, 2))] * 2)
        search = search_of(x, "homography", 3.0)
        search._whole = search._background(x, 3.0)
        theta = np.ravel(np.eye(3) + [[0, 0, 1.0], [0, 0, 0], [0, 0, 0]])
        one = found(x, list(theta / np.linalg.norm(theta)), 3.0, "homography")
        (column,) = search._columns([one])
        model = one.family.model
        np.testing.assert_array_equal(column.distances, model.residuals(one.fit.params[None], x)[:, 0])
        assert (column.threshold, column.reach, column.codimension, column.used) == (3.0, 7.5, 2, 4.0)
        beside = model.residuals(one.fit.params[None], search._whole.points)[:, 0]
        assert column.chance == pytest.approx(((beside <= 7.5).sum() + 0.5) / (len(beside) + 1))

    def test_models_are_refitted_to_what_is_nearest(self) -> None:
        x = lines()
        start = [found(x, [0.0, 1.0, 0.004]), found(x, [1.0, 0.0, -0.196])]
        end = search_module.polished(start, x)
        models = [one.fit.params for one in start]
        for _ in range(8):
            near = np.abs(np.column_stack([x @ one[:2] + one[2] for one in models])) / 0.02
            labels = np.where(near.min(1) <= 1, near.argmin(1), -1)
            models = [search_module.reweighted(LineModel(), x[labels == t], one, 0.02) for t, one in enumerate(models)]
        for one, params in zip(end, models):
            np.testing.assert_allclose(one.fit.params, params)
        far = [found(x, [0.0, 1.0, 9.0])]
        np.testing.assert_array_equal(search_module.polished(far, x)[0].fit.params, far[0].fit.params)
        literal = [replace(start[0], elements=np.ones(len(x), bool))]
        assert search_module.polished(literal, x) is literal

    def test_two_halves_of_one_line_are_joined_and_two_lines_are_not(self) -> None:
        x = lines()
        search = search_of(x, label_width=1.0)
        search.found = [found(x, [0.0, 1.0, 0.004]), found(x, [0.0, 1.0, -0.004]), found(x, UPRIGHT)]
        joined = search._joined(search.structures())
        assert joined is not None
        assert len(joined) == 2
        assert joined[1] is search.found[2]
        assert joined[0].fit.core == 0.02
        assert abs(joined[0].fit.params[2]) < 0.003
        search.found = [found(x, LEVEL), found(x, UPRIGHT)]
        assert search._joined(search.structures()) is None

    def test_a_model_of_a_subset_is_tested_on_all(self) -> None:
        x = lines()
        search = search_of(x)
        search._live = np.arange(145) != 3
        search._chance = search._background(x, 0.02)
        search._clumps = {"line": np.ones(3)}
        test = search._test(search.families[0], np.arange(50), 400, search._chance, 0.02)
        one = replace(found(x, LEVEL), log_penalty=0.5)
        verified = search._verified(one, test)
        assert verified is not None
        held = (np.abs(x[:, 1]) <= 0.02).sum() - 1 - 2.0
        p = np.array([(np.abs(search._chance.points[:, 1]) <= 0.02).mean()])
        whole = replace(test, n_elements=144)
        value = whole.log_nfa(np.array([held]), p, search._chance.size)[0]
        assert verified.log_nfa == pytest.approx(value + 0.5)
        wanted = search_module.sharpen(np.delete(x, 3, 0), LineModel(), one.fit.params[None], 0.02, np.array([0.01]))[0]
        np.testing.assert_allclose(verified.fit.params, wanted.params)
        assert search._verified(replace(one, log_penalty=-value + 0.01), test) is None
        assert search._verified(replace(one, log_penalty=-value - 0.01), test) is not None

    def test_background_outside_of_what_was_found(self) -> None:
        x = lines()
        search = search_of(x, label_width=2.0)
        search.found = [found(x, LEVEL), found(x, UPRIGHT)]
        points = search._background(x, 0.02).points
        assert (np.abs(points[:, 1]) > 0.04).all()
        assert (np.abs(points[:, 0] - 0.2) > 0.04).all()
        assert 2000 < len(points) < 4096


class TestTouchingRuns:
    def on_circle(self, angles: FloatArray) -> FloatArray:
        return 200.0 + 100.0 * np.column_stack([np.cos(angles), np.sin(angles)])

    def test_the_largest_piece_of_an_edge_is_one_event(self) -> None:
        # pixels of three edges that a circle touches: 24, 20 and 16 of them, one apart
        pieces = [start + np.arange(n) / 100 for start, n in ((0.0, 20), (2.0, 24), (4.0, 16))]
        x = self.on_circle(np.concatenate(pieces))
        one = found(x, [200.0, 200.0, 100.0], 2.0, "circle")
        assert np.flatnonzero(search_module.in_touching_runs(one, x)).tolist() == list(range(20, 44))

    def test_a_piece_ends_where_the_circle_bends_away_from_its_tangent(self) -> None:
        x = self.on_circle(np.arange(300) / 100)
        gone = search_module.in_touching_runs(found(x, [200.0, 200.0, 100.0], 2.0, "circle"), x)
        radius = 2 * np.sqrt(200.0)
        assert 2 * radius - 2 < gone.sum() < 2 * radius + 2
        assert np.ptp(np.flatnonzero(gone)) == gone.sum() - 1

    def test_elements_apart_from_each_other_hardly_count(self) -> None:
        x = self.on_circle(np.arange(40) / 20)  # five apart: more than a threshold
        assert search_module.in_touching_runs(found(x, [200.0, 200.0, 100.0], 2.0, "circle"), x).sum() == 1

    @pytest.mark.parametrize(("model", "n_runs"), [("line", 0), ("circle", 1), ("plane", 0), ("sphere", 2)])
    def test_a_run_for_each_parameter_of_a_round_model_beyond_the_spots(self, model: str, n_runs: int) -> None:
        rng = np.random.default_rng(0)
        width = 3 if model in ("plane", "sphere") else 2
        x = rng.uniform(0, 1000, (200, width))
        one = found(
            x, [1.0, *[0.0] * (width - 1), 5.0] if model in ("line", "plane") else [*[0.0] * width, 9.0], 0.01, model
        )
        assert search_module.in_touching_runs(one, x).sum() == n_runs

    def test_nothing_is_taken_from_nothing(self) -> None:
        x = self.on_circle(np.arange(40) / 20)
        one = found(x, [200.0, 200.0, 100.0], 2.0, "circle")
        assert search_module.in_touching_runs(one, x[:0]).tolist() == []


@pytest.mark.parametrize("given", [None, 1, 3])
@pytest.mark.parametrize(
    ("model", "finds", "parts", "rounds", "start"),
    [
        ("homography", (True, True), [0.5], 1, 0),
        ("homography", (False, True), [0.5, 1.0], 1, 1),
        ("homography", (False, False), [0.5, 1.0], 1, None),
        ("fundamental", (True, True), [1.0, 0.5], 20, 1),
        ("fundamental", (True, False), [1.0, 0.5], 20, 0),
        ("line", (True, True), [1.0], 20, None),
    ],
)
def test_planes_are_searched_tightly_and_once_and_motions_at_two_thresholds(
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    finds: tuple[bool, bool],
    parts: list[float],
    rounds: int,
    start: int | None,
    given: int | None,
) -> None:
    """The second search has more evidence; `start` is the search from which sets of models are searched.

    A number of rounds that the user gives holds for every family.
    """
    x = np.random.default_rng(0).uniform(size=(30, 2 if model == "line" else 4))
    made, started = list[ModelSearch](), list[tuple[ModelSearch, int]]()

    def run(search: ModelSearch) -> list[Found]:
        made.append(search)
        assert search.threshold is not None
        thresholds.append(search.threshold)
        one = found(x, [0.0] * 9, search.threshold, model)
        search.found = [one] * len(made) if finds[len(made) - 1] else []
        return search.found

    thresholds = list[float]()
    monkeypatch.setattr(ModelSearch, "run", run)
    monkeypatch.setattr(ModelSearch, "evidence", lambda search, models: float(len(models)))
    monkeypatch.setattr(ModelSearch, "exchanged", lambda search, others: started.append((search, len(others))))
    settings = Settings("auto", 1.0, Sampling(max_rounds=given), Nfa(), None, None)
    families = families_of(model, x, settings.sampling, settings.test)
    best = search_module.searched(families, x, 0.2, settings, np.random.default_rng(0))
    assert thresholds == [0.2 * part for part in parts]
    assert {one.max_rounds for one in made} == {given or rounds}
    assert all(one.fit.threshold == 0.2 for search in made for one in search.found)
    assert best.threshold == 0.2
    if start is None:
        assert not started
        assert best is made[0]
    else:
        ((chosen, others),) = started
        assert chosen is best is made[start]
        assert others == sum(len(one.found) for one in made if one is not best)
