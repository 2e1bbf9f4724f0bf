"""The threshold from the data: the same numbers, computed from their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.fitting import Nfa, Sampling, _threshold
from biconsensus.fitting._groups import settle
from biconsensus.fitting._settings import families_of
from biconsensus.models import LineModel
from biconsensus.protocols import FloatArray
from biconsensus.significance._models import Background, log_binomial_tail
from tests.helpers.crossing_lines import lines

LINES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -0.2], [0.0, 1.0, -0.6]])


def test_small_chances_follow_the_power_law() -> None:
    # of 100 points, 20 must hit for a measured chance
    points = np.column_stack([np.zeros(100), np.linspace(0.01, 1.0, 100)])
    chance = Background(points, np.array([[0.0, 0.0], [0.0, 1.0]]))
    levels = np.array([0.05, 0.1, 0.405])
    for power in (1.0, 2.0):
        shares = _threshold._extrapolated(chance, LineModel(), LINES[[0, 1]], levels, power)
        middle = 0.4 * (0.1 / 0.405) ** power
        np.testing.assert_allclose(shares[:, 0], [middle / 2**power, middle, 0.4])
        # the other line is 0.2 away from all: nothing hits it until the largest, where all do
        np.testing.assert_allclose(shares[2, 1], 1.0)
    tight = _threshold._extrapolated(chance, LineModel(), LINES[:1], np.array([0.05, 0.1]), 1.0)
    np.testing.assert_allclose(tight[:, 0], [0.1, 0.2])  # at least that of 20 points
    measured = _threshold._extrapolated(chance, LineModel(), LINES[:1], np.array([0.205, 0.5]), 1.0)
    np.testing.assert_allclose(measured[:, 0], [0.2, 0.5])


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_reach_holds_nearly_all_beyond_clutter(power: float) -> None:
    rng = np.random.default_rng(1)
    distance = np.append(np.abs(rng.normal(0, 0.5, 80)), rng.uniform(0, 20, 150))
    density = sum(1 for d in distance if 4.0 < d <= 8.0) / (2**power - 1)
    near = sorted(d for d in distance if d <= 4.0)
    excess = [i + 1 - density * (d / 4.0) ** power for i, d in enumerate(near)]
    wanted = next(d for d, e in zip(near, excess) if e >= 0.95 * max(excess))
    assert _threshold._reach(distance, 1.0, power) == wanted


def test_models_are_taken_one_after_the_other_at_one_scale() -> None:
    x = lines()
    (family,) = families_of("line", x, Sampling(), Nfa())
    chance = Background.of(LineModel(), x, 4096, np.random.default_rng(0))
    levels = np.array([0.01, 0.02, 0.04])
    shares = _threshold._extrapolated(chance, LineModel(), LINES, levels, 1.0)
    hits = LineModel().residuals(LINES, x) <= 0.02
    total, reaches = _threshold._greedy(family, x, LINES, hits, shares[1], (chance, levels, 1.0, 1), 4.0)
    live, wanted, ends = np.ones(len(x), bool), 0.0, []
    for theta in LINES[:2]:
        start = np.abs(x[live] @ theta[:2] + theta[2]) <= 0.02
        end = settle(x[live], LineModel(), start, 0.02)
        assert end is not None
        p = _threshold._extrapolated(chance, LineModel(), end[None], levels, 1.0)[1, 0]
        distance = np.abs(x[live] @ end[:2] + end[2])
        wanted += float(log_binomial_tail(live.sum() - 2, (distance <= 0.02).sum() - 2, p)) + 4.0
        ends.append(_threshold._reach(distance, 0.02, 1.0))
        live[np.flatnonzero(live)[distance <= max(0.02, ends[-1])]] = False
    assert total == pytest.approx(wanted)
    assert reaches == pytest.approx(ends)
    # nothing is meaningful among very many tests
    assert _threshold._greedy(family, x, LINES, hits, shares[1], (chance, levels, 1.0, 1), 400.0) == (0.0, [])


def test_hypotheses_after_a_refit() -> None:
    x = lines()
    (family,) = families_of("line", x, Sampling(), Nfa())
    far = np.array([0.0, 1.0, 9.0])
    ends = _threshold._refitted(family, x, np.array([LINES[0], far]), 0.02)
    wanted = settle(x, LineModel(), np.abs(x[:, 1]) <= 0.02, 0.02)
    assert wanted is not None
    np.testing.assert_array_equal(ends, [wanted, far])


def test_scale_is_the_median_of_all_families(monkeypatch: pytest.MonkeyPatch) -> None:
    x = lines()
    families = families_of(["line", "circle"], x, Sampling("uniform"), Nfa())
    asked = []

    def scales(family: object, data: FloatArray, rng: object, n_samples: int) -> list[float]:
        asked.append((family.name, family.law.name, data.shape, n_samples))  # type: ignore[attr-defined]
        return [1.0, 2.0] if len(asked) == 1 else [7.0]

    monkeypatch.setattr(_threshold, "_scales", scales)
    assert _threshold.scale_of(families, x, np.random.default_rng(0), 77) == 2
    assert asked == [("line", "local", (145, 2), 77), ("circle", "local", (145, 2), 77)]
    monkeypatch.setattr(_threshold, "_scales", lambda *rest: [])
    assert _threshold.scale_of(families, x, np.random.default_rng(0)) is None
