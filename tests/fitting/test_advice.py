"""What is said where nothing was found, or where one structure came in pieces."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from biconsensus import MultiModelFitter
from biconsensus.errors import InputError, NoConsensusWarning, ThresholdWarning


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
