"""
Annotated data
==============

336 proteins of the bacterium *E. coli*, seven measurements each. Biologists have found where in the cell each protein
lives. The consensus of about seventy clusterings is written into an `AnnData` beside the proteins, as for single cells.
The data come with the package (UCI repository, Nakai 1996).
"""

import anndata
import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

import biconsensus as bc

# %%
# We put the measurements into ``X`` and the principal components into ``obsm``, where `bc.tl.consensus` looks for them.

X, site = bc.datasets.load_uci("ecoli")
adata = anndata.AnnData(X)
adata.obs["site"] = site
adata.obsm["X_pca"] = PCA(5, random_state=0).fit_transform(X)

# %%
# The places in the cell are known, but they are not used in the search.

bc.tl.consensus(adata, random_state=0)
print(adata.uns["consensus"]["summary"])
print(adata.uns["consensus"]["groups"].round(2))
print("agreement with the sites (ARI):", round(bc.metrics.ari(adata.obs["site"], adata.obs["consensus"]), 2))

# %%
# Left: the groups. Middle: the backing; it is dark where the clusterings disagree. Right: every clustering of the pool.

figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained")
bc.pl.groups(adata, basis="pca", ax=axes[0])
bc.pl.backing(adata, basis="pca", ax=axes[1])
bc.pl.sources(adata, ax=axes[2])

# %%
# Everything is in ``obs``, ``obsm`` and ``uns``, and survives ``adata.write_h5ad``. The page "Single cells: scanpy and
# AnnData" does the same with blood cells and Leiden.
