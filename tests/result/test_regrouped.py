"""Other groups for a pool, against sums over elements and candidates."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.result._regrouped import regrouped


@pytest.mark.parametrize("quorum", [0.5, 0.3])
@pytest.mark.parametrize("missing", [False, True])
def test_candidates_gains_and_loss_are_those_of_the_definition(quorum: float, missing: bool) -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [12, 9, 6])
    table = np.stack([np.where(rng.random(27) < 0.2, rng.integers(0, 3, 27), truth) for _ in range(5)]).astype(float)
    if missing:
        table[rng.random(table.shape) < 0.2] = np.nan
    base = bc.find_consensus(list(table), quorum=quorum, weights=[1, 2, 1, 1, 3])
    labels = np.where(np.arange(27) % 7 == 0, -1, 4 - truth)
    found = regrouped(base, labels, "given")

    held, weights = base.pool.to_matrix().toarray(), base.weights
    seen = ~np.isnan(table[base.pool.source_of].T)
    worth = weights * np.where(seen, held - quorum, 0.0)
    gains = np.stack([worth[labels == 4 - k].sum(axis=0) for k in range(3)], axis=1)
    backs = np.where(gains.max(axis=1) > 0, gains.argmax(axis=1), -1)
    total = np.array([gains[backs == k, k].sum() for k in range(3)])
    order = np.argsort(-total)
    np.testing.assert_allclose(found.gains, total[order])
    assert [c.tolist() for c in found.candidates] == [np.flatnonzero(backs == k).tolist() for k in order]
    assert found.objective == pytest.approx(2 * (1 - quorum) * (held * weights).sum() - 2 * total.sum())
    np.testing.assert_array_equal(found.labels, np.append(np.argsort(order), -1)[np.where(labels < 0, -1, truth)])
    assert found.settings["chosen_by"] == "given"
    assert [own.elements.tolist() for own in found] == [
        np.flatnonzero((labels >= 0) & (truth == k)).tolist() for k in order
    ]
