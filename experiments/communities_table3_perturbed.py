"""Table 3: ten perturbed copies of the network of political books, one consensus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.datasets import load_network
from biconsensus.graphs._graph import Graph, from_matrix
from biconsensus.sources.networks import get_algorithm
from experiments.common import Section, Table, paper_consensus, save
from experiments.networks import draw_network, layout, matched, perturbed, picture

PAPER = {
    0.1: (0.9224, 0.8388, 0.9258),
    0.25: (0.8004, 0.6944, 0.8551),
    0.3: (0.7428, 0.6315, 0.8244),
    0.35: (0.6801, 0.5581, 0.7933),
}
"""Best and median base result, and consensus, for each share of moved edges."""
COPIES = 10


def run(out: Path, quick: bool) -> Section:
    """Infomap on ten copies; the paper's setting and ours, over many trials."""
    network = load_network("polbooks")
    graph = from_matrix(network.adjacency, network.names)
    references = _references(graph)
    trials = 3 if quick else 200
    tables = [Table(f"Mean NMI with {title}", HEADER, []) for title in references]
    for share in PAPER:
        per_trial = [_answers(graph, share, trial) for trial in range(trials)]
        for table, truth in zip(tables, references.values()):
            table.rows.append(_row(share, per_trial, truth))
    name = _picture(out, graph, next(iter(references.values())))
    return Section("Table 3: perturbed copies of a network", TEXT.format(trials=trials), tables, [(name, CAPTION)])


HEADER = [
    "rho",
    "paper: best, median, consensus",
    "best base",
    "median base",
    "paper's setting",
    "greedy, nearest",
    "joint, quorum 0.3",
    "ours",
    "EAC, number given",
    "paper's setting, left-overs as one group",
]
METHODS = ("paper", "nearest", "joint", "ours")
TEXT = (
    "The network is that of US political books (105 nodes). There are {trials} trials with ten copies "
    "each. In a copy, a share rho of the edges moves one end to a random node. Infomap runs once on "
    "each copy. The reference is Infomap on the unperturbed network. A run there mostly ends in one of "
    "two answers: four communities (45, 41, 11, 8), or five, one of which has three nodes (42, 41, 11, "
    "8, 3; a slightly shorter code). Both are reported.\n"
    "\n"
    "* **paper's setting**: Algorithm 1 at quorum 1/2. Left-over nodes stay left over, and each is a "
    "community of one in the NMI (the paper calls such nodes singletons). In the last column they are "
    "one group.\n"
    "* **greedy, nearest**: the same, but left-over nodes go to the nearest community.\n"
    "* **joint, quorum 0.3**: all groups at once at quorum 0.3 on the cleaned pool; left-over nodes go "
    "to the nearest group.\n"
    '* **ours**: `ConsensusCommunities("infomap", n_runs=1).fit_many(copies)` with everything else at '
    "its default, so at quorum 1/2 and with a second round on the sum of the copies.\n"
    "* **EAC**: evidence accumulation with average linkage, which is told the number of communities."
)
CAPTION = (
    "The unperturbed network, one perturbed copy (rho = 0.3) with its own Infomap result, and the consensus of ten."
)


def _references(graph: Graph) -> dict[str, np.ndarray]:
    """The two answers that single runs of Infomap give on the unperturbed network."""
    found: dict[tuple[int, ...], np.ndarray] = {}
    for seed in range(30):
        labels = np.asarray(get_algorithm("infomap")(graph, seed))
        found.setdefault(tuple(sorted(np.bincount(labels), reverse=True)), labels)
    wanted = {"Infomap's four communities": (45, 41, 11, 8), "Infomap's five communities": (42, 41, 11, 8, 3)}
    return {title: found[sizes] for title, sizes in wanted.items()}


def _fit(graph: Graph, share: float, trial: int) -> tuple[bc.ConsensusCommunities, list[Graph]]:
    """Ten perturbed copies and the consensus of one Infomap run on each, everything else by default."""
    rng = np.random.default_rng([trial, round(100 * share)])
    copies = [perturbed(graph, share, rng) for _ in range(COPIES)]
    model = bc.ConsensusCommunities("infomap", n_runs=1, random_state=trial)
    return model.fit_many(copies), copies


def _answers(graph: Graph, share: float, trial: int) -> dict[str, Any]:
    """What each method makes of one trial."""
    model, _ = _fit(graph, share, trial)
    base = [result.labels for result in model.results_[:COPIES]]
    pool = bc.Pool.from_labels(base)
    greedy = paper_consensus(pool)
    nearest = replace(greedy, settings={**greedy.settings, "unassigned": "nearest"})
    joint = paper_consensus(pool.clean(), method="joint", quorum=0.3, unassigned="nearest")
    return {
        "base": base,
        "pool": pool,
        "paper": greedy.labels,
        "nearest": nearest.labels,
        "joint": joint.labels,
        "ours": model.labels_,
    }


def _row(share: float, trials: list[dict[str, Any]], truth: np.ndarray) -> list[object]:
    """Means over the trials for one share of moved edges."""
    nmi = bc.metrics.nmi
    base = np.array([[nmi(truth, labels) for labels in trial["base"]] for trial in trials])
    k = int(truth.max()) + 1
    eac = [nmi(truth, get_baseline("evidence_accumulation")(trial["pool"], k)) for trial in trials]
    lumped = [nmi(truth, trial["paper"]) for trial in trials]
    means = [np.mean([nmi(truth, bc.metrics.noise_as_singletons(trial[name])) for trial in trials]) for name in METHODS]
    published = ", ".join(f"{value:.3f}" for value in PAPER[share])
    return [
        share,
        published,
        base.max(axis=1).mean(),
        np.median(base, axis=1).mean(),
        *means,
        np.mean(eac),
        np.mean(lumped),
    ]


def _picture(out: Path, graph: Graph, truth: np.ndarray) -> str:
    """One trial at rho = 0.3."""
    model, copies = _fit(graph, 0.3, 0)
    positions = layout(graph)
    figure, axes = picture(1, 3)
    draw_network(axes[0], graph, truth, positions, "Infomap, unperturbed")
    draw_network(axes[1], copies[0], matched(model.results_[0].labels, truth), positions, "Infomap, one copy")
    draw_network(axes[2], graph, matched(model.labels_, truth), positions, "consensus of ten copies")
    return save(figure, out, "communities_table3.png", dpi=130)
