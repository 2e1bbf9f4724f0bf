"""Labels of unusual kinds: gaps of every type, categories with an order of their own, ranges of any width."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import biconsensus as bc


@pytest.mark.parametrize("gap", [None, float("nan"), np.float64("nan"), np.float32("nan"), np.datetime64("NaT")])
def test_gaps_of_every_type_among_text_are_not_seen(gap):
    pool = bc.Pool.from_labels([["a", gap, "b"]])
    assert pool.names == ("source 0: a", "source 0: b")
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, True, False]


def test_categories_keep_their_order_and_unused_ones_are_left_out():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.Categorical(["b", "a", None, "b", "c"], categories=["c", "b", "z", "a"]))
    pool = bc.Pool.from_labels(pd.DataFrame({"x": column}))
    assert pool.names == ("x: c", "x: b", "x: a")
    assert pool.to_matrix().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False, False]


def test_categories_that_are_numbers_keep_the_meaning_of_minus_one_and_of_the_missing_code():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.Categorical([3, -1, 9, 5], categories=[9, 5, 3, -1]))
    pool = bc.Pool.from_labels(pd.DataFrame({"x": column}), missing=9)
    assert pool.names == ("x: 5", "x: 3")
    assert pool.to_matrix().toarray().tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False]


@pytest.mark.parametrize("far", [3, 1011, 1012, 1013, 10**6, 2**40])
def test_numbers_in_any_range_are_counted_alike(far):
    table = np.array([[0, far, far, -1, 7]])
    pool = bc.Pool.from_labels(list(table))
    assert pool.names == tuple(f"source 0: {value}" for value in sorted({0, 7, far}))
    expected = [[int(value == group) for group in sorted({0, 7, far})] for value in table[0]]
    assert pool.to_matrix().toarray().astype(int).tolist() == expected


def test_truth_values_are_labels():
    pool = bc.Pool.from_labels([np.array([True, False, True])])
    assert pool.names == ("source 0: 0", "source 0: 1")
    mixed = bc.Pool.from_labels([["a", True, -1, 1.5]])
    assert mixed.names == ("source 0: True", "source 0: 1.5", "source 0: a")
    assert mixed.to_matrix().toarray()[2].tolist() == [0, 0, 0]


def test_the_plain_index_of_a_frame_is_no_identifier():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [0, 0, 1]})
    assert bc.Pool.from_labels(frame).ids is None
    assert bc.Pool.from_labels(frame.set_index(pd.Index([7, 8, 9]))).ids.tolist() == [7, 8, 9]


def test_categories_of_polars_are_their_texts():
    pl = pytest.importorskip("polars")
    texts = ["b", "a", None, "b"]
    plain = bc.Pool.from_labels([texts])
    for kind in (pl.Categorical, pl.Enum(["c", "b", "a"])):
        pool = bc.Pool.from_labels(pl.DataFrame({"source 0": pl.Series(texts, dtype=kind)}))
        assert pool.names == plain.names
        assert np.array_equal(pool.to_matrix().toarray(), plain.to_matrix().toarray())
        assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False]


def test_sparse_labels_are_refused_with_the_way_for_memberships():
    with pytest.raises(TypeError, match=r"labels is a sparse matrix.*Pool\.from_matrix"):
        bc.Pool.from_labels(csr_array(np.eye(3)))
