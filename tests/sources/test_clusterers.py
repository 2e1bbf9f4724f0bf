"""Sources made of clusterers, grids and functions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from biconsensus.errors import InputTypeError
from biconsensus.sources._clusterers import EstimatorSource, FunctionSource, as_sources
from biconsensus.sources._running import NamedSource
from tests.helpers.blobs import X, same_partition


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


def test_rows_that_are_predicted_in_blocks_have_the_labels_of_all_at_once():
    whole = EstimatorSource(GaussianMixture(3), rows=20, extend=True)(X, 0)
    blocks = EstimatorSource(GaussianMixture(3), rows=20, extend=True, block=7)(X, 0)
    np.testing.assert_array_equal(blocks.labels, whole.labels)


def test_functions_get_a_seed_only_if_they_ask_for_one():
    assert FunctionSource(lambda data: data + 1)(1, 9) == 2
    assert FunctionSource(lambda data, seed: seed)(1, 9) == 9
    assert FunctionSource(lambda data, k=3: k)(1, 9) == 3
    assert FunctionSource(lambda data, seed=None: seed)(1, 9) == 9


def test_clusterers_are_named_by_the_settings_that_tell_them_apart():
    names = [
        source.name for source in as_sources([KMeans(2), KMeans(3, n_init=1), KMeans(3, n_init=1, random_state=7)])
    ]
    assert names == ["KMeans(n_clusters=2)", "KMeans(n_clusters=3, n_init=1)", "KMeans(n_clusters=3, n_init=1)"]


def test_functions_without_a_name_are_numbered_if_there_are_several():
    assert [source.name for source in as_sources([lambda X: X, lambda X: X])] == ["function 1", "function 2"]
    assert [source.name for source in as_sources([len, lambda X: X])] == ["len", "function"]


def test_a_clusterer_that_needs_arguments_or_has_no_settings_keeps_the_name_of_its_class():
    class Needs:
        def __init__(self, k):
            self.k = k

        def fit_predict(self, X):
            return X[:, 0] > self.k

        def get_params(self, deep=True):
            return {"k": self.k}

    assert as_sources([Needs(2)])[0].name == "Needs(k=2)"


def test_named_sources_pass_through():
    source = NamedSource("mine", lambda data, seed: data)
    assert as_sources([source]) == [source]
    assert as_sources([("other", KMeans(2))])[0].name == "other"


@pytest.mark.parametrize("wrong", ["default", {"a": 1}, 3, [3], [KMeans]])
def test_what_cannot_be_run_is_refused(wrong):
    with pytest.raises(InputTypeError, match="estimators"):
        as_sources(wrong)


def test_rows_that_were_not_drawn_get_the_label_that_is_predicted():
    data = np.random.default_rng(0).normal(size=(60, 2))
    grouping = EstimatorSource(KMeans(3, n_init=1), rows=30, extend=True)(data, 0)
    assert grouping.predictor is not None
    np.testing.assert_array_equal(grouping.labels, grouping.predictor.predict(data))
