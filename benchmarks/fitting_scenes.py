"""Generated scenes for the benchmark of model fitting: lines, mixed families, a room, backgrounds without models."""

from __future__ import annotations

from typing import Any

import numpy as np

BACKGROUNDS = ("uniform", "blobs", "dense square", "two densities")
ROOM = {"floor": (2, 0.0), "ceiling": (2, 2.6), "wall x": (0, 0.0), "wall y": (1, 0.0), "far wall": (0, 5.0)}
"""Axis and place of the large planes of the room, in metres."""


COINS = [
    *[(46, 54, 20), (101, 56, 19), (155, 51, 23), (215, 52, 23), (277, 52, 20), (335, 43, 29)],
    *[(44, 124, 20), (102, 125, 19), (154, 128, 19), (205, 124, 19), (271, 119, 25), (336, 124, 19)],
    *[(44, 197, 19), (102, 195, 22), (154, 198, 19), (212, 193, 24), (273, 194, 22), (347, 186, 31)],
    *[(46, 260, 28), (114, 266, 21), (173, 260, 27), (244, 264, 23), (300, 264, 25), (358, 268, 21)],
]
"""Centre and radius of the coins of scikit-image's picture, read from the picture, in pixels."""


def edges_of_coins(sigma: float) -> Any:
    """Pixels (m, 2) of the edges of the coins, by Canny's detector at a width of smoothing."""
    from skimage.feature import canny

    from biconsensus.datasets import load_cells

    found = canny(load_cells("coins").image, sigma=sigma, low_threshold=10, high_threshold=50 if sigma > 2 else 30)
    return np.argwhere(found)[:, ::-1].astype(float)


def coins_found(circles: Any) -> tuple[int, int, int]:
    """Coins that a circle follows within 8 pixels (centre and radius together), other circles, large ones of these."""
    if not len(circles):
        return 0, 0, 0
    apart = np.abs(np.asarray(circles)[:, None] - np.array(COINS))
    near = apart[..., :2].max(2) + apart[..., 2] < 8
    large = ~near.any(1) & (np.asarray(circles)[:, 2] > 1.5 * max(radius for _, _, radius in COINS))
    return int(near.any(0).sum()), len(circles) - int(near.any(0).sum()), int(large.sum())


def lines(n_lines: int, share: float, seed: int) -> tuple[Any, Any]:
    """Lines across a box of side 2, 50 points each, noise 0.0075, and outliers: points and line parameters."""
    rng, each = np.random.default_rng([seed, n_lines, int(100 * share)]), 50
    parts, found = list[Any](), list[Any]()
    while len(parts) < n_lines:
        place, angle = rng.uniform(-1, 1, 2), rng.uniform(0, np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        ends = np.sort(np.stack([(-1 - place) / along, (1 - place) / along]), axis=0)
        first, last = ends[0].max(), ends[1].min()
        normal = np.array([-along[1], along[0]])
        near = [
            abs(normal @ other[:2]) > np.cos(np.radians(5)) and abs(place @ other[:2] + other[2]) < 0.1
            for other in found
        ]
        if last - first < 1 or any(near):  # too short, or hardly another line
            continue
        found.append(np.append(normal, -normal @ place))
        steps = rng.uniform(first, last, each)
        parts.append(place + steps[:, None] * along + rng.normal(0, 0.0075, (each, 1)) * normal)
    n_outliers = round(n_lines * each * share / (1 - share))
    return np.concatenate([*parts, rng.uniform(-1, 1, (n_outliers, 2))]), np.array(found)


def n_lines_found(params: Any, truth: Any) -> tuple[int, int]:
    """True lines that a found one follows within 0.03 on the average inside the box, and found lines left over."""
    used = set[int]()
    for line in truth:
        foot, along = -line[2] * line[:2], np.array([line[1], -line[0]])
        points = foot + np.linspace(-1.5, 1.5, 61)[:, None] * along
        points = points[(np.abs(points) <= 1).all(1)]
        distance = [
            np.abs(points @ one[:2] + one[2]).mean() if i not in used else np.inf for i, one in enumerate(params)
        ]
        if len(distance) and min(distance) < 0.03:
            used.add(int(np.argmin(distance)))
    return len(used), len(params) - len(used)


def background(kind: str, dimension: int, seed: int, n_points: int = 500) -> Any:
    """Points without any model in them."""
    rng = np.random.default_rng(1000 + seed)
    if kind == "blobs":
        centres = rng.uniform(-0.8, 0.8, (4, dimension))
        return np.clip(centres[rng.integers(4, size=n_points)] + rng.normal(0, 0.12, (n_points, dimension)), -1, 1)
    points = rng.uniform(-1, 1, (n_points, dimension))
    if kind == "dense square":
        points[: n_points // 2] /= 4
    if kind == "two densities":
        points[:, 0] = np.abs(points[:, 0]) * np.where(np.arange(n_points) < 0.9 * n_points, -1, 1)
    return points


def lines_and_circles(seed: int) -> tuple[Any, dict[str, int]]:
    """One to three segments and one to three circles, 60 points each, noise 0.005, half of all points outliers."""
    rng, parts = np.random.default_rng([7, seed]), list[Any]()
    counts = {"segment": int(rng.integers(1, 4)), "circle": int(rng.integers(1, 4))}
    for _ in range(counts["segment"]):
        middle, angle, length = rng.uniform(-0.6, 0.6, 2), rng.uniform(0, np.pi), rng.uniform(0.6, 1.2)
        steps = rng.uniform(-length / 2, length / 2, (60, 1))
        parts.append(middle + steps * [np.cos(angle), np.sin(angle)] + rng.normal(0, 0.005, (60, 2)))
    for _ in range(counts["circle"]):
        middle, turn, radius = rng.uniform(-0.6, 0.6, 2), rng.uniform(0, 2 * np.pi, 60), rng.uniform(0.15, 0.4)
        parts.append(middle + radius * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.normal(0, 0.005, (60, 2)))
    n_points = 60 * sum(counts.values())
    return np.concatenate([*parts, rng.uniform(-1, 1, (n_points, 2))]), counts


def planes_and_cylinders(seed: int) -> tuple[Any, dict[str, int]]:
    """One or two planes and one or two cylinders of points with normals, 150 each, half of all points outliers."""
    rng, parts = np.random.default_rng([8, seed]), list[Any]()
    counts = {"plane": int(rng.integers(1, 3)), "cylinder": int(rng.integers(1, 3))}
    for _ in range(counts["plane"]):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        spread = rng.uniform(-0.7, 0.7, (150, 2)) @ frame[:2]
        parts.append(np.hstack([rng.uniform(-0.4, 0.4, 3) + spread, np.tile(frame[2], (150, 1))]))
    for _ in range(counts["cylinder"]):
        frame, turn = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.uniform(0, 2 * np.pi, 150)
        out = np.cos(turn)[:, None] * frame[0] + np.sin(turn)[:, None] * frame[1]
        axis = rng.uniform(-0.6, 0.6, (150, 1)) * frame[2]
        parts.append(np.hstack([rng.uniform(-0.4, 0.4, 3) + rng.uniform(0.1, 0.3) * out + axis, out]))
    points = np.concatenate(parts)
    points[:, :3] += rng.normal(0, 0.005, (len(points), 3))
    points[:, 3:] += rng.normal(0, 0.03, (len(points), 3))
    outliers = np.hstack([rng.uniform(-1, 1, (len(points), 3)), rng.normal(size=(len(points), 3))])
    points = np.concatenate([points, outliers])
    points[:, 3:] /= np.linalg.norm(points[:, 3:], axis=1, keepdims=True)
    return points, counts


def room(n_points: int = 200_000, seed: int = 0) -> tuple[Any, Any]:
    """A scan of a room: five large planes, a table, a shelf board, and clutter; points and (axis, place) of planes."""
    rng, size = np.random.default_rng(seed), np.array([5.0, 4.0, 2.6])
    planes = [*ROOM.values(), (2, 0.75), (2, 1.6)]
    shares = [0.2, 0.15, 0.15, 0.15, 0.12, 0.05, 0.03]
    parts = list[Any]()
    for number, ((axis, place), share) in enumerate(zip(planes, shares)):
        points = rng.uniform(0, 1, (int(share * n_points), 3)) * size
        if number == len(planes) - 2:
            points[:, :2] = [2.0, 1.5] + rng.uniform(0, 1, (len(points), 2)) * [1.6, 0.8]
        if number == len(planes) - 1:
            points[:, :2] = [0.1, 0.5] + rng.uniform(0, 1, (len(points), 2)) * [0.35, 2.0]
        points[:, axis] = place
        parts.append(points + rng.normal(0, 0.005, points.shape))
    n_clutter = n_points - sum(map(len, parts))
    centres = rng.uniform(0.2, 0.8, (12, 3)) * size * [1, 1, 0.5]
    clutter = centres[rng.integers(12, size=n_clutter)] + rng.normal(0, 0.2, (n_clutter, 3))
    return np.concatenate([*parts, np.clip(clutter, 0, size)]), planes


def planes_found(params: Any, planes: Any) -> tuple[int, int]:
    """True planes that are found within 2 degrees and 2 cm, and found planes left over."""
    used = set[int]()
    for axis, place in planes:
        for number, one in enumerate(params):
            unit = one / np.linalg.norm(one[:3])
            straight = abs(unit[axis]) > np.cos(np.radians(2))
            if number not in used and straight and abs(-unit[3] / unit[axis] - place) < 0.05:
                used.add(number)
                break
    return len(used), len(params) - len(used)
