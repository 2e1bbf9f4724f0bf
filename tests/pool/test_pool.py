"""Pools from everything people have, and what can be done with them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy.sparse import coo_array, csr_array

import biconsensus as bc
from tests.helpers.strategies import binary_matrices, label_tables

TABLE = np.array([[0, 5, 1], [0, 5, -1], [3, 7, 1], [3, 5, 2]])
MATRIX = [
    [1, 0, 1, 0, 1, 0],
    [1, 0, 1, 0, 0, 0],
    [0, 1, 0, 1, 1, 0],
    [0, 1, 1, 0, 0, 1],
]


@pytest.mark.parametrize(
    "labels",
    [
        TABLE,
        TABLE.astype(np.int8),
        TABLE.astype(float),
        np.asfortranarray(TABLE),
        list(TABLE.T),
        [column.tolist() for column in TABLE.T],
        {"a": TABLE[:, 0], "b": TABLE[:, 1], "c": TABLE[:, 2]},
        pd.DataFrame(TABLE, columns=["a", "b", "c"]),
        pl.DataFrame({"a": TABLE[:, 0], "b": TABLE[:, 1], "c": TABLE[:, 2]}),
        pl.DataFrame({"a": TABLE[:, 0], "b": TABLE[:, 1], "c": TABLE[:, 2]}).to_arrow(),
        pd.DataFrame({"a": pd.Categorical(list("xxyy")), "b": list("ssts"), "c": [1, -1, 1, 2]}),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_label_tables_of_every_form_give_one_matrix(labels):
    assert bc.Pool.from_labels(labels).to_matrix().toarray().tolist() == MATRIX


@given(label_tables(missing=True))
def test_to_matrix_is_the_one_hot_table(table):
    pool = bc.Pool.from_labels(table, missing=-2)
    columns = [table[:, k] == v for k in range(table.shape[1]) for v in np.unique(table[:, k]) if v >= 0]
    assert np.array_equal(pool.to_matrix().toarray(), np.stack(columns, axis=1))
    assert pool.counts.sum() == table.shape[0]
    assert np.array_equal(pool.sizes, np.sum(columns, axis=1))
    seen = (table != -2).sum(axis=0)
    assert np.array_equal(pool.seen_sizes, seen[pool.source_of])


@pytest.mark.parametrize(
    "vector",
    [
        [0, None, 1],
        [0.0, np.nan, 1.0],
        np.ma.MaskedArray([0, 9, 1], mask=[0, 1, 0]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(pd.Categorical(["a", None, "b"])),
        pl.Series(["a", None, "b"]),
        np.array([0, 9, 1]),
    ],
    ids=["None", "NaN", "masked", "NA", "categorical", "polars", "code"],
)
def test_missing_labels_of_every_kind_are_not_seen(vector):
    pool = bc.Pool.from_labels([vector, [0, 0, 1]], missing=9 if isinstance(vector, np.ndarray) else None)
    assert pool.shape == (3, 4)
    assert pool.unseen.toarray()[pool.inverse].tolist() == [[False, False], [True, False], [False, False]]
    assert pool.to_matrix().toarray()[1].tolist() == [0, 0, 1, 0]


def test_names_keep_the_labels_and_weights_follow_sources():
    pool = bc.Pool.from_labels({"kmeans": ["b", "a", "b"], "gmm": [1.0, 1.0, 2.5]}, weights=[1, 3])
    assert pool.names == ("kmeans: a", "kmeans: b", "gmm: 1", "gmm: 2.5")
    assert pool.weights.tolist() == [1, 1, 3, 3]
    assert bc.Pool.from_labels([[0, 1, 1]], weights=[2, 5]).weights.tolist() == [2, 5]


def test_provenance_is_kept():
    runs = [bc.Provenance("kmeans", {"k": 3}, seed=7), bc.Provenance("gmm")]
    pool = bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]], sources=runs)
    assert pool.sources == tuple(runs)
    assert pool.names[0] == "kmeans: 0"


def test_index_of_a_frame_becomes_the_ids():
    frame = pd.DataFrame({"a": [0, 0, 1]}, index=["x", "y", "z"])
    assert bc.Pool.from_labels(frame).ids.tolist() == ["x", "y", "z"]
    assert bc.Pool.from_labels(frame.reset_index(drop=True)).ids is None


def test_groups_may_overlap_repeat_and_leave_elements_out():
    pool = bc.Pool.from_groups([[0, 1, 1], [1, 2], []], n_elements=4, sources=["a", "b", "a"])
    assert pool.to_matrix().toarray().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert pool.source_of.tolist() == [0, 1, 0]
    assert [s.name for s in pool.sources] == ["a", "b"]


@pytest.mark.parametrize("seen", [[[0, 1, 2], [1, 2, 3]], np.array([[1, 0], [1, 1], [1, 1], [0, 1]], bool)])
def test_seen_as_lists_or_mask(seen):
    pool = bc.Pool.from_groups([[0, 1], [2, 3]], n_elements=4, seen=seen)
    assert pool.seen_sizes.tolist() == [3, 3]
    assert pool.unseen.toarray()[pool.inverse].tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]


@given(binary_matrices())
def test_matrices_keep_their_entries(dense):
    pool = bc.Pool.from_matrix(dense)
    assert pool.binary
    assert np.array_equal(pool.to_matrix().toarray(), dense)
    assert pool.rows.shape[0] == np.unique(dense, axis=0).shape[0]


def test_real_matrices_stay_real():
    dense = np.array([[0.2, 0.0], [0.2, 0.0], [0.0, 3.0]])
    pool = bc.Pool.from_matrix(dense)
    assert not pool.binary
    assert np.array_equal(pool.to_matrix().toarray(), dense)
    assert pool.counts.tolist() == [2, 1]


def test_sparse_input_is_taken_as_it_is_meant_and_left_alone():
    messy = csr_array((np.array([1.0, 0.0, 1.0, 1.0]), np.array([2, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 3))
    before = messy.data.copy(), messy.indices.copy()
    pool = bc.Pool.from_matrix(messy)
    assert pool.to_matrix().toarray().tolist() == [[0, 0, 1], [1, 1, 0]]
    assert np.array_equal(messy.data, before[0])
    assert np.array_equal(messy.indices, before[1])
    doubled = coo_array((np.array([True, True]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    assert bc.Pool.from_matrix(doubled).to_matrix().toarray().tolist() == [[0, 1], [0, 0]]


@given(label_tables(missing=True), label_tables(missing=True))
def test_sum_of_pools_is_the_pool_of_both_tables(left, right):
    m = min(len(left), len(right))
    left, right = left[:m], right[:m]
    if (left < 0).all() or (right < 0).all():
        return
    both = bc.Pool.from_labels(left, missing=-2) + bc.Pool.from_labels(right, missing=-2)
    one = bc.Pool.from_labels(np.hstack([left, right]), missing=-2)
    assert np.array_equal(both.to_matrix().toarray(), one.to_matrix().toarray())
    assert np.array_equal(both.source_of, one.source_of)
    assert np.array_equal(both.seen_sizes, one.seen_sizes)
    assert np.array_equal(both.counts, one.counts)


@given(label_tables(missing=True))
def test_parts_of_a_pool_are_parts_of_its_matrix(table):
    pool = bc.Pool.from_labels(table, missing=-2)
    full = pool.to_matrix().toarray()
    rows, columns = np.arange(0, pool.shape[0], 2), np.arange(pool.shape[1])[::-1]
    assert np.array_equal(pool.select(elements=rows).to_matrix().toarray(), full[rows])
    assert np.array_equal(pool.select(candidates=columns).to_matrix().toarray(), full[:, columns])
    kept = pool.source_of[0]
    part = pool.select(sources=[kept])
    assert np.array_equal(part.to_matrix().toarray(), full[:, pool.source_of == kept])
    assert len(part.sources) == 1
    assert part.rows.shape[0] == np.unique(table[:, kept]).size


def test_joined_elements_share_the_maximum_of_their_rows():
    pool = bc.Pool.from_labels([[0, 0, 1, 1, 2], [0, None, None, 1, 1]])
    joined = pool.join([[0, 2], [2, 4], [3]])
    rows = joined.to_matrix().toarray()
    assert rows[[0, 2, 4]].tolist() == [[1, 1, 1, 1, 1]] * 3
    assert np.array_equal(rows[[1, 3]], pool.to_matrix().toarray()[[1, 3]])
    assert joined.unseen.toarray()[joined.inverse, 1].tolist() == [False, True, False, False, False]
    assert joined.shape == pool.shape


def test_clean_leaves_out_trivial_and_empty_and_says_so(caplog):
    pool = bc.Pool.from_groups([range(9), range(10), [], [0, 1], range(8)], n_elements=10)
    with caplog.at_level("INFO", "biconsensus"):
        clean = pool.clean()
    assert clean.names == ("candidate 3", "candidate 4")
    assert dict(clean.left_out) == {
        "candidate 0": "trivial: holds 9 of 10",
        "candidate 1": "trivial: holds 10 of 10",
        "candidate 2": "empty",
    }
    assert "candidate 2" in caplog.text
    assert clean.clean() is clean


def test_clean_counts_only_what_a_source_saw():
    half = [0] * 5 + [None] * 5
    assert bc.Pool.from_labels([half, [0] * 5 + [1] * 5]).clean().names == ("source 1: 0", "source 1: 1")


def test_clean_of_a_hopeless_pool_is_an_error():
    with pytest.raises(ValueError, match="nothing is left"):
        bc.Pool.from_labels([[0, 0, 0]]).clean()
