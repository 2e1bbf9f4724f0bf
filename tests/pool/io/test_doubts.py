"""Tables of labels that can be read, but are not what they seem."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from biconsensus import Pool
from biconsensus.errors import PoolWarning
from biconsensus.pool.io._doubts import label_doubts


def labels(n_sources: int, m: int = 40) -> dict[str, np.ndarray]:
    """Groupings without anything strange in them."""
    rng = np.random.default_rng(0)
    return {f"run {k}": rng.integers(0, 3, m) for k in range(n_sources)}


def test_ordinary_groupings_raise_no_doubt() -> None:
    text = np.array(["cat", "dog", None, -1] * 10, dtype=object)
    gaps = np.ma.MaskedArray(np.arange(40) % 4 - 1, np.arange(40) % 5 == 0)
    assert label_doubts(labels(3) | {"text": text, "gaps": gaps}) == []


def test_measurements_are_named() -> None:
    rng = np.random.default_rng(0)
    height, comma = rng.normal(size=40), np.array([f"{x:.3f}".replace(".", ",") for x in rng.normal(size=40)], object)
    (doubt,) = label_doubts(labels(2) | {"height": height, "width": comma})
    assert "measurements" in doubt
    assert "'height', 'width'" in doubt
    assert "biconsensus cluster" in doubt
    assert label_doubts(labels(2) | {"halves": np.repeat([0.5, 1.5], 20)}) == [], "few values may be labels"


def test_a_long_table_is_told_from_three_groupings() -> None:
    items, people = np.repeat([f"item {i}" for i in range(20)], 4), np.tile(["a", "b", "c", "d"], 20)
    long = {"item": items, "person": people, "label": np.arange(80) % 3}
    (doubt,) = label_doubts(long)
    assert "table.pivot(index='item', columns='person', values='label')" in doubt
    assert label_doubts({"one": np.arange(80) % 4, "two": np.arange(80) % 5, "three": np.arange(80) % 3}) == []


def test_more_groupings_than_elements_and_a_single_grouping() -> None:
    assert "transpose" in label_doubts(labels(30, m=12))[0]
    assert "only one grouping" in label_doubts(labels(1))[0]


@pytest.mark.parametrize("word", ["?", "n/a", "Unknown"])
def test_words_for_nothing_are_groups_and_said_to_be(word: str) -> None:
    (doubt,) = label_doubts(labels(2) | {"person": np.array(["cat", "dog", word, "cat"] * 10, dtype=object)})
    assert repr(word) in doubt
    assert "leave the cells empty" in doubt


def test_codes_other_than_minus_one_are_pointed_out() -> None:
    (doubt,) = label_doubts(labels(2) | {"coded": np.array([0, 1, -1, -99] * 10)})
    assert "'-99'" in doubt


def test_measurements_with_one_decimal_are_named() -> None:
    length = np.random.default_rng(0).integers(43, 80, 150) / 10
    (doubt,) = label_doubts(labels(2, m=150) | {"length": length})
    assert "'length'" in doubt


def test_ids_that_repeat_are_pointed_out() -> None:
    (doubt,) = label_doubts(labels(2), ids=np.tile(np.arange(20), 2))
    assert "the id 0 comes more than once" in doubt
    assert label_doubts(labels(2), ids=np.arange(40)) == []


def test_dates_and_objects_are_labels() -> None:
    days = np.array(["1969-01-01", "1969-01-02"] * 20, dtype="datetime64[D]")
    assert label_doubts(labels(2) | {"day": days, "pair": np.array([(1, 2), None] * 20, dtype=object)}) == []


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.zeros((5, 30), dtype=int) + np.arange(5)[:, None] % 2, "transpose it"),
        (np.random.default_rng(0).random((50, 3)), "ConsensusClustering finds groups in a table of numbers"),
        (pd.DataFrame({"a": [0, 1] * 10, "b": [0, -99] * 10}), "'-99' is read as a group"),
        (np.arange(20)[:, None] % 4 == np.arange(4), r"use Pool\.from_matrix"),
        (pd.get_dummies(pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10})), r"use Pool\.from_matrix"),
        (pd.DataFrame({"a": ["x", "y"] * 10, "b": ["x", "?"] * 10}), "'?' is read as a group"),
        (pd.DataFrame({"a": [0, 1] * 10, "b": [0, 1] * 10}, index=[*range(10)] * 2), "comes more than once"),
    ],
    ids=["array", "points", "code", "members", "dummies", "word", "index"],
)
def test_a_table_in_memory_that_looks_like_something_else_warns(table: object, said: str) -> None:
    with pytest.warns(PoolWarning, match=said.replace("?", r"\?")):
        Pool.from_labels(table)


def test_who_describes_the_columns_is_not_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pool.from_labels(np.zeros((5, 30), dtype=int), names=[f"run {k}" for k in range(30)])
        Pool.from_labels(pd.DataFrame(np.zeros((5, 30), dtype=int)), columns=list(range(30)))
        Pool.from_labels(np.array([[0, 1], [0, -2], [1, -2]]), missing=-2)
        Pool.from_labels([[0, 1, 0, 1]] * 30)  # a list has one label vector for each grouping


def test_numbers_with_more_digits_than_a_float_has_are_measurements() -> None:
    rng = np.random.default_rng(0)
    text = np.array([repr(x) for x in rng.normal(size=40).tolist()], object)
    (doubt,) = label_doubts(labels(2) | {"height": text})
    assert "measurements" in doubt
    assert label_doubts(labels(2) | {"version": np.array(["1.10", "1.2"] * 20, object)}) == [], "few values: labels"


def test_dates_among_groupings_are_pointed_out() -> None:
    days = np.array(["2024-01-02", "2024-01-03", None, "2024-01-02 12:00"] * 10, dtype=object)
    (doubt,) = label_doubts(labels(2) | {"when": days, "local": np.array(["1.2.2024", "2.2.2024"] * 20, dtype=object)})
    assert "look like dates, not like groupings: 'when', 'local'" in doubt
    assert label_doubts(labels(2) | {"version": np.array(["1.2", "1.2.3"] * 20, dtype=object)}) == []


def test_words_that_differ_only_in_capitals_are_pointed_out() -> None:
    (doubt,) = label_doubts(labels(2) | {"person": np.array(["cat", "dog", "Cat", "cat"] * 10, dtype=object)})
    assert "different groups: 'Cat' and 'cat'" in doubt
    assert label_doubts(labels(2) | {"code": np.array(["a", "A", "b", "B"] * 10, dtype=object)}) == []
