"""Pictures of annotated data."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.errors import InputError, UnknownNameError

anndata = pytest.importorskip("anndata")
pytest.importorskip("matplotlib")


@pytest.fixture
def adata():
    """Two groups that four runs agree on, but for a few cells of the last run."""
    rng = np.random.default_rng(0)
    found = anndata.AnnData(np.zeros((80, 1)), obsm={"X_umap": rng.normal(size=(80, 3))})
    for k in range(4):
        found.obs[f"run {k}"] = np.repeat(["a", "b"], [40 + 5 * (k == 3), 40 - 5 * (k == 3)])
    bc.tl.consensus(found, keys=[f"run {k}" for k in range(4)])
    return found


def test_cells_are_drawn_by_group_and_numbered(adata):
    ax = bc.pl.groups(adata)
    assert sum(len(drawn.get_offsets()) for drawn in ax.collections) == 80
    assert [text.get_text() for text in ax.texts] == ["0", "1"]


def test_the_least_backed_cells_are_drawn_last(adata):
    ax = bc.pl.backing(adata)
    values = ax.collections[0].get_array()
    assert (np.diff(values) <= 0).all()
    assert values[-1] < 1


def test_every_clustering_is_a_dot(adata):
    ax = bc.pl.sources(adata)
    dots = ax.collections[0].get_offsets()
    np.testing.assert_allclose(dots[:, 0], 2)
    np.testing.assert_allclose(dots[:, 1], adata.uns["consensus"]["sources"]["agreement"])


def test_what_is_missing_is_named(adata):
    with pytest.raises(InputError, match="no result 'other'; run"):
        bc.pl.sources(adata, "other")
    with pytest.raises(UnknownNameError, match="basis 'tsne'"):
        bc.pl.groups(adata, basis="tsne")
