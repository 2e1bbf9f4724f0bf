"""Consensus clustering of annotated data (AnnData), as used for single cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from biconsensus.clustering._estimator import ConsensusClustering
from biconsensus.errors import InputError, InputTypeError, MissingDependencyError, UnknownNameError
from biconsensus.result._consensus import Consensus

__all__ = ["consensus"]


def consensus(
    adata: Any,
    *,
    key_added: str = "consensus",
    use_rep: str | None = None,
    labels: Sequence[str] | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Find the consensus of many clusterings of the observations, and write it beside them.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data; changed in place unless `copy`.
    key_added : str, default="consensus"
        Name of what is added.
    use_rep : str or None, default=None
        Key of `adata.obsm` to cluster; None takes "X_pca" where there is one, else `adata.X`.
    labels : sequence of str or None, default=None
        Columns of `adata.obs` with ready-made clusterings; then nothing is clustered anew.
    copy : bool, default=False
        Return a changed copy, and leave `adata` unchanged.
    **options
        Parameters of `ConsensusClustering`.

    Returns
    -------
    anndata.AnnData or None
        The copy where `copy` is true.

    Notes
    -----
    Adds ``adata.obs[key_added]`` (categories, "-1" is in no group), ``adata.obs[key_added + "_backing"]`` and
    ``adata.uns[key_added]`` (parameters, number of groups, base results).

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(np.concatenate([rng.normal(0, 1, (40, 3)), rng.normal(9, 1, (40, 3))]))
    >>> from sklearn.cluster import KMeans
    >>> bc.anndata.consensus(adata, estimators=[(KMeans(), {"n_clusters": [2, 2, 2, 3]})], random_state=0)
    >>> adata.obs["consensus"].value_counts().tolist()
    [40, 40]
    """
    try:
        import anndata
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError.of("anndata", "anndata") from error
    if not isinstance(adata, anndata.AnnData):
        raise InputTypeError(f"adata: got {type(adata).__name__}; give an anndata.AnnData.")
    target = adata.copy() if copy else adata
    model = ConsensusClustering(**options)
    if labels is not None:
        _check_columns(adata, labels)
        model.fit_labels(adata.obs[list(labels)])
    else:
        model.fit(_representation(adata, use_rep))
    target.obs[key_added] = pd.Categorical([str(label) for label in model.labels_], categories=_names(model.consensus_))
    target.obs[f"{key_added}_backing"] = model.backing_
    target.uns[key_added] = _record(model, use_rep, labels)
    return target if copy else None


def _representation(adata: Any, use_rep: str | None) -> Any:
    """What is clustered: a dense (observations, features) array.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data.
    use_rep : str or None
        Key of `adata.obsm`; None takes "X_pca" where there is one, else `adata.X`.

    Returns
    -------
    (m, d) array

    Examples
    --------
    >>> import anndata, numpy as np
    >>> _representation(anndata.AnnData(np.ones((3, 2), dtype="float32")), None).shape
    (3, 2)
    """
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else None
    elif use_rep not in adata.obsm:
        raise UnknownNameError.of("use_rep", use_rep, adata.obsm.keys())
    matrix = adata.X if use_rep is None else adata.obsm[use_rep]
    if matrix is None:
        raise InputError("adata: it has no X; give use_rep, the key of a representation in adata.obsm.")
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=np.float64)


def _check_columns(adata: Any, labels: Sequence[str]) -> None:
    """The columns are there."""
    for name in labels:
        if name not in adata.obs:
            raise UnknownNameError.of("column of adata.obs", name, adata.obs.columns)


def _names(found: Consensus) -> list[str]:
    """Categories of the groups, with -1 where some element is in none."""
    names = [str(t) for t in range(len(found))]
    return [*names, "-1"] if (found.labels < 0).any() else names


def _record(model: ConsensusClustering, use_rep: str | None, labels: Sequence[str] | None) -> dict[str, Any]:
    """What can be written to a file: plain values only."""
    settings = {k: v for k, v in model.consensus_.settings.items() if isinstance(v, int | float | str | bool)}
    return {
        "params": {**settings, "use_rep": use_rep or "", "labels": list(labels or [])},
        "n_groups": model.n_clusters_,
        "sources": [source.name for source in model.pool_.sources],
    }
