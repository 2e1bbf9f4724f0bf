"""Two published consensus methods that stack matrices into a tensor, transcribed for the page on the order of rows.

CELTA (Jia, Liu, Hou, Zhang: Clustering ensemble meets low-rank tensor approximation, AAAI 2021) and GTLEC (Chen, Xu,
Lin, Huang, Wang, Lai: Graph-guided tensor learning for ensemble clustering, ACM MM 2023), each with the settings of its
authors' demonstration. Written in our own words after the programs that their authors published
(jyh-learning/TensorClusteringEnsemble, ManshengChen/Code-for-GTLEC-master); those were not run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import SpectralClustering

Array = NDArray[Any]


def celta(
    table: Array, n_groups: int, random_state: int = 0, *, axis: str = "elements", penalty: float = 0.002
) -> Array:
    """(m,) groups: co-occurrence and pairs that all sources agree on, as a tensor of low rank with two slices.

    `axis` says along which axis the tensor is transformed before its singular values shrink: "elements", as published,
    or "slices", which does not know the order of elements.
    """
    same = [column[:, None] == column for column in table.T]
    agreed, together = np.all(same, axis=0), np.mean(same, axis=0)
    m = len(table)
    boxed, error, symmetric = (np.zeros((m, m)) for _ in range(3))
    duals = np.zeros((3, m, m))
    tensor = np.zeros((m, m, 2))
    step = 1e-4
    for _ in range(500):
        tensor[:, :, 0] = boxed - duals[0] / step
        tensor[:, :, 1] = (together - error - duals[1] / step + symmetric - duals[2] / step) / 2
        tensor = shrunk(tensor, 1 / step, axis)
        error = (together - tensor[:, :, 1] - duals[1] / step) * step / (2 * penalty + step)
        boxed = _in_box(tensor[:, :, 0] + duals[0] / step)
        boxed[agreed] = 1.0
        symmetric = _in_box(tensor[:, :, 1] + duals[2] / step)
        gaps = np.stack([tensor[:, :, 0] - boxed, tensor[:, :, 1] + error - together, tensor[:, :, 1] - symmetric])
        if np.abs(gaps).max() < 1e-8:
            break
        duals += step * gaps
        step = min(1.1 * step, 1e10)
    return _spectral(tensor[:, :, 1] + tensor[:, :, 1].T, n_groups, random_state)


def gtlec(table: Array, n_groups: int, random_state: int = 0, *, axis: str = "elements") -> Array:
    """(m,) groups: one matrix for each source, sparse, of rank `n_groups`, and together a tensor of low rank."""
    m, n_slices = table.shape
    given = np.stack([(column[:, None] == column).astype(float) for column in table.T], axis=2)
    low = np.repeat(np.eye(m)[:, :, None], n_slices, axis=2)
    sparse, tensor = low.copy(), low.copy()
    of_sparse, of_tensor = np.zeros_like(low), np.zeros_like(low)
    weights = np.full(n_slices, 1 / n_slices)
    first, second = 1e-5, 0.01
    for _ in range(32):
        for v in range(n_slices):
            target = 2 * weights[v] * given[:, :, v] + first * sparse[:, :, v] - of_sparse[:, :, v]
            target = (target + second * tensor[:, :, v] - of_tensor[:, :, v]) / (2 * weights[v] + first + second)
            low[:, :, v] = _of_rank((target + target.T) / 2, n_groups)
        moved = low + of_sparse / first
        sparse = np.sign(moved) * np.maximum(np.abs(moved) - 0.05 / first, 0.0)
        of_sparse += first * (low - sparse)
        tensor = shrunk(low + of_tensor / second, 7 / second, axis)
        weights = 0.5 / np.linalg.norm(given - low, axis=(0, 1))
        of_tensor += second * (low - tensor)
        if max(np.abs(low - other).sum(axis=1).max() for other in (tensor, sparse)) <= 1e-8:
            break
        first, second = min(3 * first, 1e11), min(3 * second, 1e13)
    total = np.abs(sparse).sum(axis=2)
    np.fill_diagonal(total, 0.0)
    return _spectral(total + total.T, n_groups, random_state)


def shrunk(tensor: Array, by: float, axis: str) -> Array:
    """(m, m, v) tensor whose singular values, after a Fourier transform along an axis, are smaller by a number."""
    along = 0 if axis == "elements" else 2
    slices = np.moveaxis(np.fft.rfft(tensor, axis=along), along, 0)
    gram = slices.conj().transpose(0, 2, 1) @ slices
    squares, vectors = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares, 1e-300))
    kept = np.maximum(1 - by / values, 0.0)
    slices = slices @ ((vectors * kept[:, None, :]) @ vectors.conj().transpose(0, 2, 1))
    return np.fft.irfft(np.moveaxis(slices, 0, along), n=tensor.shape[along], axis=along)


def _in_box(matrix: Array) -> Array:
    """Symmetric, with entries from 0 to 1."""
    return np.clip((matrix + matrix.T) / 2, 0.0, 1.0)


def _of_rank(matrix: Array, rank: int) -> Array:
    """Nearest matrix with eigenvalues from 0 to 1 whose sum is `rank` (the Fantope)."""
    values, vectors = np.linalg.eigh(matrix)
    low, high = values.min() - 1, values.max()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(values - middle, 0, 1).sum() > rank else (low, middle)
    return (vectors * np.clip(values - high, 0, 1)) @ vectors.T


def _spectral(similarity: Array, n_groups: int, random_state: int) -> Array:
    """Spectral clustering of a similarity, as both programs end."""
    method = SpectralClustering(n_groups, affinity="precomputed", random_state=random_state)
    found: Array = method.fit_predict(np.maximum(similarity, 0.0) + 1e-9)
    return found
