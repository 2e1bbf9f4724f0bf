"""One true instance of each registered model: elements on it, and what a rigid motion does to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from biconsensus.models import (
    uniform_background,
)


@dataclass(frozen=True)
class Case:
    """How to make n elements exactly on one model, move them, and disturb them."""

    exact: Callable[[int, np.random.Generator], np.ndarray]
    move: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    degenerate: Callable[[], np.ndarray]
    noisy_columns: slice = field(default_factory=lambda: slice(None))


def _rotation(d: int, rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q


def move_points(data, rng):
    d = data.shape[1]
    return 3.0 * data @ _rotation(d, rng).T + rng.normal(size=d) * 10


def move_segments(data, rng):
    turn, shift = _rotation(2, rng), rng.normal(size=2) * 10
    return (3.0 * data.reshape(-1, 2) @ turn.T + shift).reshape(data.shape)


def move_correspondences(data, rng):
    turns = [_rotation(2, rng), _rotation(2, rng)]
    return np.hstack([3.0 * data[:, 2 * i : 2 * i + 2] @ turns[i].T + rng.normal(size=2) * 10 for i in range(2)])


def move_oriented(data, rng):
    turn = _rotation(3, rng)
    return np.hstack([3.0 * data[:, :3] @ turn.T + rng.normal(size=3) * 10, data[:, 3:] @ turn.T])


def on_line(n, rng):
    return np.array([1.0, 2.0]) + rng.uniform(-5, 5, (n, 1)) * np.array([0.6, 0.8])


def on_circle(n, rng):
    t = rng.uniform(0, 2 * np.pi, n)
    return np.array([1.0, -2.0]) + 3 * np.column_stack([np.cos(t), np.sin(t)])


def ellipse_curve(t):
    u, v, c, s = 4 * np.cos(t), 2.5 * np.sin(t), np.cos(0.7), np.sin(0.7)
    return np.column_stack([1 + u * c - v * s, -2 + u * s + v * c])


def on_ellipse(n, rng):
    return ellipse_curve((np.arange(n) + rng.uniform(-0.3, 0.3, n)) * 2 * np.pi / n)


def segments_on_ellipse(n, rng):
    t = (np.arange(n) + rng.uniform(-0.2, 0.2, n)) * 2 * np.pi / n
    return np.hstack([ellipse_curve(t), ellipse_curve(t + 0.35)])


def on_plane(n, rng):
    axes = np.linalg.qr(np.array([[1.0, 2, 3], [0, 1, -1], [1, 0, 1]]).T)[0]
    return np.array([1.0, 2, 3]) + rng.uniform(-5, 5, (n, 2)) @ axes[:, :2].T


def on_sphere(n, rng):
    x = rng.normal(size=(n, 3))
    return np.array([1.0, 2, 3]) + 4 * x / np.linalg.norm(x, axis=1, keepdims=True)


def on_cylinder(n, rng):
    axes = np.linalg.qr(np.array([[1.0, 2, 3], [0, 1, -1], [1, 0, 1]]).T)[0]
    t = rng.uniform(0, 2 * np.pi, n)
    normals = np.column_stack([np.zeros(n), np.cos(t), np.sin(t)]) @ axes.T
    return np.hstack([np.array([1.0, 2, 3]) + rng.uniform(-5, 5, (n, 1)) * axes[:, 0] + 2 * normals, normals])


def segments_to_point(n, rng):
    middle, length = rng.uniform(0, 10, (n, 2)), rng.uniform(0.5, 2, (n, 1))
    along = np.array([25.0, 4.0]) - middle
    along *= length / np.linalg.norm(along, axis=1, keepdims=True)
    return np.hstack([middle - along, middle + along])


HOMOGRAPHY = np.array([[1.1, 0.1, 2.0], [-0.05, 0.9, 1.0], [0.01, 0.02, 1.0]])


def by_homography(n, rng):
    first = rng.uniform(-5, 5, (n, 2))
    second = np.column_stack([first, np.ones(n)]) @ HOMOGRAPHY.T
    return np.hstack([first, second[:, :2] / second[:, 2:]])


def two_views(n, rng):
    world = np.column_stack([rng.uniform(-3, 3, (n, 2)), rng.uniform(4, 9, n)])
    turned = world @ _rotation_about_y(0.2).T + np.array([1.0, 0.2, 0.1])
    return 5 * np.hstack([world[:, :2] / world[:, 2:], turned[:, :2] / turned[:, 2:]])


def _rotation_about_y(a):
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])


def in_subspace(n, rng):
    axes = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
    return np.arange(8.0) + rng.uniform(-5, 5, (n, 3)) @ axes[:3]


def collinear(b, d):
    """Samples (2, b, d): all the same element; and evenly spaced along a line."""
    return np.stack([np.ones((b, d)), np.arange(1.0, b + 1)[:, None] * np.arange(1.0, d + 1)])


def flat_oriented():
    """Two oriented points with the same normal: no axis."""
    return np.array([[[0.0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1]]])


def same_line_segments():
    """Two segments on one line."""
    return np.array([[[0.0, 0, 1, 1], [2, 2, 3, 3]], [[0, 0, 1, 1], [0, 0, 1, 1]]])


CASES: dict[str, Case] = {
    "line": Case(on_line, move_points, lambda: np.ones((1, 2, 2))),
    "segment": Case(on_line, move_points, lambda: np.ones((1, 2, 2))),
    "circle": Case(on_circle, move_points, lambda: collinear(3, 2)),
    "ellipse": Case(on_ellipse, move_points, lambda: collinear(5, 2)),
    "ellipse_from_segments": Case(segments_on_ellipse, move_segments, lambda: collinear(6, 2).reshape(2, 3, 4)),
    "plane": Case(on_plane, move_points, lambda: collinear(3, 3)),
    "sphere": Case(on_sphere, move_points, lambda: collinear(4, 3)),
    "cylinder": Case(on_cylinder, move_oriented, flat_oriented, slice(0, 3)),
    "vanishing_point": Case(segments_to_point, move_segments, same_line_segments),
    "homography": Case(by_homography, move_correspondences, lambda: collinear(4, 4)),
    "fundamental": Case(two_views, move_correspondences, lambda: collinear(8, 4)),
    "subspace": Case(in_subspace, move_points, lambda: collinear(4, 8)),
}


def counted(model, theta, threshold, box, n=2**15):
    return (model.residuals(theta, uniform_background(box, n, 0)) <= threshold).mean(axis=0)


def nearest(curve, points):
    return np.sqrt(((points[:, None] - curve[None]) ** 2).sum(axis=2)).min(axis=1)
