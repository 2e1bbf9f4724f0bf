"""
Sources in two camps
====================

Twelve people sorted the same animals. Some sorted them by kind, others by where they live. One consensus of all
twelve would fit neither. `find_modes` gives both answers, and says which people gave each of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import biconsensus as bc

# %%
# We make up the answers of the people: 120 animals of four kinds in three places. Everybody errs now and then,
# and some distinguish more finely than others.

rng = np.random.default_rng(1)
kind, place = rng.integers(0, 4, 120), rng.integers(0, 3, 120)


def sorted_by(groups):
    """One person's groups, a tenth of the animals at random."""
    return np.where(rng.random(120) < 0.1, rng.permutation(groups), groups)


people = {f"by kind {k}": sorted_by(kind) for k in range(4)}
people |= {f"by kind, coarse {k}": sorted_by(kind // 2) for k in range(3)}
people |= {f"by place {k}": sorted_by(place) for k in range(5)}

# %%
# The number of camps is found, not given. The coarse and the fine sorting by kind are one camp, because their groups
# are nested.

modes = bc.find_modes(people)
print(modes.summary)

# %%
# The picture shows how much of each person's answer each mode explains. The mode of the person is bold.

bc.plots.modes(modes)

# %%
# Each mode has a consensus of its own. This picture compares their groups. If the two modes were alike, every column
# would have one colour.

figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
bc.plots.mode_groups(modes, 0, 1, ax=axes)
print("agreement of the two answers (ARI):", modes.agreement[0, 1].round(3))
for mode in modes:
    print(len(mode), "groups; ARI with the kinds", round(bc.metrics.ari(kind, mode.labels), 2), end=", ")
    print("with the places", round(bc.metrics.ari(place, mode.labels), 2))
