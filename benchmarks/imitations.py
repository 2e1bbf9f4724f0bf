"""Generated data of many kinds with known groups: mixtures, drawn characters, turned objects, shapes in the plane.

The levels of `significance/_points.py` are chosen on them, so that the sets of the benchmark pages decide nothing.
``python -m benchmarks.tuning.points`` prints the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from scipy.ndimage import affine_transform, gaussian_filter
from sklearn.datasets import load_digits

from biconsensus.protocols import FloatArray, IntArray

Drawing = Callable[[int], FloatArray]
PIXELS = 32
"""Side of a drawn image before it is made coarse."""


def unequal_mixture(seed: int) -> tuple[FloatArray, IntArray]:
    """3 to 30 groups of very unequal sizes in 5 to 50 dimensions, near groups overlap, some with heavy tails."""
    rng = np.random.default_rng([1, seed])
    d, k = int(rng.integers(5, 51)), int(np.round(np.exp(rng.uniform(np.log(3), np.log(30)))))
    n = max(int(np.exp(rng.uniform(np.log(300), np.log(2500)))), 30 * k)
    shares = rng.dirichlet(np.full(k, 3.0)) * 0.8 + 0.2 / k
    truth = rng.choice(k, n, p=shares)
    # the nearest other centre is 3.5 to 6 standard deviations away for the median group
    spanned = min(d, int(rng.integers(2, 13)))
    centres = rng.standard_t(5, size=(k, spanned))
    apart = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    centres *= rng.uniform(3.5, 6.0) / np.median(apart.min(axis=1))
    centres = np.pad(centres, ((0, 0), (0, d - spanned))) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    freedom = float(rng.choice([4.0, 8.0, np.inf, np.inf]))
    spread = rng.uniform(0.0, 0.5)
    X = np.empty((n, d))
    for g in range(k):
        own = rng.normal(size=(int((truth == g).sum()), d))
        if np.isfinite(freedom):
            own /= np.sqrt(rng.chisquare(freedom, len(own)) / freedom)[:, None]
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(rng.normal(0, spread, d))
        X[truth == g] = centres[g] + own @ axes * np.exp(rng.normal(0, spread / 2))
    return X, truth


@cache
def _glyph(character: str, family: str, style: str) -> FloatArray:
    """(32, 32) filled image of a character."""
    path = TextPath((0, 0), character, size=100, prop=FontProperties(family=family, weight=style))
    low, high = path.get_extents().min, path.get_extents().max
    scale = 0.62 * PIXELS / max(high - low)
    middle = (low + high) / 2
    fine = 2 * PIXELS
    at = (np.stack(np.meshgrid(np.arange(fine), np.arange(fine)), axis=-1).reshape(-1, 2) + 0.5) / 2
    at = (at - PIXELS / 2) / scale + middle
    inside = path.contains_points(at).reshape(fine, fine)[::-1].astype(np.float64)
    small: FloatArray = inside.reshape(PIXELS, 2, PIXELS, 2).mean(axis=(1, 3))
    return small


def _moved(image: FloatArray, rng: np.random.Generator, amount: float) -> FloatArray:
    """The image turned, sheared, stretched and shifted a little."""
    turn, shear = rng.normal(0, 0.12 * amount), rng.normal(0, 0.18 * amount)
    stretch = np.exp(rng.normal(0, 0.1 * amount, 2))
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    matrix = matrix @ np.array([[1.0, 0.0], [shear, 1.0]]) @ np.diag(stretch)
    middle = np.full(2, (PIXELS - 1) / 2)
    shift = middle - matrix @ middle + rng.normal(0, 0.8 * amount, 2)
    moved: FloatArray = affine_transform(image, matrix, shift, order=1)
    return moved


def characters(seed: int) -> tuple[FloatArray, IntArray]:
    """Images of digits or letters in several typefaces, bent and noisy: 64 to 256 pixels, 8 to 26 groups."""
    rng = np.random.default_rng([2, seed])
    alphabet = list("0123456789" if seed % 2 == 0 else "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    k = int(rng.integers(8, len(alphabet) + 1))
    chosen = rng.choice(alphabet, k, replace=False)
    faces = [
        ("DejaVu Sans", "normal"),
        ("DejaVu Sans", "bold"),
        ("DejaVu Serif", "normal"),
        ("DejaVu Sans Mono", "normal"),
    ]
    faces = [faces[i] for i in rng.permutation(4)[: int(rng.integers(1, 4))]]
    n = int(rng.integers(40, 100)) * k
    amount, noise = rng.uniform(0.5, 1.2), rng.uniform(0.02, 0.12)
    coarse = int(rng.choice([2, 4]))
    truth = rng.integers(0, k, n)
    X = np.empty((n, (PIXELS // coarse) ** 2))
    for i in range(n):
        image = _moved(_glyph(str(chosen[truth[i]]), *faces[int(rng.integers(len(faces)))]), rng, amount)
        image = gaussian_filter(image, rng.uniform(0.6, 1.4))
        side = PIXELS // coarse
        X[i] = image.reshape(side, coarse, side, coarse).mean(axis=(1, 3)).ravel()
    return X + rng.normal(0, noise, X.shape), truth


def moments(seed: int) -> tuple[FloatArray, IntArray]:
    """Sixteen measures of drawn characters (shares of ink, moments, crossings): strongly overlapping groups."""
    X, truth = characters(seed + 1000)
    side = int(np.sqrt(X.shape[1]))
    images = np.maximum(X.reshape(-1, side, side), 0.0)
    ink = images.sum(axis=(1, 2)) + 1e-9
    y, x = np.mgrid[:side, :side] / side
    mx, my = (images * x).sum(axis=(1, 2)) / ink, (images * y).sum(axis=(1, 2)) / ink
    dx, dy = x[None] - mx[:, None, None], y[None] - my[:, None, None]
    found = [ink / side**2, mx, my]
    for a, b in ((2, 0), (0, 2), (1, 1), (3, 0), (0, 3), (2, 1), (1, 2), (2, 2), (4, 0), (0, 4)):
        value = (images * dx**a * dy**b).sum(axis=(1, 2)) / ink
        found.append(np.sign(value) * np.abs(value) ** (1 / (a + b)))
    dark = images > 0.35
    found += [np.abs(np.diff(dark.astype(int), axis=axis)).sum(axis=(1, 2)) / side for axis in (1, 2)]
    found.append(np.abs(images - images[:, :, ::-1]).sum(axis=(1, 2)) / ink)
    table = np.stack(found, axis=1)
    return (table - table.mean(axis=0)) / table.std(axis=0), truth


def turned_objects(seed: int) -> tuple[FloatArray, IntArray]:
    """Views of 8 to 20 random solid objects, turned by a full circle or less: closed or open curves of images."""
    rng = np.random.default_rng([3, seed])
    k, views = int(rng.integers(8, 21)), int(rng.choice([20, 36, 72]))
    span = float(rng.choice([np.pi / 2, np.pi, 2 * np.pi]))
    side = 16
    X, truth = [], []
    for g in range(k):
        blobs = rng.normal(0, 1, (int(rng.integers(3, 9)), 3)) * np.array([1.0, 0.5, 1.0])
        blobs *= rng.uniform(0.6, 1.4) / np.sqrt((blobs**2).sum(axis=1).max())
        size, light = rng.uniform(0.15, 0.5, len(blobs)), rng.uniform(0.4, 1.0, len(blobs))
        start = rng.uniform(0, 2 * np.pi)
        grid = np.linspace(-1.6, 1.6, side)
        for view in range(views):
            angle = start + span * view / views
            across = blobs[:, 0] * np.cos(angle) + blobs[:, 2] * np.sin(angle)
            shade = light * (0.75 + 0.25 * np.cos(angle + np.arctan2(blobs[:, 2], blobs[:, 0])))
            image = np.zeros((side, side))
            for a, b, s, c in zip(across, blobs[:, 1], size, shade):
                image = np.maximum(image, c * np.exp(-((grid[None] - a) ** 2 + (grid[:, None] - b) ** 2) / (2 * s**2)))
            X.append(image.ravel() + rng.normal(0, 0.02, side * side))
            truth.append(g)
    return np.array(X), np.array(truth)


def pen_strokes(seed: int) -> tuple[FloatArray, IntArray]:
    """Sixteen numbers a stroke: eight places along curves of 6 to 12 kinds, some kinds drawn in two ways."""
    rng = np.random.default_rng([4, seed])
    k, n = int(rng.integers(6, 13)), int(rng.integers(600, 2500))
    ways = [[rng.normal(size=(4, 2)).cumsum(axis=0) for _ in range(1 + (rng.random() < 0.3))] for _ in range(k)]
    truth = rng.integers(0, k, n)
    t = np.linspace(0, 1, 8)[:, None]
    basis = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    amount = rng.uniform(0.25, 0.5)
    X = np.empty((n, 16))
    for i in range(n):
        own = ways[truth[i]]
        curve = basis @ (own[int(rng.integers(len(own)))] + rng.normal(0, amount, (4, 2)))
        curve -= curve.min(axis=0)
        X[i] = (100 * curve / curve.max()).ravel()
    return X, truth


def some_digits(seed: int) -> tuple[FloatArray, IntArray]:
    """Three to nine of scikit-learn's ten digits, 60 to 180 images each, noisy or in few random directions."""
    rng = np.random.default_rng([5, seed])
    X, truth = load_digits(return_X_y=True)
    chosen = rng.choice(10, int(rng.integers(3, 10)), replace=False)
    kept = np.flatnonzero(np.isin(truth, chosen))
    kept = rng.choice(kept, int(rng.uniform(0.4, 1.0) * kept.size), replace=False)
    X, truth = X[kept], truth[kept]
    if seed % 3 == 1:
        X = X + rng.normal(0, rng.uniform(1, 4), X.shape)
    if seed % 3 == 2:
        X = X @ rng.normal(size=(64, int(rng.integers(12, 30))))
    return X, truth


def small_clouds(seed: int) -> tuple[FloatArray, IntArray]:
    """Two to four normal clouds of 25 to 120 points in 4 to 10 dimensions, the nearest two 4 to 7 deviations apart."""
    rng = np.random.default_rng([8, seed])
    d, k = int(rng.integers(4, 11)), int(rng.integers(2, 5))
    sizes = rng.integers(25, 121, size=k)
    centres = rng.normal(size=(k, d))
    apart = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2) + 1e9 * np.eye(k))
    centres *= rng.uniform(4, 7) / apart.min()
    parts = [
        rng.normal(size=(int(size), d)) * np.exp(rng.normal(0, 0.25, d)) + centre
        for size, centre in zip(sizes, centres, strict=True)
    ]
    return np.concatenate(parts), np.repeat(np.arange(k), sizes)


def plane_shapes(seed: int) -> tuple[FloatArray, IntArray]:
    """Rings, arcs, lines, crosses, spirals and blobs of many densities in the plane, some in a thin background."""
    rng = np.random.default_rng([6, seed])
    kinds = ("rings", "arcs", "lines", "blobs", "spirals", "mixed", "grid", "nested", "waves", "uneven")
    kind = kinds[seed % len(kinds)]
    n = int(rng.choice([250, 500, 1000, 2000]))
    parts = _shapes(kind, rng)
    weights = np.array([len_of for _, len_of in parts])
    sizes = np.maximum((n * weights / weights.sum()).astype(int), 20)
    X = np.concatenate([draw(int(size)) for (draw, _), size in zip(parts, sizes)])
    return X, np.repeat(np.arange(len(parts)), sizes)


def small_plane(seed: int) -> tuple[FloatArray, IntArray]:
    """Two to four blobs, discs, boxes and crescents of 100 to 320 points in all, pushed until they nearly touch."""
    rng = np.random.default_rng([7, seed])
    n, k = int(rng.integers(100, 321)), int(rng.choice([2, 2, 3, 4]))
    truth = np.unique(np.sort(rng.choice(k, n, p=rng.dirichlet(np.full(k, 6.0)))), return_inverse=True)[1]
    parts = []
    for size in np.bincount(truth):
        part = _crescent(int(size), rng) if rng.random() < 0.35 else _blob(int(size), rng)
        turn = rng.uniform(0, 2 * np.pi)
        parts.append(part @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]))
    gap = 0.6 * rng.uniform(0.3, 1.2)
    placed = [parts[0]]
    for part in parts[1:]:
        angle = rng.uniform(0, 2 * np.pi)
        placed.append(_pushed_to(np.concatenate(placed), part, np.array([np.cos(angle), np.sin(angle)]), gap))
    return np.concatenate(placed), truth


def plane_blobs(seed: int) -> tuple[FloatArray, IntArray]:
    """Two to eight round normal clouds in a square, as in most first examples: some overlap."""
    rng = np.random.default_rng([8, seed])
    n, spread = int(rng.choice([100, 150, 200, 300, 500, 1000])), float(rng.choice([0.8, 1.0, 1.5]))
    centres = rng.uniform(-10, 10, (int(rng.integers(2, 9)), 2))
    truth = np.sort(rng.integers(len(centres), size=n))
    return centres[truth] + rng.normal(0, spread, (n, 2)), truth


def _crescent(n: int, rng: np.random.Generator) -> FloatArray:
    """An arc with some thickness."""
    radius, span, thick = rng.uniform(2.5, 4), rng.uniform(1.5, 3.5), rng.uniform(0.3, 0.9)
    angle, away = rng.uniform(-span / 2, span / 2, n), radius + rng.uniform(-thick, thick, n)
    return np.c_[away * np.sin(angle), radius - away * np.cos(angle)]


def _blob(n: int, rng: np.random.Generator) -> FloatArray:
    """A normal cloud, a disc or a box, stretched a little."""
    kind = rng.integers(3)
    found: FloatArray = rng.uniform(-1.7, 1.7, (n, 2)) if kind == 2 else rng.normal(size=(n, 2))
    if kind == 1:
        found *= (2 * np.sqrt(rng.random(n)) / np.sqrt((found**2).sum(axis=1)))[:, None]
    return found * np.exp(rng.normal(0, 0.35, 2))


def _pushed_to(others: FloatArray, part: FloatArray, direction: FloatArray, gap: float) -> FloatArray:
    """The part moved along a direction to where all but 3% of its points are at least the gap away from the others."""
    near, far = 0.0, 40.0
    for _ in range(40):
        middle = (near + far) / 2
        apart = np.sqrt((((part + middle * direction)[:, None] - others) ** 2).sum(axis=2)).min(axis=1)
        near, far = (middle, far) if np.quantile(apart, 0.03) < gap else (near, middle)
    return part + far * direction


def _shapes(kind: str, rng: np.random.Generator) -> list[tuple[Drawing, float]]:
    """Functions that draw the points of each group, with the share of each."""
    thick = rng.uniform(0.03, 0.1)

    def ring(radius: float, x: float = 0, y: float = 0, start: float = 0, span: float = 2 * np.pi) -> Drawing:
        def draw(n: int) -> FloatArray:
            angle = start + span * rng.random(n)
            return np.c_[x + radius * np.cos(angle), y + radius * np.sin(angle)] + rng.normal(0, thick, (n, 2))

        return draw

    def blob(x: float, y: float, sx: float, sy: float, turn: float = 0.0) -> Drawing:
        axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        return lambda n: rng.normal(size=(n, 2)) * [sx, sy] @ axes + [x, y]

    def box(x: float, y: float, width: float, height: float) -> Drawing:
        return lambda n: rng.random((n, 2)) * [width, height] + [x, y]

    if kind == "rings":
        radii = np.array([0.5, 1.5, 2.5])[: int(rng.integers(2, 4))]
        return [(ring(r), r) for r in radii]
    if kind == "arcs":
        gap = rng.uniform(0.3, 0.6)
        return [(ring(1.0, 0, 0, 0, np.pi), 1.0), (ring(1.0, 1.0, gap, np.pi, np.pi), 1.0)]
    if kind == "lines":
        k = int(rng.integers(2, 6))
        return [(box(0, j * 0.9, 4.0, 0.4), rng.uniform(0.5, 1.5)) for j in range(k)]
    if kind == "blobs":
        k = int(rng.integers(4, 16))
        places = [(i % 4, i // 4) for i in range(k)]
        return [
            (
                blob(
                    4.6 * x + rng.normal(0, 0.3),
                    4.6 * y + rng.normal(0, 0.3),
                    *rng.uniform(0.6, 1.2, 2),
                    rng.uniform(0, 3),
                ),
                rng.uniform(0.5, 2),
            )
            for x, y in places
        ]
    if kind == "spirals":
        k, turns = int(rng.integers(2, 4)), 1.5

        def spiral(phase: float) -> Drawing:
            def draw(n: int) -> FloatArray:
                t = np.sqrt(rng.random(n)) * turns * 2 * np.pi + 0.8
                return np.c_[t * np.cos(t + phase), t * np.sin(t + phase)] / 3 + rng.normal(0, thick, (n, 2))

            return draw

        return [(spiral(2 * np.pi * j / k), 1.0) for j in range(k)]
    if kind == "mixed":
        return [
            (ring(2.0), 1.5),
            (blob(0, 0, 0.4, 0.4), 0.6),
            (blob(5, 0, 0.8, 0.5), 1.0),
            (box(3.5, 2.5, 3, 0.5), 0.8),
        ]
    if kind == "grid":
        side = int(rng.integers(2, 4))
        gap = rng.uniform(1.2, 1.6)
        return [(box(gap * i, gap * j, 1, 1), rng.uniform(0.6, 1.4)) for i in range(side) for j in range(side)]
    if kind == "nested":
        return [(blob(0, 0, 0.35, 0.35), 1.0), (ring(2.0, start=0.3, span=5.0), 1.2)]
    if kind == "waves":

        def wave(level: float) -> Drawing:
            def draw(n: int) -> FloatArray:
                x = rng.uniform(0, 4, n)
                return np.c_[x, np.sin(2 * x) + level] + rng.normal(0, 0.1, (n, 2))

            return draw

        return [(wave(0.9 * j), 1.0) for j in range(int(rng.integers(2, 5)))]
    return [
        (blob(0, 0, 1.0, 1.0), 1.0),
        (blob(4.5, 0, 0.3, 0.3), 0.4),
        (blob(1, 4.5, 0.5, 1.0), 0.25),
        (blob(-5, 1, 1.3, 0.6, 0.5), 1.0),
    ]


KINDS: dict[str, Callable[[int], tuple[FloatArray, IntArray]]] = {
    "unequal mixtures": unequal_mixture,
    "characters": characters,
    "moments": moments,
    "turned objects": turned_objects,
    "pen strokes": pen_strokes,
    "some digits": some_digits,
    "small clouds": small_clouds,
    "plane shapes": plane_shapes,
    "small plane": small_plane,
    "plane blobs": plane_blobs,
}
