"""Pictures of what `biconsensus.tl` wrote into annotated data, in the manner of scanpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from biconsensus._words import counted
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.plots._domain import draw_points
from biconsensus.plots._drawing import new_axes
from biconsensus.plots._palette import COLORS

__all__ = ["backing", "groups", "sources"]
__dir__ = __all__.copy  # what dir() shows


def groups(adata: Any, key: str = "consensus", *, basis: str = "umap", ax: Any = None) -> Any:
    """Draw the cells by group, in the plane of an embedding.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data that `biconsensus.tl` has written to.
    key : str, default="consensus"
        What was given as `key_added`.
    basis : str, default="umap"
        Embedding: ``adata.obsm["X_" + basis]``, of which the first two columns are drawn.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> adata = anndata.AnnData(np.zeros((80, 1)), obsm={"X_umap": np.random.default_rng(0).normal(size=(80, 2))})
    >>> for k in range(4):
    ...     adata.obs[f"run {k}"] = np.repeat(["a", "b"], 40)
    >>> bc.tl.consensus(adata, keys=[f"run {k}" for k in range(4)])
    >>> len(bc.pl.groups(adata).collections)
    2
    """
    _record(adata, key)
    plane = _plane(adata, basis)
    ax = new_axes(ax, figsize=(5.2, 4.2))
    labels = adata.obs[key].astype(int).to_numpy()
    draw_points(plane, labels, ax)
    for group in np.unique(labels[labels >= 0]):
        centre = np.median(plane[labels == group], axis=0)
        ax.annotate(str(group), centre, ha="center", va="center", bbox={"boxstyle": "round,pad=0.2", "fc": "white"})
    _frame(ax, basis, f"{key}: {counted(adata.uns[key]['n_groups'], 'group')}")
    return ax


def backing(adata: Any, key: str = "consensus", *, basis: str = "umap", ax: Any = None) -> Any:
    """Draw the backing of the cells: dark where the clusterings disagree.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data that `biconsensus.tl` has written to.
    key : str, default="consensus"
        What was given as `key_added`.
    basis : str, default="umap"
        Embedding: ``adata.obsm["X_" + basis]``, of which the first two columns are drawn.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> adata = anndata.AnnData(np.zeros((80, 1)), obsm={"X_umap": np.random.default_rng(0).normal(size=(80, 2))})
    >>> for k in range(4):
    ...     adata.obs[f"run {k}"] = np.repeat(["a", "b"], 40)
    >>> bc.tl.consensus(adata, keys=[f"run {k}" for k in range(4)])
    >>> bc.pl.backing(adata).get_title()
    'consensus: backing'
    """
    _record(adata, key)
    plane = _plane(adata, basis)
    ax = new_axes(ax, figsize=(5.6, 4.2))
    values = adata.obs[f"{key}_backing"].to_numpy()
    # the cells that need a look come last, on top of the others
    order = np.argsort(-values, kind="stable")
    drawn = ax.scatter(*plane[order].T, c=values[order], s=14, cmap="viridis", vmin=0.0, vmax=1.0)
    ax.figure.colorbar(drawn, ax=ax, label="share of the votes for the group")
    _frame(ax, basis, f"{key}: backing")
    return ax


def sources(adata: Any, key: str = "consensus", *, ax: Any = None) -> Any:
    """Draw every clustering of the pool: how many clusters it has, how far it agrees, how much it votes.

    Parameters
    ----------
    adata : anndata.AnnData
        Annotated data that `biconsensus.tl` has written to.
    key : str, default="consensus"
        What was given as `key_added`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on: clusters from left to right, adjusted Rand index with the consensus upwards, areas of dots by
        vote; the line marks the number of groups of the consensus.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import biconsensus as bc
    >>> adata = anndata.AnnData(np.zeros((80, 1)))
    >>> for k in range(4):
    ...     adata.obs[f"run {k}"] = np.repeat(["a", "b"], 40)
    >>> bc.tl.consensus(adata, keys=[f"run {k}" for k in range(4)])
    >>> bc.pl.sources(adata).get_ylabel()
    'agreement with the consensus (ARI)'
    """
    record = _record(adata, key)
    table = record["sources"]
    ax = new_axes(ax, figsize=(5.2, 3.8))
    area = 120 * table["vote"].to_numpy() / table["vote"].max()
    ax.scatter(table["clusters"], table["agreement"], s=area, c=COLORS[0], alpha=0.6, linewidths=0)
    ax.axvline(record["n_groups"], color=COLORS[3], linewidth=1)
    ax.annotate(f" consensus: {record['n_groups']}", (record["n_groups"], 0.02), xycoords=("data", "axes fraction"))
    ax.set(xlabel="clusters", ylabel="agreement with the consensus (ARI)", title=f"{len(table)} clusterings")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylim(min(0.0, float(table["agreement"].min())) - 0.03, 1.05)
    return ax


def _record(adata: Any, key: str) -> Any:
    """What the tools wrote; an error says what to run first."""
    if key not in adata.uns or key not in adata.obs:
        raise InputError(f"key: adata has no result {key!r}; run biconsensus.tl.consensus(adata, key_added={key!r}).")
    return adata.uns[key]


def _plane(adata: Any, basis: str) -> Any:
    """(cells, 2) the embedding."""
    name = basis if basis in adata.obsm else f"X_{basis}"
    if name not in adata.obsm:
        raise UnknownNameError.of("basis", basis, [key.removeprefix("X_") for key in adata.obsm])
    return np.asarray(adata.obsm[name])[:, :2]


def _frame(ax: Any, basis: str, title: str) -> None:
    """Axes of an embedding, which have no unit."""
    short = basis.removeprefix("X_").upper()
    ax.set(xlabel=f"{short}1", ylabel=f"{short}2", title=title, xticks=[], yticks=[])
