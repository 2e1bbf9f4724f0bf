"""One search, its record, its warnings and its account, at the borders."""

import warnings

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.errors import NoConsensusWarning
from biconsensus.result._assemble import UNSCALED_WEIGHTS, unit_power
from biconsensus.solvers.vote._solver import VoteSolver
from tests.helpers.strategies import paper_consensus, quiet_consensus

HALVES = np.repeat([0, 1], 8)


def test_the_record_says_what_was_used():
    c = paper_consensus([HALVES] * 4)
    assert c.settings == {
        "min_elements": 7,
        "min_candidates": 4,
        "overlap": False,
        "quorum": 0.5,
        "method": "greedy",
        "unassigned": "leave",
        "stop": "size",
        "solver": "vote",
        "n_groups": None,
        "chosen_by": "given",
    }
    assert paper_consensus([HALVES] * 4, method="joint").settings["method"] == "joint"
    assert paper_consensus([HALVES] * 4, solver=VoteSolver()).settings["solver"] == "VoteSolver"
    real = bc.Pool.from_matrix(np.kron(np.eye(2), np.full((8, 4), 0.5)))
    assert paper_consensus(real).settings["solver"] == "quantile"
    assert paper_consensus(real, solver="frobenius").settings["solver"] == "frobenius"
    assert paper_consensus([HALVES] * 4, solver="quantile").settings["solver"] == "quantile"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_candidates": 5}, "the pool has 4 sources, fewer than min_candidates=5; set min_candidates=4"),
        ({"min_elements": 17}, "the pool has 16 elements, fewer than min_elements=17"),
        ({"min_elements": 16}, "no group of at least min_elements=16 elements and min_candidates=4 sources"),
        ({"min_elements": 9, "min_candidates": 4}, "among 16 elements and 4 sources; lower the minimum sizes"),
    ],
)
def test_an_empty_answer_says_why(options, message):
    with pytest.warns(NoConsensusWarning, match=message):
        paper_consensus([HALVES] * 4, **options)


def test_an_empty_pool_is_named_as_such_and_one_membership_is_not_empty():
    with pytest.warns(NoConsensusWarning, match="every candidate of the pool is empty"):
        paper_consensus(bc.Pool.from_groups([[], []], n_elements=3), 1, 1)
    with pytest.warns(NoConsensusWarning, match="no group of at least"):
        paper_consensus(bc.Pool.from_groups([[0], []], n_elements=3), 2, 1)


def test_the_warning_points_at_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        bc.find_consensus([HALVES] * 4, min_elements=17)
    assert said[0].filename == __file__


def test_groups_come_by_gain_and_the_objective_is_what_is_left():
    table = [np.repeat([0, 1, 2], [7, 9, 8])] * 4
    c = bc.find_consensus(table, quorum=0.25)
    assert c.gains.tolist() == [27.0, 24.0, 21.0]
    assert c.labels.tolist() == [2] * 7 + [0] * 9 + [1] * 8
    assert c.objective == 2 * 0.75 * 96 - 2 * 72
    weighted = paper_consensus(
        bc.Pool.from_labels(table, weights=[1, 2, 3, 4]), weights=[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]
    )
    assert weighted.gains.tolist() == [72.0, 64.0, 56.0]
    assert paper_consensus(bc.Pool.from_labels(table, weights=[1, 2, 3, 4])).gains.tolist() == [45.0, 40.0, 35.0]


@pytest.mark.parametrize("quorum", [0.5, "auto"])
def test_given_weights_take_the_place_of_those_of_the_pool(quorum):
    pool = bc.Pool.from_labels([HALVES] * 4, weights=[5, 5, 5, 5])
    options = {} if quorum == "auto" else {"quorum": quorum}
    c = bc.find_consensus(pool, weights=[1.0] * 8, n_groups=2 if quorum == "auto" else None, **options)
    assert c.weights.tolist() == [1.0] * 8
    plain = bc.find_consensus(pool, n_groups=2 if quorum == "auto" else None, **options)
    assert plain.weights.tolist() == [5.0] * 8
    assert plain.gains == pytest.approx(5 * c.gains)


def test_candidates_without_weight_have_none_in_the_result():
    pool = bc.Pool.from_labels([HALVES, HALVES, np.tile([0, 1], 8)])
    c = paper_consensus(pool, 2, 1, weights=[1, 1, 3, 1, 0, 0])
    assert c.weights.tolist() == [1, 1, 3, 1, 0, 0]
    assert c.behind[4:].toarray().tolist() == [[0, 0], [0, 0]]


def test_the_account_holds_what_ended_the_search():
    assert paper_consensus([HALVES] * 4).extraction == {}
    path = paper_consensus([HALVES] * 4, stop="description_length").extraction
    assert path == {"description_lengths": [64.0, 44.0, 24.0]}
    small = quiet_consensus([HALVES] * 4, min_elements=9, min_candidates=4, stop="first_small").extraction
    assert small == {"discarded": [8, 4]}


@pytest.mark.parametrize("method", ["auto", "greedy", "joint"])
def test_a_number_of_groups_is_met_or_the_nearest(method):
    pool = [np.repeat([0, 1], 16)] * 4 + [np.repeat([0, 1, 2, 3], 8)] * 4
    nearest = 2 if method == "greedy" else 1  # Algorithm 1 finds no single group at any quorum of the path
    for wanted, found in ((1, nearest), (2, 2), (4, 4)):
        c = bc.find_consensus(pool, n_groups=wanted, method=method)
        assert len(c) == found
        assert c.settings["method"] == ("greedy" if method == "greedy" else "joint")
        assert c.extraction["path"]


def test_overlap_on_the_path_is_greedy():
    pool = bc.Pool.from_groups([range(10)] * 4 + [range(8, 20)] * 4, n_elements=20)
    c = bc.find_consensus(pool, quorum="auto", overlap=True)
    assert c.settings["method"] == "greedy"
    assert c.membership.toarray().sum() == 22


@pytest.mark.parametrize(
    ("weights", "power"),
    [
        ([0.0, 0.0], 0),
        ([1.0, 1e-300], 0),
        (list(UNSCALED_WEIGHTS), 0),
        ([UNSCALED_WEIGHTS[0]], 0),
        ([np.nextafter(2.0**-10, 0)], -10),
        ([2.0**31, 0.0], 32),
        ([np.nextafter(2.0**30, np.inf)], 31),
        ([2.0**-1000], -999),
        ([2.0**1000, 2.0**-30], 993),
        ([2.0**1000, 2.0**-1022, 0.0], 1),
    ],
)
def test_extreme_weights_are_scaled_by_a_power_of_two_that_loses_none(weights, power):
    weights = np.array(weights)
    assert unit_power(weights) == power
    assert np.array_equal(np.ldexp(np.ldexp(weights, -power), power), weights)


def test_ordinary_bounds():
    assert UNSCALED_WEIGHTS == (1 / 1024, 1073741824.0)


def test_what_is_no_solver_is_refused() -> None:
    with pytest.raises(TypeError, match="solver must be a name or an object with load and best_block, got <object"):
        bc.find_consensus([[0, 0, 1, 1]] * 3, quorum=0.5, solver=object())


def test_a_table_of_no_groups_is_not_called_too_small() -> None:
    with pytest.warns(NoConsensusWarning, match="every candidate of the pool is empty"):
        assert bc.find_consensus([[-1] * 5] * 3).labels.tolist() == [-1] * 5


def test_columns_of_polars_and_arrow_are_label_vectors() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    labels = [0, 0, 1, 1, None, 1]
    for column in (polars.Series(labels), arrow.array(labels), arrow.chunked_array([labels])):
        assert bc.find_consensus(column).labels.tolist() == bc.find_consensus(labels).labels.tolist()
        assert bc.find_consensus([column] * 3).labels.tolist() == bc.find_consensus([labels] * 3).labels.tolist()


def test_a_network_is_no_table_of_labels() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(TypeError, match=r"labels is a network \(Graph\); ConsensusCommunities finds its communities"):
        bc.find_consensus(networkx.karate_club_graph())


def test_communities_in_place_of_labels_are_pointed_out() -> None:
    with pytest.raises(TypeError, match=r"\{0, 1\} \(set\), which is no label.* Pool\.from_groups takes such groups"):
        bc.find_consensus([[{0, 1}, {2, 3}]] * 4)


def test_elements_that_are_alone_everywhere_are_no_matter_of_sizes() -> None:
    with pytest.warns(NoConsensusWarning, match="every source leaves every element alone"):
        assert bc.find_consensus([list(range(10))] * 3).labels.tolist() == [-1] * 10
