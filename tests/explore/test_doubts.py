"""Tables and networks that can be read, but are not what they seem."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biconsensus.explore._doubts import label_doubts, named_ends, network_doubt, network_line, unit_doubt
from biconsensus.graphs import read_graph


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


def test_the_header_of_an_edge_list_that_became_a_link() -> None:
    ring = [(f"n{k}", f"n{(k + 1) % 20}") for k in range(20)]
    doubt = network_doubt(read_graph([("boss", "worker"), *ring]))
    assert doubt is not None
    assert "line 1 (boss, worker)" in doubt
    assert network_doubt(read_graph(ring)) is None
    assert network_doubt(read_graph([("0", "1"), *ring])) is None, "numbers are no header"


def test_what_a_network_holds() -> None:
    assert network_line("n", read_graph([(0, 1), (1, 2)])) == "n: 3 nodes, 2 links."
    alone = read_graph([(0, 1, 0.5), (1, 2, 3)], nodes=range(5))
    assert network_line("n", alone) == "n: 5 nodes, 2 links, weights from 0.5 to 3, 2 nodes without a link."


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("Source;Target;Weight", ["Source", "Target"]),
        ('"from","to"', ["from", "to"]),
        ("run 0,run 1", []),
        ("source", []),
        ("source,target,a,b,c,d", []),
    ],
)
def test_edge_lists_are_known_by_their_columns(tmp_path: Path, line: str, ends: list[str]) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"{line}\n1,2\n", encoding="utf-8-sig")
    assert named_ends(path) == ends
    assert named_ends(path.with_suffix(".parquet")) == []


def test_links_that_never_meet_are_no_network() -> None:
    doubt = network_doubt(read_graph([(f"{k}.5", f"{k}.7") for k in range(20)]))
    assert doubt is not None
    assert "no two links" in doubt


def test_a_column_that_outweighs_the_others_is_named() -> None:
    X = np.random.default_rng(0).random((50, 5))
    names = ["q1", "q2", "q3", "q4", "age"]
    assert unit_doubt(X, names) is None
    doubt = unit_doubt(X * [1, 1, 1, 1, 60], names)
    assert doubt is not None
    assert "column 'age'" in doubt
    assert unit_doubt(X * [1, 10, 100, 1, 60], names) is None, "these are standardised"
    assert unit_doubt(np.ones((50, 2)), names) is None
