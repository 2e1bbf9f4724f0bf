"""A sample of the rows stands for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.find import trace
from biconsensus.matrix import _condensed as _sample
from biconsensus.matrix._condensed import ROWS_OF_A_CANDIDATE, draw_rows
from biconsensus.matrix._matrix import PreferenceMatrix


def many_rows(
    seed: int, n_elements: int = 20_000, small: tuple[int, ...] = (), names_of_noise: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(m, 12) labels with so much noise that nearly all rows are distinct, and the truth; some groups small.

    Noise has eight names, which small groups may have too in some sources, unless `names_of_noise` is false.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 8, n_elements)
    start = 0
    for k, size in enumerate(small):
        truth[start : start + size] = 8 + k
        start += size
    n_groups = 8 + len(small)
    table = np.empty((n_elements, 12), np.int64)
    for j in range(table.shape[1]):
        noise = rng.random(n_elements) < 0.25
        names = rng.permutation(n_groups) if names_of_noise else np.append(rng.permutation(8), np.arange(8, n_groups))
        table[:, j] = np.where(noise, rng.integers(0, 8, n_elements), names[truth])
        # half of the sources merge two groups
        table[table[:, j] == n_groups - 1, j] = 0 if j % 2 else n_groups - 1
    order = rng.permutation(n_elements)
    return table[order], truth[order]


def problem_of(table: np.ndarray) -> PreferenceMatrix:
    return PreferenceMatrix.from_pool(bc.Pool.from_labels(table))


def test_votes_are_right_on_average_and_no_candidate_is_lost() -> None:
    problem = problem_of(many_rows(0, small=(60,))[0])
    drawn = draw_rows(problem, 1000)
    assert drawn is not None
    rows, counts = drawn.rows, drawn.counts
    assert 800 < rows.size < 2500
    sizes = counts @ problem.entries[rows].astype(float)
    assert sizes == pytest.approx(problem.sizes, rel=0.6)
    assert np.median(np.abs(sizes / problem.sizes - 1)) < 0.1
    kept = np.bincount(problem.entries[rows].indices, minlength=problem.shape[1])
    assert kept.min() >= ROWS_OF_A_CANDIDATE / 3


def test_content_is_drawn_not_places() -> None:
    table, _ = many_rows(1)
    order = np.random.default_rng(0).permutation(len(table))
    names = np.random.default_rng(1).permutation(20)
    here, there = (draw_rows(problem_of(part), 1000) for part in (table, names[table[order]][:, ::-1]))
    assert here is not None
    assert there is not None
    assert here.rows.size == there.rows.size
    assert sorted(here.counts.tolist()) == sorted(there.counts.tolist())


def test_few_rows_are_all_searched() -> None:
    assert draw_rows(problem_of(many_rows(2, 3000)[0])) is None


def test_singletons_do_not_make_the_sample_large() -> None:
    table = np.column_stack([np.arange(30_000), *[np.repeat([0, 1], 15_000)] * 4])
    drawn = draw_rows(problem_of(table))
    assert drawn is not None
    assert drawn.rows.size < 7000


@pytest.mark.parametrize(
    ("small", "asked"), [((60, 150), ("auto", 10)), ((7, 10, 15), ("auto",)), ((), (8,))], ids=["some", "tiny", "none"]
)
def test_sampled_and_exact_search_agree(monkeypatch, small, asked) -> None:
    # a smaller sample of a smaller table sees the same in a fraction of the time
    monkeypatch.setattr(_sample, "SAMPLE_ROWS", 2500)
    # a group of a dozen elements is found where sources made a candidate of it, not as an overlap of large ones
    table, truth = many_rows(3, 10_000, small, names_of_noise=max(small, default=60) >= 60)
    pool = bc.Pool.from_labels(table)
    of_sample = trace(pool, bc.Search())
    monkeypatch.setattr(_sample, "WORTH_SAMPLING", 10**9)
    of_all = trace(pool, bc.Search())
    for n_groups in asked:  # one path has the answers to both questions
        sampled, exact = (
            path.answer() if n_groups == "auto" else path.with_n_groups(n_groups) for path in (of_sample, of_all)
        )
        assert sampled.extraction["rows_searched"] < 5000
        assert exact.extraction["rows_searched"] > 7000
        assert len(sampled) == len(exact)
        assert adjusted_rand_score(sampled.labels, exact.labels) > 0.995
        in_small = truth >= 8
        assert adjusted_rand_score(sampled.labels[in_small], exact.labels[in_small]) > 0.9
        assert adjusted_rand_score(sampled.labels, truth) > adjusted_rand_score(exact.labels, truth) - 0.002


def test_gains_are_those_of_all_rows(monkeypatch) -> None:
    monkeypatch.setattr(_sample, "SAMPLE_ROWS", 1000)
    table, _ = many_rows(4, 5000)
    found = bc.find_consensus(table)
    assert found.extraction["rows_searched"] < 2500
    pool = found.pool
    held = np.asarray(pool.to_matrix().todense())
    for block, gain in zip(found.biclusters, found.gains):
        weights = found.weights[block.candidates]
        inside = held[np.ix_(block.elements, block.candidates)]
        assert gain == pytest.approx(((inside - found.settings["quorum"]) * weights).sum())
