"""Pictures of the groups, of the elements' backing and of the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.plots._drawing import new_axes
from biconsensus.plots._numbers import backing_histogram, group_numbers, source_numbers
from biconsensus.plots._palette import OUTLIER, color_of

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


def backing(consensus: Consensus, *, bins: int = 20, ax: Any = None) -> Any:
    """Draw how many elements have which backing, by group.

    Parameters
    ----------
    consensus : Consensus
        A result.
    bins : int
        Number of bars between 0 and 1.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> backing(bc.find_consensus([[0, 1] * 8] * 4)).get_xlabel()
    'backing'
    """
    ax = new_axes(ax)
    edges, counts = backing_histogram(consensus, bins)
    floor = np.zeros(bins)
    for group, heights in enumerate(counts):
        ax.bar(edges[:-1], heights, np.diff(edges), floor, align="edge", color=color_of(group), edgecolor="white")
        floor += heights
    ax.set(xlabel="backing", ylabel="elements", xlim=(0, 1))
    return ax


def group_sizes(consensus: Consensus, *, ax: Any = None) -> Any:
    """Draw the sizes of the bi-clusters in the order of their gain: elements as bars, sources as dots.

    Parameters
    ----------
    consensus : Consensus
        A result.
    ax : matplotlib Axes, optional
        Where to draw; the dots go on a twin of it.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> group_sizes(bc.find_consensus([[0, 1] * 8] * 4)).get_ylabel()
    'elements'
    """
    ax = new_axes(ax)
    numbers = group_numbers(consensus)
    places = np.arange(len(consensus))
    ax.bar(places, numbers.sizes, color=[color_of(group) for group in range(len(consensus))])
    ax.set(xlabel="group", ylabel="elements", xticks=places[: 30 if len(places) <= 30 else 0])
    twin = ax.twinx()
    twin.plot(places, numbers.sources, "o", color="black", markerfacecolor="white")
    twin.set(ylabel="sources behind it (dots)", ylim=(0, None))
    return ax


def sources(consensus: Consensus, *, most: int = 40, ax: Any = None) -> Any:
    """Draw how alike each source is to the consensus (NMI), and which share of its candidates was used.

    Parameters
    ----------
    consensus : Consensus
        A result.
    most : int
        The most sources to draw: the first ones by NMI.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> sources(bc.find_consensus([[0, 1] * 8] * 4)).get_xlabel()
    'NMI with the consensus (bar), share of its candidates used (dot)'
    """
    numbers = source_numbers(consensus)
    score = np.nan_to_num(numbers.nmi)
    order = np.argsort(-score, kind="stable")[:most][::-1]
    ax = new_axes(ax, figsize=(6.4, 1.2 + 0.22 * order.size))
    places = np.arange(order.size)
    ax.barh(places, score[order], color=color_of(0))
    ax.plot(numbers.used[order] / np.maximum(numbers.candidates[order], 1), places, "o", color=color_of(1))
    ax.set_yticks(places, [str(consensus.pool.sources[source].name) for source in order])
    ax.set(xlabel="NMI with the consensus (bar), share of its candidates used (dot)", xlim=(0, 1.02))
    return ax


def scores(consensus: Consensus, truth: Any, *, score: Any = None, ax: Any = None) -> Any:
    """Draw the score of every base result against the truth, and the consensus as a line.

    Parameters
    ----------
    consensus : Consensus
        A result.
    truth : (m,) array of labels
        The true groups.
    score : callable, optional
        ``score(truth, labels)``; the adjusted Rand index if not given.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> scores(bc.find_consensus([[0, 1] * 8] * 4), [0, 1] * 8).get_ylabel()
    'ari'
    """
    from biconsensus import metrics
    from biconsensus.plots._bases import base_scores

    score = score or metrics.ari
    ax = new_axes(ax)
    base = np.sort(base_scores(consensus.pool, truth, score))[::-1]
    ours = float(score(np.asarray(truth), consensus.labels))
    ax.bar(np.arange(base.size), base, color=OUTLIER, label="base results")
    ax.axhline(ours, color=color_of(0), linewidth=2, label=f"consensus, {ours:.3f}")
    ax.set(xlabel="base results, best first", ylabel=getattr(score, "__name__", "score"), xticks=[])
    ax.legend()
    return ax
