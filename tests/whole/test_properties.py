"""Properties across the parts of the core: repeated sources, pools split and joined, solvers and engines alike."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.errors import ConvergenceWarning
from tests.helpers.solver_problems import problem_of, solve
from tests.helpers.strategies import examples, label_tables, paper_consensus, quiet_consensus, same_grouping

QUORUMS = [0.2, 0.5, 0.7]
seeds = st.integers(0, 2**32 - 1)


@st.composite
def planted_blocks(draw, least=4, most=7, dropped=True):
    """Two disjoint blocks of ones, the first one larger, with at most one error in each row and each column."""
    a, b = draw(st.integers(least, most)), draw(st.integers(least, most))
    matrix = np.zeros((a + 1 + a, b + 1 + b), bool)
    matrix[: a + 1, : b + 1] = True
    matrix[a + 1 :, b + 1 :] = True
    if dropped:
        k = draw(st.integers(0, a // 2))
        rows, columns = (
            draw(st.lists(st.integers(0, n - 1), min_size=k, max_size=k, unique=True)) for n in matrix.shape
        )
        matrix[rows, columns] ^= True
    return matrix, np.arange(2 * a + 1) <= a, np.arange(2 * b + 1) <= b


@st.composite
def planted_tables(draw):
    """Label tables of 12 elements or more in which every source errs on a few elements of its own only."""
    sizes = draw(st.lists(st.integers(6, 11), min_size=2, max_size=4, unique=True))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    c = draw(st.integers(4, 7))
    rng = np.random.default_rng(draw(seeds))
    table = np.stack([rng.permutation(len(sizes))[truth] for _ in range(c)], axis=1)
    for j, wrong in enumerate(np.array_split(rng.permutation(truth.size)[: truth.size // 4], c)):
        table[wrong, j] = rng.integers(-1, len(sizes), wrong.size)
    return table, truth, rng


@given(label_tables(missing=True, max_sources=4), st.integers(2, 3), st.sampled_from(QUORUMS))
@examples(60)
def test_repeating_every_source_changes_no_group(table, times, quorum):
    one, many = (bc.Pool.from_labels(np.tile(table, (1, k)), missing=-2) for k in (1, times))
    plain, repeated = quiet_consensus(one, quorum=quorum), quiet_consensus(many, quorum=quorum)
    assert np.array_equal(plain.labels, repeated.labels)
    assert np.allclose(times * plain.gains, repeated.gains)
    assert np.allclose(plain.backing, repeated.backing)
    for a, b in zip(plain.biclusters, repeated.biclusters):
        shifts = one.shape[1] * np.arange(times)
        assert np.array_equal(np.sort((a.candidates[:, None] + shifts).ravel()), np.sort(b.candidates))


@given(label_tables(missing=True, max_sources=6), st.integers(1, 5), st.sampled_from(QUORUMS))
@examples(60)
def test_a_pool_split_by_sources_and_put_together_gives_the_same(table, cut, quorum):
    pool = bc.Pool.from_labels(table, missing=-2)
    halves = np.split(np.arange(len(pool.sources)), [cut])
    parts = [pool.select(sources=half) for half in halves if np.isin(pool.source_of, half).any()]
    whole = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    assert np.array_equal(whole.to_matrix().toarray(), pool.to_matrix().toarray())
    assert whole.names == pool.names
    plain, again = quiet_consensus(pool, quorum=quorum), quiet_consensus(whole, quorum=quorum)
    # a source without candidates is gone from the second pool, so that ties may end otherwise
    assert plain.objective == again.objective
    if len(whole.sources) == len(pool.sources):
        assert np.array_equal(plain.gains, again.gains)
        assert np.array_equal(plain.labels, again.labels)


@given(label_tables(missing=True), st.randoms(use_true_random=False))
@examples(60)
def test_a_pool_split_by_elements_keeps_every_row(table, random):
    pool = bc.Pool.from_labels(table, missing=-2)
    chosen = np.array([random.random() < 0.5 for _ in table])
    full = pool.to_matrix().toarray()
    for part in (np.flatnonzero(chosen), np.flatnonzero(~chosen)):
        if part.size:
            own = pool.select(elements=part)
            assert np.array_equal(own.to_matrix().toarray(), full[part])
            assert own.counts.sum() == part.size


@given(planted_tables())
@examples(40)
def test_permutations_keep_planted_groups(planted):
    table, truth, rng = planted
    plain = paper_consensus(table, min_elements=3)
    assert same_grouping(truth, plain.labels)
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])
    other = paper_consensus(table[rows][:, columns], min_elements=3)
    assert same_grouping(plain.labels[rows], other.labels)
    assert other.objective == plain.objective


@given(label_tables(missing=True), st.sampled_from(QUORUMS), seeds)
@examples(60)
def test_the_objective_falls_with_every_group(table, quorum, seed):
    """What is left to explain after t groups is the start minus twice their gains, and never grows."""
    weights = np.random.default_rng(seed).integers(1, 5, table.shape[1])
    c = quiet_consensus(bc.Pool.from_labels(table, weights=weights, missing=-2), quorum=quorum)
    start = 2 * (1 - quorum) * float((c.pool.to_matrix() @ c.pool.weights).sum())
    left = start - 2 * np.concatenate([[0.0], np.cumsum(c.gains)])
    assert (np.diff(left) < 0).all()
    assert c.objective == pytest.approx(left[-1], abs=1e-9 * max(start, 1))
    assert c.objective >= -1e-9 * start


@given(planted_blocks(), st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)]))
@examples(30)
def test_vote_and_quantile_are_alike_on_binary_matrices(planted, quorum):
    matrix, rows, columns = planted
    blocks = [solve(name, problem_of(matrix), (2, 2), quorum=quorum) for name in ("vote", "quantile")]
    for block in blocks:
        assert np.array_equal(block.rows, rows)
        assert np.array_equal(block.columns, columns)
        assert block.gain == pytest.approx((matrix[np.ix_(rows, columns)] - float(quorum)).sum(), abs=1e-9)


@given(planted_blocks(most=6))
@examples(20)
def test_vote_quantile_and_exact_are_alike_on_binary_matrices(planted):
    matrix, rows, columns = planted
    for name in ("vote", "quantile", "exact"):
        block = solve(name, problem_of(matrix), (2, 2))
        assert np.array_equal(block.rows, rows)
        assert np.array_equal(block.columns, columns)
        assert block.gain == matrix[np.ix_(rows, columns)].sum() - rows.sum() * columns.sum() / 2


@given(planted_blocks())
@examples(20)
def test_admm_finds_planted_blocks_where_it_converges(planted):
    matrix, rows, columns = planted
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        block = solve("admm", problem_of(matrix), (2, 2))
    if not said:
        assert np.array_equal(block.rows, rows)
        assert np.array_equal(block.columns, columns)
        assert block.gain == matrix[np.ix_(rows, columns)].sum() - rows.sum() * columns.sum() / 2


@given(label_tables(missing=True), st.integers(1, 12), st.sampled_from(QUORUMS), st.sampled_from(["greedy", "joint"]))
@examples(25)
def test_one_machine_and_dask_agree_bit_for_bit_on_any_table(table, chunk, quorum, method):
    dask = pytest.importorskip("dask", reason="dask is an extra")
    import dask.array as da

    cells = np.where(table == -2, np.nan, table.astype(float))
    local = quiet_consensus(cells, quorum=quorum, method=method)
    with dask.config.set(scheduler="synchronous"):
        lazy = quiet_consensus(da.from_array(cells, chunks=(chunk, table.shape[1])), quorum=quorum, method=method)
        labels, backing = dask.compute(lazy.labels, lazy.backing)
    assert np.array_equal(labels, local.labels)
    assert backing.tobytes() == local.backing.tobytes()
    assert lazy.gains.tobytes() == local.gains.tobytes()
    assert lazy.objective == local.objective
