"""`biconsensus demo`: one small consensus for each front, with tables and reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


@dataclass(frozen=True)
class DemoResult:
    """The answer of one front."""

    consensus: Consensus
    truth: Any
    found: str
    """What was found, in one sentence."""
    page: dict[str, Any] = field(default_factory=dict)
    """Options of the report."""
    table: dict[str, Any] = field(default_factory=dict)
    """The input as columns, for a file to try the commands on."""


def run_demo(out: Path, *, seed: int = 0, quiet: bool = False) -> dict[str, DemoResult]:
    """Run every front on small data and write inputs, answers, reports and a summary into a folder.

    Parameters
    ----------
    out : Path
        Folder; made if it is not there.
    seed : int
        Where the randomness starts.
    quiet : bool
        Whether nothing is printed.

    Returns
    -------
    dict of str to DemoResult
        One for each front.

    Examples
    --------
    >>> import tempfile
    >>> results = run_demo(Path(tempfile.mkdtemp()), quiet=True)
    >>> sorted(results)
    ['clustering', 'communities', 'merge', 'models']
    """
    from biconsensus import metrics
    from biconsensus.pool.io import write_table
    from biconsensus.result._notebook import write_elements

    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file; give the name of a folder for the tables and reports.")
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, DemoResult] = {}
    summary = {}
    for name, front in FRONTS.items():
        result = results[name] = front(seed)
        write_table(out / INPUTS[name][0], result.table)
        write_elements(result.consensus, out / f"{name}.csv", {})
        result.consensus.write_report(out / f"{name}.html", truth=result.truth, **result.page)
        scores = {
            score: float(getattr(metrics, score)(result.truth, result.consensus.labels)) for score in ("ari", "nmi")
        }
        summary[name] = {"found": result.found, "groups": len(result.consensus), **scores}
        if not quiet:
            _show(name, result, scores)
    (out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    if not quiet:
        print(f"\nInputs, answers and reports are in {out}: open {out / 'merge.html'} in a browser.")
        print("Find the groups in the inputs yourself:")
        for file, command in [*INPUTS.values(), ("labels.csv", "explore {}")]:
            print(f"  biconsensus {command.format(quote(str(out / file)))}")
    return results


def _show(name: str, result: DemoResult, scores: dict[str, float]) -> None:
    """Print one front."""
    from rich.console import Console

    from biconsensus.cli._output import group_table

    console = Console(highlight=False)
    console.print(f"\n[bold]{name}[/bold]: {result.found}")
    console.print(group_table(result.consensus, console.width))
    console.print(f"against the truth: ARI {scores['ari']:.3f}, NMI {scores['nmi']:.3f}")


def merge(seed: int) -> DemoResult:
    """Groupings that somebody already has: k-means with the wrong numbers of clusters, one poor result, gaps."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    from biconsensus import Pool, find_consensus

    rng = np.random.default_rng(seed)
    X, truth = make_blobs(400, centers=4, cluster_std=1.0, random_state=7)
    base = {f"k-means, k = {k}": KMeans(k, n_init=1, random_state=seed + k).fit_predict(X) for k in range(3, 9)}
    base["at random"] = rng.integers(0, 4, truth.size)
    partial = base["k-means, k = 4"].astype(np.float64)
    partial[rng.random(truth.size) < 0.3] = np.nan
    base["k = 4, 30% not seen"] = partial
    consensus = find_consensus(Pool.from_labels(base), unassigned="nearest")
    found = f"{len(consensus)} groups from {len(base)} groupings of {truth.size} points; four are there."
    table = {"id": [f"point {i}" for i in range(truth.size)], **base, "truth": truth}
    table["k = 4, 30% not seen"] = np.ma.MaskedArray(base["k-means, k = 4"], np.isnan(partial))
    return DemoResult(consensus, truth, found, {"title": "Merging groupings", "X": X}, table)


def clustering(seed: int) -> DemoResult:
    """Consensus clustering of the wine data: 178 wines, 13 measurements, three growers."""
    from sklearn.datasets import load_wine

    from biconsensus import ConsensusClustering

    wines = load_wine()
    X, truth, names = wines.data, wines.target, wines.feature_names
    consensus = ConsensusClustering(random_state=seed).fit(X).consensus_
    found = f"{len(consensus)} clusters of {truth.size} wines; there are three growers."
    table = {**dict(zip(names, X.T)), "truth": truth}
    return DemoResult(consensus, truth, found, {"title": "Clustering wines", "X": X, "features": names}, table)


def communities(seed: int) -> DemoResult:
    """Communities of a planted network: 120 nodes in four groups."""
    import networkx as nx

    from biconsensus import ConsensusCommunities

    sizes = [45, 35, 25, 15]
    truth = np.repeat(np.arange(4), sizes)
    graph = nx.stochastic_block_model(sizes, np.where(np.eye(4, dtype=bool), 0.35, 0.02).tolist(), seed=seed + 1)
    consensus = ConsensusCommunities(random_state=seed).fit(graph).consensus_
    found = f"{len(consensus)} communities of {truth.size} nodes; four were planted."
    table = dict(zip(("source", "target"), np.array(graph.edges).T))
    return DemoResult(consensus, truth, found, {"title": "Communities of a network", "graph": graph}, table)


def star(seed: int, n_lines: int = 5, n_points: int = 50, n_outliers: int = 250) -> tuple[FloatArray, IntArray]:
    """Points on the lines of a star among outliers, and the line of each point."""
    rng = np.random.default_rng(seed)
    corners = np.exp(2j * np.pi * np.arange(n_lines) / n_lines + 0.5j * np.pi)
    start, stop = corners, np.roll(corners, -2)
    share = rng.random((n_lines, n_points))
    on_lines = (start[:, None] + share * (stop - start)[:, None]).ravel()
    points = np.concatenate([on_lines, rng.uniform(-1, 1, n_outliers) + 1j * rng.uniform(-1, 1, n_outliers)])
    X = np.column_stack([points.real, points.imag])
    X[: on_lines.size] += rng.normal(scale=0.0075, size=(on_lines.size, 2))
    return X, np.concatenate([np.repeat(np.arange(n_lines), n_points), np.full(n_outliers, -1)])


def models(seed: int) -> DemoResult:
    """Five lines of 50 points each among 250 outliers."""
    from biconsensus import MultiModelFitter
    from biconsensus.cli._fronts import parameters
    from biconsensus.models import get_model
    from biconsensus.report import FittedModels

    X, truth = star(seed)
    fitter = MultiModelFitter("line", threshold=0.02, random_state=seed).fit(X)
    found = f"{len(fitter.params_)} lines among {X.shape[0]} points, half of them outliers; five were drawn."
    drawn = FittedModels(get_model("line"), fitter.params_, 0.02)
    extra = {"Parameters": parameters(fitter.params_)}
    page = {"title": "Lines among outliers", "X": X, "models": drawn, "extra": extra}
    return DemoResult(fitter.consensus_, truth, found, page, {"x": X[:, 0], "y": X[:, 1], "truth": truth})


FRONTS: dict[str, Callable[[int], DemoResult]] = {
    "merge": merge,
    "clustering": clustering,
    "communities": communities,
    "models": models,
}
INPUTS = {
    "merge": ("labels.csv", "merge {}"),
    "clustering": ("wines.csv", "cluster {} --seed 0"),
    "communities": ("network.csv", "communities {} --seed 0"),
    "models": ("points.csv", "fit {} --model line --threshold 0.02 --seed 0"),
}
"""The input of each front as a file, and the command that finds the groups in it."""
