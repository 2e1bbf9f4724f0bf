"""The path that a consensus keeps: the same groups as those of the search, also after saving."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.find import solve
from biconsensus.quorum import QuorumPath
from biconsensus.significance._points import PointEvidence

BASE = [np.repeat([0, 1], 16)] * 4 + [np.repeat([0, 1, 2, 3], 8)] * 4


def noisy_pool(seed: int) -> bc.Pool:
    """A few noisy copies of one grouping, some elements in no group."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(8, 60)), int(rng.integers(2, 6))
    truth = rng.integers(0, k, m)
    return bc.Pool.from_labels(
        [np.where(rng.random(m) < 0.3, rng.integers(-1, k + 1, m), truth) for _ in range(int(rng.integers(3, 8)))]
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_point_has_the_labels_of_the_search(seed: int) -> None:
    pool = noisy_pool(seed)
    found = bc.find_consensus(pool)
    sizes = {name: found.settings[name] for name in ("min_elements", "min_candidates")}
    path = QuorumPath.of(pool, **sizes)
    assert found.path is not None
    assert len(found.path.points) == len(path.points)
    for point in path.points:
        there = found.at(float(point.quorum))
        np.testing.assert_array_equal(there.labels, path.labels(point)[pool.inverse])
        assert there.gains.tolist() == [block.gain for block in path.finish(point)]
        assert len(there.candidates) == len(point)


def test_the_chosen_point_is_the_consensus_itself() -> None:
    found = bc.find_consensus(BASE, method="joint")
    again = found.at(found.settings["quorum"])
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.objective == pytest.approx(found.objective)
    np.testing.assert_allclose(again.backing, found.backing)
    assert again.at(n_groups=4).at(n_groups=len(found)).labels.tolist() == found.labels.tolist()


def test_saved_and_pickled_results_keep_their_path(tmp_path: Path) -> None:
    found = bc.find_consensus(noisy_pool(3), unassigned="leave")
    assert found.path is not None
    found.save(tmp_path / "kept.bic")
    for other in (bc.Consensus.load(tmp_path / "kept.bic"), pickle.loads(pickle.dumps(found))):
        for point in found.path.points:
            np.testing.assert_array_equal(other.at(point.quorum).labels, found.at(point.quorum).labels)
            assert other.at(point.quorum).objective == found.at(point.quorum).objective


def test_left_overs_are_placed_as_in_the_search() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1, (40, 2)) for place in (0, 12, 30)])
    labels = np.repeat([0, 1, 2], 40)
    base = [np.where(rng.random(120) < 0.2, -1, labels // (1 + k % 2)) for k in range(6)]
    for one in base:
        one[7] = -1  # no source has a place for it, so only the data can give it one
    pool, evidence = bc.Pool.from_labels(base), PointEvidence(X)
    found = solve(pool, evidence=evidence)
    point = next(point for point in found.path.points if len(point) == 2)
    again = solve(pool, bc.Search(quorum=point.quorum, method="path"), evidence)
    assert again.labels[7] >= 0
    np.testing.assert_array_equal(found.at(point.quorum).labels, again.labels)
    np.testing.assert_allclose(found.at(point.quorum).significance, again.significance)
    kept = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(kept.at(point.quorum).labels, again.labels)


def test_data_gives_every_point_its_evidence() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1, (40, 2)) for place in (0, 12)])
    found = bc.ConsensusClustering(random_state=0).fit(X).consensus_
    two = found.at(n_groups=2)
    assert two.settings["evidence"] == "points"
    assert (two.significance < -3).all()
    assert max(point.evidence for point in found.path.points) > 0


def test_a_path_that_is_not_there_is_told() -> None:
    given = bc.find_consensus(BASE, quorum=0.5)
    assert given.path is None
    with pytest.raises(bc.errors.InputError, match="no quorum path to move on"):
        given.at(0.5)
    found = bc.find_consensus(BASE)
    with pytest.raises(
        bc.errors.InputError, match=r"n_groups=3: the path of this result has no such point; it has 2, 4"
    ):
        found.at(n_groups=3)
    with pytest.raises(bc.errors.InputError, match="give either quorum or n_groups"):
        found.at()


def test_a_sampled_path_has_one_point_for_each_number_of_groups() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 22_000)
    base = [
        np.where(rng.random(truth.size) < 0.2, rng.integers(0, 6, truth.size), truth // (1 + k % 2)) for k in range(12)
    ]
    found = bc.find_consensus(base)
    numbers = [len(point) for point in found.path.points]
    assert found.extraction["rows_searched"] < found.members.shape[0]
    assert len(set(numbers)) == len(numbers)
    assert len(found) in numbers
    # of points with one number of groups the best stays, but that of the answer before it
    for chosen in [point.quorum for point in found.trace.path.points]:
        assert float(chosen) in [point.quorum for point in replace(found.trace, chosen=chosen).finished.points]


def test_a_number_of_groups_in_place_of_a_quorum_is_pointed_out() -> None:
    with pytest.raises(ValueError, match=r"quorum=5: .* A number of groups is at\(n_groups=5\)"):
        bc.find_consensus([np.repeat([0, 1], 16)] * 4).at(5)
