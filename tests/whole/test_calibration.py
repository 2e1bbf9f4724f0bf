"""False alarms on pure noise: at most epsilon, and lost where the test is not the one that was derived."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from biconsensus import MultiModelFitter
from biconsensus.errors import NoConsensusWarning
from biconsensus.fitting import Sampling
from biconsensus.fitting._hypotheses import propose, screen
from biconsensus.fitting._settings import Family
from biconsensus.models import get_model
from biconsensus.significance._models import Background, NfaTest, log_tests
from biconsensus.sources._sampling import SamplingLaw

CASES = [("line", 300, 2), ("circle", 200, 2), ("plane", 300, 3)]


@cache
def passing(name: str, n_elements: int, dimension: int, law: SamplingLaw, left_out: bool, seed: int) -> int:
    """Number of hypotheses on pure noise that pass the test at epsilon = 1."""
    model = get_model(name)
    rng = np.random.default_rng(seed)
    noise = rng.uniform(-1, 1, (n_elements, dimension))
    hypotheses = propose(Family(name, model, law, 0, 500), noise, 500, rng)
    chance = Background.of(model, noise, 4096, rng, "background")
    number = log_tests(n_elements, model.sample_size, len(hypotheses.params))
    trial = NfaTest(model, n_elements, np.array([0.05]), chance, number, model.sample_size)
    if not left_out:
        trial = replace(trial, left_out=0)
    return len(screen(noise, hypotheses, trial, 1.0).params)


def meaningful(name: str, n_elements: int, dimension: int, law: SamplingLaw, left_out: bool, n_runs: int) -> float:
    """Their mean over several draws; draws that two tests look at are made once."""
    return sum(passing(name, n_elements, dimension, law, left_out, seed) for seed in range(n_runs)) / n_runs


@pytest.mark.parametrize("law", [SamplingLaw(), SamplingLaw("local", 0.4)], ids=["uniform", "local"])
@pytest.mark.parametrize(("name", "n_elements", "dimension"), CASES)
def test_meaningful_hypotheses_on_noise_are_at_most_epsilon(
    name: str, n_elements: int, dimension: int, law: SamplingLaw
) -> None:
    # 30 runs: three standard errors of a mean of one are about a half
    assert meaningful(name, n_elements, dimension, law, True, 30) <= 1.5


@pytest.mark.parametrize(("name", "n_elements", "dimension"), CASES)
def test_counting_the_points_of_the_sample_loses_the_calibration(name: str, n_elements: int, dimension: int) -> None:
    bound = meaningful(name, n_elements, dimension, SamplingLaw(), True, 15)
    assert meaningful(name, n_elements, dimension, SamplingLaw(), False, 15) > max(2.5 * bound, 0.5)


def models_on_noise(name: str, n_elements: int, dimension: int, n_runs: int, **options: object) -> float:
    """Mean number of models found on pure noise."""
    found = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoConsensusWarning)
        for seed in range(n_runs):
            noise = np.random.default_rng(seed).uniform(-1, 1, (n_elements, dimension))
            settings = {"threshold": 0.05, "n_samples": 600, "random_state": seed, **options}
            found += len(MultiModelFitter(name, **settings).fit(noise).params_)
    return found / n_runs


@pytest.mark.parametrize(("name", "n_elements", "dimension"), CASES)
def test_models_on_noise_are_at_most_epsilon(name: str, n_elements: int, dimension: int) -> None:
    assert models_on_noise(name, n_elements, dimension, 30) <= 0.5


def test_a_small_epsilon_is_kept_too() -> None:
    assert models_on_noise("line", 300, 2, 40, epsilon=0.05) <= 0.05


@pytest.mark.parametrize(
    "options", [{"threshold": "auto"}, {"sampling": "local"}, {"sampling": Sampling(max_elements=150)}]
)
def test_every_way_to_search_keeps_the_guarantee(options: dict[str, object]) -> None:
    assert models_on_noise("line", 300, 2, 8, **options) <= 0.5
