"""Sources made of clusterers, grids and functions, and the default pool."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from biconsensus.errors import InputTypeError
from biconsensus.sources._clusterers import EstimatorSource, FunctionSource, as_sources
from biconsensus.sources._default_pool import default_sources, share_a_unit
from biconsensus.sources._running import NamedSource, child_seeds, run_sources
from biconsensus.sources._spectral import GaussianSpectralClustering, spectral_labels

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 0.5, (30, 4)), RNG.normal(5, 0.5, (30, 4))])


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def test_grids_unfold_in_order_and_are_recorded():
    grid = ParameterGrid({"n_clusters": [2, 3], "n_init": [1]})
    sources = as_sources([(KMeans(), grid)])
    assert [s.params["n_clusters"] for s in sources] == [2, 3]
    assert sources[1].name == "KMeans(n_clusters=3, n_init=1)"


def test_the_seed_decides_and_a_seed_that_was_set_stays():
    free = as_sources([KMeans(8, n_init=1, init="random")])[0].run
    fixed = as_sources([KMeans(8, n_init=1, init="random", random_state=3)])[0].run
    assert not same_partition(free(X, 1).labels, free(X, 2).labels)
    np.testing.assert_array_equal(free(X, 1).labels, free(X, 1).labels)
    np.testing.assert_array_equal(fixed(X, 1).labels, fixed(X, 2).labels)


def test_seeds_reach_the_steps_of_a_pipeline():
    source = as_sources([make_pipeline(StandardScaler(), KMeans(8, n_init=1, init="random"))])[0].run
    np.testing.assert_array_equal(source(X, 5).labels, source(X, 5).labels)
    assert not same_partition(source(X, 1).labels, source(X, 2).labels)


def test_rows_that_were_not_drawn_are_not_seen():
    result = EstimatorSource(KMeans(2, n_init=1), rows=0.5)(X, 0)
    seen = ~np.isnan(result.labels)
    assert seen.sum() == 30
    truth = np.repeat([0, 1], 30)
    assert same_partition(result.labels[seen], truth[seen])


def test_drawn_features_are_the_ones_used_to_predict():
    source = EstimatorSource(KMeans(2, n_init=1), features=0.5)
    result = source(X, 0)
    assert len(result.predictor.columns) == 2
    np.testing.assert_array_equal(result.predictor.predict(X), result.labels)


def test_extension_gives_the_label_of_the_nearest_drawn_row():
    source = EstimatorSource(AgglomerativeClustering(2), rows=10, extend=True)
    assert same_partition(source(X, 0).labels, np.repeat([0, 1], 30))


def test_functions_get_a_seed_only_if_they_ask_for_one():
    assert FunctionSource(lambda data: data + 1)(1, 9) == 2
    assert FunctionSource(lambda data, seed: seed)(1, 9) == 9
    assert FunctionSource(lambda data, k=3: k)(1, 9) == 3
    assert FunctionSource(lambda data, seed=None: seed)(1, 9) == 9


def test_named_sources_pass_through():
    source = NamedSource("mine", lambda data, seed: data)
    assert as_sources([source]) == [source]
    assert as_sources([("other", KMeans(2))])[0].name == "other"


@pytest.mark.parametrize("wrong", ["default", {"a": 1}, 3, [3], [KMeans]])
def test_what_cannot_be_run_is_refused(wrong):
    with pytest.raises(InputTypeError, match="estimators"):
        as_sources(wrong)


def test_the_default_pool_standardises_only_features_of_different_units():
    assert share_a_unit(X)
    mixed = X * [1, 1000, 1, 0.01]
    assert not share_a_unit(mixed)
    assert all(s.params.get("standardised") for s in default_sources(mixed))
    assert not any("standardised" in s.params for s in default_sources(X))


@pytest.mark.parametrize("shape", [(2, 1), (12, 2), (60, 4), (40, 30)])
def test_the_default_pool_runs_on_any_shape(shape):
    points = np.random.default_rng(1).normal(size=shape)
    sources = default_sources(points)
    results = run_sources(sources, points, child_seeds(0, len(sources)), n_elements=shape[0])
    assert all(r.ok for r in results)
    assert len({s.name.split("(")[0] for s in sources}) == 6


def test_spectral_labels_of_counted_rows_are_those_of_the_expanded_affinity():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(0, 1, (6, 2)), rng.normal(6, 1, (6, 2)), rng.normal([0, 9], 1, (6, 2))])
    counts = rng.integers(1, 5, 18)
    affinity = np.exp(-0.1 * ((points[:, None] - points[None]) ** 2).sum(-1))
    expanded = np.repeat(np.arange(18), counts)
    whole = spectral_labels(affinity[np.ix_(expanded, expanded)], 3, random_state=0)
    short = spectral_labels(affinity, 3, random_state=0, counts=counts)
    assert same_partition(whole, short[expanded])


def test_the_scale_of_the_kernel_is_measured_in_distances():
    for scale, unit in (("max", 1.0), ("median", 1.0)):
        one = GaussianSpectralClustering(2, 0.3, scale=scale, random_state=0).fit_predict(X)
        ten = GaussianSpectralClustering(2, 0.3, scale=scale, random_state=0).fit_predict(X * 10 * unit)
        np.testing.assert_array_equal(one, ten)
    with pytest.raises(ValueError, match="scale: got 'mean'"):
        GaussianSpectralClustering(scale="mean").fit(X)
