"""Tools for annotated data (AnnData), as used for single cells: the consensus of many clusterings, beside the cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from biconsensus import metrics
from biconsensus._checks import given_or_default, need
from biconsensus.clustering._estimator import ConsensusClustering
from biconsensus.communities._runs import View, pool_of, settings_of
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.find import Search
from biconsensus.graphs._graph import from_matrix
from biconsensus.pool._agreement import redundant_sources
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus
from biconsensus.sources._running import Runs, child_seeds, run_sources

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["consensus", "consensus_leiden"]
__dir__ = __all__.copy  # what dir() shows

RESOLUTIONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
"""Resolutions of Leiden: the range that single-cell studies scan by hand, in equal steps."""


def consensus(
    adata: Any,
    keys: Sequence[str] | None = None,
    *,
    use_rep: str | None = "auto",
    key_added: str = "consensus",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Find the groups of cells that many clusterings agree on, and write them beside the cells.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data; changed in place unless `copy`.
    keys : sequence of str or None, default=None
        Columns of `adata.obs` with ready-made clusterings. None makes about seventy new clusterings of the
        representation.
    use_rep : str or None, default="auto"
        Key of `adata.obsm` with the points that decide how fine the groups are. "auto" takes "X_pca" where there is
        one, and otherwise `adata.X` to cluster anew, or nothing with `keys`. None: the clusterings alone decide.
    key_added : str, default="consensus"
        Name of what is added.
    copy : bool, default=False
        Return a changed copy, and leave `adata` unchanged.
    **options
        Parameters of `ConsensusClustering`, such as `n_groups`, `quorum`, `random_state`, `n_jobs`. With `keys` and
        without `search`, clusterings that say nearly the same share one vote (``weights="shared"``).

    Returns
    -------
    anndata.AnnData or None
        The copy where `copy` is true.

    Notes
    -----
    Adds

    ``adata.obs[key_added]``
        Group of each cell, a categorical; "-1" is in no group.
    ``adata.obs[key_added + "_backing"]``
        Share of the clusters behind the group of the cell that hold the cell.
    ``adata.obs[key_added + "_confidence"]``
        Probability that the cell would be found in this group again.
    ``adata.obsm[key_added + "_membership"]``
        (cells, groups) share of the clusters behind each group that hold the cell.
    ``adata.uns[key_added]``
        ``summary`` (a sentence), ``params``, ``n_groups``, and two tables: ``groups`` (size, backing, confidence,
        log10 of the chance) and ``sources`` (clusters, agreement with the consensus, weight of the vote, how many
        sources say nearly the same).

    All of it survives ``write_h5ad``.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> adata = anndata.AnnData(np.zeros((80, 1)))
    >>> for k in range(4):
    ...     adata.obs[f"run {k}"] = np.repeat(["a", "b"], 40)
    >>> bc.tl.consensus(adata, keys=[f"run {k}" for k in range(4)])
    >>> adata.obs["consensus"].value_counts().tolist()
    [40, 40]
    """
    target = _target(adata, copy)
    points = _representation(adata, use_rep, needed=keys is None)
    if keys is None:
        model = ConsensusClustering(**options).fit(points)
    else:
        pool = Pool.from_labels(adata.obs, columns=_columns(adata, keys))
        model = ConsensusClustering(**{"search": Search(weights="shared"), **options}).fit_labels(pool, points)
    _write(target, model.consensus_, key_added, {"use_rep": _name_of(adata, use_rep), "keys": list(keys or ())})
    return target if copy else None


def consensus_leiden(
    adata: Any,
    resolutions: Sequence[float] = RESOLUTIONS,
    n_seeds: int = 5,
    *,
    algorithm: str = "leiden",
    neighbors_key: str | None = None,
    use_rep: str | None = "auto",
    key_added: str = "consensus",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Run Leiden over resolutions and seeds, and write the groups that the runs agree on beside the cells.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data with a network of neighbours (``scanpy.pp.neighbors``); changed in place unless `copy`.
    resolutions : sequence of float, default=(0.2, 0.4, ..., 2.0)
        Resolutions of Leiden: low ones give few clusters.
    n_seeds : int, default=5
        Runs at each resolution.
    algorithm : {"leiden", "louvain", "leidenalg"}, default="leiden"
        Which implementation runs: scikit-network (extra ``graph``), or the reference one (extra ``graph-fast``, GPL).
    neighbors_key : str or None, default=None
        Which network, if `scanpy.pp.neighbors` was told to use another name.
    use_rep, key_added, copy, **options
        As in `consensus`.
    random_state : int or None, default=0
        Where the seeds of all runs are drawn from.
    n_jobs : int or None, default=None
        Processes for the runs; the answer does not depend on it.

    Returns
    -------
    anndata.AnnData or None
        The copy where `copy` is true.

    Notes
    -----
    Every resolution runs equally often, also one that was given several times: what counts is at how many different
    resolutions a group is found, not how often one of them was asked for. Where there are points (`use_rep`), they
    decide how fine the groups are, and one cloud of cells without any valley comes back as one group.

    Adds what `consensus` adds; ``adata.uns[key_added]["sources"]`` also has the resolution and the seed of every run.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> adata = anndata.AnnData(np.zeros((60, 1)))
    >>> adata.obsp["connectivities"] = np.kron(np.eye(3), np.ones((20, 20)))
    >>> bc.tl.consensus_leiden(adata, resolutions=[0.5, 1, 2], n_seeds=2)
    >>> adata.obs["consensus"].value_counts().tolist()
    [20, 20, 20]
    """
    target = _target(adata, copy)
    points = _representation(adata, use_rep, needed=False)
    graph = from_matrix(_connectivities(adata, neighbors_key))
    distinct = sorted({float(value) for value in resolutions})
    settings = settings_of([(algorithm, {"resolution": distinct})], n_seeds)
    sources = [source for setting in settings for source in setting.sources(0, False)]
    how = given_or_default("runs", options.get("runs"), Runs)
    results = run_sources(sources, [graph], child_seeds(random_state, len(sources)), n_jobs, **vars(how))
    whole = View(graph, np.arange(graph.n_nodes))
    pool = replace(pool_of(results, [whole] * len(results), graph.names, None), ids=adata.obs_names.to_numpy())
    model = ConsensusClustering(**options).fit_labels(pool, points)
    params = {"use_rep": _name_of(adata, use_rep), "algorithm": algorithm, "n_seeds": n_seeds}
    _write(target, model.consensus_, key_added, {**params, "resolutions": distinct})
    return target if copy else None


def _target(adata: Any, copy: bool) -> Any:
    """What is written to: the data, or a copy of it."""
    anndata = need("anndata", "anndata")
    if not isinstance(adata, anndata.AnnData):
        raise InputTypeError(f"adata: got {type(adata).__name__}; give an anndata.AnnData.")
    return adata.copy() if copy else adata


def _name_of(adata: Any, use_rep: str | None) -> str:
    """Name of the representation that is used: "X" for the data matrix itself, empty for none."""
    if use_rep == "auto":
        return "X_pca" if "X_pca" in adata.obsm else ""
    return use_rep or ""


def _representation(adata: Any, use_rep: str | None, needed: bool) -> FloatArray | None:
    """(cells, features) points; None where there are none and none are needed."""
    name = _name_of(adata, use_rep)
    if name and name not in adata.obsm:
        raise UnknownNameError.of("use_rep", name, adata.obsm.keys())
    matrix = adata.obsm[name] if name else adata.X if needed else None
    if matrix is None:
        if needed:
            raise InputError("adata: it has no X; give use_rep, the key of a representation in adata.obsm.")
        return None
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=np.float64)


def _columns(adata: Any, keys: Sequence[str]) -> list[str]:
    """The columns with clusterings, all of them there."""
    if isinstance(keys, str):
        raise InputTypeError(f"keys: got the text {keys!r}; give a list of columns of adata.obs, such as [{keys!r}].")
    for name in keys:
        if name not in adata.obs:
            raise UnknownNameError.of("column of adata.obs", name, adata.obs.columns)
    return list(keys)


def _connectivities(adata: Any, neighbors_key: str | None) -> csr_array:
    """(cells, cells) weights of the network of neighbours."""
    record = adata.uns.get(neighbors_key or "neighbors", {})
    name = record.get("connectivities_key", "connectivities") if neighbors_key is None or record else neighbors_key
    if name not in adata.obsp:
        raise InputError(
            f"adata: obsp has no {name!r}; run scanpy.pp.neighbors(adata) first, or give neighbors_key "
            f"(obsp has: {', '.join(map(repr, adata.obsp.keys())) or 'nothing'})."
        )
    return csr_array(adata.obsp[name], dtype=np.float64)


def _write(target: Any, found: Consensus, key: str, params: dict[str, Any]) -> None:
    """Put a result into obs, obsm and uns: plain values only, so that it can be written to a file."""
    import pandas as pd

    labels, names = found.labels, [str(t) for t in range(len(found))]
    categories = [*names, "-1"] if (labels < 0).any() else names
    confidence = found.confidence()
    target.obs[key] = pd.Categorical([str(label) for label in labels], categories=categories)
    target.obs[f"{key}_backing"] = found.backing
    target.obs[f"{key}_confidence"] = confidence.elements
    target.obsm[f"{key}_membership"] = found.soft_membership()
    settings = {k: v for k, v in found.settings.items() if isinstance(v, int | float | str | bool)}
    target.uns[key] = {
        "summary": found.summary,
        "params": {**settings, **params},
        "n_groups": len(found),
        "groups": pd.DataFrame(
            {
                "size": np.bincount(labels[labels >= 0], minlength=len(found)),
                "backing": [float(found.backing[labels == t].mean()) for t in range(len(found))],
                "confidence": confidence.groups,
                "log10_chance": found.significance,
            },
            index=pd.Index(names, name="group"),
        ),
        "sources": _sources(found),
    }


def _sources(found: Consensus) -> pd.DataFrame:
    """One line for each clustering: clusters, agreement, weight of its vote, sources that say nearly the same."""
    import pandas as pd

    pool = found.pool
    alike = np.ones(len(pool.sources), np.int64)
    for own in redundant_sources(pool):
        alike[own] = own.size
    # parameters that all runs have and that are numbers: a column of a file has one type
    names = set.intersection(*(set(source.params) for source in pool.sources)) if pool.sources else set()
    common = sorted(name for name in names if all(isinstance(s.params[name], int | float) for s in pool.sources))
    lines = []
    for s, source in enumerate(pool.sources):
        own = np.flatnonzero(pool.source_of == s)
        said = _labels_of(pool, own)
        lines.append(
            {
                **{name: source.params[name] for name in common},
                "clusters": own.size,
                "agreement": metrics.ari(found.labels[said >= 0], said[said >= 0]) if (said >= 0).any() else 0.0,
                "vote": float(pool.weights[own].mean()) if own.size else 0.0,
                "alike": int(alike[s]),
            }
        )
    repeated = len({source.name for source in pool.sources}) < len(pool.sources)
    index = [f"{source.name} {s}" if repeated else source.name for s, source in enumerate(pool.sources)]
    return pd.DataFrame(lines, index=pd.Index(index, name="source"))


def _labels_of(pool: Pool, candidates: IntArray) -> IntArray:
    """(m,) which of the candidates holds each element, the first of several; -1 for none."""
    if candidates.size == 0:
        return np.full(pool.shape[0], -1)
    held = (pool.rows[:, candidates] != 0).toarray()
    first = np.where(held.any(axis=1), held.argmax(axis=1), -1).astype(np.int64)
    return np.asarray(first[pool.inverse])
