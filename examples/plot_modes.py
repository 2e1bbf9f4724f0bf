"""
Sources in two camps
====================

Twelve people sorted the same animals. Some sorted them by kind, others by where they live. One consensus of all
twelve would be neither; the modes are both answers, each with its own people.
"""

import matplotlib.pyplot as plt
import numpy as np

import biconsensus as bc

# %%
# The answers of the people, which we make up: 120 animals of four kinds in three places. Everybody errs now and then,
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
# How many camps there are is found, not given. The coarse and the fine sorting by kind are one camp: nested groups are
# one tree, and differences of granularity alone are no modes.

modes = bc.find_modes(people)
print(modes.summary)

# %%
# What each mode explains of each person's answer. Bold: the mode that the person belongs to.

bc.plots.modes(modes)

# %%
# Each mode has a consensus of its own. How their groups meet: were the two modes alike, every column would have one
# colour.

figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
bc.plots.mode_groups(modes, 0, 1, ax=axes)
print("agreement of the two answers (ARI):", modes.agreement[0, 1].round(3))
for mode in modes:
    print(len(mode), "groups; ARI with the kinds", round(bc.metrics.ari(kind, mode.labels), 2), end=", ")
    print("with the places", round(bc.metrics.ari(place, mode.labels), 2))
