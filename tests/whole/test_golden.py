"""Golden answers: the same labels on every supported version, in every process, under every hash seed.

`tests/whole/test_determinism.py` compares them in a process of other threads and another hash seed.
`python -m tests.whole.test_golden` prints the digests; they change only when an answer is meant to change.
"""

import hashlib

import numpy as np
import pytest

import biconsensus as bc
from tests.helpers.strategies import paper_consensus

GOLDEN = {
    "greedy at 1/2": "757239d1792c0430",
    "greedy at 0.3, nearest": "4376fbad6b9e282e",
    "greedy at 0.7": "404192afd9fa9efb",
    "joint at 1/2": "b46e9a9c4ba93347",
    "joint at 0.2": "3a1ef8aacfe86628",
    "overlap": "64ed7eb85655cfca",
    "seeds": "15b2dac561028673",
    "weights by size": "caa3b52285e5113f",
}


def table(seed, m=400, c=12, k=5, noise=0.25):
    """Noisy copies of one grouping, some coarse, some fine, with missing and unassigned cells; integers only."""
    state = np.random.RandomState(seed)  # the legacy stream is frozen for good
    truth = state.randint(k, size=m)
    columns = []
    for j in range(c):
        labels = np.where(state.randint(100, size=m) < 100 * noise, state.randint(k, size=m), truth)
        labels = labels // 2 if j % 4 == 1 else 2 * labels + state.randint(2, size=m) if j % 4 == 2 else labels
        labels[state.randint(m, size=10)] = -1
        labels[state.randint(m, size=10)] = -9
        columns.append(labels)
    return np.stack(columns, axis=1)


def digest(labels):
    """Short name of a labeling."""
    return hashlib.sha256(np.ascontiguousarray(labels, dtype="<i8").tobytes()).hexdigest()[:16]


CASES = {
    "greedy at 1/2": {},
    "greedy at 0.3, nearest": {"quorum": 0.3, "unassigned": "nearest"},
    "greedy at 0.7": {"quorum": 0.7},
    "joint at 1/2": {"method": "joint"},
    "joint at 0.2": {"method": "joint", "quorum": 0.2},
    "overlap": {"overlap": True},
    "seeds": {"together": [[0, 1, 2]]},
    "weights by size": {"weights": "size"},
}


def answer(name):
    """Digest of one case over three tables."""
    pools = [bc.Pool.from_labels(table(seed), missing=-9) for seed in range(3)]
    return digest(np.concatenate([paper_consensus(pool, **CASES[name]).labels for pool in pools]))


@pytest.mark.parametrize("name", CASES)
def test_golden_answers(name):
    assert answer(name) == GOLDEN[name]


if __name__ == "__main__":
    print({name: answer(name) for name in CASES})
