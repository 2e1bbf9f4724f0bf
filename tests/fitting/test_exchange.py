"""Sets of models that are changed while their evidence grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import fitting_views as views
from biconsensus import MultiModelFitter
from biconsensus.fitting._evidence import Column, Neighbours
from biconsensus.fitting._exchange import Exchange, distinct_hypotheses
from biconsensus.fitting._groups import Fit, Found
from biconsensus.fitting._settings import Family, families_of, nfa_of, sampling_of

MAPS = (
    np.array([[1.0, 0, 8], [0, 1, 3], [0, 0, 1]]),
    np.array([[1.02, 0.01, -6], [0, 0.98, 12], [1e-5, 0, 1]]),
)


def two_planes(noise: float = 0.5) -> Any:
    """80 matches of a plane on the left, 60 of one on the right, 60 wrong ones."""
    rng = np.random.default_rng(0)
    parts = []
    for number, (shift, n) in enumerate(((0, 80), (320, 60))):
        first = rng.uniform(0, 300, (n, 2)) + [shift, 0]
        mapped = np.column_stack([first, np.ones(n)]) @ MAPS[number].T
        parts.append(np.hstack([first, mapped[:, :2] / mapped[:, 2:] + rng.normal(0, noise, (n, 2))]))
    parts.append(np.hstack([rng.uniform(0, 600, (60, 2)), rng.uniform(0, 600, (60, 2))]))
    return np.concatenate(parts)


def setting(x: Any = None) -> tuple[Any, Family, Exchange]:
    """The matches, their family, and a search over sets of models."""
    x = two_planes() if x is None else x
    family = families_of("homography", x, sampling_of(None), nfa_of(None))[0]

    def columns(found: list[Found]) -> list[Column]:
        distances = [family.residuals(one.fit.params[None], x)[:, 0] for one in found]
        return [Column(own, 3.0, 7.5, 2, 4.0, 7.5**2 * np.pi / 600**2) for own in distances]

    return x, family, Exchange(x, Neighbours.of(x[:, :2]), columns, np.random.default_rng(0))


def model_of(family: Family, params: Any) -> Found:
    """A model that was found."""
    unit = np.ravel(params) / np.linalg.norm(params)
    return Found(family, Fit(unit, 3.0, 3.0), -9.0, -9.0, unit[None], np.array([3.0]))


def sizes(labels: Any) -> list[int]:
    """Sizes of groups, the largest first."""
    return sorted(np.bincount(labels[labels >= 0]).tolist(), reverse=True)


class TestExchange:
    def test_a_plane_that_was_not_found_is_added(self) -> None:
        _, family, exchange = setting()
        state = exchange.run([model_of(family, MAPS[0])])
        assert len(state.found) == 2
        assert np.isinf(state.found[1].log_nfa)  # not tested yet
        truth = np.repeat([0, 1, -1], [80, 60, 60])
        assert (state.how.labels == truth).mean() > 0.97

    def test_a_motion_among_many_wrong_matches_is_added(self) -> None:
        x, labels = views.motions(12016)  # 93 and 44 matches of two motions, 181 others
        family = families_of("fundamental", x, sampling_of(None), nfa_of(None))[0]

        def columns(found: list[Found]) -> list[Column]:
            distances = [family.residuals(one.fit.params[None], x)[:, 0] for one in found]
            return [Column(own, 1.5, 3.75, 1, 7.0, 0.02) for own in distances]

        params = family.model.refit(x[labels == 0], np.ones(np.sum(labels == 0)))  # type: ignore[attr-defined]
        exchange = Exchange(x, Neighbours.of(x[:, :2]), columns, np.random.default_rng(0))
        state = exchange.run([replace(model_of(family, params), fit=Fit(params, 1.5, 1.5))])
        assert max(np.mean(state.how.labels[labels == 2] == t) for t in range(len(state.found))) > 0.8

    def test_another_model_is_added_as_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _, family, exchange = setting()
        monkeypatch.setattr(exchange, "_drawn", lambda found, data: [])
        state = exchange.run([model_of(family, MAPS[0])], [model_of(family, MAPS[1])])
        assert [one.log_nfa for one in state.found] == [-9.0, -9.0]

    def test_a_double_is_dropped(self) -> None:
        _, family, exchange = setting()
        moved = MAPS[0] + [[0, 0, 0.4], [0, 0, 0], [0, 0, 0]]
        state = exchange.explain([model_of(family, one) for one in (*MAPS, moved)])
        fewer = exchange.fewer(state)
        assert fewer is not None
        assert len(fewer.found) == 2
        assert fewer.evidence > state.evidence

    def test_two_true_models_stay(self) -> None:
        _, family, exchange = setting()
        assert exchange.fewer(exchange.explain([model_of(family, one) for one in MAPS])) is None

    def test_without_a_model_others_take_its_elements(self) -> None:
        _, family, exchange = setting()
        moved = MAPS[0] + [[0, 0, 0.4], [0, 0, 0], [0, 0, 0]]
        state = exchange.explain([model_of(family, one) for one in (MAPS[0], MAPS[1], moved)])
        assert sizes(exchange.without(state, 1).how.labels)[0] < 85
        less = [exchange.without(state, t) for t in (0, 2)]
        assert [len(one.found) for one in less] == [2, 2]
        assert all(one.evidence > state.evidence and sizes(one.how.labels)[0] >= 78 for one in less)

    def test_a_loose_model_goes_where_others_are_tight(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x = two_planes()
        rng = np.random.default_rng(3)
        tree = np.hstack([x[:80, :2], x[:80, :2] + [-40, 25] + rng.normal(0, 3, (80, 2))])
        _, family, exchange = setting(np.vstack([x, tree]))
        monkeypatch.setattr(exchange, "_drawn", lambda found, data: [])
        planes = [model_of(family, one) for one in MAPS]
        loose = model_of(family, np.array([[1.0, 0, -40], [0, 1, 25], [0, 0, 1]]))
        before = exchange.explain([*planes, loose])
        assert before.how.loose.tolist() == [False, False, True]
        assert before.evidence > exchange.explain(planes).evidence  # by the evidence it would stay
        state = exchange.run(before.found)
        assert len(state.found) == 2
        assert not state.how.loose.any()

    def test_loose_models_stay_where_all_are(self) -> None:
        _, family, exchange = setting(two_planes(noise=3.0))
        state = exchange.run([model_of(family, one) for one in MAPS])
        assert state.how.loose.all()
        assert len(state.found) == 2

    def test_only_one_of_like_hypotheses_is_kept(self) -> None:
        x, family, _ = setting()
        params = np.array([model_of(family, one).fit.params for one in (MAPS[1], *MAPS, MAPS[0])])
        kept = distinct_hypotheses(params, family, x, 3.0)
        np.testing.assert_array_equal(kept, params[[1, 0]])  # the one with more elements first


def test_labels_follow_the_neighbours_and_repeated_matches_have_the_same() -> None:
    x = two_planes()
    fitter = MultiModelFitter("homography", 3.0, random_state=0).fit(np.concatenate([x, x[:20]]))
    assert sizes(fitter.labels_[:200])[0] >= 78
    np.testing.assert_array_equal(fitter.labels_[200:], fitter.labels_[:20])
    assert np.isfinite(fitter.nfa_).all()
    # with a width of one's own labels are those of the nearest model
    wide = MultiModelFitter("homography", 3.0, label_width=1.0, random_state=0).fit(x)
    np.testing.assert_array_equal(wide.labels_, wide.predict(x))
