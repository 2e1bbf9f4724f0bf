"""The chance that a background element meets a model: areas, closed forms, measured."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.errors import InputError
from biconsensus.models import CircleModel, LineModel, VanishingPointModel, segment_hit_probability
from biconsensus.significance._background import HIT_RULES, Background


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
