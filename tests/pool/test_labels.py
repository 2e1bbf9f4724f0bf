"""Labels of every kind: what is in no group, what was not seen, and the names that stay."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import biconsensus as bc


def kept(labels, **options):
    """Names of the candidates, who is in them, and who was not seen by the first source."""
    pool = bc.Pool.from_labels(labels, **options)
    groups = {name: np.flatnonzero(column).tolist() for name, column in zip(pool.names, pool.to_matrix().toarray().T)}
    hidden = [] if pool.unseen is None else np.flatnonzero(pool.unseen.toarray()[pool.inverse][:, 0]).tolist()
    return groups, hidden


@pytest.mark.parametrize(
    ("vector", "options", "groups", "hidden"),
    [
        (["b", "a", -1, "b"], {}, {"a": [1], "b": [0, 3]}, []),
        (["b", "a", None, "b"], {}, {"a": [1], "b": [0, 3]}, [2]),
        (np.array(["b", "a", np.nan, -1.0], dtype=object), {}, {"a": [1], "b": [0]}, [2]),
        ([True, False, True, True], {}, {"0": [1], "1": [0, 2, 3]}, []),
        ([(0, 1), (0, 1), (2, 3), (2, 3)], {}, {"(0, 1)": [0, 1], "(2, 3)": [2, 3]}, []),
        ([-5, 3, -1, 3], {}, {"-5": [0], "3": [1, 3]}, []),
        ([10**12, 3, -(10**12), 3], {}, {str(-(10**12)): [2], "3": [1, 3], str(10**12): [0]}, []),
        ([7.0, 2.5, -1.0, np.nan], {}, {"2.5": [1], "7": [0]}, [3]),
        ([7, 9, -1, 7], {"missing": 9}, {"7": [0, 3]}, [1]),
        ([7.0, 9.0, -1.0, np.nan], {"missing": 9}, {"7": [0]}, [1, 3]),
        (np.ma.MaskedArray([4, 9, -1, 4], mask=[0, 0, 0, 1]), {"missing": 9}, {"4": [0]}, [1, 3]),
        (np.ma.MaskedArray([4.0, np.nan, -1, 4], mask=[0, 0, 0, 1]), {}, {"4": [0]}, [1, 3]),
        (pd.Series(pd.Categorical([4, 9, -1, None])), {}, {"4": [0], "9": [1]}, [3]),
        (pd.Series(pd.Categorical([4, 9, -1, None])), {"missing": 9}, {"4": [0]}, [1, 3]),
        (pd.Series([4, 9, -1, None], dtype="Int64"), {"missing": 9}, {"4": [0]}, [1, 3]),
        (np.array([0, 255, 3, 255], np.uint8), {}, {"0": [0], "3": [2], "255": [1, 3]}, []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_vector(vector, options, groups, hidden):
    expected = {f"source 0: {name}": elements for name, elements in groups.items()}
    assert kept([vector], **options) == (expected, hidden)


def test_a_single_vector_is_one_grouping():
    for vector in (np.array([0, 0, 1]), [0, 0, 1], iter([np.array([0, 0, 1])])):
        assert kept(vector)[0] == {"source 0: 0": [0, 1], "source 0: 1": [2]}


def test_tables_of_words_and_mappings_and_frames():
    words = np.array([["a", "x"], ["b", "x"]])
    assert kept(words)[0] == {"source 0: a": [0], "source 0: b": [1], "source 1: x": [0, 1]}
    assert kept({"k": ["a", "b"], 3: [1, 1]})[0] == {"k: a": [0], "k: b": [1], "3: 1": [0, 1]}
    frame = pd.DataFrame({"k": ["a", "b"], "g": [1.0, 1.0]}, index=["one", "two"])
    assert kept(frame)[0] == {"k: a": [0], "k: b": [1], "g: 1": [0, 1]}
    assert bc.Pool.from_labels(frame).ids.tolist() == ["one", "two"]
    assert bc.Pool.from_labels(frame, ids=["p", "q"]).ids.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([[0.0, np.inf]], ValueError, "'source 0' contains an infinite label"),
        (np.zeros((2, 2, 2), int), ValueError, "1 or 2 dimensions, got 3"),
        ([np.zeros((2, 2), int)], ValueError, "'source 0' must have 1 dimension, got 2"),
        ("abc", TypeError, "got str"),
        (7, TypeError, "got int"),
        ([], ValueError, "0 groupings"),
        ([[0, 1], [0, 1, 1]], ValueError, "'source 0' has 2 labels, 'source 1' has 3"),
    ],
)
def test_what_cannot_be_read_is_named(labels, error, message):
    with pytest.raises(error, match=message):
        bc.Pool.from_labels(labels)


@pytest.mark.parametrize("gap", [None, float("nan"), np.float64("nan"), np.float32("nan"), np.datetime64("NaT", "D")])
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
