"""
Fusion of image segmentations
=============================

Several programs outline the cells of one image; each shifts its outlines a little, some cut one cell in two or take a
stain for a cell. The outlines are candidate groups of pixels, and the consensus gives the cells that the programs
agree on: how many there are, which pixels belong to each, and which programs back it. STAPLE, the usual fusion, gives
one mask of foreground pixels and needs another step to tell touching cells apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

import biconsensus as bc

# %%
# We make a scene with known cells: ellipses, many of which touch, with uneven light, noise and bright stains.

rng = np.random.default_rng(3)
SIDE = 240
grid = np.stack(np.mgrid[:SIDE, :SIDE], axis=-1).astype(float)
truth = np.zeros((SIDE, SIDE), int)
for k in range(1, 91):
    centre, axes_, angle = rng.uniform(18, SIDE - 18, 2), rng.uniform(9, 16, 2), rng.uniform(0, np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    inside = (((grid - centre) @ turn / axes_) ** 2).sum(axis=-1) < 1
    if (truth[inside] > 0).mean() < 0.1:
        truth[inside & (truth == 0)] = k
light = 0.6 + 0.4 * grid[..., 1] / SIDE
scene = ndimage.gaussian_filter((truth > 0) * light, 1.0) + 0.3 * rng.normal(size=truth.shape)
for spot in rng.uniform(0, SIDE, (25, 2)):
    scene += 0.8 * np.exp(-(((grid - spot) / 1.8) ** 2).sum(axis=-1))

# %%
# Nine programs smooth the image, apply a threshold, and cut at the ridges of the distance transform. Each has settings
# of its own, and is shifted by up to two pixels, as outlines of programs and people are.


def outline(scene, smoothing, level, reach, shift):
    """Objects (0 is background) of one program."""
    smooth = ndimage.gaussian_filter(scene, smoothing)
    mask = ndimage.binary_opening(smooth > level, iterations=1)
    distance = ndimage.gaussian_filter(ndimage.distance_transform_edt(mask), 1.0)
    peaks = (distance == ndimage.maximum_filter(distance, reach)) & mask
    seeds, _ = ndimage.label(ndimage.binary_dilation(peaks))
    nearest = ndimage.distance_transform_edt(seeds == 0, return_distances=False, return_indices=True)
    return np.roll(np.where(mask, seeds[tuple(nearest)], 0), shift, axis=(0, 1))


settings = [(s, level, reach) for s, level in ((1.2, 0.4), (2.0, 0.32), (3.0, 0.48)) for reach in (7, 13, 21)]
answers = [outline(scene, *setting, rng.integers(-2, 3, 2)) for setting in settings]
print("objects by each program:", [len(np.unique(a)) - 1 for a in answers], "true cells:", len(np.unique(truth)) - 1)

# %%
# The label of the background is -1: seen, and put in no group. There are 57,600 pixels, but far fewer distinct rows.

table = np.column_stack([np.where(a.ravel() > 0, a.ravel(), -1) for a in answers])
consensus = bc.find_consensus(table, min_elements=60, min_candidates=5)
found = consensus.labels.reshape(truth.shape) + 1
print(len(consensus), "cells from", consensus.pool.shape[1], "outlines")

# %%
# The rivals are a majority vote of the foreground, and STAPLE (Warfield et al. 2004), which estimates how sensitive and
# specific each program is, in alternation with the probability of each pixel. Objects are then connected components.


def staple(votes, rounds=50):
    """Probability of foreground for each pixel, from the masks (pixels, programs)."""
    sensitivity, specificity, prior = np.full(votes.shape[1], 0.9), np.full(votes.shape[1], 0.9), votes.mean()
    for _ in range(rounds):
        yes = prior * np.where(votes, sensitivity, 1 - sensitivity).prod(axis=1)
        no = (1 - prior) * np.where(votes, 1 - specificity, specificity).prod(axis=1)
        p = yes / (yes + no)
        sensitivity, specificity = (p @ votes) / p.sum(), ((1 - p) @ ~votes) / (1 - p).sum()
    return p


masks = table >= 0
fusions = {
    "best program": answers[np.argmax([bc.metrics.ari(truth.ravel(), a.ravel()) for a in answers])],
    "majority": ndimage.label((masks.mean(axis=1) > 0.5).reshape(truth.shape))[0],
    "STAPLE": ndimage.label((staple(masks) > 0.5).reshape(truth.shape))[0],
    "consensus": found,
}

# %%
# There are two scores. The Dice index compares the foreground; it is nearly the same for all. The other score is the
# share of true cells that one found object covers with an overlap (intersection over union) of at least 0.6.


def dice(found):
    """Overlap of the foregrounds."""
    return 2 * ((found > 0) & (truth > 0)).sum() / ((found > 0).sum() + (truth > 0).sum())


def cells_found(found):
    """Recall and precision of whole cells."""
    shared = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(shared, (truth.ravel(), found.ravel()), 1)
    union = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
    hits = (shared / np.maximum(union, 1))[1:, 1:] >= 0.6
    return hits.any(axis=1).sum() / (len(np.unique(truth)) - 1), hits.any(axis=0).sum() / (len(np.unique(found)) - 1)


for name, answer in fusions.items():
    recall, precision = cells_found(answer)
    print(f"{name:14} Dice {dice(answer):.3f}  cells: recall {recall:.2f}, precision {precision:.2f}")

# %%
# The consensus keeps touching cells apart, leaves the stains out, and says how sure it is of each pixel.

figure, axes = plt.subplots(2, 3, figsize=(10, 6.8), layout="constrained")
axes[0, 0].imshow(scene, cmap="gray")
axes[0, 0].set_title("scene")
shades = np.random.default_rng(1).permutation(np.arange(1, 200))
pictures = {"true cells": truth, **fusions}
del pictures["majority"]
for ax, (name, labels) in zip(axes.ravel()[1:], pictures.items(), strict=False):
    ax.imshow(
        np.ma.masked_equal(np.where(labels > 0, shades[labels % 199], 0), 0), cmap="turbo", interpolation="nearest"
    )
    ax.set_title(f"{name}: {len(np.unique(labels)) - 1}")
shown = axes[1, 2].imshow(np.where(found > 0, consensus.backing.reshape(truth.shape), np.nan), cmap="viridis")
axes[1, 2].set_title("backing of the consensus")
figure.colorbar(shown, ax=axes[1, 2], shrink=0.8)
for ax in axes.ravel():
    ax.axis("off")
