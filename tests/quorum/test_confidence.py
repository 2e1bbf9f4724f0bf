"""Confidence of elements and groups."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score

import biconsensus as bc
from biconsensus.errors import InputError
from biconsensus.quorum._confidence import CALIBRATION, Likeness, confidence, confidence_of, matched
from tests.helpers.strategies import paper_consensus

CERTAIN = min(1.0, sum(CALIBRATION))


def test_unanimous_sources_are_certain() -> None:
    sure = paper_consensus([[0] * 10 + [1] * 10] * 6).confidence()
    assert sure.elements == pytest.approx(CERTAIN)
    assert sure.groups == pytest.approx([CERTAIN] * 2)


def test_elements_that_sources_dispute_are_less_sure_than_others() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    table = np.column_stack([truth] * 8)
    disputed = [0, 1, 30, 31]
    table[disputed] = rng.integers(2, size=(4, 8))
    sure = confidence(paper_consensus(table, unassigned="nearest")).elements
    settled = np.setdiff1d(np.arange(60), disputed)
    assert sure[settled] == pytest.approx(CERTAIN)
    assert (sure[disputed] < CERTAIN - 0.05).all()


def test_sources_that_split_a_group_evenly_take_nothing_from_it() -> None:
    coarse, fine = np.repeat([0, 1], 40), np.repeat([0, 1, 2, 3], 20)
    sure = confidence(bc.find_consensus(np.column_stack([coarse] * 5 + [fine] * 2), quorum=0.5)).elements
    assert sure == pytest.approx(CERTAIN)


def test_what_a_source_did_not_see_does_not_count() -> None:
    whole = np.repeat([0.0, 1.0], 20)
    partly = whole.copy()
    partly[:5] = np.nan
    sure = confidence(bc.find_consensus(np.column_stack([whole] * 4 + [partly] * 2), quorum=0.5)).elements
    assert sure == pytest.approx(CERTAIN)


@pytest.mark.filterwarnings("ignore::biconsensus.errors.NoConsensusWarning")
def test_elements_in_no_group_have_none() -> None:
    table = np.column_stack([np.repeat([0, 1, -1], [10, 10, 5])] * 5)
    assert (confidence(paper_consensus(table)).elements[20:] == 0).all()
    assert confidence(paper_consensus(np.full((9, 4), np.arange(9)[:, None]))).elements.tolist() == [0.0] * 9


@pytest.mark.filterwarnings("ignore::biconsensus.errors.BiconsensusWarning")
def test_errors_on_wine_are_ranked_no_worse_than_by_backing() -> None:
    X, truth = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    runs = [KMeans(k, n_init=1, random_state=s).fit_predict(X) for k in (2, 3, 4, 5, 6) for s in range(4)]
    found = bc.find_consensus(np.column_stack(runs), n_groups=3)
    prevailing = np.array([np.bincount(truth[found.labels == t]).argmax() for t in range(3)])
    right = prevailing[found.labels] == truth
    ranked = roc_auc_score(right, confidence(found).elements)
    assert ranked > 0.8
    assert ranked > roc_auc_score(right, found.backing) - 0.05


def test_groups_are_matched_by_what_they_share() -> None:
    labels, again = np.array([0, 0, 0, 1, 1, -1]), np.array([2, 2, 0, 0, 0, 1])
    assert matched(labels, again, 2).tolist() == [0, 0, 1, 1, 1, -1]


def test_overlapping_groups_are_refused() -> None:
    found = paper_consensus([[0] * 8 + [1] * 8] * 4, overlap=True)
    with pytest.raises(InputError, match="overlap"):
        confidence(found)


def test_likeness_of_a_row_and_a_group_by_definition() -> None:
    table = np.array([[0, 0, 0, 1, 1, 1, -1], [0, 0, 1, 1, 1, 2, -1], [0, 0, 0, 0, 1, 1, -1]])
    pool = bc.Pool.from_labels(list(table))
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    likeness = Likeness.of(pool, labels, 2)
    pairs = [(i, t) for i in range(7) for t in (0, 1)]
    expected = []
    for i, t in pairs:
        group = labels == t
        jaccard = [
            {v: ((one == v) & group).sum() / ((one == v) | group).sum() for v in set(one) - {-1}} for one in table
        ]
        most = sum(max(of_source.values()) for of_source in jaccard)
        expected.append(sum(of.get(one[i], 0.0) for of, one in zip(jaccard, table)) / most)
    rows, groups = np.array(pairs).T
    assert likeness.share_in(pool.inverse[rows], groups) == pytest.approx(np.array(expected))
    assert likeness.shares(pool.inverse[np.arange(7)]).toarray().ravel() == pytest.approx(np.array(expected))


def shares_by_definition(table: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """(m, T) likeness of the candidates that hold each element to each group, over the best of the sources it is in."""
    found = np.zeros((len(labels), n_groups))
    for i in range(len(labels)):
        for t in range(n_groups):
            held = most = 0.0
            for column in table.T:
                seen = ~np.isnan(column)
                if not seen[i]:
                    continue
                group = (labels == t) & seen
                alike = {v: ((column == v) & group).sum() / ((column == v) | group).sum() for v in set(column[seen])}
                alike.pop(-1.0, None)
                held += alike.get(column[i], 0.0)
                most += max(alike.values(), default=0.0)
            found[i, t] = held / most if most > 0 else 0.0
    return found


@pytest.mark.parametrize("apart", [False, True], ids=["equal rows together", "equal rows apart"])
def test_confidence_with_gaps_is_that_of_the_definition(apart: bool) -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(-1, 3, (25, 4)).astype(float)
    table[rng.random(table.shape) < 0.25] = np.nan
    table = np.repeat(table, 2, axis=0)
    labels = np.repeat(rng.integers(-1, 3, 25), 2)
    if apart:
        labels = rng.integers(-1, 3, 50)
    pool = bc.Pool.from_labels(table)
    expected = shares_by_definition(table, labels, 4)  # the last group is empty
    likeness = Likeness.of(pool, labels, 4)
    assert likeness.shares(pool.inverse).toarray() == pytest.approx(expected)
    sure = np.clip(CALIBRATION[0] + CALIBRATION[1] * expected[np.arange(50), labels], 0, 1) * (labels >= 0)
    found = confidence_of(pool, labels, 4)
    assert found.elements == pytest.approx(sure)
    assert found.groups[:3] == pytest.approx([sure[labels == t].mean() for t in range(3)])
    assert found.groups[3] == 0
    assert confidence_of(pool, np.full(50, -1), 0).groups.size == 0


def test_an_element_that_stands_for_several_counts_as_they_do() -> None:
    rng = np.random.default_rng(4)
    table, counts = rng.integers(0, 3, (20, 4)), rng.integers(1, 4, 20)
    labels = rng.integers(0, 2, 20)
    whole = confidence_of(bc.Pool.from_labels(np.repeat(table, counts, axis=0)), np.repeat(labels, counts), 2)
    mean = [(whole.elements[np.repeat(labels, counts) == t]).mean() for t in range(2)]
    assert whole.groups == pytest.approx(mean)
    few = confidence_of(bc.Pool.from_labels(table), labels, 2, counts)
    sizes = np.bincount(labels, counts)
    assert few.groups == pytest.approx(np.bincount(labels, few.elements * counts) / sizes)
