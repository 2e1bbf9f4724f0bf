"""Files of networks: what was written comes back, what is broken is named."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from biconsensus.errors import FileFormatError, UnknownNameError
from biconsensus.graphs import read_graph
from biconsensus.graphs._files import node_attributes
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


def test_more_forms_give_back_what_was_written(tmp_path):
    graph = weighted()
    nx.write_gexf(graph, tmp_path / "g.gexf")
    nx.write_edgelist(graph, tmp_path / "g.edgelist")
    scipy.io.mmwrite(tmp_path / "g.mtx", nx.to_scipy_sparse_array(graph))
    scipy.sparse.save_npz(tmp_path / "g.npz", scipy.sparse.csr_array(nx.to_scipy_sparse_array(graph)))
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress(b"source,target,weight\na,b,2\nb,c,1\nc,a,0.5\nc,d,3\n"))
    (tmp_path / "g.tsv").write_text("a\tb\t2\t10:31\nb\tc\t1\t10:32\nc\ta\t0.5\t\nc\td\t3\tlate\n")
    (tmp_path / "g.graph").write_text("% weighted\n4 4 001\n2 2 3 0.5\n1 2 3 1\n2 1 1 0.5 4 3\n3 3\n")
    for name in ("g.gexf", "g.edgelist", "g.csv.gz", "g.tsv", "g.mtx", "g.npz", "g.graph"):
        read = read_graph(tmp_path / name)
        order = [read.index[key] for key in ("abcd" if "a" in read.index else sorted(read.names))]
        np.testing.assert_array_equal(read.adjacency.toarray()[np.ix_(order, order)], EXPECTED, err_msg=name)


def test_adjacency_list_and_pairs_of_ends(tmp_path):
    graph = nx.path_graph(6)
    nx.write_adjlist(graph, tmp_path / "g.adjlist")
    assert read_graph(tmp_path / "g.adjlist").n_edges == 5
    assert read_graph(np.array(graph.edges).T).n_edges == 5


def test_blank_lines_of_gml_cost_nothing(tmp_path):
    blank = "\n" * 60_000
    (tmp_path / "g.gml").write_text(
        f"graph [{blank}\n node [ id 1 ]{blank}\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]"
    )
    start = time.process_time()
    assert read_graph(tmp_path / "g.gml").n_edges == 1
    assert time.process_time() - start < 5


def test_attributes_of_nodes_beside_parallel_edges(tmp_path):
    text = 'graph [ node [ id 1 label "a" value 3 ] node [ id 2 label "b" value 4 ]'
    (tmp_path / "g.gml").write_text(text + " edge [ source 1 target 2 ] edge [ source 1 target 2 ] ]")
    found = node_attributes(tmp_path / "g.gml")
    assert {name: values["value"] for name, values in found.items()} == dict(
        zip(read_graph(tmp_path / "g.gml").names, (3, 4))
    )
    with pytest.raises(FileFormatError, match="node attributes"):
        node_attributes(tmp_path / "g.csv")


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
        ("x.mtx", "not a matrix", "Matrix Market"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4000000000\n1 2 1\n", "4000000000 entries"),
        ("x.mtx", "%%MatrixMarket matrix array real general\n90000 90000\n1\n", "4050000000 entries"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9000000000 9000000000 1\n1 2 1\n", "nodes need"),
        ("x.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", "weights are numbers"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n% of pairs\n3 3 1\n3 2 1x5\n", "numbers hold 'x'"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n3 2 1" + "\0" * 99 + ".5\n", "hold '"),
        ("x.npz", "not an archive", "sparse array"),
        ("x.metis", "2 1", "METIS"),
        ("x.gexf", "<not", "GEXF"),
        ("x.csv.gz", "plain text", "unpacked"),
    ],
)
def test_broken_files(tmp_path, name, content, text):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError, match=text):
        read_graph(tmp_path / name)


def test_sparse_arrays_with_places_outside_are_refused(tmp_path):
    with (tmp_path / "x.npz").open("wb") as stream:
        np.savez(stream, indices=[-5, 0], indptr=[0, 1, 2], format=b"csr", shape=[2, 2], data=[1.0, 1.0])
    with pytest.raises(FileFormatError, match="sparse array"):
        read_graph(tmp_path / "x.npz")


def test_packed_files_stop_unpacking_where_memory_would_end(tmp_path, monkeypatch):
    (tmp_path / "x.edges.gz").write_bytes(gzip.compress(b"a b\n" * 1000))
    assert read_graph(tmp_path / "x.edges.gz").n_nodes == 2
    monkeypatch.setattr("biconsensus.graphs._files.available_memory", lambda: 7999)
    with pytest.raises(FileFormatError, match="unpacks to more than half of the 7999 bytes"):
        read_graph(tmp_path / "x.edges.gz")


def test_missing_file():
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_graph(Path("nowhere.gml"))


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [("football", 115, 613), ("polbooks", 105, 441), ("karate_club", 34, 78), ("lesmis", 77, 254)],
)
def test_the_published_networks(data, name, nodes, edges):
    graph = read_graph(data / "networks" / f"{name}.gml")
    assert (graph.n_nodes, graph.n_edges) == (nodes, edges)


@pytest.mark.parametrize("first", ["person,friend,calls", "# calls of a day\nperson,friend,calls", "a b,c d,calls"])
def test_an_edge_list_with_a_header_of_any_names(first: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(first + "\nann,bob,2\nbob,cy,1\ncy,dan,\n")
    graph = read_graph(path)
    assert list(graph.names) == ["ann", "bob", "cy", "dan"]
    assert graph.adjacency.sum() == 8


@pytest.mark.parametrize(
    "first",
    [
        "Source node,Target node",
        "node 1\tnode 2",
        '"From_Node_ID","To_Node_ID"',
        "person,friend",
        "first end,second end",
    ],
)
def test_names_of_ends_are_no_link(first: str, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text(first + "\n1,2\n2,3\n")
    assert list(read_graph(path).names) == ["1", "2", "3"]
    path.write_text(first + "\nann,bob\nbob,cy\n")
    known = not first.startswith(("person", "first"))
    assert read_graph(path).n_nodes == (3 if known else 5), "words above words may be two towns"


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("weight,source,target\n2,ann,bob\n3,bob,cy\n", 5),
        ("id,source,target,weight\n1,ann,bob,2\n2,bob,cy,3\n", 5),
        ("id,source,target\n7,ann,bob\n8,bob,cy\n", 2),
        ("id,from,to,calls\n7,ann,bob,2\n8,bob,cy,3\n", 5),
        ("from,weight,to\nann,2,bob\nbob,3,cy\n", 5),
        (",source,target,weight\n0,ann,bob,2\n1,bob,cy,3\n", 5),
    ],
)
def test_columns_of_ends_are_found_by_their_names(text: str, weights: float, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text(text)
    graph = read_graph(path)
    assert list(graph.names) == ["ann", "bob", "cy"]
    assert graph.adjacency.sum() == 2 * weights


def test_a_line_of_nodes_above_their_numbers_is_a_link(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("hub,7\n1,2\n2,hub\n")
    assert read_graph(path).n_nodes == 4


@pytest.mark.parametrize(
    ("text", "line"), [("ann,bob,two\nbob,cy,1\n", 1), ("a,b,1\nb,c,1\nc,d,friend\n", 3), ("p,q,r\na,b,x\n", 1)]
)
def test_a_weight_that_is_no_number_says_what_to_do(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(
        FileFormatError, match=rf"line {line}, column 3: .* is no number; an edge is: node node \[weight\]"
    ):
        read_graph(path)
    assert read_graph(path, weight=None).n_nodes >= 3, "what the message proposes works"


def test_weights_are_found_by_the_name_of_their_column(tmp_path: Path) -> None:
    path = tmp_path / "gephi.csv"
    path.write_text("Source,Target,Type,Weight,Years\na,b,Undirected,2,9\nb,c,Undirected,3,9\n")
    assert set(read_graph(path).adjacency.data) == {2, 3}
    assert set(read_graph(path, weight="years").adjacency.data) == {9}
    with pytest.raises(UnknownNameError, match="column for the weights of the edges 'strength'"):
        read_graph(path, weight="strength")


def test_tables_that_pandas_wrote_with_its_index(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [2, 3]}).to_csv(path)
    assert read_graph(path).names == ["a", "b", "c"]
    assert set(read_graph(path).adjacency.data) == {2, 3}
    nx.to_pandas_adjacency(weighted(), nodelist=list("abcd")).to_csv(path)
    assert read_graph(path).names == list("abcd")
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), EXPECTED)
    assert set(read_graph(path, weight=None).adjacency.data) == {1}
    path.write_text(",a,b\na,0,1\nb,x,0\n")
    with pytest.raises(FileFormatError, match="line 3: an adjacency needs 2 numbers after the name"):
        read_graph(path)
    path.write_text(",".join(["", *"abcdefgh" * 30]) + "\n")
    with pytest.raises(FileFormatError, match=r"line 1: '.{79} is no edge"):
        read_graph(path)


@pytest.mark.parametrize("header", ["", "a,b,c,d,e,f"])
def test_a_square_table_of_numbers_is_an_adjacency(tmp_path: Path, header: str) -> None:
    path = tmp_path / "adjacency.csv"
    ring = np.roll(np.eye(6), 1, axis=1) * 2
    np.savetxt(path, ring + ring.T, fmt="%g", delimiter=",", header=header, comments="")
    graph = read_graph(path)
    np.testing.assert_array_equal(graph.adjacency.toarray(), ring + ring.T)
    assert graph.names == (header.split(",") if header else list(range(6)))
    assert set(read_graph(path, weight=None).adjacency.data) == {1}
    path.write_text("".join(f"{k},{k + 1},1,2,3,4\n" for k in range(9)))
    assert read_graph(path).n_edges == 9, "more lines than columns: an edge list with attributes"
    path.write_text("".join(f"{k},{k + 1},1,2,3,word\n" for k in range(6)))
    assert read_graph(path).n_edges == 6
