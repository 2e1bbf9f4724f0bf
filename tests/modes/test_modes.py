"""Several answers where sources form several camps."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus import metrics
from biconsensus.errors import InputError
from biconsensus.modes._modes import _with_rest
from tests.helpers.planted_modes import planted_modes

SPECIES, PLACE = np.repeat([0, 1, 2], 40), np.tile([0, 1], 60)
MAJORITY = bc.Search(quorum=0.5)


@pytest.mark.parametrize("n_modes", [1, 2, 3, 4])
def test_planted_modes_are_found_with_their_sources_and_groups(n_modes: int) -> None:
    for seed in range(2):
        table, owner = planted_modes(np.random.default_rng([n_modes, seed]), n_modes)
        found = bc.find_modes(table, MAJORITY)
        assert len(found) == n_modes
        assert metrics.ari(owner, found.source_modes) == 1.0
        assert [mode.explained for mode in found] == pytest.approx(
            [np.average(found.explains[mode.sources, k]) for k, mode in enumerate(found)], abs=0.1
        )


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_elements_and_sources_and_names_of_labels_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, _ = planted_modes(rng, 2, m=120)
    rows, columns = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    found, again = bc.find_modes(table, MAJORITY), bc.find_modes(7 - table[rows][:, columns], MAJORITY)
    assert metrics.ari(found.source_modes[columns], again.source_modes) == 1.0
    # the consensus of a mode may differ in ties
    assert found.explains.sum() == pytest.approx(again.explains.sum(), rel=0.05)


def test_differences_of_granularity_are_one_mode() -> None:
    rng = np.random.default_rng(0)
    coarse, middle, fine = (np.arange(240) // width for width in (120, 40, 10))
    table = [coarse, coarse, middle, middle, fine, fine]
    noisy = [np.where(rng.random(240) < 0.1, rng.permutation(source), source) for source in table]
    for pool in (table, noisy):
        found = bc.find_modes(pool)
        assert len(found) == 1
        assert found.source_modes.tolist() == [0] * 6
        assert found.summary.startswith("The sources form one camp")


def test_sources_that_agree_with_none_are_in_no_mode() -> None:
    rng = np.random.default_rng(1)
    table = np.column_stack([*[SPECIES] * 4, rng.integers(0, 4, 120), rng.integers(0, 4, 120)])
    found = bc.find_modes(table)
    assert found.source_modes.tolist() == [0, 0, 0, 0, -1, -1]
    assert found.summary.endswith("2 of 6 sources agree with no other.")
    nothing = bc.find_modes(rng.integers(0, 4, (120, 6)))
    assert len(nothing) == 0
    assert "no two of the 6 sources agree" in nothing.summary
    assert nothing.explains.shape == (6, 0)
    assert "<table>" not in nothing.to_html()


def test_missing_labels_and_overlapping_candidates() -> None:
    rng = np.random.default_rng(2)
    table = np.column_stack([SPECIES, PLACE] * 4).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    assert bc.find_modes(table).source_modes.tolist() == [0, 1] * 4
    # a source whose groups overlap: every combination of its groups is a label
    groups = [np.flatnonzero(k == SPECIES) for k in range(3)] + [np.flatnonzero(k != SPECIES) for k in range(3)]
    both = bc.Pool.from_groups(groups, 120, sources=["a"] * 3 + ["b"] * 3)
    assert bc.find_modes(both + bc.Pool.from_labels([PLACE, PLACE])).source_modes.tolist() == [0, 0, 1, 1]


def test_what_modes_share_and_how_they_are_shown() -> None:
    species = np.repeat([0, 1, 2, 3], 30)
    other = np.where(species == 0, 2, PLACE)  # the first group is common ground
    names = ["<b>a", "b", "c", "d", "e", "f"]
    found = bc.find_modes(bc.Pool.from_labels([species, species, species, other, other, other], names=names))
    assert len(found) == 2
    (shared,) = found.shared_groups
    assert (shared.n_elements, shared.likeness) == (30, 1.0)
    assert all((found[k].labels == shared.groups[k]).sum() == 30 for k in shared.modes)
    assert found.agreement[0, 1] == metrics.ari(found[0].labels, found[1].labels)
    assert "&lt;b&gt;a" in found.to_html()
    assert "<b>a" not in found._repr_html_()
    frame = found.to_frame()
    assert frame["mode"].tolist() == found.source_modes.tolist()
    assert frame.filter(like="explained").shape == (6, 2)
    assert repr(found) == "Modes(2 modes of 6 sources and 120 elements)"


def test_the_small_table_counts_what_it_does_not_name() -> None:
    rng = np.random.default_rng(4)
    found = bc.find_modes(np.column_stack([*[SPECIES] * 10, *[PLACE] * 3, rng.integers(0, 4, 120)]), MAJORITY)
    assert found.summary == (
        "The sources form 2 camps. Mode 0: 10 sources, 3 groups, 100% explained; mode 1: 3 sources, 2 groups, 100% "
        "explained. 1 of 14 sources agrees with no other."
    )
    cells = dict(re.findall(r"<tr><th>([^<]+)</th>(.*?)</tr>", found.to_html()))
    first, second = ({name: re.findall(r"<td>(.*?)</td>", line)[k] for name, line in cells.items()} for k in (0, 1))
    assert first["which sources"] == ", ".join(f"source {k}" for k in range(8)) + " and 2 more"
    assert second["which sources"] == "source 10, source 11, source 12"
    assert (first["sizes of groups"], second["sizes of groups"]) == ("40, 40, 40", "60, 60")
    assert first["alike (ARI)"] == f"mode 1: {metrics.ari(SPECIES, PLACE):.2f}"
    one = bc.find_modes([SPECIES] * 2, MAJORITY)
    assert "<th>alike (ARI)</th><td>–</td>" in one.to_html()
    assert one.summary == "The sources form one camp: 3 groups. They explain 100% of what the sources say."


def test_a_consensus_asks_for_its_modes_with_its_own_settings() -> None:
    c = bc.find_consensus([SPECIES] * 3 + [PLACE] * 3, quorum=0.5, min_elements=9, method="joint")
    for mode in c.modes():
        assert mode.consensus.settings["quorum"] == 0.5
        assert mode.consensus.settings["min_elements"] == 9
    own = bc.find_consensus([SPECIES] * 3, weights=lambda pool: pool.weights)
    with pytest.raises(InputError, match="weights: this result was found with an object that a result does not keep"):
        own.modes()


def test_one_source_is_refused() -> None:
    with pytest.raises(InputError, match="it has 1 source"):
        bc.find_modes([SPECIES])


def test_very_many_rows_are_looked_at_by_a_sample() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 8, (30_000, 2))
    table = np.column_stack([truth[:, [k % 2]] for k in range(12)])
    wrong = rng.random(table.shape) < 0.2
    table[wrong] = rng.integers(0, 8, wrong.sum())
    assert metrics.ari([0, 1] * 6, bc.find_modes(table, MAJORITY).source_modes) == 1.0


def test_rows_in_no_group_are_one_more_group() -> None:
    assert _with_rest(np.array([0, -1, 1, -1])).tolist() == [0, 2, 1, 2]
    assert _with_rest(np.array([1, 0])).tolist() == [1, 0]
    assert _with_rest(np.array([-1, -1])).tolist() == [0, 0]
