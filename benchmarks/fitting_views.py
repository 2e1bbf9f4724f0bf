"""Generated pairs of views for the benchmark of model fitting: buildings of several planes, and moving objects.

They stand in for photographs that nobody here has. What is drawn was chosen by what photographs look like (sizes,
cameras, noise with long tails, relief, crowded and repeated matches), before any method was run on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = ((640.0, 480.0), (800.0, 600.0))
"""Widths and heights of pictures in pixels."""
DISTANCE = 15.0
"""How far the middle of a scene is from the first camera; the unit is a metre for buildings."""
FEWEST = 10
"""Fewest matches of an object that moved."""


@dataclass(frozen=True)
class Cameras:
    """Two cameras with the same calibration; the first is the world."""

    size: Any
    focal: float
    turn: Any
    """(3, 3) rotation of the second."""
    centre: Any
    """(3,) place of the second."""

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Cameras:
        """A small to wide baseline, mostly sideways, both cameras on the same spot up to a few degrees."""
        size = np.array(SIZES[rng.integers(2)])
        away = DISTANCE * _log_uniform(rng, 0.05, 0.5)
        centre = away * np.array([rng.choice([-1, 1]), rng.normal(0, 0.1), rng.normal(0, 0.4)])
        look = np.array([0, 0, DISTANCE]) - centre
        pan, tilt = np.arctan2(look[0], look[2]), np.arctan2(-look[1], np.hypot(look[0], look[2]))
        wobble = np.radians(rng.normal(0, 2, 3))
        turn = _rotation([0, 0, wobble[2]]) @ _rotation([-tilt + wobble[0], 0, 0]) @ _rotation([0, -pan + wobble[1], 0])
        return cls(size, float(size[0] * rng.uniform(0.8, 1.4)), turn, centre)

    def rays(self, pixels: Any) -> Any:
        """(n, 3) directions with depth 1 through pixels (n, 2) of the first view."""
        return np.column_stack([(pixels - self.size / 2) / self.focal, np.ones(len(pixels))])

    def first(self, world: Any) -> Any:
        """(n, 2) pixels of the first view."""
        return self.focal * world[:, :2] / world[:, 2:] + self.size / 2

    def second(self, world: Any) -> Any:
        """(n, 2) pixels of the second view; far outside for what lies behind the camera."""
        seen = (world - self.centre) @ self.turn.T
        pixels = self.focal * seen[:, :2] / np.maximum(seen[:, 2:], 1e-9) + self.size / 2
        return np.where(seen[:, 2:] > 0.1, pixels, -1e6)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number that is as likely in each octave."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _rotation(vector: Any) -> Any:
    """Rotation (3, 3) by a rotation vector."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(vector).as_matrix()


def _textured(rng: np.random.Generator, box: Any, n: int) -> Any:
    """(n, 2) places in a box (2, 2): a third even, the others in crowds, as features lie on texture."""
    low, side = box[0], box[1] - box[0]
    n_crowds = max(2, n // 12)
    crowds = rng.uniform(0, 1, (n_crowds, 2))
    near = crowds[rng.integers(n_crowds, size=n)] + rng.normal(0, rng.uniform(0.02, 0.1), (n, 2))
    even = rng.uniform(0, 1, (n, 2))
    return low + side * np.clip(np.where(rng.random((n, 1)) < 1 / 3, even, near), 0, 1)


def _cells(rng: np.random.Generator, size: Any, n: int) -> list[tuple[Any, int, int]]:
    """Parts of a picture: boxes (2, 2), the part each was split from (-1 for the first), the axis of the split."""
    whole = np.array([[0.04, 0.1], [0.96, 0.9]]) * size
    cells = [(whole, -1, 0)]
    while len(cells) < n:
        areas = [np.prod(box[1] - box[0]) * rng.uniform(0.5, 1) for box, _, _ in cells]
        parent = int(np.argmax(areas))
        box, before, old = cells[parent]
        axis = 0 if rng.random() < 0.75 else 1  # corners of buildings are upright; ground and roofs are not
        at = box[0][axis] + rng.uniform(0.3, 0.7) * (box[1] - box[0])[axis]
        low, high = box.copy(), box.copy()
        low[1, axis] = high[0, axis] = at
        cells[parent] = (low, before, old)
        cells.append((high, parent, axis))
    return cells


def _wall(rng: np.random.Generator, cameras: Cameras, before: Any, axis: int, box: Any) -> Any:
    """Plane (4,), n . x = d: meets the plane before it at an edge, or is parallel to it and set back."""
    edge = np.array([box[0, 0], box[:, 1].mean()]) if axis == 0 else np.array([box[:, 0].mean(), box[0, 1]])
    ray = cameras.rays(edge[None])[0]
    place = ray * before[3] / (before[:3] @ ray)
    if rng.random() < 0.3:
        place = place * (1 + rng.choice([-1, 1]) * rng.uniform(0.03, 0.2))
        return np.append(before[:3], before[:3] @ place)
    middle = cameras.rays(box.mean(axis=0)[None])[0]
    for _ in range(50):
        normal = np.array([np.sin(turn := np.radians(rng.uniform(-65, 65))), 0, -np.cos(turn)])
        if axis == 1:  # ground, roof, or a storey that leans
            tilt = np.radians(rng.uniform(20, 75)) * rng.choice([-1, 1])
            normal = np.array([0, np.sin(tilt), -np.cos(tilt)])
        apart = np.degrees(np.arccos(min(1.0, abs(float(normal @ before[:3])))))
        depth = normal @ place / (normal @ middle)
        if apart > 15 and abs(normal @ middle) > 0.3 * np.linalg.norm(middle) and 0.5 < depth / DISTANCE < 2:
            return np.append(normal, normal @ place)
    return np.append(before[:3], before[:3] @ place * 1.1)


def _noise(rng: np.random.Generator, n: int, sigma: float) -> Any:
    """(n, 4) errors of features in both views, with the long tails that they have; sigma is that of a transfer."""
    return rng.standard_t(4, (n, 4)) / np.sqrt(2) * sigma / np.sqrt(2)


def _seen(cameras: Cameras, world: Any) -> Any:
    """(n,) points inside the second view."""
    second = cameras.second(world)
    return ((second >= 0) & (second <= cameras.size)).all(axis=1)


def _mismatched(rng: np.random.Generator, cameras: Cameras, matches: Any, labels: Any, n: int) -> tuple[Any, Any]:
    """(n, 4) outliers: wrong pairs of textured places, a thing that is no plane, shifted repeats, near misses.

    With them (n,) which are of that thing: its matches are right, and it stood still.
    """
    size, kinds = cameras.size, rng.multinomial(n, [0.6, 0.15, 0.1, 0.15])
    box = np.array([[0.0, 0.0], size])
    around = np.array([matches[:, :2], matches[:, 2:]])
    crowds = [np.concatenate([_textured(rng, box, kinds[0]), each])[-2 * kinds[0] :] for each in around]
    pairs = np.hstack([each[rng.choice(len(each), kinds[0])] for each in crowds]) + rng.normal(0, 2, (kinds[0], 4))
    parts = [pairs]
    if kinds[1]:  # a tree, a car: right matches of things with depth
        centre, reach = rng.uniform(0.1, 0.9, 2) * size, rng.uniform(0.04, 0.12) * size[0]
        pixels = np.clip(centre + rng.normal(0, reach, (kinds[1], 2)), 0, size)
        world = cameras.rays(pixels) * (DISTANCE * rng.uniform(0.5, 1) * rng.uniform(0.85, 1.15, (kinds[1], 1)))
        parts.append(np.hstack([pixels, cameras.second(world)]) + _noise(rng, kinds[1], 0.7))
    repeats = 0
    while repeats < kinds[2]:  # the next window looks the same
        group = labels == rng.integers(labels.max() + 1)
        some = rng.choice(np.flatnonzero(group), min(int(rng.integers(2, 7)), int(group.sum())), replace=False)
        turn = rng.choice([0, 1])
        shift = np.eye(2)[turn] * rng.choice([-1, 1]) * rng.uniform(12, 60) + rng.normal(0, 1, 2)
        parts.append(matches[some] + np.append([0, 0], shift) + rng.normal(0, 0.7, (len(some), 4)))
        repeats += len(some)
    near = matches[rng.choice(len(matches), kinds[3])]
    angle, away = rng.uniform(0, 2 * np.pi, kinds[3]), rng.uniform(6, 40, kinds[3])
    parts.append(near + np.column_stack([0 * away, 0 * away, away * np.cos(angle), away * np.sin(angle)]))
    outliers = np.concatenate(parts)
    inside = ((outliers >= 0) & (outliers <= np.tile(size, 2))).all(axis=1)
    still = (np.arange(len(outliers)) >= kinds[0]) & (np.arange(len(outliers)) < kinds[0] + kinds[1])
    return outliers[inside], still[inside]


def _finished(
    rng: np.random.Generator, cameras: Cameras, parts: list[Any], fewest: int | None = None
) -> tuple[Any, Any]:
    """Matches of all structures with outliers and repeated matches, in random order, and labels.

    Where the structures are motions, what stood still moved with the camera, as one: it is a structure too, from the
    fewest matches of a structure on.
    """
    matches = np.concatenate(parts)
    labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    share = rng.uniform(0.2, 0.7)
    outliers, still = _mismatched(rng, cameras, matches, labels, round(len(matches) * share / (1 - share)))
    matches = np.concatenate([matches, outliers])
    structure = len(parts) if fewest is not None and still.sum() >= fewest else -1
    labels = np.append(labels, np.where(still, structure, -1))
    again = rng.choice(len(matches), round(rng.uniform(0, 0.1) * len(matches)), replace=False)
    matches = np.concatenate([matches, matches[again] + rng.normal(0, 0.3, (len(again), 4))])
    labels = np.append(labels, labels[again])
    order = rng.permutation(len(matches))
    return matches[order].round(2), labels[order]


def building(seed: int) -> tuple[Any, Any]:
    """Two views of a building of 1 to 7 planes: matches (m, 4) and labels, -1 for outliers.

    Walls meet at edges or are set back in parallel. One in five is a small one of 15 to 30 matches, the others have 30
    to 200. Noise is 0.3 to 1.5 pixels by scene, up to a third more or less by plane; half of the walls have recesses of
    up to 1.3% of their distance, one in seven is bent.
    """
    rng = np.random.default_rng([31, seed])
    while True:
        cameras, n_planes = Cameras.drawn(rng), int(rng.integers(1, 8))
        sigma = _log_uniform(rng, 0.3, 1.5)
        planes, parts = list[Any](), list[Any]()
        for box, parent, axis in _cells(rng, cameras.size, n_planes):
            if parent < 0:
                turn = np.radians(rng.uniform(-45, 45))
                normal = np.array([np.sin(turn), 0, -np.cos(turn)])
                plane = np.append(normal, normal @ [0, 0, DISTANCE])
            else:
                plane = _wall(rng, cameras, planes[parent], axis, box)
            planes.append(plane)
            small = rng.random() < 0.2
            n = int(rng.integers(15, 31)) if small else round(_log_uniform(rng, 30, 200))
            inner = box.mean(axis=0) + (box - box.mean(axis=0)) * (rng.uniform(0.4, 0.7) if small else 0.94)
            pixels = _textured(rng, inner, n)
            rays = cameras.rays(pixels)
            world = rays * (plane[3] / (rays @ plane[:3]))[:, None]
            if rng.random() < 0.5:
                recess = rng.uniform(0, 0.013) * (rng.random(n) < rng.uniform(0.1, 0.35))
                world *= 1 + recess[:, None]
            if rng.random() < 1 / 7:
                across = (pixels[:, :1] - box[:, 0].mean()) / (box[1, 0] - box[0, 0])
                world *= 1 + rng.uniform(-0.008, 0.008) * (1 - 4 * across**2)
            world = world[_seen(cameras, world)]
            exact = np.hstack([cameras.first(world), cameras.second(world)])
            parts.append(exact + _noise(rng, len(world), sigma * _log_uniform(rng, 0.75, 1.35)))
        if min(len(part) for part in parts) >= 12:
            return _finished(rng, cameras, parts)


def motions(seed: int) -> tuple[Any, Any]:
    """Two views of 1 to 5 boxes and cylinders that moved, 10 to 100 matches each: matches (m, 4) and labels.

    An object is a fifth to a half of the picture wide, and moves by up to that much and turns by up to 40 degrees. One
    in five is shallow, as a book that lies flat. Noise is 0.15 to 0.8 pixels by scene.
    """
    rng = np.random.default_rng([32, seed])
    while True:
        cameras, n_objects = Cameras.drawn(rng), int(rng.integers(1, 6))
        sigma = _log_uniform(rng, 0.15, 0.8)
        view = DISTANCE * cameras.size / cameras.focal
        places, parts = list[Any](), list[Any]()
        for _ in range(200):
            if len(parts) == n_objects:
                return _finished(rng, cameras, parts, FEWEST)
            width = view[0] * rng.uniform(0.18, 0.5) / max(1.0, n_objects / 2.5)
            place = rng.uniform(-0.4, 0.4, 2) * view
            if any(np.linalg.norm(place - other) < 0.45 * (width + wide) for other, wide in places):
                continue
            exact = _object(rng, cameras, np.append(place, DISTANCE * rng.uniform(0.85, 1.15)), width)
            if len(exact) < FEWEST:
                continue
            places.append((place, width))
            parts.append(exact + _noise(rng, len(exact), sigma * _log_uniform(rng, 0.75, 1.35)))


def _object(rng: np.random.Generator, cameras: Cameras, place: Any, width: float) -> Any:
    """Matches (n, 4), without noise, of what both views see of a box or a cylinder before and after it moved."""
    n, shallow = round(_log_uniform(rng, 12, 110)), rng.random() < 0.2
    sides = width * np.array([rng.uniform(0.5, 1), rng.uniform(0.5, 1), 0.03 if shallow else rng.uniform(0.3, 0.8)]) / 2
    turned = _rotation(np.radians(rng.uniform(-1, 1, 3) * [25, 45, 15]))
    if rng.random() < 0.3 and not shallow:  # a can
        angle, height = rng.uniform(0, 2 * np.pi, 3 * n), rng.uniform(-1, 1, 3 * n)
        normals = np.column_stack([np.cos(angle), 0 * angle, np.sin(angle)])
        points = (normals + np.column_stack([0 * angle, height, 0 * angle])) * sides[[0, 1, 0]]
    else:
        face, sign = rng.integers(3, size=3 * n), rng.choice([-1, 1], 3 * n)
        flat = np.vstack([_textured(rng, np.array([[-1.0, -1], [1, 1]]), 3 * n).T, sign])
        order = np.array([[2, 0, 1], [0, 2, 1], [0, 1, 2]])[face]
        points = np.take_along_axis(flat.T, order, axis=1) * sides
        normals = np.eye(3)[face] * sign[:, None]
    moved = _rotation(np.radians(rng.normal(0, 15, 3)))
    shift = rng.normal(0, 0.4, 3) * width * [1, 0.6, 0.8]
    before, after = points @ turned.T + place, points @ (moved @ turned).T + place + shift
    faces = (np.einsum("nd,nd->n", normals @ turned.T, before) < 0) & (
        np.einsum("nd,nd->n", normals @ (moved @ turned).T, after - cameras.centre) < 0
    )
    seen = np.flatnonzero(faces & _seen(cameras, after))[:n]
    return np.hstack([cameras.first(before[seen]), cameras.second(after[seen])])


def labels_of_true_models(model: Any, matches: Any, truth: Any, reach: float) -> Any:
    """Labels by models that are fitted to the true groups: the nearest within the reach, else -1."""
    params = []
    for group in range(truth.max() + 1):
        own = matches[truth == group]
        one, weights = np.empty(0), np.ones(len(own))
        for _ in range(4):
            one = model.refit(own, weights)
            weights = np.clip(1 - (model.residuals(one[None], own)[:, 0] / (2 * reach)) ** 2, 1e-6, None) ** 2
        params.append(one)
    distance = model.residuals(np.array(params), matches)
    return np.where(distance.min(axis=1) <= reach, distance.argmin(axis=1), -1)
