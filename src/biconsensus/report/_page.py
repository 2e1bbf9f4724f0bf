"""Fill the template and write the page as one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus._words import counted
from biconsensus.errors import InputError, MissingDependencyError
from biconsensus.plots._palette import COLORS, OUTLIER
from biconsensus.pool._pool import TRIVIAL_SHARE
from biconsensus.report._data import Sample, candidate_data, element_data, extra_columns
from biconsensus.report._encode import to_json
from biconsensus.report._modes import modes_view
from biconsensus.report._points import points_data, stops_of
from biconsensus.report._recipe import recipe
from biconsensus.report._sources import source_data
from biconsensus.report._views import FittedModels, domain_view
from biconsensus.result._notebook import are_shown, group_columns

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

PAGES = (".html", ".htm", "")
"""Endings of a report; devices and pipes have none."""
CHANCE_NOTES = {
    "agreement": "it rests on the agreement of the sources, so it shows that they agree, not that they are right",
    "points": "it rests on the valleys of density around the group",
    "links": "it is how many sets with as many links inside are to be expected in a network without groups, "
    "and a value near 1 says that the group alone could be chance, not that the network has no groups",
    "models": "it is the expected number of such models in pure noise",
}
"""What the chance of a group rests on, by the kind of evidence."""
SURE_NOTES = {
    False: "Confidence: how probable it is that the elements would be found in their group again.",
    True: "Groups may overlap here, so there is no confidence, but backing: the share of the candidates behind a group "
    "that hold its elements.",
}
"""How sure groups are, by whether they may overlap."""
ONE_POINT_NOTES = {
    "given": "This result has one point: its quorum was given, or its groups overlap. With quorum='auto' the page "
    "moves along the quorum path.",
    "alike": "There is no slider, because every quorum gives the same answer.",
    "models": "Each group is a model that was fitted to its elements. The number of false alarms decided how many.",
}
"""Why there is no slider."""
MOST_PLAIN = 200
"""Groups that are listed where no script may run."""
DOUBTFUL = 0.5
"""Confidence below which an element is called doubtful: it would more probably be grouped otherwise."""
SCRIPTS = (
    "base.js",
    "points.js",
    "pictures.js",
    "table.js",
    "charts.js",
    "matrix.js",
    "dots.js",
    "tree.js",
    "cooccurrence.js",
    "details.js",
    "export.js",
    "page.js",
)
"""Parts of the script, in the order in which they stand in the page."""


def check_page(path: str | Path) -> None:
    """Refuse a name that says that the file is no page."""
    if Path(path).suffix.lower() not in PAGES:
        raise InputError(f"{path}: the report is an HTML page; give it a name that ends in .html.")


def write_report(consensus: Consensus, path: str | Path, **options: Any) -> None:
    """Write the report of a consensus: one file that opens offline.

    Parameters
    ----------
    consensus : Consensus
        A result.
    path : str or Path
        Where to; an existing file is replaced as a whole.
    **options
        As in `render_report`.

    Examples
    --------
    >>> import biconsensus as bc, tempfile, pathlib
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "page.html"
    >>> bc.find_consensus([[0, 1] * 8] * 4).write_report(page)
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    from biconsensus.pool.io import atomic_path

    check_page(path)
    text = render_report(consensus, **options)
    with atomic_path(path) as new:
        # names of files need not be UTF-8; what cannot be written is replaced
        new.write_text(text, encoding="utf-8", errors="replace")


def render_report(
    consensus: Consensus,
    *,
    title: str = "Consensus report",
    X: Any = None,
    features: Sequence[str] | None = None,
    graph: Any = None,
    models: FittedModels | None = None,
    image: Any = None,
    truth: Any = None,
    extra: dict[str, list[Any]] | None = None,
    about: dict[str, Any] | None = None,
    command: tuple[str, str] | None = None,
) -> str:
    """The report as text.

    Parameters
    ----------
    consensus : Consensus
        A result.
    title : str
        Heading of the page.
    X : (m, d) array or DataFrame, optional
        The elements as points, drawn by group.
    features : sequence of d str, optional
        Names of the columns of `X`; those of a DataFrame by default.
    graph : (m, m) sparse array or networkx Graph, optional
        The network whose nodes are the elements.
    models : FittedModels, optional
        Models that were fitted to `X`.
    image : str, Path or array, optional
        A picture that is drawn below the points, whose first two columns are its pixels x (to the right) and y
        (downwards): a PNG, JPEG, GIF or WebP file, or grey, RGB or RGBA pixels. It becomes part of the page.
    truth : (m,) array of labels, optional
        The true groups, for scores.
    extra : dict of str to list of T values, optional
        Further columns of the table of groups.
    about : dict, optional
        Further lines of the last section: file, seed, and so on.
    command : pair of str, optional
        The command line that made the result, to be shown with it, and the one for another point of its path, whose
        quorum is QUORUM.

    Returns
    -------
    str
        HTML that asks nothing from the network; every text in it is escaped.

    Examples
    --------
    >>> import biconsensus as bc
    >>> "&lt;b&gt;" in render_report(bc.find_consensus([[0, 1] * 8] * 4), title="<b>")
    True
    """
    if truth is not None and len(truth) != consensus.labels.size:
        raise InputError(
            f"truth must have one label for each of the {consensus.labels.size:,} elements; it has {len(truth):,}."
        )
    template = page_template()
    content = page_data(
        consensus,
        X=X,
        features=features,
        graph=graph,
        models=models,
        image=image,
        truth=truth,
        extra=extra or {},
        command=command,
    )
    modes = modes_view(consensus)
    script = "".join(_asset(name) for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    from markupsafe import Markup

    from biconsensus import __version__

    text: str = template.render(
        title=title,
        version=__version__,
        headline=headline(consensus),
        summary="" if _are_models(consensus) or consensus.summary in headline(consensus) else consensus.summary,
        models=behind_models(consensus),
        sure_note=SURE_NOTES[bool(content["overlap"])],
        one_point_note=ONE_POINT_NOTES[_one_point(consensus)],
        plain=group_columns(consensus, MOST_PLAIN) if are_shown(consensus) else {},
        chance_note=CHANCE_NOTES[consensus.settings.get("evidence", "agreement")],
        tiles=tiles(consensus, content),
        warnings=remarks(consensus, modes),
        modes=modes,
        about=about_rows(consensus, about or {}),
        zip=zip,
        style=Markup(_asset("style.css")),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        data=Markup(to_json(content)),
    )
    return text


def page_data(
    consensus: Consensus,
    *,
    X: Any = None,
    features: Sequence[str] | None = None,
    graph: Any = None,
    models: FittedModels | None = None,
    image: Any = None,
    truth: Any = None,
    extra: dict[str, list[Any]] | None = None,
    command: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Everything that the script draws; a function of the result and of what is given with it, nothing is searched."""
    sample, stops = Sample.of(consensus), stops_of(consensus)
    smallest = [consensus.settings.get(name) for name in ("min_elements", "min_candidates")]
    if consensus.settings.get("chosen_by") in ("points", "links"):  # base results may be chosen as they are
        smallest[1] = None
    return {
        "colors": COLORS,
        "outlier": OUTLIER,
        "overlap": bool(consensus.settings.get("overlap")),
        "kind": consensus.settings.get("evidence", "agreement"),
        "smallest": smallest,
        "alternatives": consensus.extraction.get("alternatives", []),
        "recipe": recipe(consensus, command),
        "extra": extra_columns(consensus, extra or {}),
        "elements": element_data(consensus, sample),
        "candidates": candidate_data(consensus),
        "path": points_data(stops, sample),
        "view": domain_view(stops, sample, X, features, graph, models, image),
        **source_data(consensus, sample, truth),
    }


def headline(consensus: Consensus) -> str:
    """What was found, in one sentence."""
    if consensus.extraction.get("origin") == "no structure":
        return consensus.summary
    m = consensus.labels.size
    left = int((consensus.labels < 0).sum())
    noun = "model" if _are_models(consensus) else "group"
    groups = f"One {noun}" if len(consensus) == 1 else f"{len(consensus):,} {noun}s"
    if len(consensus) == 0 and noun == "model":
        return f"No model was found among {m:,} elements: chance explains all that were tried."
    if len(consensus) == 0:
        silent = consensus.extraction.get("silent", 0) == consensus.pool.shape[1]
        why = "every input group is empty or holds nearly everything"
        if not silent:
            why = "the inputs do not agree on any of the minimum size"
        return f"No group was found among {m:,} elements: {why}."
    outside = (
        f"{left:,} ({left / m:.1%}) {'is' if left == 1 else 'are'} in no group" if left else "every element is in one"
    )
    return f"{groups} in {m:,} elements; {outside}."


def _are_models(consensus: Consensus) -> bool:
    """Whether the groups are the elements of fitted models."""
    return bool(consensus.settings.get("chosen_by") == "models")


def _one_point(consensus: Consensus) -> str:
    """Why the page of this result has one point, should it have one."""
    return "models" if _are_models(consensus) else "given" if consensus.path is None else "alike"


def behind_models(consensus: Consensus) -> str:
    """How many hypotheses stand behind each fitted model, in two sentences; empty for other results."""
    if not _are_models(consensus):
        return ""
    numbers = [own.size for own in consensus.candidates]
    if not numbers:
        return "No hypothesis, which is a model through a few random elements, was more than chance."
    few, many = min(numbers), max(numbers)
    said = f"{few:,} to {many:,}" if few < many else f"{few:,}"
    return (
        "A hypothesis is a model through a few random elements. Those that hold nearly the same elements make one "
        f"group, to which the model is fitted: {said} for each model here, as the table of groups says."
    )


def tiles(consensus: Consensus, content: dict[str, Any]) -> list[dict[str, str]]:
    """The figures at the top, each with what it means."""
    inside, overlap = consensus.labels >= 0, content["overlap"]
    sure = consensus.backing if overlap or len(consensus) == 0 else consensus.confidence().elements
    mean = f"{sure[inside].mean():.2f}" if inside.any() else "–"
    doubtful = f"{int((sure[inside] < DOUBTFUL).sum()):,}"
    if overlap:
        why_mean = "Mean share of the candidates behind a group that hold an element."
        why_doubtful = "Elements that fewer than half of the candidates behind their group hold."
    else:
        why_mean = "Probability that an element would be found in its group again with new sources, on average."
        why_doubtful = "Elements that would probably not be found in their group again."
    measure, number = "backing" if overlap else "confidence", f"{len(consensus):,}"
    n_sources, n_candidates = (f"{value:,}" for value in (len(consensus.pool.sources), consensus.pool.shape[1]))
    if _are_models(consensus):
        found = ("groups", "Models", number, "Models that chance does not explain.")
        voters = [("sources", "Hypotheses", n_sources, "Models through random samples of points, which voted.")]
    else:
        found = ("groups", "Groups", number, "Groups that the sources agree on, at the point of the slider.")
        voters = [
            ("sources", "Sources", n_sources, "Base groupings that voted."),
            ("candidates", "Candidates", n_candidates, "Groups of all sources together."),
        ]
    outside = "Elements that no group holds. They come first in the list of elements."
    rows = [
        found,
        ("elements", "Elements", f"{inside.size:,}", "All elements of the input."),
        ("outside", "In no group", f"{int((~inside).sum()):,}", outside),
        (measure, f"Mean {measure}", mean, why_mean),
        ("doubtful", f"{measure.capitalize()} below {DOUBTFUL}", doubtful, why_doubtful),
        *voters,
    ]
    why = {
        "ARI": "Adjusted Rand index between the answer and the truth: 1 is perfect, 0 is chance.",
        "NMI": "Normalised mutual information between the answer and the truth: 1 is perfect.",
    }
    rows += [
        (f"truth {one['name']}", f"{one['name']} with the truth", f"{one['consensus']:.3f}", why[one["name"]])
        for one in content["scores"]
    ]
    return [dict(zip(("key", "name", "value", "why"), row)) for row in rows]


def remarks(consensus: Consensus, modes: dict[str, Any] | None) -> list[str]:
    """What deserves a look in the pool: sources in several camps, empty and trivial candidates."""
    pool, found = consensus.pool, []
    if modes is not None and modes["number"] > 1:
        found.append(
            f"the sources form {modes['number']} camps, and one answer for all of them may fit none; the section "
            "“Do the sources fall into camps?” shows an answer for each."
        )
    if consensus.extraction.get("silent"):  # the summary says how many of such candidates did not vote
        return found
    empty = int((pool.sizes == 0).sum())
    trivial = int(((pool.sizes >= TRIVIAL_SHARE * pool.seen_sizes) & (pool.sizes > 0)).sum())
    if empty:
        found.append(f"{counted(empty, 'candidate')} of the pool {'is' if empty == 1 else 'are'} empty.")
    if trivial:
        hold = "holds" if trivial == 1 else "hold"
        found.append(
            f"{counted(trivial, 'candidate')} {hold} {TRIVIAL_SHARE:.0%} or more of what the source saw; pool.clean() "
            "leaves such candidates out."
        )
    return found


def about_rows(consensus: Consensus, about: dict[str, Any]) -> list[dict[str, str]]:
    """The last section: how this result was made."""
    pool = consensus.pool
    rows = {
        **about,
        "Distinct rows of the pool": f"{pool.rows.shape[0]:,} of {pool.shape[0]:,} elements",
        "Loss of the reconstruction": f"{consensus.objective:,.6g}",
        **{f"Setting {name}": value for name, value in consensus.settings.items()},
        **{
            f"Search, {name}": f"{value:,.6g}" if isinstance(value, float) else value
            for name, value in consensus.extraction.items()
            if np.ndim(value) == 0 and not isinstance(value, dict)
        },
    }
    return [{"name": str(name), "value": str(value)} for name, value in rows.items() if value is not None]


@cache
def _asset(name: str) -> str:
    """Text of a file that comes with the package."""
    return resources.files("biconsensus.report").joinpath("assets", name).read_text(encoding="utf-8")


def page_template() -> Any:
    """The page, with every text escaped; says what to install where the extra is missing."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingDependencyError.of("jinja2", "report") from error
    return _compiled(jinja2)


@cache
def _compiled(jinja2: Any) -> Any:
    """The template, read once."""
    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(_asset("page.html"))
