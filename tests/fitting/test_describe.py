"""Covariance and extent of a model, computed from their definitions; and what is said where nothing was found."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from biconsensus import MultiModelFitter
from biconsensus.errors import InputError, NoConsensusWarning, ThresholdWarning
from biconsensus.fitting import Nfa, Sampling
from biconsensus.fitting._describe import covariance_of, extent_of
from biconsensus.fitting._groups import Fit, Found, reweighted
from biconsensus.fitting._settings import families_of
from biconsensus.models import LineModel
from biconsensus.protocols import FloatArray


def level_line(x: FloatArray, core: float) -> Found:
    """The line y = 0."""
    (family,) = families_of("line", x, Sampling(), Nfa())
    theta = np.array([0.0, 1.0, 0.0])
    return Found(family, Fit(theta, 2 * core, core), -9.0, -9.0, theta[None], np.array([core]))


@pytest.mark.parametrize(("n", "n_groups"), [(100, 24), (12, 10)])
def test_jackknife_leaves_out_a_group_in_turn(n: int, n_groups: int) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(-1, 1, n), rng.normal(0, 0.01, n)])
    x = np.concatenate([x, [[0.0, 0.9], [0.5, -0.9]]])
    one = level_line(x, 0.05)
    own = np.random.default_rng(3).permutation(np.flatnonzero(np.abs(x[:, 1]) <= 0.1))
    fits = []
    for group in range(n_groups):
        kept = x[[element for place, element in enumerate(own) if place % n_groups != group]]
        params = one.fit.params
        for _ in range(4):
            params = reweighted(LineModel(), kept, params, 0.05)
        fits.append(params * np.sign(params[1]))
    moved = np.array(fits) - np.mean(fits, axis=0)
    wanted = sum(np.outer(row, row) for row in moved) * (n_groups - 1) / n_groups
    np.testing.assert_allclose(covariance_of(one, x, np.random.default_rng(3)), wanted, rtol=1e-9)


def test_too_few_elements_have_no_covariance() -> None:
    x = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 5.0]])
    unknown = covariance_of(level_line(x, 0.1), x, np.random.default_rng(0))
    assert unknown.shape == (3, 3)
    assert np.isnan(unknown).all()
    four = np.array([[0.0, 0.0], [1.0, 0.001], [2.0, 0.0], [3.0, 0.0]])
    assert np.isfinite(covariance_of(level_line(four, 0.1), four, np.random.default_rng(0))).all()


def test_extent_of_the_largest_part() -> None:
    along = np.array([0.0, 1, 2, 3, 20, 21, 22, 23, 24, 60])
    x = np.column_stack([along, np.zeros(10)])
    one = extent_of(level_line(x, 0.1), x, np.arange(10), None)
    assert [part.tolist() for part in one.parts] == [[4, 5, 6, 7, 8], [0, 1, 2, 3], [9]]
    np.testing.assert_allclose(one.centre, [22, 0])
    np.testing.assert_allclose(np.abs(one.axes), np.eye(2))
    np.testing.assert_allclose(one.lengths, [4, 0])
    wide = extent_of(level_line(x, 0.1), x, np.array([0, 3, 4, 9]), 17.0)
    assert [part.tolist() for part in wide.parts] == [[0, 3, 4], [9]]
    # by default four times the median distance to the nearest: here 4 of 1
    spaced = np.column_stack([[0.0, 1, 2, 6, 10.5], np.zeros(5)])
    parts = extent_of(level_line(spaced, 0.1), spaced, np.arange(5), None).parts
    assert [part.tolist() for part in parts] == [[0, 1, 2, 3], [4]]


def test_extent_of_nothing_and_of_one_place() -> None:
    x = np.column_stack([np.zeros(3), np.zeros(3)])
    nothing = extent_of(level_line(x, 0.1), x, np.empty(0, np.int64), None)
    assert (nothing.parts, nothing.centre.size, nothing.axes.shape, nothing.lengths.size) == ([], 0, (0, 0), 0)
    place = extent_of(level_line(x, 0.1), x, np.arange(3), None)
    assert [part.tolist() for part in place.parts] == [[0, 1, 2]]
    assert place.lengths.tolist() == [0, 0]


def test_parts_of_one_size_stay_in_order() -> None:
    x = np.column_stack([10.0 * np.arange(60), np.zeros(60)])
    parts = extent_of(level_line(x, 0.1), x, np.arange(60), 1.0).parts
    assert [part.tolist() for part in parts] == [[i] for i in range(60)]


def one_line(seed: int = 0) -> Any:
    """Points of one line among as many others, with noise of 0.01."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (200, 2))
    x[:100, 1] = x[:100, 0] / 2 + rng.normal(0, 0.01, 100)
    return x


@pytest.mark.filterwarnings("ignore::biconsensus.errors.ThresholdWarning")
@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (1e-5, r"A larger threshold may help \(the data suggest 0\.0[1-5]\d*\)\."),
        (1.0, r"A smaller threshold may help \(the data suggest 0\.0[1-5]\d*\)\."),
    ],
)
def test_a_threshold_that_finds_nothing_gets_a_proposal(threshold: float, said: str) -> None:
    with pytest.warns(NoConsensusWarning, match=said):
        MultiModelFitter("line", threshold, random_state=0).fit(one_line())


def test_chance_alone_is_called_chance() -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    with pytest.warns(NoConsensusWarning, match=r"all of it is chance.*try samples of another kind \(sampling\)"):
        MultiModelFitter("line", 1e-5, random_state=0).fit(x)
    with pytest.warns(NoConsensusWarning, match=r"more samples than n_samples=50, or n_samples=\"auto\""):
        MultiModelFitter("line", 1e-5, n_samples=50, random_state=0).fit(x)
    with pytest.warns(NoConsensusWarning, match="too weak at every threshold that was tried"):
        MultiModelFitter("line", "auto", random_state=0).fit(x)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_elements_are_told_that_they_are_few(n: int) -> None:
    with pytest.warns(NoConsensusWarning) as seen:
        MultiModelFitter("line", 0.02, random_state=0).fit(one_line()[100 : 100 + n])
    said = str(seen[0].message)
    assert f"X has {n} elements, and 2 of them determine a model" in said
    assert "samples of another kind" not in said  # which would not help


def test_repeated_elements_count_once() -> None:
    with pytest.warns(NoConsensusWarning, match="X has 300 elements, 2 of them different, and 2 of them determine"):
        MultiModelFitter("line", 0.02, random_state=0).fit(np.repeat(one_line()[:2], 150, axis=0))


def test_samples_that_determine_nothing() -> None:
    on_a_line = np.column_stack([np.arange(50.0), 2 * np.arange(50.0)])
    with pytest.warns(NoConsensusWarning, match="Each sample that was drawn is degenerate"):
        MultiModelFitter("circle", 0.02, random_state=0).fit(on_a_line)


def test_pieces_of_one_line_are_told_from_lines() -> None:
    x = one_line()
    with pytest.warns(ThresholdWarning, match=r"threshold=0.002 is far below what the data suggest, about 0\.0[1-5]"):
        pieces = MultiModelFitter("line", 0.002, random_state=0).fit(x)
    assert len(pieces.params_) > 1
    steps = np.vstack([x[:100], x[:100] + [0, 0.1]])  # two lines that are four thresholds apart
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(MultiModelFitter("line", 0.025, random_state=0).fit(steps).params_) == 2


def test_a_row_of_numbers_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"X must be a table, one row for each element .* got 200 numbers in a row"):
        MultiModelFitter("line", 0.02).fit(one_line()[:, 0])


def test_bounds_of_a_family_without_any() -> None:
    with pytest.raises(InputError, match="'radius', which none of the models has: no bound applies to them"):
        MultiModelFitter("line", 0.02, bounds={"radius": (0, 1)}).fit(one_line())
    with pytest.raises(InputError, match="'radii', which none of the models has: they have coverage, radius"):
        MultiModelFitter("circle", 0.02, bounds={"radii": (0, 1)}).fit(one_line())
