"""Clusterings of any shape from one look at the data: neighbours, their spanning tree, Ward's tree, an embedding.

A part of the rows, the landmarks, stands for all of them where there are many; the rest take the label of the nearest
landmark. Methods that can have fewer landmarks take some of those of the others, so that the nearest one of each row is
looked up once. What several sources need (the neighbours, a tree, the embedding) is computed once, too.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.cluster.hierarchy import ward
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh
from scipy.spatial import KDTree
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.neighbors import NearestNeighbors

from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._running import Grouping

TREE_LANDMARKS = 5000
"""Rows of methods whose memory is quadratic: a hundred megabytes of distances."""
GRAPH_LANDMARKS = 10_000
"""Rows of methods on the neighbour graph, which are nearly linear but run in Python."""
NEIGHBOURS = 25
"""Neighbours that are looked up once; every method takes as many of them as it needs."""
LINKS = 10
"""Neighbours that count as linked."""
MOST_VECTORS = 30
"""Eigenvectors, and so clusters, of spectral clustering: beyond, their order is mostly noise."""
MOST_DENSE = 2_000
"""Rows up to which all eigenvectors are computed where ARPACK finds none: that takes two seconds."""
BASIS = 2 * MOST_VECTORS
"""Vectors that products with a matrix build up before a restart, twice as many as are wanted: what ARPACK advises."""
MOST_RESTARTS = 40
"""Restarts after which the inverse is taken: half a second is lost on a ring of 10,000 points, while the inverse for
5,000 points in twenty columns would take 12 s in place of 0.1."""
INEQUALITY = 0.3
"""Gini index of the sizes above which the smallest cluster must be merged: the value of Gagolewski et al. (2016)."""
MOST_COLUMNS_OF_A_TREE = 15
"""Columns up to which a tree finds the nearest landmark sooner than all distances do: what scikit-learn goes by."""
LEAF = 32
"""Landmarks in a leaf of that tree (the quickest of 8 to 128 on a million points of ten columns)."""
KEPT = 4
"""Data sets whose landmarks are kept: a fit and what a user compares it with."""


@dataclass(frozen=True)
class Landmarks:
    """Rows that stand for all of them, and what is computed from them once."""

    points: FloatArray
    """(n, d)"""
    nearest: IntArray | None
    """(m,) the landmark of each row; None where every row is one."""
    finer: tuple[Landmarks, IntArray] | None = None
    """The landmarks that these are some of, and which of these is nearest to each of them; None where these are some of
    all rows."""

    def nearest_to(self, X: FloatArray) -> IntArray:
        """(p,) the landmark of each of some rows (p, d); of few landmarks that of the nearest of the more."""
        if self.finer is not None:
            finer, coarser = self.finer
            return coarser[finer.nearest_to(X)]
        return _nearest_of(self.points, X)

    @cached_property
    def places(self) -> IntArray | None:
        """(n,) the place of each landmark, where some landmarks are at the same place; None where none are."""
        distinct, found = np.unique(self.points, axis=0, return_inverse=True)
        return None if len(distinct) == len(self.points) else found.ravel()

    @cached_property
    def ward_tree(self) -> FloatArray:
        """Merges of Ward's method."""
        tree: FloatArray = ward(self.points)
        return tree

    @cached_property
    def neighbours(self) -> tuple[FloatArray, IntArray]:
        """(n, k) distances to the nearest landmarks, and which they are."""
        k = min(NEIGHBOURS, len(self.points) - 1)
        distances, found = NearestNeighbors(n_neighbors=k + 1).fit(self.points).kneighbors(self.points)
        own = found == np.arange(len(found))[:, None]
        own[~own.any(axis=1), -1] = True
        shape = len(found), k
        distances = distances[~own].reshape(shape)
        positive = distances[distances > 0]
        return np.maximum(distances, positive.min() if positive.size else 1.0), found[~own].reshape(shape)

    @cached_property
    def graph(self) -> csr_array:
        """(n, n) links between neighbours, 1 where they are mutual and 1/2 where they are not."""
        _, found = self.neighbours
        n, k = len(found), min(LINKS, found.shape[1])
        rows = np.repeat(np.arange(n), k)
        links = csr_array(coo_array((np.ones(n * k), (rows, found[:, :k].ravel())), shape=(n, n)))
        return csr_array((links + links.T) / 2)

    @cached_property
    def tree(self) -> tuple[IntArray, IntArray]:
        """Ends of the edges of the spanning tree of the neighbour graph, shortest first."""
        distances, found = self.neighbours
        n, k = found.shape
        rows = np.repeat(np.arange(n), k)
        links = csr_array(coo_array((distances.ravel(), (rows, found.ravel())), shape=(n, n)))
        links = links.maximum(links.T)
        n_parts, part = connected_components(links, directed=False)
        while n_parts > 1:
            links = links.maximum(_bridges(self.points, part, n_parts))
            n_parts, part = connected_components(links, directed=False)
        # the lowest supported SciPy takes indices of 32 bits only
        small = csr_array((links.data, links.indices.astype(np.int32), links.indptr.astype(np.int32)), shape=(n, n))
        edges = minimum_spanning_tree(small).tocoo()
        order = np.argsort(edges.data, kind="stable")
        return edges.row[order].astype(np.int64), edges.col[order].astype(np.int64)

    @cached_property
    def linkage(self) -> IntArray:
        """(n - 1, 2) clusters merged at each step of the guarded linkage, each named by one of its landmarks."""
        return guarded_linkage(*self.tree, len(self.points))

    @cached_property
    def embedding(self) -> FloatArray:
        """(n, v) first eigenvectors of the random walk on the neighbour graph."""
        degrees = np.asarray(self.graph.sum(axis=1)).ravel()
        roots = 1.0 / np.sqrt(degrees)
        walk = csr_array(self.graph.multiply(roots[:, None]).multiply(roots[None, :]))
        n = len(degrees)
        if n <= 2 * MOST_VECTORS:
            values, vectors = np.linalg.eigh(walk.toarray())
        else:
            values, vectors = _largest_eigenvectors(walk)
        scaled: FloatArray = vectors[:, np.argsort(-values)[:MOST_VECTORS]] * roots[:, None]
        return scaled


def _largest_eigenvectors(walk: csr_array) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and eigenvectors at the upper end of a symmetric matrix with eigenvalues up to 1.

    In many dimensions its eigenvalues lie apart, and products with it are enough; its inverse would be nearly dense. On
    long shapes they crowd near 1, and where the graph falls into parts several of them are 1: then only the inverse
    beside 1 tells them apart, and it stays sparse.
    """
    start = np.random.default_rng(0).uniform(0.5, 1.0, walk.shape[0])
    values: FloatArray
    vectors: FloatArray
    if connected_components(walk, directed=False)[0] == 1:
        try:
            values, vectors = eigsh(walk, MOST_VECTORS, which="LA", v0=start, ncv=BASIS, maxiter=MOST_RESTARTS)
            return values, vectors
        except ArpackNoConvergence:
            pass
    try:
        values, vectors = eigsh(csc_array(walk), MOST_VECTORS, sigma=1.0 + 1e-5, v0=start)
    except ArpackError:
        # SciPy before 1.17 gives up where there are few different eigenvalues, as of many equal points
        if walk.shape[0] > MOST_DENSE:
            raise
        values, vectors = np.linalg.eigh(walk.toarray())
    return values, vectors


def guarded_linkage(sources: IntArray, targets: IntArray, n: int) -> IntArray:
    """Merge clusters along a spanning tree, shortest edge first, but never let sizes grow too unequal.

    Parameters
    ----------
    sources, targets : (n - 1,) int arrays
        Ends of the edges, shortest first.
    n : int
        Number of points.

    Returns
    -------
    (n - 1, 2) int array
        The two clusters of each merge, each named by one of its points; the first name stays.

    Notes
    -----
    Single linkage follows any shape and is led astray by outliers. Here, whenever the Gini index of the sizes is above
    0.3, only edges at a smallest cluster may be taken (Gagolewski, Bartoszuk and Cena, 2016).

    Examples
    --------
    >>> guarded_linkage(np.array([0, 2, 1]), np.array([1, 3, 2]), 4).tolist()
    [[0, 1], [2, 3], [0, 2]]
    """
    parents, sizes = list(range(n)), [1] * n
    numbers = {1: n}
    taken = [False] * (n - 1)
    first = pointer = 0
    smallest, unequal = 1, False
    merges = np.empty((n - 1, 2), np.int64)

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    ends = list(zip(sources.tolist(), targets.tolist()))
    for step in range(n - 1):
        while taken[first]:
            first += 1
        edge = first
        if unequal:
            least = min(numbers)
            if least != smallest or pointer < first:
                smallest, pointer = least, first
            edge = pointer
            while taken[edge] or least not in (sizes[root(ends[edge][0])], sizes[root(ends[edge][1])]):
                edge += 1
            pointer = edge
        taken[edge] = True
        one, other = root(ends[edge][0]), root(ends[edge][1])
        for size in (sizes[one], sizes[other]):
            numbers[size] -= 1
            if numbers[size] == 0:
                del numbers[size]
        parents[other] = one
        sizes[one] += sizes[other]
        numbers[sizes[one]] = numbers.get(sizes[one], 0) + 1
        merges[step] = one, other
        unequal = _gini(numbers) > INEQUALITY
    return merges


def density_basins(distances: FloatArray, neighbours: IntArray, dimension: float, k: int, depth: float) -> IntArray:
    """Basins of the density: every point climbs to a peak, peaks that no deep valley separates are one.

    Parameters
    ----------
    distances, neighbours : (n, K) arrays
        Nearest neighbours of each point.
    dimension : float
        Of the data, in which distances become densities.
    k : int
        Neighbours of the density estimate.
    depth : float
        Depth of a valley, in standard errors of a difference of two log densities, that separates two peaks.

    Returns
    -------
    (n,) int array
        Labels from 0.

    Notes
    -----
    Persistence-based clustering (Chazal, Guibas, Oudot and Skraba, 2013) with a threshold in standard errors.
    """
    n = len(distances)
    density = -dimension * np.log(distances[:, min(k, distances.shape[1]) - 1])
    threshold = depth * float(np.sqrt(2.0 / k))
    links = min(LINKS, neighbours.shape[1])
    rows = np.repeat(np.arange(n), links)
    linked = csr_array(coo_array((np.ones(n * links), (rows, neighbours[:, :links].ravel())), shape=(n, n)))
    linked = csr_array(linked.maximum(linked.T))
    order = np.argsort(-density, kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    parents = list(range(n))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    for i in order.tolist():
        around = linked.indices[linked.indptr[i] : linked.indptr[i + 1]]
        higher = around[rank[around] < rank[i]]
        if higher.size == 0:
            continue
        own = root(int(higher[rank[higher].argmin()]))
        parents[i] = own
        for j in higher.tolist():
            other = root(j)
            if other != own:
                low, high = (other, own) if rank[other] > rank[own] else (own, other)
                if density[low] - density[i] < threshold:
                    parents[low] = high
                    own = high
    labels: IntArray = np.unique([root(i) for i in range(n)], return_inverse=True)[1].ravel()
    return labels


def one_label_a_place(labels: IntArray, places: IntArray) -> IntArray:
    """Labels of points, those at one place made the most common one there; of equally common ones the smallest.

    Parameters
    ----------
    labels : (n,) int array
        Trees and neighbour graphs may part points that are equal, when they are asked for more clusters than there
        are places, or when a place has more points than a point has neighbours.
    places : (n,) int array
        The place of each point, from 0.

    Returns
    -------
    (n,) int array

    Examples
    --------
    >>> one_label_a_place(np.array([4, 1, 1, -1, 4, 4]), np.array([0, 0, 0, 1, 1, 2])).tolist()
    [1, 1, 1, -1, -1, 4]
    """
    pairs, counts = np.unique(np.stack([places, labels]), axis=1, return_counts=True)
    # by place; at a place the most common label last, and of those the smallest
    order = np.lexsort([-pairs[1], counts, pairs[0]])
    chosen = np.empty(pairs[0, -1] + 1, np.int64)
    chosen[pairs[0, order]] = pairs[1, order]
    return chosen[places]


@dataclass(frozen=True)
class LandmarkSource:
    """Runs a method on the landmarks; the other rows take the label of the nearest one."""

    method: Callable[[Landmarks, int], IntArray]
    most: int
    """Landmarks at most."""

    def __call__(self, data: Any, seed: int) -> Grouping:
        """Labels of the rows of the data (m, d)."""
        marks = landmarks_of(data, self.most)
        labels = self.method(marks, seed)
        if marks.places is not None:
            labels = one_label_a_place(labels, marks.places)
        everywhere = labels if marks.nearest is None else labels[marks.nearest]
        return Grouping(everywhere, NearestLandmark(marks, labels))


@dataclass(frozen=True)
class NearestLandmark:
    """Gives new rows the label of the nearest landmark."""

    landmarks: Landmarks
    labels: IntArray

    def predict(self, X: FloatArray) -> IntArray:
        """Labels of new rows (p, d)."""
        return self.labels[self.landmarks.nearest_to(X)]


@dataclass(frozen=True)
class WardCut:
    """Ward's tree cut into k clusters."""

    k: int

    def __call__(self, marks: Landmarks, seed: int) -> IntArray:
        """Labels of the landmarks."""
        n = len(marks.points)
        merges = marks.ward_tree[: max(0, n - self.k), :2].astype(np.int64).ravel()
        made = n + np.repeat(np.arange(merges.size // 2), 2)
        graph = coo_array((np.ones(merges.size), (merges, made)), shape=(2 * n, 2 * n))
        found: IntArray = connected_components(graph, directed=False)[1][:n]
        return np.unique(found, return_inverse=True)[1].ravel()


@dataclass(frozen=True)
class GuardedLinkage:
    """The guarded linkage stopped at k clusters."""

    k: int

    def __call__(self, marks: Landmarks, seed: int) -> IntArray:
        """Labels of the landmarks."""
        n = len(marks.points)
        merges = marks.linkage[: max(0, n - self.k)]
        graph = coo_array((np.ones(len(merges)), (merges[:, 0], merges[:, 1])), shape=(n, n))
        labels: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
        return labels


@dataclass(frozen=True)
class DensityBasins:
    """Basins of the density of k neighbours, separated by valleys of a depth."""

    k: int
    depth: float

    def __call__(self, marks: Landmarks, seed: int) -> IntArray:
        """Labels of the landmarks."""
        distances, neighbours = marks.neighbours
        logs = np.log(distances[:, -1:] / distances[:, :-1]) if distances.shape[1] > 1 else np.ones((1, 1))
        # Levina and Bickel's estimate of the dimension
        dimension = min(float(np.mean(1.0 / np.maximum(logs.mean(axis=1), 1e-3))), marks.points.shape[1])
        return density_basins(distances, neighbours, dimension, min(self.k, distances.shape[1]), self.depth)


@dataclass(frozen=True)
class NeighbourSpectral:
    """k-means on the first k eigenvectors of the random walk between neighbours."""

    k: int

    def __call__(self, marks: Landmarks, seed: int) -> IntArray:
        """Labels of the landmarks."""
        vectors = marks.embedding[:, : self.k]
        labels: IntArray = KMeans(self.k, n_init=3, random_state=seed).fit_predict(vectors).astype(np.int64)
        return labels


@dataclass(frozen=True)
class DensityTree:
    """HDBSCAN with a smallest cluster; its noise stays in no group."""

    min_cluster_size: int

    def __call__(self, marks: Landmarks, seed: int) -> IntArray:
        """Labels of the landmarks."""
        # trees look at nearly all points of many columns, one after the other: a twentieth of the time for images
        ways = "auto" if marks.points.shape[1] <= MOST_COLUMNS_OF_A_TREE else "brute"
        tree = HDBSCAN(min_cluster_size=self.min_cluster_size, algorithm=ways, copy=True)
        labels: IntArray = tree.fit_predict(marks.points)
        return labels


_KNOWN: OrderedDict[tuple[str, int], Landmarks] = OrderedDict()


def landmarks_of(data: FloatArray, most: int) -> Landmarks:
    """Landmarks of the data; kept for the last few data sets, because many sources ask for the same ones."""
    array = np.ascontiguousarray(data)
    most = min(most, len(array))
    # of the data itself, not of a copy, and by a hash that processors have a command for
    key = hashlib.sha256(array.data).hexdigest() + str(array.shape), most
    if key not in _KNOWN:
        _KNOWN[key] = _new_landmarks(array, most)
    _KNOWN.move_to_end(key)
    while len(_KNOWN) > KEPT:
        _KNOWN.popitem(last=False)
    return _KNOWN[key]


def _new_landmarks(points: FloatArray, most: int) -> Landmarks:
    """Draw the landmarks; the draw depends on the number of rows alone, so all sources share it."""
    if most < GRAPH_LANDMARKS < len(points):
        return _some_of(landmarks_of(points, GRAPH_LANDMARKS), most)
    if most >= len(points):
        return Landmarks(points.copy(), None)  # kept, while the user may change what was given
    drawn = points[_drawn(len(points), most)]
    return Landmarks(drawn, _nearest_of(drawn, points))


def _some_of(finer: Landmarks, most: int) -> Landmarks:
    """Fewer landmarks of the same rows: looking for the nearest ones of all rows once more would take the longest."""
    assert finer.nearest is not None
    points = finer.points[_drawn(len(finer.points), most)]
    coarser = _nearest_of(points, finer.points)
    return Landmarks(points, coarser[finer.nearest], (finer, coarser))


def _drawn(n: int, most: int) -> IntArray:
    """Some of n rows, in their order."""
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _nearest_of(landmarks: FloatArray, points: FloatArray) -> IntArray:
    """(m,) the landmark (n, d) that is nearest to each point (m, d), on all cores."""
    if points.shape[1] > MOST_COLUMNS_OF_A_TREE:
        found = NearestNeighbors(n_neighbors=1).fit(landmarks).kneighbors(points, return_distance=False)
        return np.asarray(found[:, 0])
    return np.asarray(KDTree(landmarks, leafsize=LEAF).query(points, workers=effective_n_jobs(-1))[1])


def _bridges(points: FloatArray, part: IntArray, n_parts: int) -> csr_array:
    """Shortest links from every part of a graph, save the largest, to the rest."""
    rows, columns, lengths = [], [], []
    sizes = np.bincount(part, minlength=n_parts)
    for p in np.delete(np.arange(n_parts), int(sizes.argmax())):
        inside, outside = np.flatnonzero(part == p), np.flatnonzero(part != p)
        distances, found = NearestNeighbors(n_neighbors=1).fit(points[outside]).kneighbors(points[inside])
        best = int(distances[:, 0].argmin())
        rows.append(inside[best])
        columns.append(outside[found[best, 0]])
        # an explicit zero would be no link
        lengths.append(max(float(distances[best, 0]), 1e-300))
    n = len(points)
    links = csr_array(coo_array((lengths, (rows, columns)), shape=(n, n)))
    return links.maximum(links.T)


def _gini(numbers: dict[int, int]) -> float:
    """Gini index of sizes, from how often each occurs; 1 where one cluster has nearly everything."""
    below = total = weighted = 0.0
    for size in sorted(numbers):
        number = numbers[size]
        weighted += (below + (number + 1) / 2) * size * number
        total += size * number
        below += number
    if below < 2:
        return 0.0
    return (2 * weighted / total - (below + 1)) / (below - 1)
