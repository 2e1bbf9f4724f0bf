"""The part of a closed curve that elements cover, and where elements lie on closed curves."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.models import get_model
from biconsensus.models._bounds import Bounded, coverage, measures_of


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
@pytest.mark.parametrize("n_elements", [20, 400])
def test_coverage_of_an_arc_of_random_elements(share: float, n_elements: int) -> None:
    rng = np.random.default_rng(n_elements)
    found = [coverage(rng.uniform(0.9, 0.9 + share, n_elements)) for _ in range(50)]
    assert np.mean(found) == pytest.approx(share, abs=2 / n_elements)
    whole = [coverage(rng.uniform(0, 1, n_elements)) for _ in range(200)]
    assert np.mean(np.array(whole) < 1) < 0.08  # a gap that chance hardly leaves; the median of few is rough


def test_clutter_covers_nothing() -> None:
    rng = np.random.default_rng(0)
    assert coverage(np.append(rng.uniform(0, 0.5, 100), rng.uniform(0.55, 0.95, 3))) < 0.6
    assert coverage(np.array([0.3])) == 0.0


@pytest.mark.parametrize(
    ("name", "params", "elements"),
    [
        ("circle", [1.0, 2.0, 3.0], [[4.0, 2.0], [1.0, 5.0], [-2.0, 2.0], [1.0, -1.0]]),
        ("ellipse", [0.0, 0.0, 4.0, 2.0, 0.0], [[4.0, 0.0], [0.0, 2.0], [-4.0, 0.0], [0.0, -2.0]]),
        ("cylinder", [0, 0, 0, 0, 0, 1.0, 2.0], [[2.0, 0, 5, 1, 0, 0], [0, 2, 0, 0, 1, 0], [-2, 0, 1, -1, 0, 0]]),
    ],
)
def test_quarters_of_a_turn(name: str, params: list[float], elements: list[list[float]]) -> None:
    model = get_model(name)
    assert "coverage" in measures_of(model)
    places = model.around(np.array([params], float), np.array(elements, float))[:, 0]
    assert np.abs(np.diff(np.unwrap(2 * np.pi * places))) == pytest.approx(np.pi / 2)


def test_coverage_is_asked_of_closed_curves_only() -> None:
    assert "coverage" not in measures_of(get_model("line"))
    bounded = Bounded.of(get_model("circle"), {"coverage": (0.9, 1.0)})
    turns = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    places = np.column_stack([np.cos(turns), np.sin(turns)])
    circle = np.array([0.0, 0.0, 1.0])
    assert bounded.covered(circle, places)
    assert not bounded.covered(circle, places[:15])
