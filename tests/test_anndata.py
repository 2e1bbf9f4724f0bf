"""Consensus of annotated data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.errors import InputTypeError, UnknownNameError

anndata = pytest.importorskip("anndata")

OPTIONS = {"estimators": [(KMeans(n_init=1), {"n_clusters": [2, 2, 2, 3]})], "quorum": 0.5, "random_state": 0}


def two_clouds(sparse=False):
    rng = np.random.default_rng(0)
    points = np.abs(np.concatenate([rng.normal(1, 0.2, (30, 4)), rng.normal(6, 0.2, (30, 4))]))
    adata = anndata.AnnData(csr_matrix(points) if sparse else points)
    adata.obs_names = [f"cell {i}" for i in range(60)]
    return adata


@pytest.mark.parametrize("sparse", [False, True])
def test_groups_and_backing_are_written_beside_the_cells(sparse):
    adata = two_clouds(sparse)
    assert bc.anndata.consensus(adata, key_added="groups", **OPTIONS) is None
    assert adata.obs["groups"].cat.categories.tolist() == ["0", "1"]
    assert adata.obs["groups"].iloc[:30].nunique() == adata.obs["groups"].iloc[30:].nunique() == 1
    assert adata.obs["groups_backing"].between(0.5, 1).all()
    assert adata.uns["groups"]["n_groups"] == 2
    assert len(adata.uns["groups"]["sources"]) == 4


def test_the_first_components_are_used_where_there_are_any():
    adata = two_clouds()
    adata.obsm["X_pca"] = np.random.default_rng(1).permutation(np.asarray(adata.X))[:, :2]
    by_default = bc.anndata.consensus(adata, copy=True, **OPTIONS).obs["consensus"]
    expected = bc.ConsensusClustering(**OPTIONS).fit(adata.obsm["X_pca"]).labels_
    assert by_default.astype(int).tolist() == expected.tolist()
    assert "consensus" not in adata.obs


def test_ready_made_clusterings_come_from_the_columns():
    adata = two_clouds()
    for k in range(4):
        adata.obs[f"run {k}"] = np.repeat(["a", "b"], 30)
    bc.anndata.consensus(adata, labels=[f"run {k}" for k in range(4)], quorum=0.5)
    assert adata.obs["consensus"].value_counts().tolist() == [30, 30]


def test_the_result_survives_a_file(tmp_path):
    adata = two_clouds()
    bc.anndata.consensus(adata, **OPTIONS)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["consensus"].tolist() == adata.obs["consensus"].tolist()
    assert again.uns["consensus"]["n_groups"] == 2


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(UnknownNameError, match="use_rep 'pca'"):
        bc.anndata.consensus(two_clouds(), use_rep="pca")
    with pytest.raises(UnknownNameError, match=r"column of adata\.obs 'leiden'"):
        bc.anndata.consensus(two_clouds(), labels=["leiden"])
    with pytest.raises(InputTypeError, match="adata: got ndarray"):
        bc.anndata.consensus(np.zeros((3, 2)))
