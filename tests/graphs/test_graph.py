from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.graphs import read_graph
from biconsensus.graphs._graph import union_nodes
from tests.helpers.weighted_graph import EDGES, EXPECTED, weighted


def as_igraph():
    igraph = pytest.importorskip("igraph")
    return igraph.Graph.TupleList(EDGES, weights=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: EDGES,
        lambda: iter(EDGES),
        lambda: weighted(),
        lambda: weighted(nx.DiGraph),
        lambda: weighted(nx.MultiGraph),
        as_igraph,
    ],
    ids=["list", "iterator", "networkx", "digraph", "multigraph", "igraph"],
)
def test_every_form_gives_the_same_graph(make):
    graph = read_graph(make())
    assert graph.names == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert graph.n_edges == 4
    np.testing.assert_allclose(graph.degrees, EXPECTED.sum(0))


@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda a: csr_array(a).tocoo()])
def test_matrix_symmetric_and_directed(form):
    np.testing.assert_array_equal(read_graph(form(EXPECTED), nodes="abcd").adjacency.toarray(), EXPECTED)
    np.testing.assert_array_equal(read_graph(form(np.triu(EXPECTED))).adjacency.toarray(), EXPECTED)
    assert read_graph(form(EXPECTED), nodes="abcd").names == list("abcd")


def test_array_of_edges_and_weights_off():
    graph = read_graph(np.array([[0, 1], [1, 2], [5, 1], [0, 2]]))
    assert graph.names == [0, 1, 2, 5]
    assert read_graph(weighted(), weight=None).adjacency.sum() == 8


def test_loops_parallel_edges_isolated_nodes():
    graph = read_graph([("a", "a"), ("a", "b"), ("b", "a"), ("a", "b", 2)], nodes=["a", "b", "alone"])
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 4, 0], [4, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(graph.isolated, [False, False, True])
    loops = nx.Graph([(1, 1), (1, 2)])
    assert read_graph(loops).n_edges == 1
    assert read_graph(nx.MultiGraph([(1, 2), (1, 2)])).adjacency[0, 1] == 2


def test_both_directions_add_up():
    assert read_graph(nx.DiGraph([(1, 2), (2, 1), (2, 3)])).adjacency[0, 1] == 2
    assert read_graph(np.array([[0, 2.0, 0], [1, 0, 1], [0, 0, 0]])).adjacency[0, 1] == 3


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_name_the_edge(bad):
    with pytest.raises(InputError, match=r"1 edge has .* between 'b' and 'c'"):
        read_graph([("a", "b", 1.0), ("b", "c", bad)])
    with pytest.raises(InputError, match="negative or non-finite"):
        read_graph(np.array([[0, bad], [bad, 0]]))


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        ([], InputError, "no nodes"),
        ([(1, 2, 3, 4)], InputError, "edge 0"),
        ([(1, 2, "x")], InputError, "weight 'x'"),
        ({1: 2}, InputTypeError, "dict"),
        (7, InputTypeError, "int"),
        (csr_array(np.ones((2, 3))), InputError, r"square.*two kinds of nodes.*\[\[None, B\], \[B.T, None\]\]"),
    ],
)
def test_what_is_no_graph(data, error, text):
    with pytest.raises(error, match=text):
        read_graph(data)


def test_names_must_fit():
    with pytest.raises(InputError, match="2 names for an adjacency of 4"):
        read_graph(EXPECTED, nodes="ab")
    with pytest.raises(InputError, match="not in nodes"):
        read_graph(EDGES, nodes="abc")
    with pytest.raises(InputError, match="together: 'z' is no node"):
        read_graph(EDGES).positions(["a", "z"], "together")


def test_edges_and_subgraph():
    rng = np.random.default_rng(0)
    graph = read_graph(csr_array(rng.random((30, 30)) * (rng.random((30, 30)) < 0.2)))
    sources, targets, weights = graph.edges()
    assert (sources < targets).all()
    assert weights.sum() == pytest.approx(graph.adjacency.sum() / 2)
    nodes = np.array([3, 7, 20])
    part = graph.subgraph(nodes)
    assert part.names == [3, 7, 20]
    np.testing.assert_array_equal(part.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(nodes, nodes)])


def test_union_of_nodes():
    names, places = union_nodes([read_graph([("a", "b")]), read_graph([("c", "a")])])
    assert names == ["a", "b", "c"]
    assert [p.tolist() for p in places] == [[0, 1], [2, 0]]


TABLE = pd.DataFrame({"weight": [0.5, 1.5], "source": [3, 1], "target": [1, 2], "year": [1990, 1991]})


@pytest.mark.parametrize(
    "frame", [TABLE, pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE)], ids=["pandas", "polars", "arrow"]
)
def test_the_columns_of_a_table_of_edges_are_found_by_name_and_nodes_stay_whole_numbers(frame: object) -> None:
    graph = read_graph(frame)
    assert [repr(name) for name in graph.names] == ["3", "1", "2"]
    assert graph.adjacency.toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 1.5], [0, 1.5, 0]]


@pytest.mark.parametrize(
    ("names", "total"), [(("id", "source", "target"), 4), (("id", "from_node", "to_node", "calls"), 10)]
)
def test_what_stands_before_the_ends_is_no_weight(names: tuple[str, ...], total: float) -> None:
    columns = dict(zip(names, ([7, 8], ["a", "b"], ["b", "c"], [2, 3]), strict=False))
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        graph = read_graph(frame)
        assert graph.names == ["a", "b", "c"]
        assert graph.adjacency.sum() == total


def test_points_are_no_links() -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    for table in (points, np.column_stack([points, np.ones(20)]), pd.DataFrame(points), points.tolist()):
        with pytest.raises(InputError, match=r"hold numbers such as 0\.1257.*cluster points with ConsensusClustering"):
            read_graph(table)


def test_nodes_of_an_array_with_weights_stay_whole_numbers() -> None:
    assert [repr(name) for name in read_graph(np.array([[3, 1, 0.5], [1, 2, 1.5]])).names] == ["3", "1", "2"]
    assert read_graph(np.array([[0.5, 1.0], [1.0, 2.0], [2.0, 0.5], [1.0, 3.0]])).names == [0.5, 1, 2, 3]


def test_a_frame_whose_rows_and_columns_have_the_same_names_is_an_adjacency() -> None:
    names = list("abcd")
    graph = read_graph(pd.DataFrame(np.eye(4)[::-1], index=names, columns=names))
    assert graph.names == names
    assert graph.n_edges == 2
    with pytest.raises(InputError, match=r"edge 0 is \[.{79}; an edge is .* and an adjacency is a square NumPy array"):
        read_graph(np.eye(60).tolist())


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_weights_are_scaled_by_a_power_of_two(scale: float) -> None:
    plain, scaled = (read_graph([(0, 1, 3 * by), (1, 2, by)]).adjacency.toarray() for by in (1.0, scale))
    assert scaled.max() < 1.5
    assert np.allclose(scaled / scaled.max(), plain / plain.max(), rtol=1e-15)


def test_without_weights_every_form_has_edges_of_weight_one() -> None:
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [5, 7]})
    for data in ([("a", "b", 5), ("b", "c", 7)], frame, np.array([[0, 5.0, 0], [5, 0, 7], [0, 7, 0]])):
        assert set(read_graph(data).adjacency.data) == {5, 7}
        assert set(read_graph(data, weight=None).adjacency.data) == {1}


def test_the_weights_have_the_name_that_was_given() -> None:
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "year": [1990, 1991], "Value": [5, 7]})
    for table in (frame, pl.DataFrame(frame), pa.table(frame)):
        assert set(read_graph(table, weight="Value").adjacency.data) == {5, 7}
        with pytest.raises(UnknownNameError, match=r"column for the weights of the edges 'valu'\. Did you"):
            read_graph(table, weight="valu")
    graph = nx.Graph()
    graph.add_edge("a", "b", strength=3)
    assert read_graph(graph, weight="strength").adjacency[0, 1] == 3
    assert read_graph(graph).adjacency[0, 1] == 1
    assert read_graph(graph.edges(data=True), weight="strength").adjacency[0, 1] == 3
    with pytest.raises(UnknownNameError, match=r"edge attribute 'strenght'\. Did you mean 'strength'"):
        read_graph(graph, weight="strenght")
    with pytest.raises(UnknownNameError, match=r"edge attribute 'strength'\. There is none of any name"):
        read_graph(nx.path_graph(3), weight="strength")
    with pytest.raises(UnknownNameError, match="Valid names: weight"):
        read_graph(as_igraph(), weight="strength")


def test_a_graph_is_shown_in_one_line() -> None:
    assert repr(read_graph(EXPECTED)) == "Graph(4 nodes, 4 edges)"


def test_the_edges_of_networkx_are_an_edge_list():
    graph = nx.karate_club_graph()
    assert read_graph(graph.edges()).n_edges == read_graph(graph.edges).n_edges == 78
