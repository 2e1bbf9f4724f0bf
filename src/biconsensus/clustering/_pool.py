"""The base clusterings, from their runs to a pool, and from new elements to the groups that they vote for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from biconsensus.errors import InputError
from biconsensus.pool._build import Provenance, add
from biconsensus.pool._pool import Pool, without_trivial
from biconsensus.pool.weights import weigh
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus
from biconsensus.sources._clusterers import as_sources
from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._running import NamedSource, SourceResult


def sources_of(estimators: Any, points: FloatArray) -> list[NamedSource]:
    """The base clusterings to run."""
    if isinstance(estimators, str) and estimators == "default":
        return default_sources(points)
    sources = as_sources(estimators)
    if not sources:
        raise InputError("estimators: got an empty list; give 'default' or at least one clusterer.")
    return sources


def pool_of(results: Sequence[SourceResult], weights: Any, ids: Any) -> Pool:
    """Pool of the runs that gave labels; given weights belong to all runs or, by rule, to the candidates."""
    if weights is not None and not isinstance(weights, str) and not callable(weights):
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (len(results),):
            raise InputError(f"weights: shape {weights.shape}; give one for each of the {len(results)} base runs.")
    given = weights if isinstance(weights, np.ndarray) else np.ones(len(results))
    made = [_part(result, weight, ids) for result, weight in zip(results, given) if result.ok]
    parts = [part for part in made if part is not None]
    if not parts:  # as for a table of -1: no group, with a warning
        size = next(len(result.labels) for result in results if result.labels is not None)
        return Pool.from_labels([np.full(size, -1)], ids=ids)
    pool = without_trivial(add(*parts))
    return pool if isinstance(weights, np.ndarray) or weights is None else weighed(pool, weights)


def weighed(pool: Pool, weights: Any) -> Pool:
    """The pool with weights by a rule, a function or given."""
    return replace(pool, weights=weigh(weights, pool))


def _part(result: SourceResult, weight: float, ids: Any) -> Pool | None:
    """Pool of one run, or None where it put nothing in a group."""
    labels = result.labels
    assert labels is not None
    origin = Provenance(result.name, dict(result.params), result.seed)
    if labels.ndim == 2:
        return _overlapping(labels, weight, origin, ids) if labels.any() else None
    if labels.dtype.kind == "f" and not (labels[~np.isnan(labels)] != -1).any():
        return None
    if labels.dtype.kind in "iu" and (labels == -1).all():
        return None
    return Pool.from_labels([labels], weights=[weight], names=[result.name], ids=ids, sources=[origin])


def _overlapping(memberships: NDArray[Any], weight: float, origin: Provenance, ids: Any) -> Pool:
    """Pool of one run that gave memberships (m, g)."""
    n_groups = memberships.shape[1]
    names = [f"{origin.name}: {g}" for g in range(n_groups)]
    pool = Pool.from_matrix(memberships, np.full(n_groups, weight), names, sources=[origin.name] * n_groups, ids=ids)
    return replace(pool, sources=(origin,))


@dataclass(frozen=True)
class Voters:
    """The fitted base estimators that can predict, and the candidates that their labels stand for."""

    predictors: tuple[Any, ...]
    columns: tuple[dict[Any, int], ...]
    """For each predictor, the candidate of the pool behind each of its labels."""
    behind: csr_array
    """(n, T) weights of the candidates in the groups that they back."""

    @classmethod
    def of(cls, consensus: Consensus, results: Sequence[SourceResult]) -> Voters:
        """Find the predictors whose candidates back some group."""
        pool = consensus.pool
        number = {(source.name, source.seed): k for k, source in enumerate(pool.sources)}
        by_candidate = csr_array(pool.to_matrix().T)
        predictors, columns = [], []
        for result in results:
            labels = result.labels
            if result.predictor is None or labels is None or (result.name, result.seed) not in number:
                continue
            own = np.flatnonzero(pool.source_of == number[result.name, result.seed])
            members = by_candidate.indices[by_candidate.indptr[own]]
            predictors.append(result.predictor)
            columns.append({labels[i].item(): int(j) for i, j in zip(members, own)})
        return cls(tuple(predictors), tuple(columns), consensus.behind)

    def votes(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight (p, T) of the candidates of each group that hold a new element, and (T,) of all that were asked."""
        if not self.predictors:
            raise InputError(
                "predict: none of the base clusterings behind the groups can predict (fit_labels, a checkpoint, and "
                "estimators without predict leave none); fit with estimators such as KMeans or GaussianMixture."
            )
        voted = zip(self.predictors, self.columns)
        inside = [
            csr_array(predictor.predict(X)[:, None] == np.array(list(column_of))) for predictor, column_of in voted
        ]
        asked = self.behind[[column for column_of in self.columns for column in column_of.values()]]
        return (hstack(inside, format="csr", dtype=np.float64) @ asked).toarray(), asked.sum(axis=0)


def assign(held: FloatArray, asked: FloatArray, quorum: float, nearest: bool) -> IntArray:
    """Group that gains most from each new element; left-overs to the nearest group, or -1."""
    if held.shape[1] == 0:
        return np.full(len(held), -1, np.int64)
    gains = held - quorum * asked
    labels: IntArray = gains.argmax(axis=1)
    left = gains.max(axis=1) <= 0
    labels[left] = np.where(held[left].max(axis=1) > 0, held[left].argmax(axis=1), -1) if nearest else -1
    return labels
