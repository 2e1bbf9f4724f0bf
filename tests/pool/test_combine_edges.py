"""Views of pools that are put together: no more of them than there are."""

import biconsensus as bc

SEEN = [[0, 0, 1, 1], [0, 1, 1, 1]]
PARTLY = [[0, 0, 1, None], [5, 5, -1, 5]]


def test_a_pool_that_saw_everything_adds_one_view():
    whole, partly = bc.Pool.from_labels(SEEN), bc.Pool.from_labels(PARTLY)
    assert (whole + partly).unseen.shape[1] == 1 + partly.unseen.shape[1]
    assert (partly + whole).unseen.shape[1] == 1 + partly.unseen.shape[1]
    assert (whole + partly).view_of.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert (partly + whole).view_of.tolist() == [0, 0, 1, 2, 2, 2, 2]
    assert (whole + whole).unseen is None
