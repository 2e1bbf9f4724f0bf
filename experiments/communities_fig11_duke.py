"""Fig. 11: friends at Duke, two ways to weigh a friendship, one consensus."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import biconsensus as bc
from biconsensus.datasets import load_facebook100
from biconsensus.graphs._graph import Graph, from_ends, from_matrix
from biconsensus.plots._palette import color_of
from experiments.common import Section, Table, save
from experiments.networks import picture

GENDER, MAJOR, MINOR = 1, 2, 3


def run(out: Path, quick: bool) -> Section:
    """Louvain on each modality, the consensus of both, and how their communities spread over it."""
    school = load_facebook100("Duke14", year=2006)
    graph = from_matrix(school.adjacency)
    modalities = {"gender": _by_gender(graph, school.info), "study field": _by_field(graph, school.info)}
    paper = {"quorum": 0.5, "unassigned": "leave", "search": bc.Search(method="joint", min_candidates=2)}
    model = bc.ConsensusCommunities("louvain", n_runs=1, random_state=0, **paper).fit_many(modalities.values())
    ten = bc.ConsensusCommunities("louvain", n_runs=2 if quick else 10, random_state=0).fit_many(modalities.values())
    base = {name: r.labels for name, r in zip(modalities, model.results_)}
    agreement = bc.metrics.nmi(*base.values())
    rows: list[list[object]] = [
        [f"Louvain ({name})", labels.max() + 1, _modularity(graph, labels), bc.metrics.nmi(labels, model.labels_)]
        for name, labels in base.items()
    ]
    rows.append(["consensus", len(model.communities_), _modularity(graph, model.labels_), 1.0])
    agreed = bc.metrics.nmi(ten.labels_, model.labels_)
    rows.append(["ten runs on each, defaults", len(ten.communities_), _modularity(graph, ten.labels_), agreed])
    left = int((model.labels_ < 0).sum())
    name = _picture(out, graph, model, base)
    return Section(
        "Fig. 11: one consensus for two modalities",
        "Friendships among the class of 2006 at Duke: 1,424 people, the largest connected part. In the "
        "first modality an edge weighs 2 between people of one gender and 1 otherwise. In the second it "
        "weighs 1, 2 or 3 if two people share none, one or both of major and minor; a missing entry is "
        f"shared with nobody. Louvain runs once on each. Its two answers have an NMI of {agreement:.3f}. "
        "With two base results, both must agree on a community (`min_candidates=2`); the paper's tau_C = 3 "
        f"is not possible. The consensus leaves {left} people in no community.",
        [
            Table(
                "Communities, modularity on the plain network, NMI with the consensus",
                ["result", "communities", "modularity", "NMI"],
                rows,
            )
        ],
        [
            (
                name,
                "One dot or pie for each community, as large as it is; pies show how it spreads over the "
                "consensus (white: in none).",
            )
        ],
    )


def _modularity(graph: Graph, labels: np.ndarray) -> float:
    """Modularity on the network whose edges all weigh 1."""
    return bc.metrics.modularity(graph.adjacency, labels)


def _by_gender(graph: Graph, info: np.ndarray) -> Graph:
    """2 for an edge between people of one gender, 1 otherwise."""
    sources, targets, _ = graph.edges()
    same = (info[sources, GENDER] == info[targets, GENDER]) & (info[sources, GENDER] > 0)
    return from_ends(sources, targets, 1.0 + same, graph.names)


def _by_field(graph: Graph, info: np.ndarray) -> Graph:
    """1, 2 or 3 as two people share neither, one or both of major and minor."""
    sources, targets, _ = graph.edges()
    shared = sum((info[sources, k] == info[targets, k]) & (info[sources, k] > 0) for k in (MAJOR, MINOR))
    return from_ends(sources, targets, 1.0 + shared, graph.names)


def _picture(out: Path, graph: Graph, model: bc.ConsensusCommunities, base: dict[str, np.ndarray]) -> str:
    """Communities as dots where their members are, links between them, and pies over the consensus."""
    import networkx as nx
    from matplotlib.patches import Circle

    figure, axes = picture(1, 3, 3.8)
    for ax, (title, labels) in zip(axes, {"consensus": model.labels_, **base}.items()):
        kept = np.flatnonzero(labels >= 0)
        groups = np.unique(labels[kept])
        held = (labels[:, None] == groups[None, :]).astype(float)
        between = held.T @ (graph.adjacency @ held)
        np.fill_diagonal(between, 0.0)
        network = nx.from_numpy_array(between / np.sqrt(np.outer(held.sum(0), held.sum(0))))
        positions = nx.circular_layout(network)
        for a, b, data in network.edges(data=True):
            ax.plot(
                *np.array([positions[a], positions[b]]).T, color="#B0B0B0", linewidth=3 * data["weight"] / 10, zorder=0
            )
        for k, group in enumerate(groups):
            members = model.labels_[labels == group]
            shares = np.array([np.mean(members == t) for t in range(-1, len(model.communities_))])
            shown = np.flatnonzero(shares)
            colours = ["white" if t == 0 else color_of(int(t) - 1) for t in shown]
            border = {"edgecolor": "black", "linewidth": 0.5 if shown.size > 1 else 0.0}
            radius = 0.42 * np.sqrt(len(members) / graph.n_nodes) + 0.04
            ax.add_patch(Circle(positions[k], radius, facecolor="white", edgecolor="black", zorder=1))
            ax.pie(shares[shown], colors=colours, center=positions[k], radius=radius, wedgeprops=border)
        ax.set_title(title if title == "consensus" else f"Louvain ({title})", fontsize=10)
        ax.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), aspect="equal")
    return save(figure, out, "communities_fig11.png", dpi=130)
