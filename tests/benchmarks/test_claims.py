"""Claims of the pages, in small: where one of these fails, a page says what is no longer true."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import biconsensus as bc
from benchmarks import meaning_networks
from benchmarks.tensor_methods import celta
from biconsensus import datasets
from biconsensus.baselines import get_baseline
from biconsensus.metrics import ari, misclassification_error, nmi, recall_precision


def test_given_number_leads_its_rivals(data: Path) -> None:
    """Leaderboard: 20 of 100 groupings of four sets, 500 shuffled rows, two draws; NWCA is level on so few."""
    rivals = ("nwca", "lwea", "lwgp", "evidence_accumulation")
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in ("ours", *rivals)}
    for name, draw in product(("IS", "MF", "SPF", "Semeion"), (21, 22)):
        members, truth = datasets.load_ensemble_pool(name)
        rng = np.random.default_rng([7, draw])
        order = rng.permutation(len(truth))[:500]
        pool = bc.Pool.from_labels(members[order][:, rng.choice(members.shape[1], 20, replace=False)])
        truth = truth[order]
        k = np.unique(truth).size
        answers = {"ours": bc.find_consensus(pool, n_groups=k).labels}
        answers |= {rival: get_baseline(rival)(pool, k, random_state=0) for rival in rivals}
        for who, labels in answers.items():
            scores[who].append((ari(truth, labels), nmi(truth, labels)))
    means = {who: np.mean(rows, axis=0) for who, rows in scores.items()}
    assert (means["ours"] > means["nwca"] - 0.01).all()
    for rival in ("lwea", "lwgp"):
        assert (means["ours"] > means[rival]).all(), rival
    assert (means["ours"] > means["evidence_accumulation"] + 0.03).all()


def test_two_published_methods_read_the_order_of_the_rows(data: Path) -> None:
    """Page on the order of rows: CELTA loses half of its NMI when rows are shuffled; ours loses nothing."""
    members, truth = datasets.load_ensemble_pool("IS")
    rng = np.random.default_rng(17)
    chosen = np.sort(rng.choice(len(truth), 60, replace=False))
    table, truth = members[np.ix_(chosen, rng.choice(100, 10, replace=False))], truth[chosen]
    by_class, shuffled = np.argsort(truth, kind="stable"), rng.permutation(60)
    k = np.unique(truth).size
    found = {
        name: [nmi(truth[order], method(table[order])) for order in (by_class, shuffled)]
        for name, method in {
            "celta": lambda rows: celta(rows, k),
            "ours": lambda rows: bc.find_consensus(rows, n_groups=k, min_elements=1, unassigned="nearest").labels,
        }.items()
    }
    assert found["celta"][0] > found["celta"][1] + 0.1
    assert found["ours"][0] == pytest.approx(found["ours"][1])


def test_wine_has_three_groups_and_noise_one() -> None:
    """Page on groups of points."""
    X, truth = load_wine(return_X_y=True)
    model = bc.ConsensusClustering(random_state=1).fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert model.n_clusters_ == 3
    assert ari(truth, model.labels_) > 0.75
    noise = np.random.default_rng(4).normal(size=(120, 4))
    assert bc.ConsensusClustering(random_state=0).fit(noise).n_clusters_ == 1


def test_communities_at_half_of_the_links_are_found_and_none_in_noise() -> None:
    """Page on networks: a network of 200 nodes whose links leave their community half of the time."""
    graph, truth = bc.graphs.lfr_network(200, 0.42, 15, max_degree=40, communities=(20, 50), random_state=3000)
    assert meaning_networks.actual_mixing((graph, truth)) > 0.4
    few = {"n_runs": 3, "random_state": 0, "runs": bc.Runs(progress=False)}
    assert ari(truth, bc.ConsensusCommunities(**few).fit(graph).labels_) > 0.95
    nothing, _ = meaning_networks.random_network(3000)
    assert len(bc.ConsensusCommunities(**few).fit(nothing).communities_) <= 1


def test_lines_of_the_paper_are_found(data: Path) -> None:
    """Page on fitting: set A, nothing but family and threshold."""
    x, truth = datasets.load_jlinkage("A")
    fitter = bc.MultiModelFitter("line", 0.03, random_state=0).fit(x)
    assert len(fitter.params_) == 5
    assert recall_precision(truth, fitter.membership_)[0] > 0.99
    assert misclassification_error(truth, fitter.labels_) < 0.11
