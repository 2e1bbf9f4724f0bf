"""Evidence from points: is the border between two groups a real one, or could one cloud have been cut there?

Two tests, for what the data can show. In up to three dimensions a density can be estimated, and groups of any shape are
told apart by the *valley of density* between them. In more dimensions it cannot; there two neighbouring groups are
projected on the direction that separates them best, found on other points than those that are projected, and the valley
is looked for in that one dimension. In the plane both tests are asked: a direction shows valleys between small groups
that touch, where the density is too noisy. The page on meaning has the pictures, the calibration and what was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.neighbors import NearestNeighbors

from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.significance._components import COMPONENTS, principal_axes

LANDMARKS = 10_000
"""Points that are looked at; a random part of larger data, so that the cost of the evidence is bounded."""
DENSITIES = (10, 20)
"""Neighbours of the two density estimates whose evidence is averaged: the noise of few against the blur of many."""
TOUCH = 10
"""Groups touch along pairs that are among each other's first ten neighbours (benchmarks/tuning/points.py)."""
DIMENSION_NEIGHBOURS = 25
"""Neighbours from which the intrinsic dimension is estimated."""
PEAK = 0.9
"""The peak of a group is this quantile of its log densities: a maximum would be the luckiest point."""
SMALLEST = 10
"""Groups of fewer points have no density of their own: they may cost evidence, and bring some only where isolated."""
FEWEST_ISOLATED = 5
"""Points that an isolated group must have: three or four points of one cloud are often as far from all others."""
ISOLATED = 1.5
"""Distance from an isolated group to all other points, in diameters of the group: with more than three columns, one
cloud hardly ever has a small group that is farther away (`small_groups` in benchmarks/tuning/points.py)."""
FEW_POINTS = 80
"""Points below which fewer neighbours are looked at: with eight groups of ten neighbours each, no group is smaller."""
CAP = 6.0
"""Standard errors of the depth of one valley in the density that count: a deeper valley is not a more real one."""
DEEPEST_NULL = (1.5, 2.0, 3.0, 5.0), (3.6, 2.2, 1.0, 0.5)
"""Intrinsic dimensions, and the depth in standard errors that a valley must have there to gain: groups may be thin, and
chance valleys are deepest on curves, around which few paths lead (benchmarks/tuning/points.py)."""
WIDE = 0.2
"""Share of the points that are neighbours where the dimension of the whole is looked for: a thick ring is a curve from
afar, though it fills the plane from near by."""
WIDE_POINTS = 1000
"""Points from which that dimension is estimated, a random part of more: the cost is bounded."""
LEVEL_OF_PLANE, LEVEL_PER_DIMENSION = 1.2, 2.4
"""Mean depth, in standard errors, that the borders of a grouping of one cloud reach in at most 5% of the clouds of any
kind, where the whole has dimension 2, and how much more it is for each dimension less (the same script)."""
LOWEST_OF_CLOUD, HIGHEST_OF_CLOUD = 1.0, 3.6
"""What that depth is taken to be at least, and at most: those of clouds of three dimensions and of thin curves (the
same script)."""
PLANE_FROM_AFAR = 1.7
"""Dimension from afar that two groups must have together to be looked at along a direction: two halves of a ring have a
valley there, too, and lie below (benchmarks/tuning/points.py)."""
SHAPE_POINTS = 150
"""Points from which the dimension of two groups together is estimated."""
STRIP = 2.0
"""Half the width of the strip in which points of all groups are counted along a direction, in standard deviations of
the two groups: what other groups take from between two cells of one cloud is counted there."""
LEVEL_IN_STRIP = 3.0
"""Depth in standard errors that a border along a strip must have to gain: there, squares are not cut more often than by
the valley alone (the page on meaning)."""
CONTRADICTION = 3.0
"""Standard errors by which a border may be deeper along a strip than in the density: beyond, there is a way around
it (the same script)."""
VISIBLE = 3
"""Columns up to which density valleys are looked for; beyond, valleys on discriminant directions."""
GRID = 81
"""Places on a direction where the density is estimated."""
NEAR_LINKS, NEAR_CENTRES = 3, 2
"""Neighbours of a group that are tested: those with the most neighbour links and those with the nearest centres."""
LANDMARKS_ON_DIRECTION = 2500
"""Points that are projected; more would only make the same valleys deeper."""
LEVEL_ON_DIRECTION = (4.0, 8.0), (1.5, 1.0)
"""Columns, and the depth in standard errors that valleys on directions between parts of one cloud hardly have (the same
script)."""
CAP_ON_DIRECTION = 8.0
"""Standard errors beyond the level that count of one border on a direction. Levels differ there, so what lies beyond is
limited: a true border gains the same whether its groups are large or small. Chosen on fresh real sets, where 7 and 14
are nearly the same (docs/tried/meaning.md); `levels` of the same script shows imitations."""
LEVEL_POINTS = 200
"""Points of two groups from which on the level between them grows as the root of their number, as false valleys do:
other groups take a fixed share of what lies between two parts of one cloud (benchmarks/tuning/points.py)."""
NULL_ON_DIRECTION = 1.0, 0.9
"""Mean and standard deviation of that depth between two halves of a uniform cloud; normal clouds lie below (the same
script)."""
NO_VALLEY = -3.0
"""Depth where a direction fitted on other points does not even put the two groups in order."""
FEWEST_ON_DIRECTION = 3
"""Points of a group that are still a group, two of them, without the point that is projected."""
FEWEST_BACKERS = 2.0
"""Sources that must say the same: cells of one cloud in many dimensions show valleys, but no source repeats them."""
CLEAR = 3.0
"""Gain, in standard errors, of a border on a direction that no cloud shows: the clearest border of a grouping with two
backers gains 2.8 at most in 111 clouds (the page on meaning tells which), and that of 7 groupings by k-means, whoever
backs them, 2.9 in 108."""
BACKERS_IF_UNCLEAR = 5.0
"""Sources that must say the same to show that there are groups at all, where no border on a direction is clear. In few
columns sources do agree on how to cut one cloud: groupings of those 111 with evidence have 4.0 backers at most."""
SHARPNESS_IN_DENSITY, SHARPNESS_ON_DIRECTION = 4.0, 1.0
"""Power of the agreement of a source in the backing: who draws a valley in the plane draws it at nearly the same place,
in many dimensions nobody does (benchmarks/tuning/points.py)."""
POWER_IN_DENSITY, POWER_ON_DIRECTION = 0.5, 2.0
"""Power of the backing in the score (the same script)."""


class PointEvidence:
    """What the points say about groupings of them.

    Parameters
    ----------
    X : (m, d) array
        The points, features in units that can be compared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(6, 1, (100, 2))])
    >>> evidence = PointEvidence(X)
    >>> two, four = np.repeat([0, 1], 100), np.repeat([0, 1, 2, 3], 50)
    >>> evidence.of_grouping(two) > 0 > evidence.of_grouping(four)
    True
    >>> bool((evidence.of_groups(two) < -3).all())
    True
    """

    kind = "points"
    fewest_backers = FEWEST_BACKERS

    def __init__(self, X: FloatArray) -> None:
        points = np.asarray(X, dtype=np.float64)
        # draws the landmarks where there are many points, and values within the steps of columns that are rounded
        rng = np.random.default_rng(0)
        m = len(points)
        visible = points.shape[1] <= VISIBLE
        self._all = points
        self.sharpness = SHARPNESS_IN_DENSITY if visible else SHARPNESS_ON_DIRECTION
        self.backing_power = POWER_IN_DENSITY if visible else POWER_ON_DIRECTION
        most = LANDMARKS if visible else LANDMARKS_ON_DIRECTION
        self._drawn = np.sort(rng.choice(m, most, replace=False)) if m > most else np.arange(m)
        self._points = points[self._drawn]
        n_neighbours = min(DIMENSION_NEIGHBOURS, len(self._points) - 1)
        self.dimension = float(points.shape[1])
        """Intrinsic dimension of the points."""
        self._speaks = n_neighbours >= 2 and bool(np.ptp(points, axis=0).any())
        if not self._speaks:
            return
        found = NearestNeighbors(n_neighbors=n_neighbours + 1).fit(self._points).kneighbors(self._points)
        self._distances, self._neighbours = _without_self(*found)
        self.dimension = min(_intrinsic_dimension(self._distances), points.shape[1])
        self._borders: _Borders = (
            _DensityValleys(
                self._points, self._distances, self._neighbours, self.dimension, _wide_dimension(self._points, rng)
            )
            if visible
            else _ProjectedValleys(self._points, self._neighbours, rng)
        )

    @property
    def looked_at(self) -> IntArray:
        """The elements whose groups `of_grouping` looks at."""
        return self._drawn

    @property
    def level(self) -> float:
        """Depth in standard errors that a border must have to gain."""
        return self._borders.level if self._speaks else 0.0

    @property
    def level_of_cloud(self) -> float:
        """Depth in standard errors that groupings of one cloud hardly reach."""
        return self._borders.level_of_cloud if self._speaks else 0.0

    def of_grouping(self, labels: IntArray) -> float:
        """Evidence for a grouping of all points.

        Parameters
        ----------
        labels : (m,) int array
            Groups; points in none (-1) count with the group of their nearest neighbour that is in one.

        Returns
        -------
        float
            Sum over the borders of a spanning tree of the groups of depth less level: real borders gain, false ones
            cost. The first border may have a lower level, because it competes with one cloud. 0 for one group.
        """
        groups, n_groups = self._groups(labels)
        if n_groups < 2:
            return 0.0
        return _evidence(self._borders.of(groups, n_groups))

    def backers_against_one_group(self, labels: IntArray) -> float:
        """Sources that must say what a grouping says, to show that the points are not one cloud.

        Parameters
        ----------
        labels : (m,) int array
            Groups, -1 for none.

        Returns
        -------
        float
            More if it does not show clearly that there are groups, infinite if it has no evidence against one cloud.
        """
        groups, n_groups = self._groups(labels)
        return FEWEST_BACKERS if n_groups < 2 else self._borders.backers_against_one_group(groups, n_groups)

    def of_groups(self, labels: IntArray) -> FloatArray:
        """Chance of each group: that a cloud without groups shows a valley as deep as its shallowest border.

        Parameters
        ----------
        labels : (m,) int array
            Groups from 0, -1 for none.

        Returns
        -------
        (T,) array
            Base-10 logarithms of p-values; 0 (no evidence) for a group without neighbours.
        """
        total = int(np.max(labels, initial=-1)) + 1
        groups, n_groups = self._groups(labels)
        if n_groups < 2:
            return np.zeros(total)
        shallowest = np.full(n_groups, np.inf)
        for view in self._borders.of(groups, n_groups):
            for side in view.sides.T:
                np.minimum.at(shallowest, side, view.scores)
        chance = norm.logsf(shallowest) / np.log(10.0)
        present = np.unique(labels[self._drawn][labels[self._drawn] >= 0])
        result = np.zeros(total)
        result[present] = np.minimum(chance[: present.size], 0.0)
        return result

    def place(self, labels: IntArray) -> IntArray:
        """The same grouping with every point that is in no group in that of its nearest neighbour.

        Parameters
        ----------
        labels : (m,) int array
            Groups, -1 for none.

        Returns
        -------
        (m,) int array
        """
        inside = labels >= 0
        if inside.all() or not inside.any():
            return labels
        return _filled(self._all, labels, inside)

    def _groups(self, labels: IntArray) -> tuple[IntArray, int]:
        """Consecutive groups of the landmarks, all of them in one, and how many there are."""
        if not self._speaks:
            return np.zeros(0, np.int64), 0
        seen = labels[self._drawn]
        inside = seen >= 0
        if not inside.any():
            return seen, 0
        if not inside.all():
            seen = _filled(self._points, seen, inside)
        groups, codes = np.unique(seen, return_inverse=True)
        return codes.ravel(), groups.size


@dataclass(frozen=True)
class _View:
    """The borders of a spanning tree of the groups, as one estimate sees them."""

    gains: FloatArray
    """(T - 1,) depth less level: what each border adds to the evidence."""
    scores: FloatArray
    """(T - 1,) depth as a standard normal score under one cloud."""
    sides: IntArray
    """(T - 1, 2) the groups on both sides."""
    first: float = 0.0
    """What one border gains more because it competes with one cloud."""

    @classmethod
    def of(cls, borders: Sequence[tuple[float, float, int, int]], first: float = 0.0) -> _View:
        """From gain, score and sides of each border."""
        table = np.array(borders, dtype=np.float64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2:].astype(np.int64), first)


def _evidence(views: Sequence[_View]) -> float:
    """What the borders add, averaged over the views."""
    return sum(float(view.gains.sum()) + view.first for view in views) / len(views)


class _Borders(Protocol):
    """A test of borders between groups."""

    level: float
    """Depth that a border must have to gain."""
    level_of_cloud: float
    """Depth that groupings of one cloud hardly reach; the level of the first border where it is lower."""

    def of(self, labels: IntArray, n_groups: int) -> list[_View]:
        """Views of the borders, whose evidence is averaged."""

    def backers_against_one_group(self, labels: IntArray, n_groups: int) -> float:
        """Sources that must say what a grouping says, to show that there are groups at all."""


class _DensityValleys:
    """Valleys of the density itself: groups are merged over the highest saddle first.

    Two levels: that of one cloud, against which a grouping shows that there are groups at all, and that of a border,
    which every further border needs, because a group may be thinner than the whole. In the plane, a border gains what
    the direction between its groups shows, where that is more.
    """

    def __init__(
        self,
        points: FloatArray,
        distances: FloatArray,
        neighbours: IntArray,
        dimension: float,
        wide: float,
    ) -> None:
        self._views: list[tuple[FloatArray, float]] = []
        m = len(distances)
        self._smallest = neighbours_for(m, SMALLEST)
        for wanted in DENSITIES:
            k = min(neighbours_for(m, wanted), distances.shape[1])
            # the standard error of a log density from k neighbours is 1 / sqrt(k), that of a difference sqrt(2 / k)
            self._views.append((-dimension * np.log(distances[:, k - 1]), float(np.sqrt(k / 2))))
        self._sources, self._targets = _mutual_pairs(neighbours)
        self.level = float(np.interp(dimension, *DEEPEST_NULL))
        of_cloud = LEVEL_OF_PLANE + LEVEL_PER_DIMENSION * (2.0 - min(dimension, wide))
        self.level_of_cloud = min(max(of_cloud, LOWEST_OF_CLOUD), HIGHEST_OF_CLOUD)
        self._strips = _Strips(points, self._views[0][0]) if points.shape[1] == 2 else None

    def of(self, labels: IntArray, n_groups: int) -> list[_View]:
        """Borders by either density."""
        return [self._merged(labels, n_groups, *view) for view in self._views]

    def backers_against_one_group(self, labels: IntArray, n_groups: int) -> float:
        """No number of them, if there is no evidence with the first border at the level of one cloud."""
        against_cloud = _evidence(self.of(labels, n_groups)) - max(self.level_of_cloud - self.level, 0.0)
        return FEWEST_BACKERS if against_cloud > 0 else np.inf

    def _merged(self, labels: IntArray, n_groups: int, density: FloatArray, scale: float) -> _View:
        """Merge groups over the highest saddle first; each merge has the depth of the lower peak over the saddle."""
        sizes = np.bincount(labels, minlength=n_groups)
        order = np.lexsort((density, labels))
        first = np.cumsum(sizes) - sizes
        peaks = density[order[first + np.floor(PEAK * (sizes - 1)).astype(np.int64)]]
        one, other = labels[self._sources], labels[self._targets]
        crossing = np.flatnonzero(one != other)
        pairs = np.minimum(one, other)[crossing] * n_groups + np.maximum(one, other)[crossing]
        pairs, which = np.unique(pairs, return_inverse=True)
        saddles = np.full(pairs.size, -np.inf)
        ends = np.minimum(density[self._sources], density[self._targets])[crossing]
        np.maximum.at(saddles, which, ends)
        members = _members(labels, n_groups)
        parts = list(members)
        forest, borders, more = _Forest(n_groups), [], [0.0]
        lower = max(self.level - self.level_of_cloud, 0.0)
        # the level of one cloud is the 95% point of the null, 1.64 standard errors above its middle
        tail = float(norm.isf(0.05))
        for t in np.argsort(-saddles, kind="stable"):
            pair = divmod(int(pairs[t]), n_groups)
            high, low = sorted((forest.root(g) for g in pair), key=lambda g: -peaks[g])
            if high == low:
                continue
            depth = float((peaks[low] - saddles[t]) * scale)
            gain, score = self._gain(depth, sizes[low]), depth - self.level_of_cloud
            parts[high] = np.concatenate([parts[high], parts[low]])
            along = self._along_strip(depth, members[pair[0]], members[pair[1]], parts[high])
            borders.append((max(gain, along), max(score, along) + tail, *pair))
            more.append(max(gain + lower, along) - max(gain, along))
            forest.join(low, high)
            sizes[high] += sizes[low]
        # groups that do not touch at all are as far apart as can be
        apart = sorted((g for g in range(n_groups) if forest.root(g) == g), key=lambda g: -sizes[g])
        for g in apart[1:]:
            borders.append((self._gain(CAP, sizes[g]), CAP - self.level_of_cloud + tail, apart[0], g))
            more.append(lower)
        return _View.of(borders, max(more))

    def _gain(self, depth: float, size: int) -> float:
        """What a border adds."""
        gain = min(max(depth, -CAP), CAP) - self.level
        return min(gain, 0.0) if size < self._smallest else gain

    def _along_strip(self, depth: float, one: IntArray, other: IntArray, joined: IntArray) -> float:
        """What a border adds by its depth along the direction between its two groups."""
        if self._strips is None or self._strips.dimension_of(joined) < PLANE_FROM_AFAR:
            return -np.inf
        gain = min(self._strips.depth(one, other), depth + CONTRADICTION, CAP) - LEVEL_IN_STRIP
        return min(gain, 0.0) if min(one.size, other.size) < self._smallest else gain


class _Strips:
    """Valleys in the plane along the direction that separates two groups best, among the points of all groups."""

    def __init__(self, points: FloatArray, density: FloatArray) -> None:
        self._points = points
        self._density = density
        self._dimensions: dict[bytes, float] = {}
        self._depths: dict[tuple[bytes, bytes], float] = {}

    def dimension_of(self, members: IntArray) -> float:
        """Dimension that some of the points have from afar."""
        members = np.sort(members)
        name = members.tobytes()
        if name not in self._dimensions:
            if members.size > SHAPE_POINTS:  # from dense and thin places alike
                ranked = members[np.argsort(self._density[members], kind="stable")]
                members = ranked[np.linspace(0, members.size - 1, SHAPE_POINTS).astype(np.int64)]
            enough = members.size >= FEWEST_ON_DIRECTION
            self._dimensions[name] = _dimension_from_afar(self._points[members]) if enough else 0.0
        return self._dimensions[name]

    def depth(self, one: IntArray, other: IntArray) -> float:
        """Depth between two groups, in standard errors: the mean of those below the lower peak and below concavity."""
        name = one.tobytes(), other.tobytes()
        if name not in self._depths:
            self._depths[name] = self._valley(one, other)
        return self._depths[name]

    def _valley(self, one: IntArray, other: IntArray) -> float:
        if min(one.size, other.size) < FEWEST_ON_DIRECTION:
            return NO_VALLEY
        ends = self._points[one].mean(axis=0), self._points[other].mean(axis=0)
        centred = np.concatenate([self._points[own] - end for own, end in zip((one, other), ends, strict=True)])
        scatter = centred.T @ centred / max(len(centred) - 2, 1)
        scatter += np.eye(2) * (1e-6 * np.trace(scatter) / 2 + 1e-300)
        # in these coordinates the two groups are as wide as long
        round_ = np.linalg.inv(np.linalg.cholesky(scatter))
        along = round_ @ (ends[1] - ends[0])
        along /= max(float(np.sqrt(along @ along)), 1e-300)
        placed = (self._points - (ends[0] + ends[1]) / 2) @ round_.T
        places, beside = placed @ along, np.abs(placed @ np.array([-along[1], along[0]]))
        own = _left_out_places(self._points, [one, other], np.array([[0, 1]]))[0]
        inside = beside <= STRIP
        low, high = (values[inside[group]] for values, group in zip(own, (one, other), strict=True))
        if min(low.size, high.size) < FEWEST_ON_DIRECTION:
            return NO_VALLEY
        inside[one] = inside[other] = False
        line = _line_between(low, high, places[inside], beyond=False)
        # a curved group has no concave log density, but hardly a valley either
        return NO_VALLEY if line is None else (line.below_lower_peak() + line.below_concave()) / 2


class _ProjectedValleys:
    """Valleys between pairs of neighbouring groups on a direction that was fitted without the point it projects."""

    def __init__(self, points: FloatArray, neighbours: IntArray, rng: np.random.Generator) -> None:
        steps = _steps(points)
        spread = points + rng.uniform(-0.5, 0.5, points.shape) * steps
        centred = spread - spread.mean(axis=0)
        if points.shape[1] > COMPONENTS:
            centred = centred @ principal_axes(centred)
        self._points = centred
        k = min(TOUCH, neighbours.shape[1])
        self._sources = np.repeat(np.arange(len(points)), k)
        self._targets = neighbours[:, :k].ravel()
        self._neighbours = neighbours
        self._rounding = float(np.sqrt((steps**2).sum()))
        self.level = self.level_of_cloud = float(np.interp(points.shape[1], *LEVEL_ON_DIRECTION))
        self._known: dict[tuple[bytes, bytes], float] = {}

    def of(self, labels: IntArray, n_groups: int) -> list[_View]:
        """Borders of the spanning tree with the shallowest valleys."""
        return [self.tree(labels, n_groups, [self._silent(own) for own in _members(labels, n_groups)])]

    def backers_against_one_group(self, labels: IntArray, n_groups: int) -> float:
        """More if no border gains so much that cells of one cloud do not explain it; no number without evidence.

        An isolated group is as clear, but it says nothing of the others: their borders must have evidence without it.
        """
        members = _members(labels, n_groups)
        small = [own.size < SMALLEST for own in members]
        gains = self.tree(labels, n_groups, small).gains
        if gains.sum() <= 0:
            return np.inf
        isolated = any(few and not self._silent(own) for few, own in zip(small, members, strict=True))
        return FEWEST_BACKERS if isolated or gains.max() >= CLEAR else BACKERS_IF_UNCLEAR

    def tree(self, labels: IntArray, n_groups: int, silent: Sequence[bool]) -> _View:
        """Borders of the spanning tree with the shallowest valleys; those of silent groups bring no evidence.

        They do not lead around the border between two other groups, either: the tree follows the depths as they are.
        """
        members = _members(labels, n_groups)
        sizes = np.array([own.size for own in members])
        centres = np.array([self._points[own].mean(axis=0) for own in members])
        pairs = np.array(self._neighbouring(labels, n_groups, sizes, centres))
        depths = self._depths(members, pairs)
        gains = np.minimum(depths - self.level * _growth(sizes[pairs].sum(axis=1)), CAP_ON_DIRECTION)
        most = np.where(np.array(silent)[pairs].any(axis=1), 0.0, CAP_ON_DIRECTION)
        forest, borders = _Forest(n_groups), []
        middle, error = NULL_ON_DIRECTION
        for t in np.lexsort((depths, gains)):  # beyond the cap gains are the same
            g, h = (int(group) for group in pairs[t])
            if forest.root(g) != forest.root(h):
                forest.join(forest.root(g), forest.root(h))
                borders.append((min(gains[t], most[t]), (depths[t] - middle) / error, g, h))
        return _View.of(borders)

    def _silent(self, own: IntArray) -> bool:
        """Whether a group is too small to bring evidence, and not isolated."""
        if not FEWEST_ISOLATED <= own.size < SMALLEST:
            return own.size < SMALLEST
        near = self._neighbours[own]
        # a point has more neighbours than such a group has points, so one of them is outside
        nearest = near[np.arange(own.size), np.isin(near, own, invert=True).argmax(axis=1)]
        gap = np.sqrt(((self._points[own] - self._points[nearest]) ** 2).sum(axis=1)).min()
        diameter = cdist(self._points[own], self._points[own]).max()
        return bool(diameter <= self._rounding or gap <= ISOLATED * diameter)  # copies of one point are no group

    def _depths(self, members: Sequence[IntArray], pairs: IntArray) -> FloatArray:
        """(P,) depth of the valley between the two groups of each pair; groups come back, so what is known is kept."""
        names = [own.tobytes() for own in members]
        keys = [(min(names[g], names[h]), max(names[g], names[h])) for g, h in pairs]
        fresh = [t for t, key in enumerate(keys) if key not in self._known]
        if fresh:
            places = _left_out_places(self._points, members, pairs[fresh])
            for t, (one, other) in zip(fresh, places, strict=True):
                enough = min(one.size, other.size) >= FEWEST_ON_DIRECTION
                line = _line_between(one, other) if enough else None
                self._known[keys[t]] = NO_VALLEY if line is None else line.below_lower_peak()
        return np.array([self._known[key] for key in keys])

    def _neighbouring(
        self, labels: IntArray, n_groups: int, sizes: IntArray, centres: FloatArray
    ) -> list[tuple[int, int]]:
        """Pairs of groups to test; they connect all groups."""
        links = np.zeros((n_groups, n_groups))
        np.add.at(links, (labels[self._sources], labels[self._targets]), 1.0)
        links += links.T
        np.fill_diagonal(links, 0.0)
        squares = (centres**2).sum(axis=1)
        distances = squares[:, None] + squares - 2 * centres @ centres.T
        np.fill_diagonal(distances, np.inf)
        found = set()
        for g in range(n_groups):
            linked = [h for h in np.argsort(-links[g] / sizes, kind="stable")[:NEAR_LINKS] if links[g, h] > 0]
            close = [h for h in np.argsort(distances[g], kind="stable")[:NEAR_CENTRES] if h != g]
            found |= {(min(g, int(h)), max(g, int(h))) for h in linked + close}
        forest = _Forest(n_groups)
        for g, h in found:
            forest.join(forest.root(g), forest.root(h))
        # parts that no pair connects are joined by their nearest centres
        while True:
            part = np.array([forest.root(g) for g in range(n_groups)])
            if (part == part[0]).all():
                return sorted(found)
            between = np.where(part[:, None] != part, distances, np.inf)
            one, other = divmod(int(between.argmin()), n_groups)
            found.add((min(one, other), max(one, other)))
            forest.join(forest.root(one), forest.root(other))


def _steps(points: FloatArray) -> FloatArray:
    """(d,) gaps between neighbouring values of each column: what rounding hides, next to nothing where none was done.

    Groups that differ by one step of a rounded column have a gap between them that says nothing. A step that is wider
    than the spread of its column is no rounding: the column holds a few categories.
    """
    steps = np.array([np.median(np.diff(np.unique(column))) if np.ptp(column) > 0 else 0.0 for column in points.T])
    return np.where(steps < points.std(axis=0), steps, 0.0)


def _growth(n_points: IntArray) -> FloatArray:
    """By how much the level grows for pairs of groups with so many points together."""
    return np.sqrt(np.maximum(n_points / LEVEL_POINTS, 1.0))


def _left_out_places(
    points: FloatArray, members: Sequence[IntArray], pairs: IntArray
) -> list[tuple[FloatArray, FloatArray]]:
    """Places of the points of two groups on their discriminant direction, for each pair of groups.

    The direction and its middle are fitted on all other points, for every point anew: taking a point x out of a group
    of n with mean u changes the mean by ``(u - x) / (n - 1)`` and the scatter by ``n / (n - 1)`` times the square of
    x - u, so that the inverse is known from that of all points (Sherman and Morrison). The shrinkage is that of all.
    """
    d = points.shape[1]
    n = np.array([own.size for own in members], dtype=np.float64)
    means = np.array([points[own].mean(axis=0) for own in members])
    centred = [points[own] - mean for own, mean in zip(members, means, strict=True)]
    scatter = np.array([part.T @ part for part in centred])
    g, h = pairs.T
    both, apart = n[g] + n[h], means[h] - means[g]
    pooled = (scatter[g] + scatter[h]) / np.maximum(both - 2, 1)[:, None, None]
    trace, square = np.trace(pooled, axis1=1, axis2=2), (pooled**2).sum(axis=(1, 2))
    # the oracle approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010)
    above = (1 - 2 / d) * square + trace**2
    shrunk = np.clip(above / np.maximum((both - 1) * (square - trace**2 / d), 1e-300), 0.0, 1.0)
    # points of a group that coincide get a spread of a 30,000th of the distance between the groups
    ridge = (shrunk + 1e-6) * np.maximum(trace, 0.0) / d + 1e-9 * (apart**2).sum(axis=1) + 1e-300
    inverse = np.linalg.inv((1 - shrunk)[:, None, None] * pooled + ridge[:, None, None] * np.eye(d))
    found = []
    for t, pair in enumerate(pairs):
        share = (1 - shrunk[t]) / max(both[t] - 2, 1)
        one, other = (
            sign * _left_out(centred[own], sign * apart[t], inverse[t], share)
            for own, sign in zip(pair, (1.0, -1.0), strict=True)
        )
        found.append((one, other))
    return found


def _left_out(centred: FloatArray, apart: FloatArray, inverse: FloatArray, share: float) -> FloatArray:
    """Places of the points of one group towards the other, each on the direction of all points but itself.

    `apart` leads from its mean to that of the other group, `share` is the part of the scatter in the covariance.
    """
    others = max(len(centred) - 1, 1)
    along = centred @ inverse
    square, towards, whole = np.einsum("ij,ij->i", along, centred), along @ apart, float(apart @ inverse @ apart)
    step = 1 + 0.5 / others  # from the middle without the point to the point, in units of its distance from the mean
    # products of the new difference of means, and of the point, with the old inverse
    moved = towards + square / others
    of_point = step * square - towards / 2
    less = share * (others + 1) / others
    update = less / np.maximum(1 - less * square, 1e-3)
    place = step * towards - whole / 2 + of_point / others + update * moved * of_point
    length = whole + (towards + moved) / others + update * moved**2
    result: FloatArray = place / np.sqrt(np.maximum(length, 1e-300))
    return result


@dataclass(frozen=True)
class _Line:
    """Smoothed counts of two groups along a line; the root of each has a standard error of 1 / 2."""

    counts: FloatArray
    """(GRID,) of the points of the two groups."""
    filled: FloatArray
    """(GRID,) of all points."""
    middle: IntArray
    """Places near the border."""

    def below_lower_peak(self) -> float:
        """Depth of the valley below the lower of the peaks on its two sides."""
        valley = int(self.middle[self.filled[self.middle].argmin()])
        peak = min(float(self.counts[: valley + 1].max()), float(self.counts[valley:].max()))
        return float(np.sqrt(2.0) * (np.sqrt(peak) - np.sqrt(self.filled[valley])))

    def below_concave(self) -> float:
        """Largest depth below the least concave function above the log counts.

        Along a line, normal, uniform and most other clouds have a concave log density. So a small group at the side of
        a large one shows, though there is no valley between them.
        """
        roots = np.exp(_concave_above(np.log(np.maximum(self.counts, 1e-20))) / 2)
        return float(np.sqrt(2.0) * (roots - np.sqrt(self.filled))[self.middle].max())


def _line_between(
    one: FloatArray, other: FloatArray, others: FloatArray | None = None, beyond: bool = True
) -> _Line | None:
    """Smoothed counts of two groups on a line, None where they are not in order.

    Points of other groups fill valleys and make no peaks. What lies beyond the ends counts there, or not at all.
    """
    (low, spread), (high, spread_of_other) = _middle_and_spread(one), _middle_and_spread(other)
    if high <= low:
        return None
    width, spread = high - low, min(spread, spread_of_other)
    start, step = low - 0.75 * width, 2.5 * width / (GRID - 1)
    # Silverman's rule for the smaller group
    bandwidth = max(1.06 * spread * min(one.size, other.size) ** -0.2, step / 2)
    counts = [_histogram(part, start, step, beyond) for part in (one, other)]
    offsets = np.arange(1 - GRID, GRID) * step / bandwidth
    # sqrt(2) makes it the number of points in the window that the kernel amounts to
    kernel = np.sqrt(2.0) * np.exp(-0.5 * offsets**2)
    density = np.convolve(counts[0] + counts[1], kernel)[GRID - 1 : 2 * GRID - 1]
    filled = density
    if others is not None and others.size:
        filled = density + np.convolve(_histogram(others, start, step, beyond=False), kernel)[GRID - 1 : 2 * GRID - 1]
    places = start + step * np.arange(GRID)
    inner = np.flatnonzero((places >= low) & (places <= high))
    wrong = (1 - np.cumsum(counts[0]) / one.size + np.cumsum(counts[1]) / other.size)[inner]
    border = float(places[inner[wrong <= wrong.min() + 1e-12]].mean())
    return _Line(density, filled, np.flatnonzero(np.abs(places - border) <= 0.25 * width))


def _concave_above(values: FloatArray) -> FloatArray:
    """The least concave function above values at equal steps."""
    corners: list[int] = []
    for place in range(values.size):
        while len(corners) > 1:
            before, last = corners[-2:]
            slope = (values[last] - values[before]) / (last - before)
            if values[place] - values[last] < slope * (place - last):
                break
            corners.pop()
        corners.append(place)
    return np.interp(np.arange(values.size), corners, values[corners])


def _histogram(values: FloatArray, start: float, step: float, beyond: bool) -> FloatArray:
    """(GRID,) counts; what lies beyond the ends counts there, or not at all."""
    place = np.round((values - start) / step)
    if not beyond:
        place = place[(place >= 0) & (place < GRID)]
    place = np.clip(place, 0, GRID - 1).astype(np.int64)
    counts: FloatArray = np.bincount(place, minlength=GRID).astype(np.float64)
    return counts


def _middle_and_spread(values: FloatArray) -> tuple[float, float]:
    """Median, and standard deviation, or that of a normal law with the same quartiles where it is smaller."""
    low, middle, high = np.sort(values)[[values.size // 4, values.size // 2, 3 * values.size // 4]]
    return float(middle), min(float(values.std()), float(high - low) / 1.349 + 1e-12)


class _Forest:
    """Groups that are being joined."""

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))

    def root(self, g: int) -> int:
        """The group that stands for all that g is joined with."""
        while self._parents[g] != g:
            self._parents[g] = self._parents[self._parents[g]]
            g = self._parents[g]
        return g

    def join(self, low: int, high: int) -> None:
        """Let one root stand for another."""
        self._parents[low] = high


def _without_self(distances: FloatArray, neighbours: IntArray) -> tuple[FloatArray, IntArray]:
    """Drop the point itself, first or wherever copies of it put it; no distance is zero."""
    own: BoolArray = neighbours == np.arange(len(neighbours))[:, None]
    own[~own.any(axis=1), -1] = True
    kept = ~own
    shape = len(neighbours), neighbours.shape[1] - 1
    found = distances[kept].reshape(shape)
    positive = found[found > 0]
    # copies of a point have no density; they count as dense as the densest place that can be measured
    floor = float(positive.min()) if positive.size else 1.0
    return np.maximum(found, floor), neighbours[kept].reshape(shape)


def _intrinsic_dimension(distances: FloatArray) -> float:
    """Estimate of Levina and Bickel (2005), averaged over the points; the farthest neighbour comes last."""
    logs = np.log(distances[:, -1:] / distances[:, :-1]).mean(axis=1)
    return float(np.mean(1.0 / np.maximum(logs, 1e-3)))


def _wide_dimension(points: FloatArray, rng: np.random.Generator) -> float:
    """Dimension that all points have from afar."""
    m = len(points)
    return _dimension_from_afar(points if m <= WIDE_POINTS else points[rng.choice(m, WIDE_POINTS, replace=False)])


def _dimension_from_afar(points: FloatArray) -> float:
    """The same estimate with a fixed share of the points as neighbours."""
    m = len(points)
    k = min(max(int(WIDE * m), 4), m - 1)
    squares = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    near = np.partition(squares, k - 1, axis=1)[:, :k]
    positive = near[near > 0]
    return _intrinsic_dimension(np.sqrt(np.maximum(near, positive.min() if positive.size else 1.0)))


def neighbours_for(m: int, wanted: int) -> int:
    """Neighbours that m points can spare: as many as wanted, fewer in proportion where points are few, 4 at least.

    Otherwise the neighbours of a point in a small group would be the points of the next group.
    """
    return min(wanted, max(4, wanted * m // FEW_POINTS))


def _members(labels: IntArray, n_groups: int) -> list[IntArray]:
    """The points of each group."""
    sizes = np.bincount(labels, minlength=n_groups)
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])


def _mutual_pairs(neighbours: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs that are among each other's first neighbours: links from sparse to dense places are not followed."""
    m = len(neighbours)
    k = min(neighbours_for(m, TOUCH), neighbours.shape[1])
    sources, targets = np.repeat(np.arange(m), k), neighbours[:, :k].ravel()
    kept = np.isin(sources * m + targets, targets * m + sources) & (sources < targets)
    return sources[kept], targets[kept]


def _filled(points: FloatArray, labels: IntArray, inside: BoolArray) -> IntArray:
    """Labels with every point in no group in that of its nearest point in one."""
    found = labels.copy()
    nearest = NearestNeighbors(n_neighbors=1).fit(points[inside])
    found[~inside] = labels[inside][nearest.kneighbors(points[~inside], return_distance=False)[:, 0]]
    return found
