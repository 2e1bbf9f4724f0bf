"""Pools from matrices, groups and labels at their borders."""

import numpy as np
import pytest
from scipy.sparse import csr_array

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
    with pytest.raises(ValueError, match="4 values for 5 candidates"):
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
    with pytest.raises(ValueError, match="names has 1 values; 2 are needed"):
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
