"""What follows from answers, and labels that respect them."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.errors import InputError
from biconsensus.questions._answers import checked, components, respecting
from biconsensus.result._consensus import Answered

YES, NO = True, False


def test_answers_are_kept_once_in_the_order_of_their_pairs() -> None:
    given = [Answered(5, 2, YES), Answered(1, 0, NO), Answered(2, 5, YES)]
    assert checked(given) == (Answered(0, 1, NO), Answered(2, 5, YES))


def test_a_contradiction_names_the_shortest_chain() -> None:
    long = [Answered(0, 1, YES), Answered(1, 2, YES), Answered(2, 3, YES)]
    with pytest.raises(InputError, match=r"0 and 3 are apart, but 0 and 4 are together, 3 and 4 are together;"):
        checked([*long, Answered(0, 4, YES), Answered(3, 4, YES), Answered(0, 3, NO)])
    with pytest.raises(InputError, match="0 and 3 are apart, but 0 and 1 are together, 1 and 2 are"):
        checked([*long, Answered(0, 3, NO)])


def test_seeds_tie_elements_as_answers_do() -> None:
    with pytest.raises(InputError, match="1 and 4 are apart, but 0 and 1 are together, 0 and 4 are together"):
        checked([Answered(1, 4, NO)], seeds=[[0, 1, 4]])
    assert components([Answered(1, 4, YES), Answered(2, 3, NO)], seeds=[[0, 1]]) == [[0, 1, 4], [2], [3]]
    assert components([]) == []


def test_a_set_goes_where_most_of_it_is_and_the_nearest_group_decides_between_equals() -> None:
    labels = np.array([0, 0, 1, 1, 1, 0])
    tie = (Answered(0, 2, YES),)  # one member in each group
    for near, group in (([0.9, 0.6], 0), ([0.6, 0.9], 1)):
        found = respecting(labels, tie, (), {0: np.array(near), 2: np.array(near)})
        assert found.tolist() == [group, 0, group, 1, 1, 0]
    # two members in one group weigh more than any probability
    most = respecting(labels, (Answered(0, 2, YES), Answered(0, 5, YES)), (), {2: np.array([0.0, 1.0])})
    assert most.tolist() == [0, 0, 0, 1, 1, 0]


def test_who_must_not_meet_goes_to_the_next_group_or_to_one_of_its_own() -> None:
    labels = np.zeros(4, np.int64)
    near = {0: np.array([0.99, 0.2]), 1: np.array([0.8, 0.7]), 2: np.array([0.6, 0.1])}
    answers = (Answered(0, 1, NO), Answered(0, 2, NO), Answered(1, 2, NO))
    found = respecting(np.array([0, 0, 0, 1]), answers, (), near)
    # 0 is nearest and stays, 1 goes to the group that is probable too, 2 is probably in neither
    assert found.tolist() == [0, 1, 2, 1]
    assert respecting(labels, (Answered(0, 1, NO),), (), {}).tolist() == [0, 1, 0, 0]


def test_larger_sets_choose_first() -> None:
    answers = (Answered(1, 2, YES), Answered(0, 1, NO))
    near = {0: np.array([0.99])}
    assert respecting(np.zeros(4, np.int64), answers, (), near).tolist() == [1, 0, 0, 0]
