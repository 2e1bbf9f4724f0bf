"""ConsensusClustering: the answers, the scikit-learn contract, and bad inputs."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import biconsensus as bc
from biconsensus.errors import InputError, InputTypeError, NoConsensusWarning, PoolWarning, SourceError
from tests.helpers.ready_workers import ready_workers

KMEANS = [(KMeans(n_init=1), {"n_clusters": [2, 3, 3, 3, 4, 5]})]

X, TRUTH = make_blobs(150, centers=[[0, 0], [8, 0], [0, 8]], cluster_std=0.7, random_state=0)


def model(**options):
    return bc.ConsensusClustering(**{"estimators": KMEANS, "quorum": 0.5, "random_state": 0, **options})


EXPECTED_FAILURES: dict[str, str] = {}
ANSWERS = {"check_clustering", "check_fit_idempotent", "check_fit2d_1sample", "check_fit2d_1feature"}
"""Checks that look at the answer, or at very few points; all others look at inputs and attributes, for which a given
quorum does as well in half of the time."""


@parametrize_with_checks(
    [
        bc.ConsensusClustering(
            [(KMeans(n_init=1), {"n_clusters": [1, 2, 2, 3]})], min_elements=1, search=bc.Search(min_candidates=1)
        )
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_the_contract_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        # The checks use data on which some k is too large, or where nothing is agreed on; both are only warned of.
        warnings.simplefilter("ignore", PoolWarning)
        warnings.simplefilter("ignore", NoConsensusWarning)
        check(estimator if check.func.__name__ in ANSWERS else clone(estimator).set_params(quorum=0.5))


def test_it_finds_the_number_of_groups():
    fitted = model().fit(X)
    assert fitted.n_clusters_ == 3
    assert adjusted_rand_score(TRUTH, fitted.labels_) == 1.0
    assert fitted.pool_.shape == (150, 20)
    assert ((fitted.backing_ > 0.5) & (fitted.backing_ <= 1)).all()


def test_the_same_seed_gives_the_same_answer_for_any_number_of_processes():
    with ready_workers():
        one, two = model().fit(X), model(n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert [r.seed for r in one.results_] == [r.seed for r in two.results_]


@pytest.mark.parametrize(("load", "seed"), [(load_iris, 0), (load_wine, 1)])
def test_the_default_pool_is_not_below_the_median_of_its_base_results(load, seed):
    points, truth = (part[::2] for part in load(return_X_y=True))
    fitted = bc.ConsensusClustering(random_state=seed).fit(points)
    base = []
    for result in fitted.results_:
        seen = ~np.isnan(result.labels.astype(float))
        base.append(normalized_mutual_info_score(truth[seen], result.labels[seen]))
    assert normalized_mutual_info_score(truth, fitted.labels_) >= np.median(base)


def test_ready_made_labels_keep_the_index_of_a_frame():
    labels = pd.DataFrame({f"run {k}": TRUTH for k in range(4)}, index=[f"row {i}" for i in range(150)])
    fitted = model().fit_labels(labels)
    assert fitted.n_clusters_ == 3
    assert fitted.consensus_.to_frame().index[3] == "row 3"
    with pytest.raises(InputError, match="none of the base clusterings behind the groups can predict"):
        fitted.predict(X)


def test_frames_of_pandas_and_polars_give_the_answer_of_the_array():
    expected = model().fit(X).labels_
    index = np.arange(150) * 2 + 1000
    frame = pd.DataFrame(X, columns=["a", "b"], index=index)
    fitted = model().fit(frame)
    np.testing.assert_array_equal(fitted.labels_, expected)
    np.testing.assert_array_equal(fitted.consensus_.to_frame().index, index)
    assert list(fitted.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model().fit(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})).labels_, expected)


def test_new_rows_get_the_group_that_they_lie_in():
    fitted = model(estimators=[*KMEANS, (GaussianMixture(), {"n_components": [3, 4]})]).fit(X)
    centres = np.array([[0, 0], [8, 0], [0, 8]])
    expected = [np.bincount(fitted.labels_[k == TRUTH]).argmax() for k in range(3)]
    np.testing.assert_array_equal(fitted.predict(centres), expected)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    assert 0.5 < fitted.score(centres) <= 1


def test_prediction_is_the_vote_of_the_candidates_behind_each_group():
    fitted = model().fit(X)
    new = np.random.default_rng(1).uniform(-2, 10, size=(40, 2))
    votes = np.zeros((40, fitted.n_clusters_))
    asked = np.zeros(fitted.n_clusters_)
    names = fitted.consensus_.pool.names
    for k, result in enumerate(fitted.results_):
        predicted = result.predictor.predict(new)
        for t, group in enumerate(fitted.consensus_.biclusters):
            for j in group.candidates:
                if fitted.consensus_.pool.source_of[j] == k:
                    votes[:, t] += predicted == int(names[j].rsplit(": ", 1)[1])
                    asked[t] += 1
    expected = (votes - 0.5 * asked).argmax(axis=1)
    np.testing.assert_array_equal(fitted.predict(new), expected)


def test_it_works_inside_a_pipeline_and_a_grid_search():
    pipeline = make_pipeline(StandardScaler(), model())
    assert adjusted_rand_score(TRUTH, pipeline.fit_predict(X)) == 1.0
    assert adjusted_rand_score(TRUTH, pipeline.predict(X)) == 1.0
    frame = pd.DataFrame(X, columns=["width", "height"])
    named = pipeline.set_output(transform="pandas").fit(frame)[-1]
    assert named.feature_names_in_.tolist() == ["width", "height"], "the scaler handed a frame on"
    search = GridSearchCV(model(), {"quorum": [0.4, 0.6]}, scoring="adjusted_rand_score", cv=2)
    assert search.fit(X, TRUTH).best_score_ > 0.9


def test_clone_keeps_every_parameter_and_nothing_learned():
    fitted = model(search=bc.Search(weights="size")).fit(X)
    copy = clone(fitted)
    assert not hasattr(copy, "labels_")
    assert copy.get_params()["search"] == bc.Search(weights="size")
    np.testing.assert_array_equal(copy.fit(X).labels_, fitted.labels_)


def test_estimators_may_be_clusterers_named_pairs_and_functions():
    pool = [
        AgglomerativeClustering(3),
        ("mine", KMeans(3, n_init=1)),
        lambda points: (points[:, 0] > 4).astype(int),
        lambda points, seed: np.where(points[:, 1] > 4, 1, -1),
    ]
    fitted = model(estimators=pool, search=bc.Search(min_candidates=2)).fit(X)
    assert [r.name for r in fitted.results_] == [
        "AgglomerativeClustering(n_clusters=3)",
        "mine",
        "function 1",
        "function 2",
    ]
    assert adjusted_rand_score(TRUTH, fitted.labels_) == 1.0


def test_weights_decide_between_two_camps():
    camps = [lambda points, c=c: (points[:, c] > 4).astype(int) for c in (0, 0, 1, 1)]
    for weights, column in (([9, 9, 1, 1], 0), ([1, 1, 9, 9], 1)):
        fitted = model(estimators=camps, search=bc.Search(min_candidates=2, weights=weights, method="greedy")).fit(X)
        first = np.isin(np.arange(150), fitted.consensus_.biclusters[0].elements)
        side = X[:, column] > 4
        assert (first == side).all() or (first == ~side).all()
    with pytest.raises(InputError, match=r"weights: shape \(2,\); give one for each of the 4 base runs"):
        model(estimators=camps, search=bc.Search(weights=[1, 2])).fit(X)


def test_rows_that_must_be_together_are():
    a, b = np.flatnonzero(TRUTH == 0)[0], np.flatnonzero(TRUTH == 1)[0]
    free = model().fit(X)
    bound = model(search=bc.Search(together=[[a, b]])).fit(X)
    assert free.labels_[a] != free.labels_[b]
    assert bound.labels_[a] == bound.labels_[b]


def test_left_overs_stay_out_when_asked_to():
    odd = [lambda points, k=k: np.where(np.arange(150) % 15 == k, -1, TRUTH) for k in (0, 0, 0, 1)]
    left = model(estimators=odd, unassigned="leave").fit(X).labels_
    np.testing.assert_array_equal(left == -1, np.arange(150) % 15 == 0)
    assert (model(estimators=odd, unassigned="nearest").fit(X).labels_ >= 0).all()


def test_failed_base_runs_are_skipped_and_kept_on_record():
    with pytest.warns(PoolWarning, match="1 of 7 base runs skipped"):
        fitted = model(estimators=[*KMEANS, KMeans(500)]).fit(X)
    assert "n_samples=150 should be >= n_clusters=500" in fitted.results_[-1].error
    assert fitted.n_clusters_ == 3
    with pytest.raises(SourceError, match="0 of 1 base runs gave a result"):
        model(estimators=[KMeans(500)]).fit(X)


def test_bad_data_and_bad_estimators_are_named():
    bad = X.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"1 NaN or infinite value, the first at \(4, 1\)"):
        model().fit(bad)
    with pytest.raises(InputTypeError, match=r"X: got the path 'points\.csv'; read the table first"):
        model().fit("points.csv")
    with pytest.raises(InputTypeError, match="estimators: got 'kmeans'"):
        model(estimators="kmeans").fit(X)
    with pytest.raises(InputTypeError, match="estimators: cannot use 3"):
        model(estimators=[3]).fit(X)
    with pytest.raises(InputError, match="got an empty list"):
        model(estimators=[]).fit(X)


def test_a_checkpoint_resumes_the_base_runs(tmp_path):
    first = model(runs=bc.Runs(checkpoint=tmp_path)).fit(X)
    again = model(runs=bc.Runs(checkpoint=tmp_path)).fit(X)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert all(r.seconds == 0 for r in again.results_)


@pytest.mark.parametrize(("law", "shape"), [("normal", (60, 10)), ("random", (60, 2))])
def test_noise_is_one_group_and_the_sentence_says_so(law, shape):
    X = getattr(np.random.default_rng(0), law)(size=shape)
    model = bc.ConsensusClustering(random_state=0).fit(X)
    assert model.n_clusters_ == 1
    assert (model.labels_ == 0).all()
    assert "No groups that chance does not explain" in model.consensus_.summary
    # what the sources alone would say is told beside it, and can be had
    alone = model.consensus_.extraction["alternatives"][0]["n_groups"]
    assert f"the sources agree best on {alone} groups; n_groups={alone} gives that number." in model.consensus_.summary
    assert bc.ConsensusClustering(n_groups=alone, random_state=0).fit(X).n_clusters_ == alone
    assert model.consensus_.significance.tolist() == [0.0]


def test_twenty_groups_are_found_with_alternatives_and_certificates():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(20), 20)
    X = 10.0 * np.c_[truth % 5, truth // 5] + rng.normal(size=(400, 2))
    model = bc.ConsensusClustering(random_state=0).fit(X)
    assert model.n_clusters_ == 20
    assert adjusted_rand_score(truth, model.labels_) > 0.97
    assert (model.consensus_.significance < -2).all()
    assert model.consensus_.settings["chosen_by"] == "points"
    assert 0 < len(model.consensus_.extraction["alternatives"]) <= 3
    assert np.mean(model.predict(X) == model.labels_) > 0.97


def test_a_given_number_of_groups_stays_exact_whatever_the_points_say():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert bc.ConsensusClustering(n_groups=4, random_state=0).fit(X).n_clusters_ == 4


def test_points_beside_ready_made_labels_decide_also_in_a_pool_of_three():
    """Three runs that differ in how they cut: real clouds are found, cuts through one cloud are not."""
    rng = np.random.default_rng(0)
    clouds = np.concatenate([rng.normal(8 * k, 1, (60, 6)) for k in range(3)])
    cloud = rng.normal(size=(180, 6))
    for points, expected in ((clouds, 3), (cloud, 1)):
        runs = [KMeans(k, n_init=1, random_state=k).fit_predict(points) for k in (3, 4, 5)]
        assert bc.ConsensusClustering().fit_labels(runs, points).n_clusters_ == expected
    with pytest.raises(InputError, match="X: got 5 rows for 180 labelled elements"):
        bc.ConsensusClustering().fit_labels(runs, cloud[:5])


def test_a_cube_is_not_cut_into_cells():
    # sources agree on how to cut it, and every border between cells shows a small valley
    X = np.random.default_rng([1, 5, 500]).random((500, 5))
    assert bc.ConsensusClustering(random_state=1).fit(X).n_clusters_ == 1


def test_runs_of_one_clusterer_do_not_back_its_cells_against_one_group():
    X = np.random.default_rng([1, 5, 500]).random((500, 5))
    assert bc.ConsensusClustering(n_runs=2, random_state=1).fit(X).n_clusters_ == 1


def test_two_columns_of_different_units_are_standardised_and_the_summary_says_so():
    rng = np.random.default_rng(0)
    points = np.c_[np.repeat([0.0, 9.0], 100) + rng.normal(size=200), 1e6 * rng.normal(size=200)]
    fitted = bc.ConsensusClustering(random_state=0).fit(points)
    assert adjusted_rand_score(np.repeat([0, 1], 100), fitted.labels_) > 0.97
    assert "columns were standardised, because their ranges differ" in fitted.consensus_.summary
    alike = bc.ConsensusClustering(random_state=0).fit(X).consensus_
    assert "standardised" not in alike.summary
    noise = bc.ConsensusClustering(random_state=0).fit(rng.normal(size=(100, 2)) * [1, 1e6]).consensus_
    assert noise.summary.startswith("No groups")
    assert "standardised" in noise.summary


def test_equal_rows_are_in_one_group():
    rows = np.array([[1.0, 1.0], [0.0, 2.0]])
    fitted = bc.ConsensusClustering(random_state=0).fit(np.tile(rows, (50, 1)))
    assert fitted.n_clusters_ == 2
    assert np.unique(fitted.labels_[::2]).size == np.unique(fitted.labels_[1::2]).size == 1


def test_a_column_of_text_is_named():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "red", "blue"]})
    with pytest.raises(InputError, match=r"X: column 'colour' does not hold numbers .*the first is 'red'"):
        bc.ConsensusClustering().fit(frame)
    frame.columns = ["colour", "colour"]
    with pytest.raises(InputError, match=r"X: column 'colour' does not hold numbers"):
        bc.ConsensusClustering().fit(frame)


def test_own_clusterers_with_different_settings_are_not_runs_of_one_source():
    X = load_digits().data[:600]
    alone = bc.ConsensusClustering([KMeans(k, n_init=1) for k in range(2, 22)], random_state=0).fit(X)
    grid = bc.ConsensusClustering([(KMeans(n_init=1), {"n_clusters": list(range(2, 22))})], random_state=0).fit(X)
    assert len(alone.consensus_) > 5  # as runs of one source they would need twenty times as many backers
    np.testing.assert_array_equal(alone.labels_, grid.labels_)


def test_masked_cells_and_dates_are_refused() -> None:
    X = np.random.default_rng(0).random((30, 2))
    with pytest.raises(InputError, match=r"X has 60 masked values\. Fill them in"):
        bc.ConsensusClustering().fit(np.ma.masked_less(X, 1))
    with pytest.raises(InputError, match=r"X: it holds dates or durations \(datetime64\[s\]\)"):
        bc.ConsensusClustering().fit((1e9 * X).astype("datetime64[s]"))
    with pytest.raises(InputError, match="X: column 'when' holds dates or durations"):
        bc.ConsensusClustering().fit(pd.DataFrame({"a": X[:, 0], "when": pd.Timestamp("2020-01-01")}))


def test_a_column_that_counts_the_rows_is_pointed_out() -> None:
    frame = pd.DataFrame(make_blobs(60, random_state=1)[0], columns=["a", "b"])
    with pytest.warns(PoolWarning, match="X: features that count the rows, as ids do: 'number'; leave them out if"):
        found = bc.ConsensusClustering(estimators=[KMeans(3)], random_state=0).fit(frame.assign(number=range(60)))
    assert found.n_features_in_ == 3


def test_a_column_that_outweighs_the_others_is_named_in_the_summary() -> None:
    rng = np.random.default_rng(0)
    answers = np.column_stack([rng.integers(1, 6, (80, 4)), rng.permutation(80) % 61 + 18])
    said = "columns were not standardised, because most ranges are alike; that of column {} is 15 times the typical one"
    names = ["q1", "q2", "q3", "q4", "age"]
    for X, name in ((answers, "4"), (pd.DataFrame(answers, columns=names), "'age'")):
        assert said.format(name) in bc.ConsensusClustering(random_state=0).fit(X).consensus_.summary
