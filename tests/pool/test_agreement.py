"""Agreement between sources, and which of them say the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.pool import _agreement
from biconsensus.pool._agreement import agreement_matrix, redundant_sources, source_agreement
from biconsensus.pool._diagnostics import diagnose
from biconsensus.pool.weights import weigh


def noisy(n_sources: int, m: int = 400, noise: float = 0.3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=m)
    return np.where(rng.random((n_sources, m)) < noise, rng.integers(4, size=(n_sources, m)), truth).astype(float)


def test_agreement_is_the_adjusted_rand_index() -> None:
    table = noisy(5)
    expected = [[adjusted_rand_score(a, b) for b in table] for a in table]
    assert agreement_matrix(bc.Pool.from_labels(list(table))) == pytest.approx(np.array(expected))


def test_agreement_is_on_what_both_sources_saw() -> None:
    table = noisy(3)
    table[0, :100] = table[1, 250:] = np.nan
    found = agreement_matrix(bc.Pool.from_labels(list(table)))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        seen = ~np.isnan(table[a] + table[b])
        assert found[a, b] == pytest.approx(adjusted_rand_score(table[a][seen], table[b][seen]))


def test_weights_by_agreement_do_not_punish_missing_cells() -> None:
    """Row 78 of the faults: two sources that say the same where both looked agree fully."""
    truth = np.repeat([0.0, 1.0, 2.0], 20)
    part = np.where(np.arange(60) % 3 == 0, np.nan, truth)
    pool = bc.Pool.from_labels([truth, truth, part])
    assert source_agreement(pool).tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert np.ptp(weigh("agreement", pool)) == pytest.approx(0.0)


def test_runs_of_one_setting_are_redundant_however_different_they_are() -> None:
    runs = [bc.Provenance("k-means", {"k": 8}, seed) for seed in range(3)] + [bc.Provenance("ward", {"k": 8}, 0)]
    table = np.random.default_rng(0).integers(8, size=(4, 200))
    assert [own.tolist() for own in redundant_sources(bc.Pool.from_labels(list(table), sources=runs))] == [[0, 1, 2]]


def test_sets_of_redundant_sources_are_joined_by_any_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = np.eye(7)
    for a, b in ((0, 5), (5, 3), (3, 6), (1, 4)):
        alike[a, b] = alike[b, a] = 0.96
    monkeypatch.setattr(_agreement, "agreement_matrix", lambda pool: alike)
    pool = bc.Pool.from_labels(list(np.random.default_rng(0).integers(8, size=(7, 20))))
    assert [own.tolist() for own in redundant_sources(pool)] == [[0, 3, 5, 6], [1, 4]]


def test_sources_of_one_name_without_a_setting_are_not_taken_for_runs() -> None:
    table = np.random.default_rng(0).integers(8, size=(2, 200))
    pool = bc.Pool.from_labels(list(table), sources=[bc.Provenance("by hand"), bc.Provenance("by hand")])
    assert redundant_sources(pool) == []


def test_ten_nearly_equal_sources_of_fifteen_are_reported_and_can_share_one_vote() -> None:
    """Row 92 of the faults."""
    rng = np.random.default_rng(1)
    wrong, truth = rng.integers(3, size=300), np.repeat([0, 1, 2], 100)
    same = [np.where(np.arange(300) == i, 2 - wrong, wrong) for i in range(10)]
    others = [np.where(rng.random(300) < 0.1, rng.integers(3, size=300), truth) for _ in range(5)]
    pool = bc.Pool.from_labels(same + others)
    assert [own.tolist() for own in diagnose(pool).redundant] == [list(range(10))]
    weights = weigh("shared", pool)
    assert weights[pool.source_of < 10].sum() / 3 == pytest.approx(1.0, abs=0.2)
    assert (weights[pool.source_of >= 10] > 0.5).all()
    settings = {"quorum": 0.5, "min_elements": 7, "min_candidates": 4, "unassigned": "nearest"}
    assert adjusted_rand_score(truth, bc.find_consensus(pool, **settings).labels) < 0.2
    assert adjusted_rand_score(truth, bc.find_consensus(pool, weights="shared", **settings).labels) > 0.8


def test_sources_that_are_like_no_other_keep_their_weight() -> None:
    table = np.random.default_rng(2).integers(5, size=(4, 500))
    assert weigh("shared", bc.Pool.from_labels(list(table))) == pytest.approx(np.ones(20), abs=1e-3)
