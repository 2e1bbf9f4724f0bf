"""What each command does, once its options are read."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

from biconsensus._words import counted
from biconsensus.cli._output import Output
from biconsensus.cli._tables import elements_of, input_name, label_pool, point_table, redundancy_notes, weighed_pool
from biconsensus.pool.io._roles import COORDINATES, FEATURES, Reading, counts_rows


def run_merge(
    output: Output,
    path: Path,
    reading: Reading,
    settings: dict[str, Any],
    weights: list[str] | None = None,
    together: list[str] | None = None,
) -> None:
    """Consensus of a table of labels."""
    from biconsensus import Search, find_consensus
    from biconsensus.solvers import get_solver

    Search(**settings).checked()  # what is wrong with the settings is told before anything is read
    if settings["solver"] != "auto":
        get_solver(settings["solver"])
    with output.working(f"reading {input_name(path)}"):
        pool, true = label_pool(path, reading, settings["n_jobs"], output)
        pool = weighed_pool(pool, weights or [])
        # with more groupings than elements, many are bound to say the same
        if settings.get("weights") is None and len(pool.sources) <= pool.shape[0]:
            output.notes += redundancy_notes(pool)
    if together:
        settings = settings | {"together": [elements_of(pool, one) for one in together]}
    what = f"finding the consensus of {counted(len(pool.sources), 'grouping')} of {counted(pool.shape[0], 'element')}"
    with output.working(what, bar=True) as tell:
        consensus = find_consensus(pool, **settings, progress=tell)
        _ = consensus.labels, consensus.backing
    output.finish(consensus, truth=true, page={"title": f"Consensus of {input_name(path)}"})


def run_cluster(
    output: Output,
    path: Path,
    reading: Reading,
    resume: Path | None,
    jobs: int,
    settings: dict[str, Any],
    standardise: bool = False,
) -> None:
    """Consensus clustering of a table of points."""
    from biconsensus import ConsensusClustering, Runs, Search
    from biconsensus.explore._doubts import grouping_doubt, unit_doubt

    search = Search(**settings).checked()
    X, names, true, ids = point_table(path, reading, FEATURES, output)
    output.notes += filter(None, [grouping_doubt(X), None if standardise else unit_doubt(X, names)])
    with output.working(f"clustering {X.shape[0]:,} elements", bar=True) as tell:
        runs = Runs(checkpoint=resume, progress=tell)
        estimator = ConsensusClustering(search=search, runs=runs, random_state=output.seed, n_jobs=jobs)
        estimator.fit(standardised(X) if standardise else X)
    consensus = with_ids(estimator.consensus_, ids)
    output.finish(consensus, truth=true, page={"title": f"Clusters of {input_name(path)}", "X": X, "features": names})


def standardised(X: Any) -> Any:
    """The points with mean 0 and standard deviation 1 in every column; what never varies becomes 0."""
    import numpy as np

    middle = X - X.mean(axis=0)
    spread = middle.std(axis=0)
    return middle / np.where(spread > 0, spread, 1.0)


def run_communities(
    output: Output,
    path: Path,
    weight: str | None,
    algorithms: list[str] | None,
    runs: int | None,
    truth: str | None,
    resume: Path | None,
    settings: dict[str, Any],
) -> None:
    """Consensus communities of a network."""
    from biconsensus import ConsensusCommunities, Runs, Search
    from biconsensus.errors import InputError
    from biconsensus.explore._doubts import network_doubt, network_line
    from biconsensus.graphs import read_graph

    if str(path) == "-":
        raise InputError(
            "the ending of a file says what form a network has, so it cannot come from the standard input; save it, "
            "for instance as edges.txt with one link on each line."
        )
    how = {name: settings.pop(name) for name in ("random_state", "n_jobs") if name in settings}
    search = Search(**settings).checked()
    with output.working(f"reading {input_name(path)}"):
        graph = read_graph(path, weight=weight)
    output.decided = network_line(path.name, graph)
    output.notes += filter(None, [network_doubt(graph)])
    with output.working(f"finding communities of {graph.n_nodes:,} nodes", bar=True) as tell:
        carried_out = Runs(checkpoint=resume, progress=tell)
        estimator = ConsensusCommunities(
            algorithms or "default", runs, weight=weight, search=search, runs=carried_out, **how
        )
        estimator.fit(graph)
    true = None if truth is None else node_attribute(path, truth, graph.names)
    page = {"title": f"Communities of {path.name}", "graph": graph.adjacency}
    output.finish(with_ids(estimator.consensus_, graph.names), truth=true, page=page, modularity=estimator.modularity_)


def node_attribute(path: Path, attribute: str, names: list[Any]) -> Any:
    """True groups from an attribute of the nodes of a GML, GraphML or GEXF file."""
    import numpy as np

    from biconsensus.errors import UnknownNameError
    from biconsensus.graphs._files import node_attributes

    nodes = node_attributes(path)
    values = [nodes.get(name, {}).get(attribute) for name in names]
    if all(value is None for value in values):
        raise UnknownNameError.of("node attribute", attribute, {key for node in nodes.values() for key in node})
    return np.unique([str(value) for value in values], return_inverse=True)[1]


def run_fit(output: Output, path: Path, reading: Reading, settings: dict[str, Any], image: Path | None = None) -> None:
    """Models fitted to a table of points; the report shows them on a picture."""
    from biconsensus import MultiModelFitter
    from biconsensus.errors import InputError
    from biconsensus.models import get_model
    from biconsensus.report import FittedModels
    from biconsensus.report._encode import data_uri

    if settings.get("threshold") is None:
        raise InputError(
            "--threshold is required: the largest distance of a point to its model, in the units of the data; about "
            "2.5 times the standard deviation of the noise. If you do not know it, --threshold auto takes it from the "
            "data."
        )
    if image is not None:
        if output.report is None:
            raise InputError("--image is shown in the report; say where that goes with --report PAGE.html.")
        data_uri(image)  # what is wrong with the picture is told before any work

    X, names, true, ids = point_table(path, reading, COORDINATES, output)
    refuse_other_columns(settings["model"], names, [name for k, name in enumerate(names) if counts_rows(X[:, k])])
    fitter = MultiModelFitter(**settings)
    several = isinstance(settings["model"], list)
    kind = ", ".join(settings["model"]) if several else settings["model"]
    with output.working(f"fitting models ({kind}) to {X.shape[0]:,} points"):
        fitter.fit(X)
    widths = fitter.thresholds_
    width = float(widths.max()) if len(widths) else 1.0
    page = {
        "title": f"Fitted models ({kind}) of {input_name(path)}",
        "X": X,
        "features": names,
        "models": FittedModels([get_model(one) for one in fitter.families_], fitter.params_, width),
        "image": image,
        "extra": {
            "Family": fitter.families_,
            "Threshold": [f"{width:.3g}" for width in widths],
            "Parameters": parameters(fitter.params_),
        },
    }
    output.finish(
        with_ids(fitter.consensus_, ids),
        truth=true,
        page=page,
        columns={"log10_nfa": nfa_of_elements(fitter)},
        table=model_table(fitter) if len(widths) else None,
        families=fitter.families_,
        models=[params.tolist() for params in fitter.params_],
        log10_nfa=fitter.nfa_.tolist(),
        thresholds=widths.tolist(),
    )


def refuse_other_columns(models: str | list[str], names: list[str], counters: list[str]) -> None:
    """An error where a model needs another number of columns; it proposes some, those that count the rows last."""
    from biconsensus.errors import InputError
    from biconsensus.models import get_model

    if isinstance(models, list):  # several families may each look at the first columns
        return
    needed = getattr(get_model(models), "n_features", None)
    if needed is not None and needed < len(names):
        kept = sorted(names, key=counters.__contains__)[:needed]
        proposed = [name for name in names if name in kept]
        raise InputError(
            f"the table has {counted(len(names), 'column')} of numbers ({', '.join(names)}), but --model "
            f"{models} needs {needed}. "
            f"Choose them with --columns, for instance --columns {quote(','.join(proposed))}."
        )
    if needed is not None and needed > len(names):
        raise InputError(
            f"the table has {counted(len(names), 'column')} of numbers ({', '.join(names)}), but "
            f"--model {models} needs {needed}. `biconsensus models` says what each model is made from."
        )


def nfa_of_elements(fitter: Any) -> Any:
    """Number of false alarms of the model of each element; NaN for outliers."""
    import numpy as np

    return np.append(fitter.nfa_, np.nan)[fitter.labels_]


def model_table(fitter: Any) -> Any:
    """One row for each model: its family, the points that are nearest to it, chance, threshold, parameters."""
    import numpy as np
    from rich import box
    from rich.table import Table

    from biconsensus.result._notebook import chance_text

    table = Table("model", "family", "points", "chance", "threshold", "parameters", box=box.SIMPLE)
    rows = zip(fitter.families_, fitter.nfa_, fitter.thresholds_, parameters(fitter.params_))
    for index, (family, nfa, width, text) in enumerate(rows):
        n_elements = int(np.sum(fitter.labels_ == index))
        table.add_row(str(index), family, str(n_elements), chance_text(float(nfa)), f"{width:.3g}", text)
    return table


def parameters(params: Any) -> list[str]:
    """Parameters of each model as text."""
    return [", ".join(f"{value:.4g}" for value in row) for row in params]


def run_inspect(output: Output, path: Path, cut: dict[str, Any]) -> None:
    """Show a result from a file, or what its pool gives at another quorum or for another number of groups."""
    from dataclasses import replace

    from biconsensus import Consensus, Search
    from biconsensus.errors import InputError
    from biconsensus.find import solve

    asked = Search(**cut).checked()
    consensus = Consensus.load(path)
    if cut:
        if consensus.settings.get("chosen_by") == "models":
            raise InputError("the groups of this result are fitted models, which are not on a path; fit again.")
        method = "path" if asked.quorum != "auto" else "auto"
        search = replace(
            Search.of_record(consensus.asked),
            quorum=asked.quorum,
            n_groups=asked.n_groups,
            method=method,
            overlap=False,
        )
        with output.working(f"searching the path of {consensus.pool.shape[0]:,} elements", bar=True) as tell:
            consensus = solve(consensus.pool, search, progress=tell)
    output.finish(consensus, page={"title": f"Consensus kept in {input_name(path)}"})


def with_ids(consensus: Any, ids: Any) -> Any:
    """The same result with the user's names of the elements."""
    from dataclasses import replace

    from biconsensus.pool._labels import exact_array

    if ids is None or consensus.pool.ids is not None:
        return consensus
    return replace(consensus, pool=replace(consensus.pool, ids=exact_array(ids)))
