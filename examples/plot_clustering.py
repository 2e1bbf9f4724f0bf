"""
Consensus clustering of a table
===============================

We have a table of measurements, without labels, and do not know the number of clusters. `ConsensusClustering` clusters
it about seventy times, in seven ways, and keeps the groups that the clusterings agree on.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.mixture import GaussianMixture

import biconsensus as bc

# %%
# The data: 178 wines with 13 measurements each, in different units. The cultivars are known but not used.

wine = load_wine(as_frame=True)

# %%
# One line is enough. The default pool is k-means, Gaussian mixtures, two kinds of trees, spectral clustering, basins of
# the density and HDBSCAN, each with several settings.

model = bc.ConsensusClustering(random_state=0).fit(wine.data)
print(model.n_clusters_, "groups from", len(model.results_), "clusterings")
print("ARI against the cultivars:", round(bc.metrics.ari(wine.target, model.labels_), 3))

# %%
# How sure is the answer? The confidence of a row is the estimated probability that new clusterings would put it into
# its group again. (The measurements are standardised for the picture.)

scaled = (wine.data - wine.data.mean()) / wine.data.std()
figure, axes = plt.subplots(1, 2, figsize=(10, 4))
bc.plots.scatter(model.consensus_, scaled, ax=axes[0])
axes[1].hist(model.consensus_.confidence().elements, bins=20, range=(0, 1))
axes[1].set(xlabel="confidence", ylabel="wines")
figure.tight_layout()

# %%
# This is the preference matrix behind the answer: rows are wines, columns are base clusters, colours are bi-clusters.

bc.plots.preference_matrix(model.consensus_)

# %%
# The result is also a table, with the index of the data.

frame = model.consensus_.to_frame()
print(frame.head())

# %%
# New wines get a group by the votes of the base clusterings that can predict.

print(model.predict(wine.data.iloc[[0, 62, 140]]))

# %%
# You can use your own pool of clusterers, grids of parameters, and functions. Here we also give weights, and two wines
# that must be together.

own = [
    (KMeans(n_init=3), {"n_clusters": [2, 3, 4, 5]}),
    (GaussianMixture(covariance_type="diag"), {"n_components": [2, 3, 4]}),
    lambda X: (X[:, 6] > 2).astype(int),
]
chosen = bc.ConsensusClustering(
    own, quorum=0.4, search=bc.Search(weights="size", together=[[0, 1]]), random_state=0
).fit(scaled)
print(chosen.n_clusters_, "groups; ARI", round(bc.metrics.ari(wine.target, chosen.labels_), 3))
