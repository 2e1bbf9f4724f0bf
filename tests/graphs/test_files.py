"""Files of networks: what was written comes back, what is broken is named."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from biconsensus.errors import FileFormatError, InputError
from biconsensus.graphs import read_graph
from biconsensus.graphs._files import read_graph_file
from tests.helpers.weighted_graph import EXPECTED, weighted


def test_files_give_back_what_was_written(tmp_path):
    graph = weighted()
    nx.write_gml(graph, tmp_path / "g.gml")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    nx.write_pajek(graph, tmp_path / "g.net")
    nx.write_weighted_edgelist(graph, tmp_path / "g.edges")
    (tmp_path / "g.csv").write_text("\ufeff# from,to,weight\na,b,2\nb,c,1\nc,a,0.5\nc,d,3\n", encoding="utf-8")
    for suffix in ("gml", "graphml", "net", "edges", "csv"):
        read = read_graph(tmp_path / f"g.{suffix}")
        order = [read.index[name] for name in "abcd"]
        np.testing.assert_array_equal(read.adjacency.toarray()[np.ix_(order, order)], EXPECTED, err_msg=suffix)


def test_gml_with_parallel_edges_and_without_labels(tmp_path):
    (tmp_path / "g.gml").write_text(
        "graph\n[\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n edge [ source 1 target 2 ]\n]\n"
    )
    graph = read_graph(str(tmp_path / "g.gml"))
    assert graph.adjacency[0, 1] == 2
    assert graph.names == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.csv", "a,b,1\na,b,c,d\n", "line 2"),
        ("x.csv", "a,b,heavy\n", "line 1, column 3"),
        ("x.txt", "", "no edges"),
        ("x.gml", "graph [ node [", "GML"),
        ("x.graphml", "<not", "GraphML"),
        ("x.net", "nothing", "Vertices"),
        ("x.xls", "", "unknown suffix"),
    ],
)
def test_broken_files(tmp_path, name, content, text):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError, match=text):
        read_graph(tmp_path / name)


def test_missing_file():
    with pytest.raises(InputError, match="no file"):
        read_graph_file(Path("nowhere.gml"))


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [("football", 115, 613), ("polbooks", 105, 441), ("karate_club", 34, 78), ("lesmis", 77, 254)],
)
def test_the_published_networks(data, name, nodes, edges):
    graph = read_graph(data / "networks" / f"{name}.gml")
    assert (graph.n_nodes, graph.n_edges) == (nodes, edges)
