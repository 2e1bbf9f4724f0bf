"""Pools from matrices, groups and labels at their borders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import biconsensus as bc


def test_duplicate_entries_of_a_bool_matrix_are_one_membership():
    twice = csr_array((np.ones(3, bool), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    pool = bc.Pool.from_matrix(twice)
    assert pool.binary
    assert pool.to_matrix().toarray().tolist() == [[1, 0], [0, 1]]
    assert twice.nnz == 3
    counted = csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert bc.Pool.from_matrix(counted).to_matrix().toarray().tolist() == [[2, 0], [0, 1]]


def test_weights_are_for_sources_or_for_candidates():
    table = [[0, 0, 1], [0, 1, 2]]
    assert bc.Pool.from_labels(table, weights=[2, 3]).weights.tolist() == [2, 2, 3, 3, 3]
    assert bc.Pool.from_labels(table, weights=[1, 2, 3, 4, 5]).weights.tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="4 values; give 2, one for each grouping, or 5"):
        bc.Pool.from_labels(table, weights=[1, 2, 3, 4])


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([[0, 1], [2, 3, 0]], [[1, 1], [1, 0], [0, 1], [0, 1]]),  # elements of each source
        (np.array([[1, 1], [1, 0], [0, 1], [0, 1]]), [[1, 1], [1, 0], [0, 1], [0, 1]]),
        (csr_array(np.array([[1, 1], [1, 0], [0, 1], [0, 1]])), [[1, 1], [1, 0], [0, 1], [0, 1]]),
        ([[True, True], [True, False], [False, True], [False, True]], [[1, 1], [1, 0], [0, 1], [0, 1]]),
    ],
)
def test_what_was_seen_comes_as_lists_of_elements_or_as_a_mask(seen, expected):
    groups, sources = [[0], [1], [3]], ["a", "a", "b"]
    pool = bc.Pool.from_groups(groups, n_elements=4, sources=sources, seen=seen)
    found = ~pool.unseen.toarray()[pool.inverse]
    assert found.astype(int).tolist() == expected
    assert pool.mask_of.tolist() == [0, 0, 1]


def test_lists_of_elements_are_no_mask_even_where_they_have_its_shape():
    pool = bc.Pool.from_groups([[0], [1]], n_elements=2, seen=[[0, 1], [1, 0]])
    assert pool.unseen is None
    pool = bc.Pool.from_groups([[0], [1], [1]], n_elements=3, seen=[[0, 1, 2], [0, 0, 1], [2, 1, 1]])
    assert (~pool.unseen.toarray()[pool.inverse]).astype(int).tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 1]]
    assert bc.Pool.from_groups([[0]], n_elements=1, seen=[[True]]).unseen is None
    assert bc.Pool.from_groups([[]], n_elements=1, seen=[[False]]).seen_sizes.tolist() == [0]
    assert bc.Pool.from_groups([[0], [0, 1]], n_elements=2, seen=[{0}, {1, 0}]).seen_sizes.tolist() == [1, 2]


def test_a_mask_for_each_candidate():
    mask = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1]])
    pool = bc.Pool.from_groups([[0], [1], [3]], n_elements=4, sources=["a", "a", "b"], seen=mask)
    assert pool.mask_of.tolist() == [0, 1, 2]
    assert (~pool.unseen.toarray()[pool.inverse]).astype(int).tolist() == mask.tolist()
    with pytest.raises(ValueError, match=r"seen has shape \(4, 1\); allowed are \(4, 2\) .* and \(4, 3\)"):
        bc.Pool.from_groups([[0], [1], [3]], n_elements=4, sources=["a", "a", "b"], seen=np.ones((4, 1)))


def test_everything_seen_is_no_view():
    pool = bc.Pool.from_groups([[0], [1]], n_elements=2, seen=np.ones((2, 2)))
    assert pool.unseen is pool.mask_of is None
    assert bc.Pool.from_labels([[0, 1]]).unseen is None


def test_sources_are_one_where_name_parameters_and_seed_are_equal():
    runs = [bc.Provenance("k", {"n": 1}, 0), bc.Provenance("k", {"n": 1}, 0), bc.Provenance("k", {"n": 1}, 1)]
    pool = bc.Pool.from_groups([[0], [1], [0]], n_elements=2, sources=runs)
    assert pool.source_of.tolist() == [0, 0, 1]
    assert pool.sources == (runs[0], runs[2])
    named = bc.Pool.from_groups([[0], [1], [0]], n_elements=2, sources=[5, 3, 5])
    assert [source.name for source in named.sources] == ["5", "3"]
    with pytest.raises(ValueError, match="sources has 2 values for 3 candidates"):
        bc.Pool.from_groups([[0], [1], [0]], n_elements=2, sources=[1, 2])


def test_one_element_and_one_candidate_are_enough():
    assert bc.Pool.from_labels([[0]]).shape == (1, 1)
    assert bc.Pool.from_groups([[0]], n_elements=1).shape == (1, 1)
    assert bc.Pool.from_matrix([[1]]).shape == (1, 1)
    for wrong, axis in (([[1]], 1), (np.ones((0, 1)), 0), (np.ones((1, 0)), 1)):
        if np.shape(wrong) != (1, 1):
            with pytest.raises(ValueError, match=rf"axis {axis}"):
                bc.Pool.from_matrix(wrong)
    assert bc.Pool.from_labels([[-1, -1]]).names == ("source 0: no group",)
    assert bc.Pool.from_labels([[-1, -1]]).sizes.tolist() == [0]
    with pytest.raises(ValueError, match="axis 1"):
        bc.Pool.from_groups([], n_elements=3)
    with pytest.raises(ValueError, match="axis 0"):
        bc.Pool.from_groups([[]], n_elements=0)


def test_names_and_ids_must_be_as_many_as_what_they_name():
    with pytest.raises(ValueError, match="names has 1 value; the pool needs 2"):
        bc.Pool.from_labels([[0, 1], [1, 0]], names=["a"])
    with pytest.raises(ValueError, match=r"ids has shape \(3,\); it must be \(2,\)"):
        bc.Pool.from_labels([[0, 1], [1, 0]], ids=[1, 2, 3])
    run = bc.Provenance("k", {}, 3)
    assert bc.Pool.from_labels([[0, 1]], names=["mine"], sources=[run]).names == ("mine: 0", "mine: 1")
    assert bc.Pool.from_labels([[0, 1]], sources=[run]).names == ("k: 0", "k: 1")
    assert bc.Pool.from_labels([[0, 1]], sources=[run]).sources == (run,)


def test_tied_lists_are_joined_wherever_they_touch():
    pool = bc.Pool.from_labels([[0, 1, 2, 3, 4, 5]])
    rows = pool.join([[0, 1], [2, 3], [1, 2], [5]]).to_matrix().toarray()
    assert (rows[:4] == [1, 1, 1, 1, 0, 0]).all()
    assert rows[4:].tolist() == [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    assert pool.join([[4, 5]]).to_matrix().toarray()[4:].tolist() == [[0, 0, 0, 0, 1, 1]] * 2


def test_matrices_of_other_dimensions_and_types_are_refused():
    with pytest.raises(ValueError, match="2 dimensions"):
        bc.Pool.from_matrix([1, 0, 1])
    with pytest.raises(TypeError, match="bool or real"):
        bc.Pool.from_matrix(np.array([["a"]]))


def test_candidates_of_a_matrix_are_numbered_unless_they_are_named():
    assert bc.Pool.from_matrix([[1, 0], [0, 1]]).names == ("candidate 0", "candidate 1")
    assert bc.Pool.from_matrix([[1, 0], [0, 1]], names=["a", "b"]).names == ("a", "b")
    assert bc.Pool.from_groups([[0], [1]], n_elements=2, names=["a", "b"]).names == ("a", "b")


SEEN = [[0, 0, 1, 1], [0, 1, 1, 1]]


PARTLY = [[0, 0, 1, None], [5, 5, -1, 5]]


def test_sum_keeps_the_identifiers_of_either_side():
    ids = np.array(list("wxyz"))
    plain, named = bc.Pool.from_labels(SEEN), bc.Pool.from_labels(SEEN, ids=ids)
    for both in (plain + named, named + plain, named + named):
        assert both.ids.tolist() == list("wxyz")
    assert (plain + plain).ids is None
    with pytest.raises(ValueError, match="their ids differ"):
        named + bc.Pool.from_labels(SEEN, ids=ids[::-1])
    with pytest.raises(ValueError, match="they have 4 and 3"):
        plain + bc.Pool.from_labels([[0, 1, 1]])
    with pytest.raises(TypeError):
        plain + 3


def test_sum_keeps_what_was_left_out_and_names_and_sources():
    lump = [[0, 0, 0, 0], *SEEN]
    left = bc.Pool.from_labels(lump, names=["l", "a", "b"]).clean()
    right = bc.Pool.from_labels(lump, names=["m", "c", "d"]).clean()
    both = left + right
    assert [name for name, _ in both.left_out] == ["l: 0", "m: 0"]
    assert both.names == left.names + right.names
    assert both.sources == left.sources + right.sources
    assert both.weights.tolist() == [1.0] * 8
    assert both.source_of.tolist() == [*left.source_of, *(right.source_of + 3)]


@pytest.mark.parametrize(("left", "right"), [(SEEN, PARTLY), (PARTLY, SEEN), (PARTLY, PARTLY)])
def test_views_of_a_sum_are_those_of_its_parts(left, right):
    a, b = bc.Pool.from_labels(left), bc.Pool.from_labels(right)
    both = a + b
    hidden = both.unseen.toarray()[both.inverse][:, both.mask_of]
    for pool, part in ((a, hidden[:, : a.shape[1]]), (b, hidden[:, a.shape[1] :])):
        if pool.unseen is None:
            assert not part.any()
        else:
            assert np.array_equal(part, pool.unseen.toarray()[pool.inverse][:, pool.mask_of])
    assert both.seen_sizes.tolist() == [*a.seen_sizes, *b.seen_sizes]


def test_a_part_that_saw_everything_has_no_views():
    pool = bc.Pool.from_labels(PARTLY)
    assert pool.unseen is not None
    whole = pool.select(sources=[1])
    assert whole.unseen is None
    assert whole.mask_of is None
    assert whole.names == ("source 1: 5",)
    hidden = pool.select(sources=[0])
    assert hidden.unseen.toarray()[hidden.inverse].ravel().tolist() == [False, False, False, True]
    assert hidden.source_of.tolist() == [0, 0]
    assert pool.select(candidates=[2, 0]).mask_of.tolist() == [1, 0]


def test_sources_are_renumbered_in_the_order_asked_for():
    pool = bc.Pool.from_labels([[0, 0], [0, 1], [1, 1]], names=["a", "b", "c"])
    part = pool.select(sources=[2, 0])
    assert [s.name for s in part.sources] == ["c", "a"]
    assert part.names == ("a: 0", "c: 1")
    assert part.source_of.tolist() == [1, 0]


def test_elements_keep_their_identifiers_and_rows_without_elements_go():
    pool = bc.Pool.from_labels(SEEN, ids=np.array(list("wxyz")))
    part = pool.select(elements=[3, 1])
    assert part.ids.tolist() == ["z", "x"]
    assert part.rows.shape[0] == 2
    assert np.array_equal(part.to_matrix().toarray(), pool.to_matrix().toarray()[[3, 1]])
    assert pool.select(elements=[0]).shape == (1, 4)
    assert pool.select(elements=[0], candidates=[0, 1]).shape == (1, 2)


def test_rows_that_differ_only_in_what_was_seen_stay_apart():
    pool = bc.Pool.from_labels([[0, 0, 0], [None, -1, -1], [3, 3, 3]])
    part = pool.select(candidates=[0, 1])
    assert pool.rows.shape[0] == 2
    assert part.rows.shape[0] == 1  # without the source that did not see the first, nothing tells them apart
    kept = bc.Pool.from_groups([[0, 1], [2]], n_elements=3, seen=[[0, 2], [0, 1, 2]]).select(elements=[0, 1, 2])
    assert kept.rows.shape[0] == 3


def test_joining_real_values_takes_the_maximum_and_keeps_the_type():
    pool = bc.Pool.from_matrix(np.array([[0.2, 0.0], [0.5, 0.0], [0.0, 0.7]]))
    joined = pool.join([[0, 2]])
    assert joined.to_matrix().toarray().tolist() == [[0.2, 0.7], [0.5, 0.0], [0.2, 0.7]]
    assert not joined.binary
    assert bc.Pool.from_labels(SEEN).join([[0, 3]]).binary
    assert pool.join([]).shape == pool.shape
    assert pool.join([[1]]).to_matrix().toarray().tolist() == pool.to_matrix().toarray().tolist()


def test_a_joined_row_is_unseen_only_where_none_was_seen():
    pool = bc.Pool.from_labels([[0, None, None, 1], [0, 0, 1, 1], [None, None, None, 2]])
    joined = pool.join([[0, 1], [1, 2]])
    hidden = joined.unseen.toarray()[joined.inverse]
    assert hidden.tolist() == [[False, False, True]] * 3 + [[False, False, False]]


def test_seen_as_a_sparse_matrix_or_for_each_candidate():
    groups = [[0, 1], [1, 2], [2]]
    by_source = np.array([[1, 0], [1, 1], [0, 1]], bool)
    sources = ["a", "a", "b"]
    dense = bc.Pool.from_groups(groups, n_elements=3, sources=sources, seen=by_source)
    sparse = bc.Pool.from_groups(groups, n_elements=3, sources=sources, seen=coo_array(by_source))
    nested = bc.Pool.from_groups(groups, n_elements=3, sources=sources, seen=by_source.tolist())
    each = bc.Pool.from_groups(groups, n_elements=3, sources=sources, seen=by_source[:, [0, 0, 1]])
    for pool in (dense, sparse, nested, each):
        assert pool.seen_sizes.tolist() == [2, 2, 2]
        assert pool.unseen.toarray()[pool.inverse][:, pool.mask_of].tolist() == (~by_source[:, [0, 0, 1]]).tolist()
    assert bc.Pool.from_groups(groups, n_elements=3, seen=np.ones((3, 3), bool)).unseen is None
    with pytest.raises(ValueError, match=r"seen has shape \(2, 3\); allowed are \(3, 2\)"):
        bc.Pool.from_groups(groups, n_elements=3, sources=sources, seen=np.ones((2, 3), bool))


def test_sources_with_provenance_are_one_where_they_are_equal():
    runs = [bc.Provenance("k", {"k": 2}, 1), bc.Provenance("k", {"k": 2}, 1), bc.Provenance("k", {"k": 3}, 1)]
    pool = bc.Pool.from_groups([[0], [1], [0, 1]], n_elements=2, sources=runs)
    assert pool.source_of.tolist() == [0, 0, 1]
    assert pool.sources == (runs[0], runs[2])


def test_a_pool_that_saw_everything_adds_one_view():
    whole, partly = bc.Pool.from_labels(SEEN), bc.Pool.from_labels(PARTLY)
    assert (whole + partly).unseen.shape[1] == 1 + partly.unseen.shape[1]
    assert (partly + whole).unseen.shape[1] == 1 + partly.unseen.shape[1]
    assert (whole + partly).mask_of.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert (partly + whole).mask_of.tolist() == [0, 0, 1, 2, 2, 2, 2]
    assert (whole + whole).unseen is None


def test_many_pools_at_once_are_the_sum_of_them_one_by_one():
    from biconsensus.pool._build import add

    tables = [*SEEN, *PARTLY, [0, 1, 2, 0]]
    pools = [bc.Pool.from_labels([labels], names=[f"source {k}"]) for k, labels in enumerate(tables)]
    at_once, one_by_one = add(*pools), pools[0]
    for pool in pools[1:]:
        one_by_one = one_by_one + pool
    assert np.array_equal(at_once.rows.toarray(), one_by_one.rows.toarray())
    assert np.array_equal(at_once.inverse, one_by_one.inverse)
    assert (at_once.names, at_once.sources) == (one_by_one.names, one_by_one.sources)
    hidden = [pool.unseen.toarray()[:, pool.mask_of] for pool in (at_once, one_by_one)]
    assert np.array_equal(*hidden)
