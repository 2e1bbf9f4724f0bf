"""
Lines and circles among outliers
================================

We look for an unknown number of models that cross each other, among as many outliers as inliers. The number of false
alarms is bounded.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import biconsensus as bc
from biconsensus.fitting import propose_threshold
from biconsensus.models import get_model

# %%
# The points are made up, so that we know the truth: a star of five lines with 50 points each, and 250 points anywhere.

rng = np.random.default_rng(3)
ends = np.column_stack([np.cos(np.arange(5) * 0.8 * np.pi), np.sin(np.arange(5) * 0.8 * np.pi)])
along = rng.uniform(0, 1, (5, 50, 1))
lines = ends[:, None] * (1 - along) + np.roll(ends, -1, axis=0)[:, None] * along
X = np.concatenate([lines.reshape(-1, 2) + rng.normal(0, 0.0075, (250, 2)), rng.uniform(-1, 1, (250, 2))])

# %%
# The threshold, the largest distance of an inlier to its model, is the one setting that matters. If you do
# not know the noise, `propose_threshold` looks at the data.

print(f"proposed threshold: {propose_threshold(X, 'line', random_state=0):.3f}")

# %%
# Now we fit. Neither the number of lines nor the share of outliers is given.

fitter = bc.MultiModelFitter("line", threshold=0.03, random_state=0).fit(X)
for params, nfa, members in zip(fitter.params_, fitter.nfa_, fitter.membership_.sum(axis=0)):
    print(f"line {params.round(2)}: {members} points, chance alone would give 10^{nfa:.0f} such lines")

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6))
bc.plots.models(X, get_model("line"), fitter.params_, fitter.labels_, 0.03, ax=axes[0])
bc.plots.residuals(X, get_model("line"), fitter.params_, 0.03, ax=axes[1])
fig.tight_layout()

# %%
# Points at a crossing belong to both lines. Their label is the nearest line.

print(f"{(fitter.membership_.sum(axis=1) > 1).sum()} points belong to more than one line")

# %%
# Behind each line stand the hypotheses that agree on it: the preference matrix of points and sampled lines is what
# was bi-clustered.

fig, ax = plt.subplots(figsize=(8, 4))
bc.plots.preference_matrix(fitter.consensus_, ax=ax)
fig.tight_layout()

# %%
# Pure noise gives nothing: on average at most `epsilon` models, and in practice far fewer.

warnings.simplefilter("ignore", bc.errors.NoConsensusWarning)
noise = rng.uniform(-1, 1, (5, 500, 2))
found = [len(bc.MultiModelFitter("line", threshold=0.03, random_state=0).fit(points).params_) for points in noise]
print(f"lines found in noise: {found}")

# %%
# Other models work in the same way. Here we find circles.

angle = rng.uniform(0, 2 * np.pi, (3, 60, 1))
centres, radii = np.array([[-0.3, 0], [0.3, 0.1], [0, -0.3]]), np.array([0.5, 0.4, 0.3])
rings = centres[:, None] + radii[:, None, None] * np.concatenate([np.cos(angle), np.sin(angle)], axis=2)
Y = np.concatenate([rings.reshape(-1, 2) + rng.normal(0, 0.007, (180, 2)), rng.uniform(-1, 1, (150, 2))])
circles = bc.MultiModelFitter("circle", threshold=0.025, random_state=0).fit(Y)

fig, ax = plt.subplots(figsize=(5, 5))
bc.plots.models(Y, get_model("circle"), circles.params_, circles.labels_, 0.025, ax=ax)
ax.set_title(f"{len(circles.params_)} circles")
plt.show()
