"""Prediction at the quorum itself, with weights of any size and with gaps."""

import numpy as np
import pandas as pd
import pytest

import biconsensus as bc
from biconsensus.errors import UnknownNameError
from tests.helpers.strategies import paper_consensus


def hundred(quorum, weights=None, **options):
    """Consensus of 100 equal partitions into two groups, and new elements that the first k of them hold."""
    labels = np.repeat([0, 1], [12, 8])
    pool = bc.Pool.from_labels([labels] * 100, weights=weights)
    c = paper_consensus(pool, min_elements=1, quorum=quorum, **options)
    new = np.where(np.arange(100)[:, None] < [28, 29, 30, 100], 0, 7)
    return c, new


@pytest.mark.parametrize("weight", [1.0, 0.1, 1e-300, 1e300])
def test_29_of_100_is_not_more_than_a_quorum_of_29_percent(weight):
    c, new = hundred(0.29, np.full(100, weight))
    assert c.predict(list(new)).tolist() == [-1, -1, 0, 0]


def test_a_fine_quorum_of_huge_weights_stays_finite():
    c, new = hundred(0.289999999, np.full(100, 1e300))
    assert c.predict(list(new)).tolist() == [-1, 0, 0, 0]


def test_one_vote_is_enough_for_the_nearest():
    c, _ = hundred(0.5, unassigned="nearest")
    new = [[1, 7] if k == 99 else [7, 7] for k in range(100)]
    assert c.predict(new).tolist() == [1, -1]


def test_the_group_with_the_larger_excess_wins_and_gaps_do_not_vote():
    c = paper_consensus([np.repeat([0, 1], 8)] * 5, weights=[4, 1, 1, 1, 1])
    assert c.predict([[0], [1], [1], [1], [1]]).tolist() == [-1]  # 4 of 8 for either
    assert c.predict([[0], [1], [1], [None], [None]]).tolist() == [c.labels[0]]
    assert c.predict([[None], [1], [1], [1], [0]]).tolist() == [c.labels[15]]


def test_labels_are_known_by_source_and_name():
    table = {"a": ["x"] * 8 + ["y"] * 8, "b": ["y"] * 8 + ["x"] * 8}
    c = paper_consensus(table, min_candidates=2)
    assert c.predict({"a": ["x", "y", "x"], "b": ["y", "x", "x"]}).tolist() == [c.labels[0], c.labels[8], -1]


def test_the_larger_excess_decides_not_the_larger_share_of_votes():
    """Two overlapping groups, one backed by 9 candidates, one by 4: 7 of 9 exceed one half by more than all 4 do."""
    many, few = [0] * 10 + [-1] * 6, [-1] * 6 + [0] * 10
    c = paper_consensus([many] * 9 + [few] * 4, overlap=True)
    assert [b.candidates.size for b in c.biclusters] == [9, 4]
    new = [[0, 0, 0]] * 5 + [[0, 7, 0]] * 2 + [[7, 7, 0]] * 2 + [[0, 0, 7]] * 4
    assert c.predict(new).tolist() == [0, 1, 0]  # 2.5 against 2; 0.5 against 2; 4.5 against nothing


def test_a_result_without_a_recorded_quorum_is_taken_at_one_half():
    c = paper_consensus([np.repeat([0, 1], 8)] * 5)
    bare = bc.Consensus(c.pool, c.row_of, c.members, c.candidates, c.gains, c.objective)
    assert bare.predict([[0], [0], [0], [7], [7]]).tolist() == [c.labels[0]]
    assert bare.predict([[0], [0], [7], [7], [7]]).tolist() == [-1]


def test_nearest_is_the_group_with_the_most_weight_however_much_it_has():
    many, few = [0] * 10 + [-1] * 6, [-1] * 10 + [0] * 6
    c = paper_consensus([many] * 9 + [few] * 4, min_elements=6, unassigned="nearest")
    assert c.predict([[0]] * 3 + [[7]] * 6 + [[0]] * 2 + [[7]] * 2).tolist() == [0]
    assert c.predict([[0]] * 2 + [[7]] * 7 + [[0]] * 3 + [[7]]).tolist() == [1]


def test_columns_of_a_table_are_found_by_the_names_of_the_sources():
    base = {"a": ["x"] * 6 + ["y"] * 6, "b": ["p"] * 6 + ["q"] * 6, "c": [0] * 6 + [1] * 6}
    c = bc.find_consensus(pd.DataFrame(base))
    new = pd.DataFrame({"name": list("vw"), "c": [1, 0], "a": ["y", "x"], "b": ["q", "p"]})
    assert c.predict(new).tolist() == [c.labels[-1], c.labels[0]]
    assert c.predict(new.to_dict("list")).tolist() == [c.labels[-1], c.labels[0]]
    with pytest.raises(UnknownNameError, match="labels has no column for 'b' of the pool; its columns are name, c, a"):
        c.predict(new.drop(columns="b"))
    # other names, and no names: by their order
    assert c.predict(pd.DataFrame({"r": ["y"], "s": ["q"], "t": [1]})).tolist() == [c.labels[-1]]
    assert c.predict([["y"], ["q"], [1]]).tolist() == [c.labels[-1]]


def test_new_elements_may_all_have_labels_of_their_own():
    base = [list("abcdefgh") * 3] * 3
    c = bc.find_consensus(base, min_elements=2)
    assert sorted(c.predict([list("hgfedcba")] * 3)) == list(range(8))
