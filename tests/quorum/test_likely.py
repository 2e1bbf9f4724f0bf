"""Rows of large pools go to the group in which their candidates are most likely, however the groups were chosen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.engines import labels_in_chunks
from biconsensus.find import trace
from biconsensus.matrix import _condensed
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum import _likely, _path
from biconsensus.quorum._likely import most_likely
from tests.helpers.quorum_pools import problem_of, runs


@cache
def overlapping(spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Fifteen k-means results of 6,000 points of eight clusters that overlap, and the truth."""
    X, truth = make_blobs(6000, n_features=6, centers=8, cluster_std=spread, random_state=1)
    return runs(X, 8, 40, n_runs=15), truth


def by_votes(problem: PreferenceMatrix, labels: np.ndarray, sample: tuple[np.ndarray, ...] | None = None) -> np.ndarray:
    """In place of the most likely group: where a row is, or that of the most votes where only a sample has groups."""
    if sample is None:
        return labels
    held = np.asarray(problem.some_rows(*sample).held_by_columns(labels, labels.max() + 1))
    backed = np.eye(held.shape[1])[held.argmax(axis=1)] * problem.weights[:, None]
    return np.asarray((problem.entries @ backed).argmax(axis=1))


@pytest.mark.parametrize("scanned", [8, 0], ids=["all groups", "near groups"])
def test_the_most_likely_group_is_that_of_the_definition(monkeypatch: pytest.MonkeyPatch, scanned: int) -> None:
    monkeypatch.setattr(_likely, "SCANNED", scanned)
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 90)
    table = np.where(rng.random((90, 7)) < 0.4, rng.integers(0, 4, (90, 7)), truth[:, None]).astype(float)
    table[rng.random(table.shape) < 0.15] = np.nan
    pool = bc.Pool.from_labels(table)
    problem = bc.PreferenceMatrix.from_pool(pool)
    labels = np.zeros(problem.shape[0], np.int64)
    labels[pool.inverse] = np.where(rng.random(90) < 0.2, rng.integers(0, 3, 90), truth)
    scores = np.zeros((90, 3))
    for source in range(7):
        seen = ~np.isnan(table[:, source])
        for label in np.unique(table[seen, source]):
            inside = table[:, source] == label
            for group in range(3):
                own = labels[pool.inverse] == group
                share = (np.sum(own & inside) + inside.sum() / seen.sum()) / (np.sum(own & seen) + 1)
                scores[inside, group] += np.log(share)
    assert (most_likely(problem, labels)[pool.inverse] == scores.argmax(axis=1)).all()


def test_rows_of_a_group_that_would_run_empty_stay() -> None:
    problem = problem_of([0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 1])
    alone = np.zeros(problem.shape[0], np.int64)
    alone[0] = 1
    assert (most_likely(problem, alone) == alone).all()


@pytest.mark.parametrize("scanned", [8, 0], ids=["all groups", "near groups"])
def test_a_sample_of_all_rows_says_what_all_rows_say(monkeypatch: pytest.MonkeyPatch, scanned: int) -> None:
    monkeypatch.setattr(_likely, "SCANNED", scanned)
    table, truth = overlapping(4.0)
    pool = bc.Pool.from_labels(table)
    problem, labels = bc.PreferenceMatrix.from_pool(pool), np.zeros(pool.rows.shape[0], np.int64)
    labels[pool.inverse] = truth
    labels[5] = 8  # which would run empty
    every = np.arange(labels.size)
    found = most_likely(problem, labels)
    assert found[5] == 8
    assert (most_likely(problem, labels, (every, problem.counts)) == found).all()
    some = every[::3]
    told = most_likely(problem, labels[some], (some, 3 * problem.counts[some]))
    assert (told == found).mean() > 0.95


@pytest.mark.parametrize("n_groups", [5, 12, 20])
def test_as_many_groups_as_were_asked_for_whatever_the_sample(monkeypatch: pytest.MonkeyPatch, n_groups: int) -> None:
    table, _ = overlapping(4.5)
    monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 1000)
    found = bc.find_consensus(table, n_groups=n_groups)
    assert found.extraction["rows_searched"] < found.pool.rows.shape[0] / 2
    assert len(found) == np.unique(found.labels).size == n_groups


@pytest.fixture
def with_left_overs(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """Noisy labels of four groups and the truth; some elements are in no group, and two in no candidate that votes."""
    monkeypatch.setattr(_path, "MANY_ROWS", 50)
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(4), (400, 200, 200, 100))
    table = np.where(rng.random((900, 9)) < 0.4, rng.choice(truth, (900, 9)), truth[:, None])
    table[:2] = -1
    return table, truth


def test_left_overs_go_where_they_are_most_likely_and_blocks_stay_as_they_were_found(
    with_left_overs: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    table, truth = with_left_overs
    search = bc.Search(0.5, method="path", min_elements=7)
    leave = bc.find_consensus(table, unassigned="leave", **search.given())
    found = bc.find_consensus(table, **search.given())
    inside = leave.labels >= 0
    assert len(found) == 4
    assert 20 < np.count_nonzero(~inside) < 400
    assert [block.elements.tolist() for block in found] == [block.elements.tolist() for block in leave]
    assert (found.labels[inside] == leave.labels[inside]).all()
    assert (found.labels[2:] >= 0).all()
    assert (found.labels[:2] == -1).all()
    voted = replace(found, row_labels=None).labels
    assert adjusted_rand_score(truth, found.labels) > adjusted_rand_score(truth, voted)
    # the same on the path, in chunks, from a file, and for some of the elements
    found.save(tmp_path / "found.bic")
    again = bc.Consensus.load(tmp_path / "found.bic")
    for one in (again, found.at(quorum=0.5), again.at(quorum=0.5)):
        assert (one.labels == found.labels).all()
    assert (np.concatenate(list(labels_in_chunks(found, 100))) == found.labels).all()


@pytest.mark.parametrize("on_a_sample", [False, True])
def test_a_pool_without_left_overs_says_nothing_of_them(monkeypatch: pytest.MonkeyPatch, on_a_sample: bool) -> None:
    table, _ = overlapping(4.0)
    if on_a_sample:
        monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 1000)
    found = bc.find_consensus(table)
    assert found.row_labels is None
    assert (found.labels >= 0).all()


@pytest.mark.parametrize(("spread", "n_groups"), [(4.0, None), (4.5, 8)], ids=["default", "number given"])
@pytest.mark.parametrize("on_a_sample", [False, True])
def test_members_of_overlapping_clusters_are_told_apart_by_what_their_candidates_say(
    monkeypatch: pytest.MonkeyPatch, on_a_sample: bool, spread: float, n_groups: int | None
) -> None:
    table, truth = overlapping(spread)
    if on_a_sample:
        monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 1000)
    with_likelihood = bc.find_consensus(table, n_groups=n_groups)
    monkeypatch.setattr(_path, "most_likely", by_votes)
    voted = bc.find_consensus(table, n_groups=n_groups)
    assert len(with_likelihood) == len(voted) == 8
    assert adjusted_rand_score(truth, with_likelihood.labels) > adjusted_rand_score(truth, voted.labels)


@pytest.mark.parametrize("on_a_sample", [False, True])
def test_the_number_of_groups_that_many_rows_show_by_themselves_gives_the_same_groups(
    monkeypatch: pytest.MonkeyPatch, on_a_sample: bool
) -> None:
    table, _ = overlapping(4.0)
    if on_a_sample:
        monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 1000)
    traced = trace(bc.Pool.from_labels(table), bc.Search())
    free, given, fewer = traced.answer(), traced.with_n_groups(8), traced.with_n_groups(7)
    assert len(free) == 8
    assert (free.labels == given.labels).all()
    assert given.settings["chosen_by"] == "n_groups"
    assert len(fewer) == 7


@pytest.mark.parametrize("on_a_sample", [False, True])
def test_labels_of_many_rows_are_those_of_the_biclusters_and_gains_those_of_their_rows(
    monkeypatch: pytest.MonkeyPatch, on_a_sample: bool
) -> None:
    table, _ = overlapping(4.0)
    if on_a_sample:
        monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 1000)
    found = bc.find_consensus(table)
    held, quorum = np.asarray(found.pool.to_matrix().todense()), found.settings["quorum"]
    assert found.weights is not None
    for group, block in enumerate(found.biclusters):
        assert (found.labels[block.elements] == group).all()
        inside = held[np.ix_(block.elements, block.candidates)]
        assert block.gain == pytest.approx(((inside - quorum) * found.weights[block.candidates]).sum())
    # a number given as quorum stays literal
    literal = bc.find_consensus(table, quorum=0.5)
    monkeypatch.setattr(_path, "most_likely", by_votes)
    assert (bc.find_consensus(table, quorum=0.5).labels == literal.labels).all()
