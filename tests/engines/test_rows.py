"""Distinct rows are numbered exactly, whatever the hash does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biconsensus.engines import _rows as rows_module
from biconsensus.engines._rows import RowIndex


def reference(words):
    """Numbers in the order of first appearance, by a dictionary."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in words])


def ranked(index, numbers):
    return index.ranks()[numbers]


def table(seed, n, width, spread):
    return np.random.default_rng(seed).integers(0, spread, (n, width)).astype(np.uint64)


@pytest.mark.parametrize("bits", [64, 10, 3, 0])
@pytest.mark.parametrize("spread", [2, 7, 1000])
def test_collisions_cannot_change_the_answer(monkeypatch, bits, spread):
    full = rows_module.hash_words
    low = np.uint64(64 - bits)
    weak = {0: lambda w: np.zeros(len(w), np.uint64)}.get(bits, lambda w: (full(w) >> low) << low)
    monkeypatch.setattr(rows_module, "hash_words", weak)
    words = table(0, 800, 3, spread)
    index = RowIndex(3)
    places = np.arange(800).reshape(4, 200)
    numbers = np.concatenate([index.number(words[part], part) for part in places])
    assert (ranked(index, numbers) == reference(words)).all()
    assert (index.rows[numbers] == words).all()
    assert (index.number(words) == numbers).all()


def test_table_of_slots_grows():
    words = table(1, 60_000, 2, 2**40)
    index = RowIndex(2)
    numbers = index.number(words, np.arange(60_000))
    assert index.size == 60_000
    assert (ranked(index, numbers) == np.arange(60_000)).all()
    assert (index.first[numbers] == np.arange(60_000)).all()


def test_unknown_rows_get_minus_one_and_are_not_learnt():
    index = RowIndex(1)
    index.number(np.array([[5], [6]], np.uint64), np.arange(2))
    assert index.number(np.array([[6], [7], [5]], np.uint64)).tolist() == [1, -1, 0]
    assert index.size == 2


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=60), st.integers(1, 7))
@settings(deadline=None)
def test_any_division_into_indexes_gives_the_same_rows(cells, n_parts):
    words = np.array(cells, np.uint64)
    places = np.arange(len(words))
    parts = np.array_split(places, n_parts)
    own = []
    for part in parts:
        index = RowIndex(2)
        index.number(words[part], part)
        own.append(index)
    whole = own[-1]
    for index in own[:-1]:
        whole.absorb(index.rows, index.first)
    whole.renumber(whole.ranks())
    assert (whole.number(words) == reference(words)).all()
    assert (words[whole.first] == whole.rows).all()
