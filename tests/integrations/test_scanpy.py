"""Blood cells that come with scanpy: resolutions, redundancy, files."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from tests.integrations.test_pages import needed

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cells():
    """700 blood cells with Leiden at three resolutions, of which the finest was run seven times."""
    needed("scanpy")
    import scanpy as sc

    adata = sc.datasets.pbmc68k_reduced()
    for k, resolution in enumerate([0.2, 0.5, 1.0] + [3.0] * 7):
        options = {"flavor": "igraph", "n_iterations": 2, "random_state": k}
        sc.tl.leiden(adata, resolution=resolution, key_added=f"leiden {k}", **options)
    return adata, [f"leiden {k}" for k in range(10)]


def test_ten_results_do_not_echo_the_commonest_resolution(cells):
    adata, keys = cells
    finest = np.mean([adata.obs[key].nunique() for key in keys[3:]])
    merged = bc.tl.consensus(adata, keys, copy=True)
    assert merged.uns["consensus"]["n_groups"] < 0.75 * finest
    table = merged.uns["consensus"]["sources"]
    assert table["vote"].iloc[3:].mean() < table["vote"].iloc[:3].mean(), "runs of one resolution share their vote"


def test_leiden_over_resolutions_in_one_call(cells, tmp_path):
    import anndata

    adata, _ = cells
    bc.tl.consensus_leiden(adata, n_seeds=2, key_added="found")
    assert 5 <= adata.uns["found"]["n_groups"] <= 14
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.uns["found"]["summary"] == adata.uns["found"]["summary"]
    assert again.uns["found"]["sources"]["resolution"].tolist() == adata.uns["found"]["sources"]["resolution"].tolist()
    assert bc.pl.groups(again, "found").get_title().startswith("found")


def test_one_cloud_of_cells_is_one_group():
    needed("scanpy")
    import scanpy as sc

    rng = np.random.default_rng(0)
    adata = sc.AnnData(rng.normal(size=(400, 10)))
    adata.obsm["X_pca"] = np.asarray(adata.X)
    sc.pp.neighbors(adata, use_rep="X_pca", n_neighbors=15)
    bc.tl.consensus_leiden(adata, n_seeds=2)
    assert adata.uns["consensus"]["sources"]["clusters"].max() > 3, "Leiden cuts it all the same"
    assert adata.uns["consensus"]["n_groups"] == 1
