"""The audit finds methods that read the order of their input, and clears those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.baselines import audit
from biconsensus.errors import InputError, UnknownNameError

TRUTH = np.repeat([0, 1, 2], 20)
RNG = np.random.default_rng(0)
TABLE = np.column_stack([np.where(RNG.random(60) < 0.2, RNG.integers(3, size=60), TRUTH) for _ in range(7)])


def blocks_of_rows(table: Any, n_groups: int) -> np.ndarray:
    """Reads the truth from a sorted file."""
    return np.arange(len(table)) * n_groups // len(table)


@pytest.mark.parametrize("name", ["evidence_accumulation", "lwea", "nwca"])
def test_deterministic_trees_do_not_depend_on_order(name: str) -> None:
    found = audit(name, TABLE, 3, truth=TRUTH)
    assert found.depends_on == ()
    assert found.score == pytest.approx(found.shuffled_score)
    assert str(found).startswith("The answer does not depend on the order")


def test_a_method_that_reads_the_order_of_elements_is_found() -> None:
    found = audit(blocks_of_rows, TABLE, 3, truth=TRUTH)
    assert found.depends_on == ("rows",)
    assert found.score == 1.0
    assert found.shuffled_score is not None
    assert found.shuffled_score < 0.2
    assert found.seeds.size == 0
    assert "NMI with the truth: 1.000 in the given order" in str(found)


def test_methods_that_read_the_order_of_sources_or_names_of_labels_are_found() -> None:
    assert audit(lambda table: table[:, 0], TABLE).depends_on == ("sources",)
    assert audit(lambda table: np.where(table.min(axis=1) == table.min(), 0, 1), TABLE).depends_on == ("labels",)


def test_randomness_is_told_from_order() -> None:
    def draw(table: Any, n_groups: int, random_state: int) -> np.ndarray:
        return np.random.default_rng(random_state).integers(n_groups, size=len(table))

    found = audit(draw, TABLE, 3, n_shuffles=3)
    assert found.seeds.size == 3
    assert found.seeds.max() < 0.2
    assert "seeds alone" in str(found)


def test_a_pool_serves_as_well_as_a_table() -> None:
    assert audit("nwca", bc.Pool.from_labels(TABLE), 3).depends_on == ()


def test_bad_input_is_named() -> None:
    with pytest.raises(UnknownNameError, match="nwca"):
        audit("nwac", TABLE, 3)
    with pytest.raises(InputError, match="truth has shape"):
        audit("nwca", TABLE, 3, truth=TRUTH[:-1])
    with pytest.raises(InputError, match="method returned shape"):
        audit(lambda table: table, TABLE)
    with pytest.raises(InputError, match="not seen by every source"):
        audit("nwca", np.where(np.arange(60)[:, None] == 0, np.nan, TABLE), 3)
    with pytest.raises(InputError, match="share elements"):
        audit("nwca", bc.Pool.from_groups([[0, 1], [1, 2]], 3, sources=["a", "a"]), 2)
    with pytest.raises(InputError, match="n_shuffles"):
        audit("nwca", TABLE, 3, n_shuffles=0)
