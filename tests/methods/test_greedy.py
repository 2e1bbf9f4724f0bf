"""Algorithm 1: the loop, its stopping rules, the encoder view."""

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.methods._greedy import bicluster, description_lengths, is_large
from biconsensus.protocols import Block
from tests.helpers.strategies import paper_consensus


class Scripted:
    """A solver that gives prepared blocks and records what it was asked."""

    def __init__(self, blocks):
        self.blocks, self.asked = list(blocks), []

    def load(self, problem, quorum):
        pass

    def best_block(self, rows, columns, min_elements, min_candidates):
        self.asked.append((rows.copy(), columns.copy(), min_elements, min_candidates))
        return self.blocks.pop(0) if self.blocks else None


def mask(size, *places):
    out = np.zeros(size, bool)
    out[list(places)] = True
    return out


@pytest.fixture
def problem():
    return bc.PreferenceMatrix.from_pool(bc.Pool.from_matrix(np.eye(4, dtype=int)))


def test_removes_rows_and_columns_of_each_block(problem):
    solver = Scripted([Block(mask(4, 0), mask(4, 1), 3.0), Block(mask(4, 2), mask(4, 3), 2.0)])
    found = bicluster(problem, solver, min_elements=1, min_candidates=1)
    assert [block.gain for block in found.blocks] == [3.0, 2.0]
    assert solver.asked[1][0].tolist() == [False, True, True, True]
    assert solver.asked[2][1].tolist() == [True, False, True, False]


def test_overlap_keeps_the_rows(problem):
    solver = Scripted([Block(mask(4, 0), mask(4, 1), 3.0)])
    bicluster(problem, solver, min_elements=1, min_candidates=1, overlap=True)
    assert solver.asked[1][0].all()
    assert solver.asked[1][1].tolist() == [True, False, True, True]


def test_first_small_ends_at_the_first_block_that_is_too_small(problem):
    small, large = Block(mask(4, 0), mask(4, 0), 1.0), Block(mask(4, 1, 2), mask(4, 1, 2), 1.0)
    solver = Scripted([large, small, large])
    found = bicluster(problem, solver, min_elements=2, min_candidates=2, stop="first_small")
    assert found.blocks == [large]
    assert found.discarded is small
    assert solver.asked[0][2:] == (1, 1)


def test_ends_when_nothing_is_alive(problem):
    solver = Scripted([Block(mask(4, 0, 1, 2, 3), mask(4, 0), 1.0)] * 3)
    assert len(bicluster(problem, solver, min_elements=1, min_candidates=1).blocks) == 1


def test_description_length_counts_rows_columns_and_errors():
    A = np.zeros((20, 10), int)
    A[:10, :5] = A[10:18, 5:] = 1
    A[19, 0] = 1
    consensus = paper_consensus(bc.Pool.from_matrix(A), stop="description_length")
    assert len(consensus) == 2
    path = consensus.extraction["description_lengths"]
    norm = A.sum()
    assert path[0] == norm
    assert path[1] == norm - 50 + 10 + 5
    assert path[2] == path[1] - 40 + 8 + 5
    assert min(path) == path[2]


def test_description_lengths_of_no_block(problem):
    assert description_lengths(problem, []).tolist() == [4.0]


def test_the_minimum_sizes_are_those_of_the_paper_where_none_are_given(problem):
    solver = Scripted([])
    bicluster(problem, solver)
    assert solver.asked[0][2:] == (7, 4)


def test_minimum_sizes_are_inclusive_and_both_must_hold():
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_matrix(np.kron(np.eye(2, dtype=int), np.ones((3, 2), int))))
    block = Block(mask(2, 0), mask(2, 0), 1.0)
    assert is_large(problem, block, 3, 2)
    assert not is_large(problem, block, 4, 2)
    assert not is_large(problem, block, 3, 3)


def test_a_row_or_column_left_alive_is_enough_to_go_on_only_together(problem):
    solver = Scripted([Block(mask(4, 0), mask(4, 0, 1, 2, 3), 1.0)] * 3)
    assert len(bicluster(problem, solver, min_elements=1, min_candidates=1).blocks) == 1
    solver = Scripted([Block(mask(4, 0, 1, 2, 3), mask(4, 0), 1.0)] * 2)
    assert len(bicluster(problem, solver, min_elements=1, min_candidates=1, overlap=True).blocks) == 2
