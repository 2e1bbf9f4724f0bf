"""Tables of numbers and networks that can be read, but are not what they seem."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from biconsensus.explore._doubts import grouping_doubt, named_ends, network_doubt, network_line, unit_doubt
from biconsensus.graphs import read_graph


def test_the_header_of_an_edge_list_that_became_a_link() -> None:
    ring = [(f"n{k}", f"n{(k + 1) % 20}") for k in range(20)]
    doubt = network_doubt(read_graph([("boss", "worker"), *ring]))
    assert doubt is not None
    assert "line 1 (boss, worker)" in doubt
    assert network_doubt(read_graph(ring)) is None
    assert network_doubt(read_graph([("0", "1"), *ring])) is None, "numbers are no header"


def test_what_a_network_holds() -> None:
    assert network_line("n", read_graph([(0, 1)])) == "n: 2 nodes, 1 link."
    assert network_line("n", read_graph([(0, 1), (1, 2)])) == "n: 3 nodes, 2 links."
    oneway = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    for directed in (oneway, nx.DiGraph(oneway)):
        assert network_line("n", read_graph(directed)) == "n: 3 nodes, 2 links, directions left out."
    assert network_line("n", read_graph(nx.Graph(oneway))) == "n: 3 nodes, 2 links."
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
    packed = tmp_path / "edges.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert named_ends(packed) == ends


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


def test_a_table_of_numbers_that_could_be_labels_is_pointed_out() -> None:
    rng = np.random.default_rng(0)
    runs = np.c_[rng.integers(0, 3, 60), rng.integers(-1, 5, 60)].astype(float)
    doubt = grouping_doubt(runs)
    assert doubt is not None
    assert "biconsensus merge" in doubt
    assert grouping_doubt(runs + 1.0) is None, "answers from 1 to 5"
    assert grouping_doubt(rng.integers(0, 2, (60, 5)).astype(float)) is None, "yes and no"
    assert grouping_doubt(np.c_[runs, rng.normal(size=60)]) is None
    assert grouping_doubt(rng.integers(0, 40, (60, 3)).astype(float)) is None, "counts"


def test_nodes_that_are_measurements_are_pointed_out() -> None:
    rng = np.random.default_rng(0)
    doubt = network_doubt(read_graph([(str(a), str(b)) for a, b in rng.random((40, 2)).round(1) + 0.05]))
    assert doubt is not None
    assert "numbers with decimals" in doubt
