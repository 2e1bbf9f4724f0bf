"""Evidence from points: true borders gain, false ones cost, one cloud stays one; certificates tell which is which."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import expon, norm, uniform
from sklearn.cluster import KMeans

from biconsensus.significance import _points
from biconsensus.significance._points import PointEvidence


def blobs(n_groups: int, d: int, each: int = 80, apart: float = 8.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    centres = apart * np.eye(max(n_groups, d))[:n_groups, :d] if n_groups <= d else None
    if centres is None:
        angle = 2 * np.pi * np.arange(n_groups) / n_groups
        centres = apart * n_groups / 4 * np.c_[np.cos(angle), np.sin(angle), np.zeros((n_groups, d - 2))]
    labels = np.repeat(np.arange(n_groups), each)
    return centres[labels] + rng.normal(size=(labels.size, d)), labels


@pytest.mark.parametrize("d", [2, 3, 6, 12, 40])
def test_the_true_grouping_beats_coarser_and_finer_ones_in_any_dimension(d):
    X, truth = blobs(5, d)
    evidence = PointEvidence(X)
    halved = 2 * truth + (np.arange(truth.size) % 80 >= 40)
    split = np.where(truth == 0, np.where(X[:, 0] > np.median(X[truth == 0, 0]), 5, 0), truth)
    coarse = np.where(truth == 4, 3, truth)
    right = evidence.of_grouping(truth)
    assert right > 0
    assert right > max(evidence.of_grouping(other) for other in (halved, split, coarse))


@pytest.mark.parametrize(
    ("law", "d"), [("normal", 2), ("normal", 3), ("normal", 5), ("normal", 10), ("random", 2), ("random", 3)]
)
def test_cells_of_one_cloud_have_no_evidence_against_one_group(law, d):
    X = getattr(np.random.default_rng(d), law)(size=(600, d))
    evidence = PointEvidence(X)
    for k in (3, 8, 20):
        labels = KMeans(k, n_init=1, random_state=0).fit_predict(X)
        assert evidence.backers_against_one_group(labels) == np.inf
        assert d > 3 or evidence.of_grouping(labels) < 0


def test_shapes_that_no_plane_separates_are_told_apart():
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, 600)
    radius = np.repeat([1.0, 4.0], 300)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(0, 0.15, (600, 2))
    rings, halves = np.repeat([0, 1], 300), (X[:, 0] > 0).astype(np.int64)
    evidence = PointEvidence(X)
    assert evidence.of_grouping(rings) > 0 > evidence.of_grouping(halves)


def ring(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.1, (n, 2))


@pytest.mark.parametrize("n", [200, 500, 3000])
def test_a_thick_ring_is_a_curve_from_afar_and_needs_deeper_valleys_than_a_square(n):
    thick, square = PointEvidence(ring(n)), PointEvidence(np.random.default_rng(0).random((n, 2)))
    assert square.level_of_cloud < 1.7
    assert thick.level_of_cloud > 2.5
    if n > 200:
        assert thick.dimension > 1.9


@pytest.mark.parametrize("seed", range(4))
def test_two_clouds_of_eighty_points_four_deviations_apart_are_two_groups(seed):
    X = np.random.default_rng(seed).normal(size=(160, 2))
    truth = np.repeat([0, 1], 80)
    X[truth == 1, 0] += 4.0
    assert PointEvidence(X).of_grouping(truth) > 0


def strips_of(X):
    found = PointEvidence(X)._borders._strips
    assert found is not None
    return found


def without_strips(X, labels, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_points, "PLANE_FROM_AFAR", np.inf)
        return PointEvidence(X).of_grouping(labels)


def test_a_direction_shows_small_groups_in_the_plane_that_the_density_does_not(monkeypatch):
    shown = 0
    for seed in range(6):
        X, truth = blobs(4, 2, each=60, apart=2.8, seed=seed)  # centres 4 deviations apart
        shown += PointEvidence(X).of_grouping(truth) > max(without_strips(X, truth, monkeypatch), 0)
    assert shown >= 5


def test_both_halves_of_a_ring_have_a_valley_on_a_direction_that_does_not_count(monkeypatch):
    X = ring(500)
    halves = (X[:, 0] > 0).astype(np.int64)
    strips, sides = strips_of(X), [np.flatnonzero(halves == side) for side in (0, 1)]
    assert strips.depth(*sides) > _points.LEVEL_IN_STRIP
    assert strips.dimension_of(np.arange(500)) < _points.PLANE_FROM_AFAR
    assert PointEvidence(X).of_grouping(halves) == without_strips(X, halves, monkeypatch)


def test_other_groups_fill_the_valley_between_two_cells_of_one_cloud():
    X = np.random.default_rng(3).random((900, 2))
    column = np.minimum((3 * X[:, 0]).astype(np.int64), 2)
    left, right = (np.flatnonzero(column == side) for side in (0, 2))
    assert strips_of(X).depth(left, right) < 1.5  # the middle column lies between them
    alone = np.sort(np.concatenate([left, right]))
    sides = np.searchsorted(alone, left), np.searchsorted(alone, right)
    assert strips_of(X[alone]).depth(*sides) > _points.LEVEL_IN_STRIP


def test_only_points_beside_the_two_groups_fill_their_valley():
    X, _ = blobs(2, 2, each=100, apart=4.0)
    sides = np.arange(100), np.arange(100, 200)
    centre, along = X.mean(axis=0), np.array([1.0, -1.0]) / np.sqrt(2)
    across = np.array([along[1], -along[0]])
    others = np.random.default_rng(0).normal(size=(200, 2))
    depths = [strips_of(np.concatenate([X, centre + far * across + others])).depth(*sides) for far in (0.0, 20.0)]
    assert depths[0] < 0
    assert depths[1] == pytest.approx(strips_of(X).depth(*sides))


def test_a_direction_shows_at_most_three_standard_errors_more_than_the_density():
    X, _ = blobs(2, 2, each=100, apart=6.0)
    borders = PointEvidence(X)._borders
    sides = np.arange(100), np.arange(100, 200)
    deep = borders._strips.depth(*sides)
    assert deep > 6
    for depth, counted in ((-1.0, 2.0), (1.5, 4.5), (9.0, 6.0)):
        assert borders._along_strip(depth, *sides, np.arange(200)) == counted - _points.LEVEL_IN_STRIP
    few = borders._along_strip(9.0, np.arange(9), np.arange(100, 200), np.arange(200))
    assert few <= 0  # groups of fewer than ten points bring nothing


def test_a_small_group_at_the_side_of_a_large_one_has_no_valley_but_no_concave_log_density():
    large, small = norm.ppf((np.arange(900) + 0.5) / 900), norm.ppf((np.arange(100) + 0.5) / 100, 2.8, 0.7)
    line = _points._line_between(large, small, beyond=False)
    assert line.below_lower_peak() < 0.5
    assert line.below_concave() > 2


@pytest.mark.parametrize("law", [norm, uniform, expon])
def test_a_cut_through_a_concave_log_density_shows_nothing(law):
    values = law.ppf((np.arange(1000) + 0.5) / 1000)
    low, high = values[values < np.median(values)], values[values >= np.median(values)]
    # smoothing turns the edge of the window into a small dent
    assert abs(_points._line_between(low, high, beyond=False).below_concave()) < 0.3


def test_the_least_concave_function_above_values_is_that_of_their_convex_hull():
    values = np.random.default_rng(0).normal(size=40).cumsum()
    above = _points._concave_above(values)
    pairs = [
        np.interp(np.arange(40), [i, j], values[[i, j]], -np.inf, -np.inf) for i in range(40) for j in range(i + 1, 40)
    ]
    assert above == pytest.approx(np.max(pairs, axis=0))
    assert (np.diff(above, 2) < 1e-9).all()


def test_the_order_of_the_points_does_not_matter_in_the_plane():
    X, truth = blobs(3, 2, each=90, apart=3.0)
    order = np.random.default_rng(1).permutation(truth.size)
    assert PointEvidence(X[order]).of_grouping(truth[order]) == pytest.approx(PointEvidence(X).of_grouping(truth))


@pytest.mark.parametrize("d", [2, 5])
def test_clear_groups_need_the_fewest_backers_and_cells_of_a_cloud_more(d):
    X, truth = blobs(3, d)
    assert PointEvidence(X).backers_against_one_group(truth) == _points.FEWEST_BACKERS
    cloud = np.random.default_rng(d).random((1000, d))
    cells = KMeans(6, n_init=1, random_state=0).fit_predict(cloud).astype(np.int64)
    assert PointEvidence(cloud).backers_against_one_group(cells) > _points.FEWEST_BACKERS


def test_one_group_is_the_zero_of_the_scale():
    X, truth = blobs(2, 2)
    evidence = PointEvidence(X)
    assert evidence.of_grouping(np.zeros_like(truth)) == 0.0
    assert evidence.of_grouping(np.full_like(truth, -1)) == 0.0
    assert evidence.of_groups(np.zeros_like(truth)).tolist() == [0.0]


@pytest.mark.parametrize("d", [2, 8])
def test_names_of_groups_and_order_of_groups_do_not_matter(d):
    X, truth = blobs(4, d)
    evidence = PointEvidence(X)
    renamed = np.array([7, 3, 9, 0])[truth]
    assert evidence.of_grouping(renamed) == pytest.approx(evidence.of_grouping(truth))
    assert evidence.of_groups(renamed)[[7, 3, 9, 0]] == pytest.approx(evidence.of_groups(truth))


@pytest.mark.parametrize("d", [2, 8])
def test_a_certificate_tells_a_real_group_from_half_of_one(d):
    X, truth = blobs(3, d, each=150)
    half = np.where((truth == 0) & (X[:, 0] > np.median(X[truth == 0, 0])), 3, truth)
    chance = PointEvidence(X).of_groups(half)
    assert (chance[[1, 2]] < -2).all()
    assert (chance[[0, 3]] > -1.31).all()


def test_points_in_no_group_take_the_group_of_their_nearest_neighbour():
    X, truth = blobs(3, 2)
    labels = truth.copy()
    labels[::7] = -1
    evidence = PointEvidence(X)
    assert np.array_equal(evidence.place(labels), truth)
    assert evidence.of_grouping(labels) == pytest.approx(evidence.of_grouping(truth))
    assert np.array_equal(evidence.place(np.full_like(truth, -1)), np.full_like(truth, -1))


def test_small_groups_in_the_plane_never_gain():
    X, truth = blobs(2, 2)
    X[:5] += 100
    labels = truth.copy()
    labels[:5] = 2
    evidence = PointEvidence(X)
    assert evidence.of_grouping(labels) <= evidence.of_grouping(truth) + _points.CAP


def cloud_and_few(n_few: int, spread: float, away: float = 12.0):
    """Two touching clouds of 60 points in six columns, and a few points away from both."""
    X, truth = blobs(2, 6, each=60, apart=2.2)
    few = np.array([0, 0, away, 0, 0, 0]) + spread * np.random.default_rng(1).normal(size=(n_few, 6))
    return np.concatenate([X, few]), np.concatenate([truth, np.full(n_few, 2)])


@pytest.mark.parametrize(
    ("n_few", "spread", "gains"), [(5, 0.3, True), (9, 0.3, True), (4, 0.3, False), (5, 3.0, False), (5, 0.0, False)]
)
def test_beyond_the_plane_a_small_group_gains_where_it_is_isolated(n_few, spread, gains):
    X, labels = cloud_and_few(n_few, spread)
    evidence = PointEvidence(X)
    alone = evidence.of_grouping(np.minimum(labels, 1))
    assert (evidence.of_grouping(labels) > alone + 0.5) is gains


def test_an_isolated_group_shows_that_there_are_groups_if_the_others_have_a_border():
    X, labels = cloud_and_few(5, 0.3)
    backers = PointEvidence(X).backers_against_one_group
    assert backers(labels) == _points.FEWEST_BACKERS
    assert backers(np.where(labels == 2, 2, 0)) == np.inf  # nothing is said of the others, which are one cloud here
    scattered, labels = cloud_and_few(5, 3.0)
    assert PointEvidence(scattered).backers_against_one_group(labels) == _points.BACKERS_IF_UNCLEAR


def test_a_small_group_is_no_way_around_the_border_of_two_others():
    X, labels = cloud_and_few(4, 0.3, away=4.0)
    evidence = PointEvidence(X)
    assert evidence.of_grouping(labels) == pytest.approx(evidence.of_grouping(np.minimum(labels, 1)), abs=1.0)
    assert evidence.of_grouping(labels) > 0.5


def test_points_that_are_all_the_same_say_nothing():
    labels = np.repeat([0, 1], 10)
    evidence = PointEvidence(np.ones((20, 3)))
    assert evidence.of_grouping(labels) == 0.0
    assert evidence.of_groups(labels).tolist() == [0.0, 0.0]


def test_copies_of_points_do_not_make_peaks():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 2)), 0)
    labels = KMeans(4, n_init=1, random_state=0).fit_predict(X)
    assert np.isfinite(PointEvidence(X).of_grouping(labels))


def test_large_data_is_judged_by_landmarks(monkeypatch):
    monkeypatch.setattr(_points, "LANDMARKS", 200)
    X, truth = blobs(3, 2, each=500)
    evidence = PointEvidence(X)
    assert evidence.of_grouping(truth) > 0
    assert (evidence.of_groups(truth) < -2).all()


def test_the_level_of_a_border_follows_its_two_groups_and_not_all_points():
    X, truth = blobs(2, 8, each=150, apart=2.0)
    levels = []
    for others in (100, 1000):
        far = np.random.default_rng(5).normal(60.0, 1.0, (others, 8))
        borders = PointEvidence(np.concatenate([X, far]))._borders
        (view,) = borders.of(np.concatenate([truth, np.full(others, 2)]), 3)
        of_pair = np.flatnonzero((np.sort(view.sides, axis=1) == [0, 1]).all(axis=1))[0]
        middle, error = _points.NULL_ON_DIRECTION
        levels.append(view.scores[of_pair] * error + middle - view.gains[of_pair])
    # from eight columns on the level is 1
    assert levels == pytest.approx([np.sqrt(300 / _points.LEVEL_POINTS)] * 2)


def test_a_true_border_gains_the_same_whatever_the_size_of_its_groups():
    # otherwise cutting a group in two would lower the level of the border that is left, and gain by that alone
    for each in (120, 1000):
        X, truth = blobs(2, 6, each=each, apart=12.0)
        assert PointEvidence(X).of_grouping(truth) == pytest.approx(_points.CAP_ON_DIRECTION)


def test_cells_of_a_cube_need_more_backers_than_groups_with_a_clear_border():
    # other cells take the points between two of them, so every border shows a small valley, and their sum a large one
    X = np.random.default_rng(0).random((2000, 5))
    cells = KMeans(10, n_init=3, random_state=0).fit_predict(X)
    assert PointEvidence(X).of_grouping(cells) > 0
    assert PointEvidence(X).backers_against_one_group(cells) == _points.BACKERS_IF_UNCLEAR
    clouds, truth = blobs(3, 5)
    assert PointEvidence(clouds).backers_against_one_group(truth) == _points.FEWEST_BACKERS


def test_beyond_the_plane_borders_and_clouds_have_one_level():
    # two groups that overlap: what does not gain does not show either that there are groups
    for apart, real in ((1.9, False), (2.6, True)):
        X, truth = blobs(2, 8, each=150, apart=apart)
        evidence = PointEvidence(X)
        assert (evidence.of_grouping(truth) > 0) is real
        assert np.isfinite(evidence.backers_against_one_group(truth)) == real
        # and what two groups lack is no help for a third that is far from both
        far = np.random.default_rng(5).normal(60.0, 1.0, (150, 8))
        three, groups = np.concatenate([X, far]), np.concatenate([truth, np.full(150, 2)])
        more = PointEvidence(three).of_grouping(groups) > PointEvidence(three).of_grouping(groups // 2)
        assert more is real


def test_in_the_plane_a_grouping_without_evidence_shows_no_groups_whoever_backs_it():
    evidence = PointEvidence(ring(500))
    halves = (evidence._points[:, 0] > 0).astype(np.int64)
    assert evidence.backers_against_one_group(halves) == np.inf
    assert evidence.backers_against_one_group(np.zeros_like(halves)) == _points.FEWEST_BACKERS
    X, truth = blobs(2, 2)
    assert PointEvidence(X).backers_against_one_group(truth) == _points.FEWEST_BACKERS


def test_the_first_border_competes_with_one_cloud_and_the_others_with_thin_groups():
    X, truth = blobs(3, 2)
    evidence = PointEvidence(X)
    assert evidence.level_of_cloud < evidence.level
    gains = [view.gains.sum() for view in evidence._borders.of(truth, 3)]
    expected = np.mean(gains) + evidence.level - evidence.level_of_cloud
    assert evidence.of_grouping(truth) == pytest.approx(expected)


def test_clear_clouds_of_a_few_dozen_points_are_not_cut():
    X, truth = blobs(2, 6, each=120)
    evidence = PointEvidence(X)
    for k in (3, 4):
        finer = KMeans(k, n_init=1, random_state=0).fit_predict(X)
        assert evidence.of_grouping(finer) < evidence.of_grouping(truth)


def test_places_on_a_direction_are_those_of_a_fit_without_the_point():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 5))
    members = [np.arange(15), np.arange(15, 40)]
    X[members[1], 0] += 2.0
    (places,) = _points._left_out_places(X, members, np.array([[0, 1]]))

    def discriminant(parts, covariance):
        means = [part.mean(axis=0) for part in parts]
        weight = np.linalg.solve(covariance, means[1] - means[0])
        return weight / np.sqrt(weight @ covariance @ weight), (means[0] + means[1]) / 2

    def scatter(parts):
        return sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts)

    # the shrinkage of all points, as the function takes it
    pooled = scatter([X[own] for own in members]) / 38
    trace, square = np.trace(pooled), (pooled**2).sum()
    shrunk = min(((1 - 2 / 5) * square + trace**2) / (39 * (square - trace**2 / 5)), 1.0)
    between = ((X[members[1]].mean(axis=0) - X[members[0]].mean(axis=0)) ** 2).sum()
    ridge = ((shrunk + 1e-6) * trace / 5 + 1e-9 * between) * np.eye(5)
    for side in (0, 1):
        for position in (0, 7):
            left = [np.delete(own, position) if g == side else own for g, own in enumerate(members)]
            parts = [X[own] for own in left]
            weight, middle = discriminant(parts, (1 - shrunk) * scatter(parts) / 38 + ridge)
            expected = weight @ (X[members[side][position]] - middle)
            assert places[side][position] == pytest.approx(expected)


def test_steps_of_rounded_columns_are_not_valleys():
    X = np.round(np.abs(np.random.default_rng(0).normal(0, 2.0, (600, 6))))
    labels = (X[:, 0] > 0).astype(np.int64)
    apart = np.where(X > 0, 9.0 + X, X)
    assert PointEvidence(X).of_grouping(labels) < 0 < PointEvidence(apart).of_grouping(labels)


def test_a_step_wider_than_the_spread_of_its_column_is_a_category():
    X, truth = blobs(2, 5, each=200, apart=6.0)
    X[:, 4] = truth
    X[:, 3] = np.round(2 * X[:, 3])
    steps = _points._steps(X)
    assert steps[4] == 0.0
    assert steps[3] == pytest.approx(1.0)
    assert (steps[:3] < 0.1).all()


def test_the_depth_of_a_valley_is_that_of_two_normal_laws():
    n, far, spread = 4000, 2.0, 0.8
    one = norm.ppf((np.arange(n) + 0.5) / n, -far, spread)
    width = 1.06 * spread * n**-0.2  # Silverman's rule
    smooth = np.hypot(spread, width)

    def count(x, sizes=(1.0, 1.0)):
        # points in the window that a kernel of that width amounts to
        both = sizes[0] * norm.pdf(x, -far, smooth) + sizes[1] * norm.pdf(x, far, smooth)
        return n * 2 * np.sqrt(np.pi) * width * both

    expected = np.sqrt(2) * (np.sqrt(count(far)) - np.sqrt(count(0.0)))
    assert _points._line_between(one, -one).below_lower_peak() == pytest.approx(expected, rel=0.01)
    assert _points._line_between(100 + 7 * one, 100 - 7 * one).below_lower_peak() == pytest.approx(
        expected, rel=0.01
    )  # in any unit
    assert _points._line_between(-one, one) is None
    assert _points._line_between(one, one) is None
    # the lower peak counts: half as many points on one side
    half = np.sort(-one)[::2]
    width = 1.06 * spread * (n / 2) ** -0.2
    smooth = np.hypot(spread, width)
    places = np.linspace(-far, far, 401)
    lowest = count(places, (1.0, 0.5)).min()
    expected = np.sqrt(2) * (np.sqrt(count(far, (1.0, 0.5))) - np.sqrt(lowest))
    assert _points._line_between(one, half).below_lower_peak() == pytest.approx(expected, rel=0.02)
    assert _points._line_between(-half, -one).below_lower_peak() == pytest.approx(expected, rel=0.02)


def test_spread_is_not_that_of_outliers():
    values = norm.ppf((np.arange(1000) + 0.5) / 1000, 3.0, 2.0)
    middle, spread = _points._middle_and_spread(values)
    assert (middle, spread) == pytest.approx((3.0, 2.0), abs=0.02)
    wild = np.append(values, np.full(20, 500.0))
    assert _points._middle_and_spread(wild) == pytest.approx((3.0, 2.0), abs=0.15)
    assert _points._middle_and_spread(np.repeat([0.0, 1.0], 50))[1] == pytest.approx(0.5)


def test_density_is_that_of_the_kth_neighbour_and_depth_the_lower_peak_over_the_saddle():
    rng = np.random.default_rng(2)
    X = np.sort(np.concatenate([rng.normal(0, 1, 120), rng.normal(5, 1.5, 100), rng.normal(12, 1, 90)]))[:, None]
    labels = np.searchsorted([2.4, 8.5], X[:, 0])
    evidence = PointEvidence(X)
    distances = np.sort(np.abs(X - X.T), axis=1)[:, 1:]
    near = np.argsort(np.abs(X - X.T), axis=1, kind="stable")[:, 1:11]
    for view, k in zip(evidence._borders.of(labels, 3), _points.DENSITIES, strict=True):
        density = -evidence.dimension * np.log(distances[:, k - 1])
        peaks = [np.sort(density[labels == g])[int(0.9 * ((labels == g).sum() - 1))] for g in range(3)]
        depth = {}
        for g, h in ((0, 1), (1, 2)):
            ends = [
                min(density[i], density[j])
                for i in np.flatnonzero(labels == g)
                for j in np.flatnonzero(labels == h)
                if j in near[i] and i in near[j]
            ]
            depth[g, h] = max(ends)
        # over the higher saddle first; what was joined has the higher peak of the two
        higher, lower = sorted(depth, key=lambda pair: -depth[pair])
        joined = max(peaks[g] for g in higher)
        other = next(g for g in lower if g not in higher)
        depth[lower] = (min(peaks[other], joined) - depth[lower]) * np.sqrt(k / 2)
        depth[higher] = (min(peaks[g] for g in higher) - depth[higher]) * np.sqrt(k / 2)
        gains = {pair: min(value, _points.CAP) - evidence.level for pair, value in depth.items()}
        found = {tuple(sorted(pair)): gain for pair, gain in zip(view.sides.tolist(), view.gains)}
        assert found == pytest.approx(gains)
        scores = {tuple(sorted(pair)): score for pair, score in zip(view.sides.tolist(), view.scores)}
        # the level of one cloud is the 95% point of its null
        assert scores == pytest.approx({p: v - evidence.level_of_cloud + norm.isf(0.05) for p, v in depth.items()})


def test_chance_of_a_group_is_that_of_its_shallowest_border():
    X, truth = blobs(3, 2, apart=3.5)
    evidence = PointEvidence(X)
    views = evidence._borders.of(truth, 3)
    expected = []
    for g in range(3):
        scores = [score for view in views for score, pair in zip(view.scores, view.sides) if g in pair]
        expected.append(min(norm.logsf(min(scores)) / np.log(10), 0.0))
    assert evidence.of_groups(truth) == pytest.approx(np.array(expected))
    assert evidence.of_groups(np.where(truth == 1, 4, truth))[[0, 4, 2]] == pytest.approx(np.array(expected))
    assert evidence.of_groups(np.where(truth == 1, 4, truth))[[1, 3]].tolist() == [0.0, 0.0]


def test_groups_that_do_not_touch_are_as_far_apart_as_can_be():
    X, truth = blobs(3, 2, apart=100.0)
    evidence = PointEvidence(X)
    assert evidence.of_grouping(truth) == pytest.approx(2 * _points.CAP - evidence.level - evidence.level_of_cloud)
    crumb = truth.copy()
    X[:9] += 1000.0
    crumb[:9] = 3  # too few to gain, and no cost either
    assert PointEvidence(X).of_grouping(crumb) == pytest.approx(
        2 * _points.CAP - PointEvidence(X).level - PointEvidence(X).level_of_cloud
    )


def test_neighbours_are_fewer_where_points_are_few():
    assert [_points.neighbours_for(m, 10) for m in (5, 32, 40, 79, 80, 1000)] == [4, 4, 5, 9, 10, 10]
    assert [_points.neighbours_for(m, 20) for m in (5, 16, 20, 40, 80)] == [4, 4, 5, 10, 20]
    assert _points.neighbours_for(80, 3) == 3


def test_neighbours_are_without_the_point_itself_and_copies_are_as_dense_as_the_densest_place():
    distances = np.array([[0.0, 0.5, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    neighbours = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 3]])  # the last does not even see itself
    found, kept = _points._without_self(distances, neighbours)
    assert kept.tolist() == [[1, 2], [2, 0], [0, 1]]
    assert found.tolist() == [[0.5, 2.0], [0.5, 1.0], [0.5, 0.5]]
    assert _points._without_self(np.zeros((2, 2)), np.array([[0, 1], [0, 1]]))[0].tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_dimension_is_that_of_the_points_from_near_and_from_afar(d):
    X = np.random.default_rng(d).random((3000, d))
    rng = np.random.default_rng(0)
    assert _points._intrinsic_dimension(np.sort(np.abs(X[:, :1] - X[:, :1].T), axis=1)[:, 1:26]) == pytest.approx(
        1.0, abs=0.1
    )
    assert PointEvidence(X).dimension == pytest.approx(d, abs=0.15)
    assert _points._wide_dimension(X, rng) == pytest.approx(d, abs=0.45)  # borders make it less
    distances = np.array([[1.0, 2.0, 4.0], [1.0, 1.0, np.e]])
    expected = np.mean([2 / (np.log(4) + np.log(2)), 1.0])
    assert _points._intrinsic_dimension(distances) == pytest.approx(expected)


def test_pairs_touch_where_each_is_among_the_first_neighbours_of_the_other():
    neighbours = np.array([[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 4], [0, 1, 2, 5], [4, 0, 1, 2]])
    one, other = _points._mutual_pairs(neighbours)
    expected = {
        (i, j) for i in range(6) for j in range(i + 1, 6) if j in neighbours[i].tolist() and i in neighbours[j].tolist()
    }
    assert set(zip(one.tolist(), other.tolist())) == expected
    assert one.size == len(expected)


def test_levels_of_a_cloud_follow_the_smaller_dimension_within_bounds():
    distances, neighbours = np.ones((50, 25)), np.tile(np.arange(25), (50, 1))
    points = np.zeros((50, 2))

    def level(dimension, wide):
        return _points._DensityValleys(points, distances, neighbours, dimension, wide).level_of_cloud

    assert level(2.0, 2.0) == pytest.approx(1.2)
    assert level(2.0, 1.5) == level(1.5, 2.0) == pytest.approx(1.2 + 0.5 * 2.4)
    assert level(3.0, 3.0) == 1.0
    assert level(1.0, 0.5) == 3.6


def test_neighbouring_groups_are_linked_or_near_and_connect_all():
    centres = np.zeros((9, 5))
    centres[:, 0] = [0, 10, 20, 30, 40, 1000, 1010, 1020, 5000]
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(9), 30)
    X = centres[truth] + rng.normal(size=(270, 5))
    borders = PointEvidence(X)._borders
    sizes = np.full(9, 30)
    own = np.array([borders._points[truth == g].mean(axis=0) for g in range(9)])
    pairs = borders._neighbouring(truth, 9, sizes, own)
    # the two nearest centres of each, and the shortest ways between the parts; no group has links to another one
    near = {(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (2, 4), (5, 6), (5, 7), (6, 7), (7, 8), (6, 8), (4, 5)}
    assert set(pairs) == near
    assert pairs == sorted(pairs)
