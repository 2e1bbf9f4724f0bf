"""Camps: which of them are one, and where sources go."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus.modes import _camps
from biconsensus.modes._description import SourceTable

COARSE, FINE = np.arange(240) // 80, np.arange(240) // 20
ACROSS = np.arange(240) % 4


def of(*sources: np.ndarray) -> SourceTable:
    """The table of some sources, with a row for each element: one more source, which is left out, tells all apart."""
    table = SourceTable.of(bc.Pool.from_labels(np.column_stack([*sources, np.arange(240)])))
    assert np.array_equal(table.rows, np.arange(240))
    return table.select(np.arange(len(sources)))


def camps_of(found: list[_camps.Camp]) -> list[list[int]]:
    return sorted(camp.sources.tolist() for camp in found)


def test_camps_that_differ_in_granularity_only_become_one_and_others_stay() -> None:
    table = of(FINE, ACROSS, COARSE, FINE, ACROSS, COARSE)
    for camps in ([FINE, ACROSS, COARSE], [ACROSS, COARSE, FINE], [COARSE, FINE, ACROSS]):
        found = _camps._merged(table, list(camps))
        assert camps_of(found) == [[0, 2, 3, 5], [1, 4]]
        # the finer groups say what the coarser ones say, and more
        kept = next(camp for camp in found if camp.sources.size == 4)
        assert bc.metrics.ari(kept.groups, FINE) == 1.0


def test_three_camps_of_one_tree_become_one() -> None:
    middle = np.arange(240) // 40
    found = _camps._merged(of(FINE, middle, COARSE, FINE, middle, COARSE), [COARSE, middle, FINE])
    assert camps_of(found) == [[0, 1, 2, 3, 4, 5]]


def test_camps_come_in_the_order_of_what_they_save() -> None:
    found = _camps._merged(of(*[ACROSS] * 4, *[COARSE] * 2), [COARSE, ACROSS])
    assert [camp.sources.tolist() for camp in found] == [[0, 1, 2, 3], [4, 5]]
    # a source that no camp describes is in none
    (alone,) = _camps._merged(of(ACROSS, COARSE, COARSE), [COARSE])
    assert alone.sources.tolist() == [1, 2]


def test_sources_move_to_the_camp_that_describes_them_and_a_camp_of_one_is_none() -> None:
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(240) < 0.1, rng.permutation(ACROSS), ACROSS) for _ in range(3)]
    table = of(COARSE, *noisy, COARSE)
    blurred = np.where(rng.random(240) < 0.2, rng.permutation(ACROSS), ACROSS)
    groups = _camps._settled(table, [COARSE, blurred])
    assert bc.metrics.ari(groups[0], COARSE) == 1.0
    assert bc.metrics.ari(blurred, ACROSS) < 0.6 < 0.95 < bc.metrics.ari(groups[1], ACROSS)
    assert len(_camps._settled(of(COARSE, *noisy), [COARSE, ACROSS])) == 1
