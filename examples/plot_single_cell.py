"""
Single cells
============

Ninety cells of early embryos (Yan et al.), 20,214 genes, six stages. The consensus of clusterings of the first
principal components, written into an `AnnData` beside the cells.

The data are fetched when they are first used; where they cannot be had, a small imitation with the same shape of
problem takes their place, so that the page can always be built.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import biconsensus as bc

# %%
# Expression values, genes that are seen in some cells, on a logarithmic scale.

try:
    counts, stages = bc.datasets.load_single_cell()
    source = "Yan et al."
except (OSError, ImportError, ValueError) as error:
    print("imitation instead:", error)
    rng = np.random.default_rng(0)
    stages = np.repeat(np.arange(6), 15)
    counts = rng.poisson(np.exp(rng.normal(0, 1.2, (6, 2000)))[stages])
    source = "an imitation"
logged = np.log2(counts[:, (counts > 0).mean(axis=0) > 0.06] + 1.0)
print(source, logged.shape)

# %%
# The first components into ``obsm``; `bc.anndata.consensus` finds them there.

adata = anndata.AnnData(logged.astype("float32"))
adata.obs["stage"] = np.asarray(stages).astype(str)
adata.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(logged)
bc.anndata.consensus(adata, min_elements=3, random_state=0)
print(adata.obs["consensus"].value_counts())
print("ARI against the stages:", round(bc.metrics.ari(stages, adata.obs["consensus"].astype(int)), 3))

# %%
# Groups and stages, in the plane of the first two components. Cells with little backing are between stages.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
plane = adata.obsm["X_pca"][:, :2]
for ax, (title, values) in zip(axes, [("stage", stages), ("consensus", adata.obs["consensus"].astype(int))]):
    ax.scatter(*plane.T, c=values, cmap="tab10", s=22)
    ax.set_title(title)
drawn = axes[2].scatter(*plane.T, c=adata.obs["consensus_backing"], cmap="viridis", s=22)
axes[2].set_title("backing")
figure.colorbar(drawn, ax=axes[2])
figure.tight_layout()
