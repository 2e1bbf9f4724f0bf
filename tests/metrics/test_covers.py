"""Scores of overlapping groups against brute force and figures worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import metrics as sk

from biconsensus import metrics


def test_recall_and_precision_by_hand():
    truth = [[0, 1, 2, 3], [3, 4, 5, 6]]
    found = [[3, 4, 5], [0, 1, 2, 3, 7], [8, 9]]
    recall, precision = metrics.recall_precision(truth, found)
    assert recall == pytest.approx((4 + 3) / 8)
    assert precision == pytest.approx((4 + 3) / 10)
    assert metrics.recall_precision(truth, []) == (0.0, 0.0)


def test_one_group_serves_one_class():
    labels = np.array([0, 0, 0, 1, 1, 1, -1])
    assert metrics.recall_precision(labels, np.zeros(7, int))[0] == pytest.approx(0.5)


def test_forms_of_a_cover_are_equal():
    labels = np.array([0, 0, 2, 2, -1, 2])
    dense = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 1]])
    found = [[0, 1, 2], [2, 3, 5]]
    scores = {metrics.recall_precision(t, found) for t in (labels, dense, csr_array(dense), [[0, 1], [2, 3, 5]])}
    assert len(scores) == 1
    covers = {metrics.overlapping_nmi(t, found, n_elements=6) for t in (labels, dense, dense * 0.5)}
    assert len(covers) == 1


def conditional(x, y):
    """H(x | y) of two binary variables, from the joint table, in bits; None where the complement fits better."""

    def h(p):
        return 0.0 if p == 0 else -p * np.log2(p)

    joint = {(a, b): h(np.mean((x == a) & (y == b))) for a in (0, 1) for b in (0, 1)}
    if joint[1, 1] + joint[0, 0] <= joint[0, 1] + joint[1, 0]:
        return None
    return sum(joint.values()) - h(np.mean(y == 0)) - h(np.mean(y == 1))


def cover_information(a, b):
    """Entropies of the columns of a, and the same given b, straight from the definition."""
    h = np.array([sk.mutual_info_score(x, x) / np.log(2) for x in a.T])
    given = [min([v for y in b.T if (v := conditional(x, y)) is not None], default=e) for x, e in zip(a.T, h)]
    return h, np.minimum(h, np.array(given))


@pytest.mark.parametrize("seed", range(6))
def test_overlapping_nmi_from_the_definition(seed):
    rng = np.random.default_rng(seed)
    a = (rng.random((30, 4)) < 0.4).astype(int)
    b = np.where(rng.random((30, 3)) < 0.2, 1 - a[:, :3], a[:, :3])
    (ha, hab), (hb, hba) = cover_information(a, b), cover_information(b, a)
    shared = (ha.sum() - hab.sum() + hb.sum() - hba.sum()) / 2
    assert metrics.overlapping_nmi(a, b) == pytest.approx(shared / max(ha.sum(), hb.sum()))
    lfk = 1 - ((hab / ha).mean() + (hba / hb).mean()) / 2
    assert metrics.overlapping_nmi(a, b, normalization="lfk") == pytest.approx(lfk)


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=30))
def test_overlapping_nmi_of_a_cover_with_itself_is_one(labels):
    assert metrics.overlapping_nmi(np.array(labels), np.array(labels)) == pytest.approx(1.0)


def test_covers_without_information():
    assert metrics.overlapping_nmi([[0, 1, 2]], [[0, 1, 2]], n_elements=3) == 1.0
    assert metrics.overlapping_nmi([[0, 1, 2]], [[0, 1]], n_elements=3) == 0.0
