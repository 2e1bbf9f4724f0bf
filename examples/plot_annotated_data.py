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
# Measurements into ``X``, principal components into ``obsm``. `bc.tl.consensus` finds them there.

X, site = bc.datasets.load_uci("ecoli")
adata = anndata.AnnData(X)
adata.obs["site"] = site
adata.obsm["X_pca"] = PCA(5, random_state=0).fit_transform(X)

# %%
# The sites play no part in the search.

bc.tl.consensus(adata, random_state=0)
print(adata.uns["consensus"]["summary"])
print(adata.uns["consensus"]["groups"].round(2))
print("agreement with the sites (ARI):", round(bc.metrics.ari(adata.obs["site"], adata.obs["consensus"]), 2))

# %%
# Left the groups, in the middle the backing (dark: the clusterings disagree), right every clustering of the pool.

figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained")
bc.pl.groups(adata, basis="pca", ax=axes[0])
bc.pl.backing(adata, basis="pca", ax=axes[1])
bc.pl.sources(adata, ax=axes[2])

# %%
# Everything is in ``obs``, ``obsm`` and ``uns``, and survives ``adata.write_h5ad``. The page "Single cells: scanpy and
# AnnData" does the same with blood cells and Leiden.
