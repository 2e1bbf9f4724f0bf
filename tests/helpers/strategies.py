"""Random pools for property tests, and plain dense formulas to compare with."""

import os
import warnings

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import biconsensus as bc


def examples(number):
    """So many examples of a costly property, unless a profile (`make fuzz`, `make mutate`) asks for its own number."""
    profile = os.environ.get("BICONSENSUS_PROFILE")
    return settings(max_examples=settings.get_profile(profile).max_examples if profile else number)


@st.composite
def label_tables(draw, max_elements=24, max_sources=6, max_groups=4, noise=True, missing=False):
    """(m, c) integer tables; -1 is in no group, -2 is not seen."""
    m, c = draw(st.integers(1, max_elements)), draw(st.integers(1, max_sources))
    low = -2 if missing else -1 if noise else 0
    table = draw(hnp.arrays(np.int16, (m, c), elements=st.integers(low, max_groups - 1)))
    if (table < 0).all():
        table[0, 0] = 0
    return table


@st.composite
def binary_matrices(draw, max_rows=8, max_columns=8):
    """Non-empty 0/1 matrices."""
    shape = draw(st.tuples(st.integers(1, max_rows), st.integers(1, max_columns)))
    return draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 1)))


def dense_parts(pool):
    """Memberships B, mask M, weights w of a pool, dense and uncompressed."""
    B = pool.to_matrix().toarray()
    M = np.ones_like(B)
    if pool.unseen is not None:
        M = 1.0 - pool.unseen.toarray()[pool.inverse][:, pool.mask_of]
    return B, M, pool.weights


def dense_gain(pool, elements, candidates, quorum):
    """gain(R, Q) by its definition."""
    B, M, w = dense_parts(pool)
    return float((M * w * (B - quorum))[np.ix_(elements, candidates)].sum())


def same_grouping(left, right):
    """Whether two labelings are equal up to numbering, -1 apart."""
    pairs = set(zip(left.tolist(), right.tolist()))
    return all((a == -1) == (b == -1) for a, b in pairs) and len({a for a, _ in pairs}) == len(pairs) == len(
        {b for _, b in pairs}
    )


def paper_consensus(pool, min_elements=7, min_candidates=4, overlap=False, **options):
    """find_consensus with the settings of the paper where not said otherwise: a majority, and outliers stay out."""
    plain = {"unassigned": "leave"} if "n_groups" in options else {"quorum": 0.5, "unassigned": "leave"}
    return bc.find_consensus(
        pool, min_elements=min_elements, min_candidates=min_candidates, overlap=overlap, **{**plain, **options}
    )


def quiet_consensus(*args, **options):
    """The same with minimum sizes of one where not said otherwise; an empty answer is fine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.errors.NoConsensusWarning)
        return paper_consensus(*args, **{"min_elements": 1, "min_candidates": 1, **options})


def same_either_way(monkeypatch, module, limit, find):
    """The consensus, after making sure that it is the same on both sides of a limit that only decides the way there."""
    found = []
    for value in (0, 10**9):
        monkeypatch.setattr(module, limit, value)
        found.append(find())
    assert np.array_equal(found[0].labels, found[1].labels)
    assert found[0].gains.tolist() == found[1].gains.tolist()
    return found[0]
