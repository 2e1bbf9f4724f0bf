"""The numbers behind the pictures against plain formulas, and the drawings against the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex
from sklearn.metrics import normalized_mutual_info_score

import biconsensus as bc
from biconsensus import plots
from biconsensus.models import get_model
from biconsensus.plots._bases import source_seen
from biconsensus.plots._contours import level_segments
from biconsensus.plots._layout import group_graph, in_plane, model_bands, node_positions
from biconsensus.plots._matrix import candidate_groups, element_order
from biconsensus.plots._matrix_display import paint
from biconsensus.plots._overlaps import Overlaps
from biconsensus.plots._source_numbers import nmi_of_table


@pytest.fixture(scope="module")
def consensus() -> bc.Consensus:
    """Three groups of 20, ten base results with 10% of wrong labels and 10% of gaps, one result at random."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 20)
    base = np.stack([np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), truth) for _ in range(10)], axis=1)
    table = base.astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    table = np.column_stack([table, rng.integers(0, 3, 60)])
    return bc.find_consensus(table, min_elements=5, min_candidates=3)


def seen_of(consensus: bc.Consensus) -> np.ndarray:
    """(m, c) dense mask of what each source saw."""
    return np.stack(
        [
            np.ones(consensus.labels.size, bool) if (seen := source_seen(consensus.pool, k)) is None else seen
            for k in range(len(consensus.pool.sources))
        ],
        axis=1,
    )


def test_overlaps_are_what_dense_counting_gives(consensus: bc.Consensus) -> None:
    A = consensus.pool.to_matrix().toarray()
    members = consensus.membership.toarray().astype(float)
    seen = seen_of(consensus)[:, consensus.pool.source_of].astype(float)
    overlaps = Overlaps.of(consensus)
    np.testing.assert_allclose(overlaps.shared.toarray(), A.T @ members)
    np.testing.assert_allclose(overlaps.seen[overlaps.view], seen.T @ members)
    np.testing.assert_allclose(overlaps.candidate_sizes, A.sum(axis=0))
    union = [
        [((A[:, j] + members[:, t]) * seen[:, j] > 0).sum() for t in range(len(consensus))] for j in range(A.shape[1])
    ]
    np.testing.assert_allclose(overlaps.jaccard.toarray(), (A.T @ members) / np.array(union))


def test_group_numbers_against_loops(consensus: bc.Consensus) -> None:
    numbers = plots.group_numbers(consensus)
    jaccard, source_of = Overlaps.of(consensus).jaccard.toarray(), consensus.pool.source_of
    assert len(consensus) == 3
    for t, group in enumerate(consensus.biclusters):
        own = consensus.labels == t
        assert numbers.sizes[t] == own.sum()
        assert numbers.candidates[t] == group.candidates.size
        assert numbers.sources[t] == len({source_of[j] for j in group.candidates})
        assert numbers.gains[t] == group.gain
        assert numbers.backing[t] == pytest.approx(consensus.backing[own].mean())
        best = [max(jaccard[j, t] for j in np.flatnonzero(source_of == s)) for s in range(11)]
        assert numbers.stability[t] == pytest.approx(np.mean(best))


def test_stability_of_candidates_that_are_their_own_sources() -> None:
    pool = bc.Pool.from_groups([range(10)] * 4 + [range(2, 10)] + [range(10, 20)] * 4, n_elements=20)
    numbers = plots.group_numbers(bc.find_consensus(pool))
    np.testing.assert_allclose(np.sort(numbers.stability), [(4 + 0.8) / 5, 1.0])


def test_source_nmi_is_that_of_sklearn_on_what_was_seen(consensus: bc.Consensus) -> None:
    numbers = plots.source_numbers(consensus)
    seen = seen_of(consensus)
    for k in range(11):
        labels = plots.source_labels(consensus.pool, k)
        expected = normalized_mutual_info_score(labels[seen[:, k]], consensus.labels[seen[:, k]])
        assert numbers.nmi[k] == pytest.approx(expected, abs=1e-12)
    assert numbers.nmi.argmin() == 10  # the random one
    assert numbers.used.sum() == sum(group.candidates.size for group in consensus.biclusters)


def test_sources_with_overlapping_candidates_have_no_nmi() -> None:
    pool = bc.Pool.from_groups([range(8), range(4, 12)] * 4, n_elements=12, sources=[0, 0, 1, 1, 2, 2, 3, 3])
    consensus = bc.find_consensus(pool, min_elements=2)
    assert np.isnan(plots.source_numbers(consensus).nmi).all()


@given(arrays(np.int64, (30, 2), elements=st.integers(0, 3)))
@settings(max_examples=50, deadline=None)
def test_nmi_of_table_is_that_of_sklearn(pairs: np.ndarray) -> None:
    table = np.zeros((4, 4))
    np.add.at(table, (pairs[:, 0], pairs[:, 1]), 1)
    assert nmi_of_table(table) == pytest.approx(normalized_mutual_info_score(*pairs.T), abs=1e-9)


def test_source_labels_give_back_the_table() -> None:
    table = np.array([[0, 1, -1], [0, 1, 2], [1, 0, 2], [1, 0, 2]])
    pool = bc.Pool.from_labels(table)
    np.testing.assert_array_equal(plots.source_labels(pool, 0), table[:, 0])
    np.testing.assert_array_equal(plots.source_labels(pool, 1), table[:, 1])
    np.testing.assert_array_equal(plots.source_labels(pool, 2), [-1, 0, 0, 0])


@pytest.mark.parametrize("reorder", [False, True])
def test_matrix_image_is_the_matrix_where_it_fits(consensus: bc.Consensus, reorder: bool) -> None:
    image = plots.matrix_image(consensus, reorder, 1000, 1000)
    A = consensus.pool.to_matrix().toarray()
    if reorder:
        columns = np.argsort(
            np.where(candidate_groups(consensus) < 0, 99, candidate_groups(consensus)),
            kind="stable",
        )
        A = A[element_order(consensus)][:, columns]
        assert (np.diff(np.where(image.row_groups < 0, 99, image.row_groups)) >= 0).all()
    np.testing.assert_array_equal(image.shares, A)


def test_binned_matrix_image_keeps_the_mean(consensus: bc.Consensus) -> None:
    image = plots.matrix_image(consensus, True, 7, 5)
    assert image.shares.shape == (7, 5)
    sizes = np.outer(np.diff(image.row_edges), np.diff(image.column_edges))
    assert (image.shares * sizes).sum() == pytest.approx(consensus.pool.to_matrix().sum())


def test_paint_gives_blocks_the_colour_of_their_group() -> None:
    consensus = bc.find_consensus([[0, 1] * 8] * 4)
    colours = paint(plots.matrix_image(consensus))
    assert to_hex(colours[0, 0]).upper() == plots.color_of(0)
    assert to_hex(colours[-1, -1]).upper() == plots.color_of(1)
    assert (colours[0, -1] == 1).all()


def test_backing_histogram_counts_every_grouped_element(consensus: bc.Consensus) -> None:
    edges, counts = plots.backing_histogram(consensus, bins=10)
    for t in range(len(consensus)):
        expected = np.histogram(consensus.backing[consensus.labels == t] - 1e-12, bins=edges - 1e-12)[0]
        assert counts[t].sum() == expected.sum() == (consensus.labels == t).sum()


def test_least_certain_are_the_smallest(consensus: bc.Consensus) -> None:
    first = plots.least_certain(consensus, 5)
    inside = np.flatnonzero(consensus.labels >= 0)
    np.testing.assert_allclose(consensus.backing[first], np.sort(consensus.backing[inside])[:5])


def test_level_lines_of_a_circle_lie_on_it() -> None:
    x = np.linspace(-2, 2, 81)
    y = np.linspace(-1.5, 1.5, 61)
    values = np.hypot(*np.meshgrid(x, y))
    segments = level_segments(values, x, y, 1.0)
    np.testing.assert_allclose(np.hypot(segments[:, 0], segments[:, 1]), 1, atol=2e-3)
    lengths = np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1])
    assert lengths.sum() == pytest.approx(2 * np.pi, rel=2e-3)


def test_saddle_gives_two_lines() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert level_segments(values, np.arange(2.0), np.arange(2.0), 0.5).shape == (2, 4)


def test_bands_of_a_line_are_at_the_threshold() -> None:
    line = get_model("line")
    X = np.array([[0.0, 0.0], [4.0, 3.0], [4.0, 0.0]])
    params = line.fit(X[None, :2])
    (band,) = model_bands(X, line, params, 0.2)
    ends = band.reshape(-1, 2)
    np.testing.assert_allclose(line.residuals(params, ends)[:, 0], 0.2, atol=1e-9)


def test_plane_of_points_on_a_line_keeps_distances() -> None:
    t = np.linspace(0, 1, 20)
    X = np.column_stack([3 * t, 4 * t, 0 * t])
    plane, names = in_plane(X)
    assert np.ptp(plane[:, 0]) == pytest.approx(5)
    assert np.ptp(plane[:, 1]) == pytest.approx(0, abs=1e-9)
    assert "100%" in names[0]


def test_network_layout_puts_groups_apart() -> None:
    block = np.kron(np.eye(2), np.ones((8, 8)))
    block[0, 15] = block[15, 0] = 1
    labels = np.repeat([0, 1], 8)
    drawing = node_positions(block, labels)
    middle = np.stack([drawing.positions[labels == k].mean(axis=0) for k in (0, 1)])
    spread = max(drawing.positions[labels == k].std(axis=0).max() for k in (0, 1))
    assert np.linalg.norm(middle[0] - middle[1]) > 2 * spread
    assert len(drawing.edges) == 2 * 28 + 1


def test_group_graph_counts_what_runs_between() -> None:
    consensus = bc.find_consensus([[0] * 8 + [1] * 8 + [2] * 8 + [-1]] * 4)
    graph = np.zeros((25, 25))
    graph[0, 8] = graph[8, 0] = graph[1, 9] = graph[9, 1] = 1
    graph[2, 24] = graph[24, 2] = 1
    drawing = group_graph(graph, consensus)
    assert drawing.labels.tolist() == [-1, 0, 1, 2]
    assert drawing.edges.tolist() == [[0, 1], [1, 2]]
    assert drawing.widths[1] == pytest.approx(2 * drawing.widths[0])


def test_bars_have_the_heights_of_the_numbers(consensus: bc.Consensus) -> None:
    ax = plots.group_sizes(consensus)
    assert [bar.get_height() for bar in ax.patches] == plots.group_numbers(consensus).sizes.tolist()
    ax = plots.backing(consensus, bins=8)
    assert sum(bar.get_height() for bar in ax.patches) == (consensus.labels >= 0).sum()
    ax = plots.sources(consensus)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(plots.source_numbers(consensus).nmi))


def test_scores_draw_the_consensus_above_its_base(consensus: bc.Consensus) -> None:
    truth = np.repeat([0, 1, 2], 20)
    ax = plots.scores(consensus, truth)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(bc.metrics.ari(truth, consensus.labels))
    base = plots.base_scores(consensus.pool, truth, bc.metrics.ari)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], np.sort(base)[::-1])


def test_scatter_draws_each_group_in_its_colour(consensus: bc.Consensus) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    ax = plots.scatter(consensus, X)
    drawn = {to_hex(points.get_facecolor()[0]).upper(): len(points.get_offsets()) for points in ax.collections}
    for group in np.unique(consensus.labels):
        assert drawn[plots.color_of(int(group))] == (consensus.labels == group).sum()


def test_path_ribbons_nest_and_count() -> None:
    from biconsensus.quorum._path import QuorumPath

    coarse, fine = np.repeat([0, 1], [12, 8]), np.repeat([0, 1, 2], [6, 6, 8])
    pool = bc.Pool.from_labels([coarse] * 4 + [fine] * 4)
    path = QuorumPath.of(pool, min_elements=2, min_candidates=2)
    ribbons = plots.path_ribbons(path, height=20)
    assert ribbons.groups.shape == (20, len(path.points))
    assert (np.diff(ribbons.quorums) > 0).all()
    for place, point in enumerate(path.points[::-1]):
        sizes = np.bincount(point.labels, path.problem.counts)
        np.testing.assert_array_equal(np.bincount(ribbons.groups[:, place]), sizes)
        assert len(np.flatnonzero(np.diff(ribbons.groups[:, place]))) == len(point) - 1  # groups hang together
    np.testing.assert_array_equal(ribbons.origin[:, ribbons.chosen], ribbons.groups[:, ribbons.chosen])


def test_display_takes_given_axes(consensus: bc.Consensus) -> None:
    from matplotlib import pyplot as plt

    ax = plt.figure().add_subplot()
    display = plots.PreferenceMatrixDisplay.from_consensus(consensus, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), paint(display.image))
