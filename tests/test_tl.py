"""Consensus of annotated data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.errors import InputError, InputTypeError, UnknownNameError

anndata = pytest.importorskip("anndata")

OPTIONS = {"estimators": [(KMeans(n_init=1), {"n_clusters": [2, 2, 2, 3]})], "quorum": 0.5, "random_state": 0}


def two_clouds(sparse=False):
    rng = np.random.default_rng(0)
    points = np.abs(np.concatenate([rng.normal(1, 0.2, (30, 4)), rng.normal(6, 0.2, (30, 4))]))
    adata = anndata.AnnData(csr_matrix(points) if sparse else points)
    adata.obs_names = [f"cell {i}" for i in range(60)]
    return adata


def with_runs():
    adata = two_clouds()
    for k in range(4):
        adata.obs[f"run {k}"] = np.repeat(["a", "b"], 30)
    return adata, [f"run {k}" for k in range(4)]


@pytest.mark.parametrize("sparse", [False, True])
def test_groups_backing_and_confidence_are_written_beside_the_cells(sparse):
    adata = two_clouds(sparse)
    assert bc.tl.consensus(adata, key_added="groups", **OPTIONS) is None
    assert adata.obs["groups"].cat.categories.tolist() == ["0", "1"]
    assert adata.obs["groups"].iloc[:30].nunique() == adata.obs["groups"].iloc[30:].nunique() == 1
    assert adata.obs["groups_backing"].between(0.5, 1).all()
    assert adata.obs["groups_confidence"].between(0.5, 1).all()
    assert adata.obsm["groups_membership"].shape == (60, 2)
    assert adata.uns["groups"]["groups"]["size"].tolist() == [30, 30]
    assert adata.uns["groups"]["summary"].startswith("2 groups")
    assert len(adata.uns["groups"]["sources"]) == 4


def test_the_first_components_are_used_where_there_are_any():
    adata = two_clouds()
    adata.obsm["X_pca"] = np.random.default_rng(1).permutation(np.asarray(adata.X))[:, :2]
    by_default = bc.tl.consensus(adata, copy=True, **OPTIONS).obs["consensus"]
    expected = bc.ConsensusClustering(**OPTIONS).fit(adata.obsm["X_pca"]).labels_
    assert by_default.astype(int).tolist() == expected.tolist()
    assert "consensus" not in adata.obs


def test_ready_made_clusterings_come_from_the_columns():
    adata, keys = with_runs()
    bc.tl.consensus(adata, keys)
    assert adata.obs["consensus"].value_counts().tolist() == [30, 30]
    table = adata.uns["consensus"]["sources"]
    assert table.index.tolist() == keys
    assert table["alike"].tolist() == [4] * 4
    np.testing.assert_allclose(table["vote"], 0.25)
    np.testing.assert_allclose(table["agreement"], 1.0)


def test_points_decide_how_fine_the_groups_of_ready_made_clusterings_are():
    """All runs cut one cloud in two: without the points they agree, with them there is nothing to cut."""
    rng = np.random.default_rng(3)
    adata = anndata.AnnData(np.zeros((300, 1)), obsm={"X_pca": rng.normal(size=(300, 2))})
    for k in range(4):
        adata.obs[f"run {k}"] = (adata.obsm["X_pca"][:, 0] > 0.02 * k).astype(str)
    keys = [f"run {k}" for k in range(4)]
    alone = bc.tl.consensus(adata, keys, use_rep=None, copy=True)
    assert alone.uns["consensus"]["n_groups"] == 2
    bc.tl.consensus(adata, keys)
    assert adata.uns["consensus"]["n_groups"] == 1
    assert adata.uns["consensus"]["params"]["use_rep"] == "X_pca"


def neighbours(n_blocks=4, size=25, seed=0):
    """Cells whose network has blocks, two and two of which hang together."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(n_blocks), size)
    chance = np.where(block[:, None] == block, 0.6, np.where(block[:, None] // 2 == block // 2, 0.08, 0.002))
    links = np.triu(rng.random(chance.shape) < chance, 1)
    adata = anndata.AnnData(np.zeros((block.size, 1)))
    adata.obsp["connectivities"] = csr_matrix((links + links.T).astype(float))
    return adata, block


def test_a_resolution_that_is_given_often_counts_once():
    adata, block = neighbours()
    # many runs that see two halves, and one each of finer resolutions that see the four blocks
    bc.tl.consensus_leiden(adata, resolutions=[0.1] * 12 + [1.0, 1.2, 1.4, 1.6], n_seeds=2)
    assert bc.metrics.ari(block, adata.obs["consensus"].astype(int)) == 1.0
    table = adata.uns["consensus"]["sources"]
    assert table["resolution"].tolist() == [0.1, 0.1, 1.0, 1.0, 1.2, 1.2, 1.4, 1.4, 1.6, 1.6]
    assert table["clusters"].tolist() == [2, 2] + [4] * 8
    assert table["alike"].tolist() == [2, 2] + [8] * 8


def test_columns_that_say_the_same_share_one_vote():
    """Six copies of one coarse result against five finer ones that differ in some cells."""
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(4), 25)
    adata = anndata.AnnData(np.zeros((100, 1)))
    fine = [np.where(rng.random(100) < 0.15, rng.integers(0, 4, 100), block) for _ in range(5)]
    for k, labels in enumerate([block // 2] * 6 + fine):
        adata.obs[f"run {k}"] = labels.astype(str)
    keys = [f"run {k}" for k in range(11)]
    bc.tl.consensus(adata, keys)
    table = adata.uns["consensus"]["sources"]
    assert table["vote"].iloc[:6].sum() < 1.5
    assert table["vote"].iloc[6:].sum() > 3
    assert bc.metrics.ari(block, adata.obs["consensus"].astype(int)) > 0.9
    uniform = bc.tl.consensus(adata, keys, search=bc.Search(), copy=True)
    assert uniform.uns["consensus"]["n_groups"] == 2


def test_the_result_survives_a_file(tmp_path):
    adata, _ = neighbours()
    bc.tl.consensus_leiden(adata, resolutions=[0.5, 1.0], n_seeds=2)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["consensus"].tolist() == adata.obs["consensus"].tolist()
    kept, written = again.uns["consensus"], adata.uns["consensus"]
    assert kept["summary"] == written["summary"]
    assert kept["sources"].round(6).equals(written["sources"].round(6))
    np.testing.assert_array_equal(again.obsm["consensus_membership"], adata.obsm["consensus_membership"])


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(UnknownNameError, match="use_rep 'pca'"):
        bc.tl.consensus(two_clouds(), use_rep="pca")
    with pytest.raises(UnknownNameError, match=r"column of adata\.obs 'leiden'"):
        bc.tl.consensus(two_clouds(), keys=["leiden"])
    with pytest.raises(InputTypeError, match="keys: got the text 'leiden'"):
        bc.tl.consensus(two_clouds(), keys="leiden")
    with pytest.raises(InputTypeError, match="adata: got ndarray"):
        bc.tl.consensus(np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"run scanpy\.pp\.neighbors"):
        bc.tl.consensus_leiden(two_clouds())
