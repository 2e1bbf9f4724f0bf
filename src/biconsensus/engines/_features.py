"""Base clusterings of points in partitions: fitted on a sample, or on overlapping chunks that are stitched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import check_choice, check_finite
from biconsensus.engines._compressed import Compressed
from biconsensus.engines._counted import counted_pool
from biconsensus.engines._dask import compress_distributed, computed, dask_module, lazy, partitions
from biconsensus.engines._gathering import DaskConsensus
from biconsensus.errors import InputError
from biconsensus.pool._build import Provenance
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus
from biconsensus.sources._running import NamedSource, SourceResult, child_seeds, run_sources

SEED_STEP = 7919
"""Between the seeds of a source in neighbouring windows of partitions: any number that gives each its own would do."""
UNSEEN = -2
"""Label of the elements that a run on other partitions did not see."""


def cluster_distributed(
    X: Any,
    sources: Sequence[NamedSource] | Callable[[FloatArray], Sequence[NamedSource]],
    find: Callable[..., Consensus],
    client: Any = None,
    *,
    strategy: str = "sample",
    n_sample: int = 20_000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[DaskConsensus, list[SourceResult]]:
    """Consensus clustering of points in partitions.

    Parameters
    ----------
    X : (m, d) Dask array or data frame
        Finite numbers.
    sources : sequence of NamedSource, or function of a sample (s, d) that returns one
        Base clusterings.
    find : callable
        Consensus of a pool, called once, with the pool of distinct rows.
    client : distributed.Client, optional
        Where to run; by default the current client or scheduler.
    strategy : {"sample", "chunks"}
        Fit each source on a sample and let it predict every partition (one that cannot predict gives each point the
        label of the nearest point of the sample); or fit each source on every two neighbouring partitions, where the
        others do not vote, and let the overlaps stitch the groups together.
    n_sample : int
        Points in the sample.
    random_state : int, Generator or None
        Seed of the sample and of the sources.
    n_jobs : int, optional
        Processes for the runs on the sample.

    Returns
    -------
    consensus : DaskConsensus
    results : list of SourceResult
        The runs, with the labels of the distinct rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.cluster import KMeans
    >>> from biconsensus.find import find_consensus
    >>> from biconsensus.sources._clusterers import as_sources
    >>> X = da.from_array(np.repeat([[0.0], [9.0]], 20, axis=0), chunks=(10, 1))
    >>> runs = as_sources([(KMeans(), {"n_clusters": [2] * 4})])
    >>> found, _ = cluster_distributed(X, runs, find_consensus, random_state=0)
    >>> sorted(np.bincount(found.labels.compute()).tolist())
    [20, 20]
    """
    check_choice("strategy", strategy, STRATEGIES)
    parts = partitions(X)
    sizes = computed([dask_module().delayed(len)(part) for part in parts], client)
    sample = check_finite(sample_rows(parts, sizes, n_sample, child_seeds(random_state, 1)[0], client))
    runs = list(sources(sample) if callable(sources) else sources)
    seeds = child_seeds(random_state, len(runs))
    labelled, results = STRATEGIES[strategy](parts, sizes, sample, runs, seeds, n_jobs)
    table = compress_distributed(labelled, client, missing=UNSEEN)
    origins = [Provenance(result.name, dict(result.params), result.seed) for result in results]
    pool = counted_pool(table.found, names=[result.name for result in results], sources=origins)
    return lazy(find(pool), table), _with_labels(results, table.found)


def sample_rows(parts: list[Any], sizes: list[int], wanted: int, seed: int, client: Any = None) -> FloatArray:
    """(s, d) points drawn without repetition, in the order of the table; the draw does not depend on its partitions."""
    total = sum(sizes)
    if not total:
        raise InputError("X has 0 elements (axis 0); at least one is needed.")
    chosen = np.sort(np.random.default_rng(seed).choice(total, min(wanted, total), replace=False))
    starts = np.cumsum([0, *sizes])
    take = dask_module().delayed(_take)
    drawn = [
        take(part, chosen[(chosen >= low) & (chosen < high)] - low)
        for part, low, high in zip(parts, starts[:-1], starts[1:])
    ]
    return np.concatenate(computed(drawn, client))


def _take(part: Any, rows: IntArray) -> FloatArray:
    """Some points of a partition."""
    return _points(part)[rows]


def _points(part: Any) -> FloatArray:
    """A partition as numbers."""
    return np.asarray(part, dtype=np.float64)


def _by_sample(
    parts: list[Any],
    sizes: list[int],
    sample: FloatArray,
    runs: list[NamedSource],
    seeds: list[int],
    n_jobs: int | None,
) -> tuple[list[Any], list[SourceResult]]:
    """Labels of all partitions by sources that were fitted on a sample."""
    results = run_sources(runs, sample, seeds, n_jobs, n_elements=len(sample))
    usable = [result for result in results if result.ok and result.labels is not None and result.labels.ndim == 1]
    if not usable:
        raise InputError("no base run gave one label for each point of the sample; use other estimators.")
    usable = [
        result if result.predictor is not None else replace(result, predictor=_nearest(result, sample))
        for result in usable
    ]
    delayed = dask_module().delayed
    predictors = delayed([result.predictor for result in usable])
    return [delayed(_predict)(part, predictors) for part in parts], usable


def _nearest(result: SourceResult, sample: FloatArray) -> Any:
    """Predictor for a source that has none: the label of the nearest point that it saw."""
    from sklearn.neighbors import KNeighborsClassifier

    assert result.labels is not None
    seen = np.isfinite(result.labels.astype(np.float64))
    return KNeighborsClassifier(1).fit(sample[seen], result.labels[seen].astype(np.int64))


def _predict(part: Any, predictors: list[Any]) -> NDArray[np.int32]:
    """(n, c) labels of a partition by fitted sources."""
    points = check_finite(_points(part))
    if not len(points):
        return np.zeros((0, len(predictors)), np.int32)
    return np.stack([predictor.predict(points) for predictor in predictors], axis=1).astype(np.int32)


def _by_chunks(
    parts: list[Any],
    sizes: list[int],
    sample: FloatArray,
    runs: list[NamedSource],
    seeds: list[int],
    n_jobs: int | None,
) -> tuple[list[Any], list[SourceResult]]:
    """Labels by sources that were fitted on every two neighbouring partitions, unseen elsewhere."""
    full = [k for k, size in enumerate(sizes) if size]
    windows: list[tuple[int, ...]] = [*pairwise(full)] or [(full[0],)]
    delayed = dask_module().delayed
    fitted = {
        window: delayed(_cluster)([parts[k] for k in window], runs, [seed + SEED_STEP * w for seed in seeds])
        for w, window in enumerate(windows)
    }
    results = [
        SourceResult(f"{run.name} on partitions {window[0]} to {window[-1]}", run.params, seed + SEED_STEP * w)
        for w, window in enumerate(windows)
        for run, seed in zip(runs, seeds)
    ]
    spread = delayed(_spread)
    labelled = [
        spread(
            [(w, window.index(k), fitted[window]) for w, window in enumerate(windows) if k in window],
            sizes[k],
            len(runs),
            len(windows),
        )
        for k in range(len(parts))
    ]
    return labelled, results


def _cluster(parts: list[Any], runs: list[NamedSource], seeds: list[int]) -> list[NDArray[np.int32]]:
    """(n, c) labels of neighbouring partitions by sources fitted on them together, split as they were."""
    points = check_finite(np.concatenate([_points(part) for part in parts]))
    labels = np.full((len(points), len(runs)), UNSEEN, np.int32)
    for k, result in enumerate(run_sources(runs, points, seeds, 1, n_elements=len(points), progress=False)):
        if result.labels is not None and result.labels.ndim == 1:
            seen = np.isfinite(result.labels.astype(np.float64))
            labels[seen, k] = result.labels[seen]
    return np.split(labels, np.cumsum([len(part) for part in parts])[:-1])


def _spread(
    pieces: list[tuple[int, int, list[NDArray[np.int32]]]], size: int, c: int, windows: int
) -> NDArray[np.int32]:
    """(n, c * windows) labels of one partition: labels in its own windows, unseen in all others."""
    table = np.full((size, c * windows), UNSEEN, np.int32)
    for window, place, labels in pieces:
        table[:, window * c : (window + 1) * c] = labels[place]
    return table


def _with_labels(results: list[SourceResult], found: Compressed) -> list[SourceResult]:
    """The runs with the labels that they gave to the distinct rows."""
    values = np.asarray(found.cells.values)
    return [replace(result, labels=values[:, k].astype(np.int64)) for k, result in enumerate(results)]


STRATEGIES = {"sample": _by_sample, "chunks": _by_chunks}
"""Ways to cluster what is in partitions."""
