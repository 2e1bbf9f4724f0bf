"""
Merging clusterings with the wrong numbers of clusters
======================================================

Nine runs of k-means do not know how many groups there are, and one of them sees only a part of the data. What do they
agree on?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import biconsensus as bc

# %%
# The data are made up, so that we know the truth: four clouds, and twenty stray points.

rng = np.random.default_rng(0)
X, truth = make_blobs(300, centers=4, cluster_std=0.9, random_state=7)
X = np.concatenate([X, rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, (20, 2))])

# %%
# The base results are a table with one column for each run. NaN is "not seen": the last run saw two thirds of the
# points.

base = {
    f"k = {k}, seed {seed}": KMeans(k, n_init=1, random_state=seed).fit_predict(X)
    for k, seed in zip([3, 4, 4, 5, 5, 6, 7, 8], range(8))
}
partial = base["k = 4, seed 1"].astype(float)
partial[rng.random(len(X)) < 1 / 3] = np.nan
base["k = 4, partial"] = partial

# %%
# Now we find the consensus. The number of groups is found, too.

pool = bc.Pool.from_labels(base)
c = bc.find_consensus(pool)
print(c)

# %%
# This is its preference matrix, before and after it is sorted by bi-cluster. Coloured blocks are agreement, grey is the
# rest.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
bc.plots.preference_matrix(c, reorder=False, ax=axes[0])
bc.plots.preference_matrix(c, ax=axes[1])

# %%
# Here are the groups, and the backing of their points: the share of the candidates behind a group that hold the point.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
bc.plots.scatter(c, X, ax=axes[0])
bc.plots.backing(c, ax=axes[1])

# %%
# Which base results were useful? The bars show how alike they are to the consensus, the dots which share of their
# clusters it used.

bc.plots.sources(c)

# %%
# ``c.write_report("page.html", X=X)`` writes all of this as a page for the browser.
