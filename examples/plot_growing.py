"""
How many runs are enough?
=========================

Runs of k-means come in one after the other. The consensus follows them, its groups keep their names, and
``converged`` tells when more runs would change little. The points are made up: five clouds that overlap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import biconsensus as bc

X, truth = make_blobs(400, centers=5, cluster_std=1.6, random_state=4)
rng = np.random.default_rng(0)


def run():
    """One run with a random number of clusters."""
    return KMeans(int(rng.integers(3, 10)), n_init=1, random_state=int(rng.integers(1 << 31))).fit_predict(X)


# %%
# We begin with eight runs, and double them until more runs would change little. ``update`` returns what a search from
# scratch would find.

c = bc.find_consensus([run() for _ in range(8)])
while not c.converged and len(c.pool.sources) < 128:
    print(f"{len(c.pool.sources)} runs, groups named {c.group_names}: {c.converged.summary}")
    c = c.update([run() for _ in range(len(c.pool.sources))])
print(f"{len(c.pool.sources)} runs, groups named {c.group_names}: {c.converged.summary}")

# %%
# The curve compares answers of a part of the runs with the answer of all of them.

bc.plots.convergence(c.converged)

# %%
# New points come with the labels that the same runs give them; ``extend`` adds them.

later = c.extend(c.pool.select(elements=np.arange(10)))
print(later)
plt.show()
