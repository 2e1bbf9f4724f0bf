"""Calls that a user of another library types: the error says what to write."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import biconsensus as bc
from biconsensus import metrics
from biconsensus.errors import InputError, InputTypeError
from biconsensus.pool.io import read_labels

L = [[0] * 4 + [1] * 4] * 3
X = np.random.default_rng(0).random((20, 2))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: bc.find_consensus(*L), "takes all groupings as its first argument"),
        (lambda: bc.find_consensus(L, n_clusters=2), "'n_clusters'; use n_groups"),
        (lambda: bc.find_consensus(L, k=2), "'k'; use n_groups"),
        (lambda: bc.find_consensus(labels=L), "'labels'; use pool"),
        (lambda: bc.find_consensus(L, seed=0), "'seed'; leave it out, because"),
        (lambda: bc.find_consensus(L, threshold=0.5), "'threshold'; use quorum"),
        (lambda: bc.find_consensus(L, n_group=2), "'n_group'; did you mean 'n_groups'\\?"),
        (lambda: bc.find_consensus(L, foo=2), "'foo'; it has pool, "),
        (lambda: bc.Search(n_components=2), "'n_components'; use n_groups"),
        (lambda: bc.Runs(seed=2), "'seed'; it is a parameter of the estimators"),
        (lambda: bc.find_modes(L, n_clusters=2), r"use search=Search\(n_groups=...\)"),
        (lambda: bc.Pool.from_labels(L, n_clusters=2), r"give it to find_consensus\(pool, n_groups=...\)"),
        (lambda: bc.Pool(L), r"from data, use Pool.from_labels"),
        (lambda: bc.ConsensusClustering(n_clusters=2), "'n_clusters'; use n_groups"),
        (lambda: bc.ConsensusClustering(seed=2), "'seed'; use random_state"),
        (lambda: bc.ConsensusClustering(time_limit=2), r"use runs=Runs\(time_limit=...\)"),
        (lambda: bc.ConsensusClustering(method="joint"), r"use search=Search\(method=...\)"),
        (lambda: bc.ConsensusCommunities(gamma=2), r"use algorithms=\[\(name, "),
        (lambda: bc.ConsensusCommunities(min_elements=2), r"use search=Search\(min_elements=...\)"),
        (lambda: bc.MultiModelFitter(eps=2), "'eps'; use threshold"),
        (lambda: bc.MultiModelFitter(n_clusters=2), r"use params_\[:n\] after the fit"),
        (lambda: bc.MultiModelFitter("line", 0.1, 5), "only model and threshold without a name"),
        (lambda: bc.BiclusterConsensus(2, 2, 3), "only min_elements and min_candidates without a name, but received 3"),  # type: ignore[misc]
        (lambda: metrics.ari(labels_true=L[0], labels_pred=L[1]), "'labels_true'; use truth"),
        (lambda: metrics.nmi(L[0], labels_pred=L[1]), "'labels_pred'; use labels"),
        (lambda: bc.baselines.mcla(L, n_clusters=2), "mcla has no parameter 'n_clusters'; use n_groups"),
        (lambda: read_labels("l.csv", sep=";"), "'sep'; use separator"),  # type: ignore[misc]
        (lambda: bc.baselines.fitting.ransac(X, seed=1), "'seed'; use random_state"),
        (lambda: bc.find_modes(L, 2), r"search must be search=Search\(...\) or None, got 2"),
        (lambda: bc.ConsensusClustering(search={"quorum": 0.5}).fit(X), "search must be search=Search"),
        (lambda: bc.ConsensusClustering(runs=3).fit(X), "runs must be runs=Runs"),
        (lambda: bc.ConsensusClustering(3).fit(X), "The number of groups is n_groups=3"),
    ],
)
def test_the_error_says_what_to_write(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(InputTypeError, match=said):
        call()


def test_a_number_of_communities_is_no_algorithm() -> None:
    with pytest.raises(InputError, match="The number of groups is n_groups=3"):
        bc.ConsensusCommunities(3).fit([("a", "b"), ("b", "c")])


def test_modularity_of_a_network_says_how_to_get_its_matrix() -> None:
    import networkx as nx

    with pytest.raises(InputTypeError, match="read_graph"):
        metrics.modularity(nx.karate_club_graph(), [0] * 34)


def test_signatures_stay_what_they_are() -> None:
    assert next(iter(inspect.signature(bc.find_consensus).parameters)) == "pool"
    assert bc.find_consensus.__module__ == "biconsensus.find"
    assert pickle.loads(pickle.dumps(bc.find_consensus)) is bc.find_consensus
    for made in (bc.Search(n_groups=3), bc.Pool.from_labels(L), bc.Runs(time_limit=1)):
        assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
    estimator = clone(bc.ConsensusClustering(n_groups=3, search=bc.Search(method="joint")))
    assert estimator.get_params()["n_groups"] == 3
