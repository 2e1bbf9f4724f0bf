"""A consensus for people: one sentence, its elements as a data frame, its groups as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape as as_text
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.errors import MissingDependencyError
from biconsensus.pool.io import write_table
from biconsensus.significance._agreement import LEVEL

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from biconsensus.result._consensus import Consensus

MOST_ROWS = 50
"""Groups that are listed, the largest gains first."""

DIGITS = 6
"""Decimals of a share or a probability in written tables: finer than any pool can tell."""

DECIDED_BY = {
    "answers": "answers of a person decided how many",
    "given": "the quorum was given",
    "path": "this point of the quorum path was asked for",
    "n_groups": "that many were asked for",
    "pool": "the agreement of the sources alone decided how many",
    "points": "the valleys of density between the points decided how many",
    "links": "the links of the network decided how many",
    "models": "the number of false alarms decided how many",
}
"""What decided how fine the groups are, in plain words."""


def sentence_of(consensus: Consensus, tested: bool = True) -> str:
    """What was found and what was decided, in one or two sentences of plain words.

    Whether the sources agree beyond chance is left out where that is not `tested`: it looks at all distinct rows.
    """
    settings, number = consensus.settings, len(consensus)
    left = int((consensus.labels < 0).sum())
    of_data = consensus.extraction.get("front", {}).get("said")
    if consensus.extraction.get("origin") == "no structure":
        return (
            f"No groups that chance does not explain: all {consensus.labels.size:,} elements are one group "
            f"(decided by the {settings.get('evidence', 'pool')}{f'; {of_data}' if of_data else ''})."
        )
    alone = "1 element is in no group" if left == 1 else f"{left:,} elements are in no group"
    if settings.get("chosen_by") == "models":  # their sources are samples of points, which nobody has heard of
        models = "1 model" if number == 1 else f"{number:,} models"
        return f"{models}; {DECIDED_BY['models']}; {alone if left else 'every element is in a group'}."
    groups = "1 group" if number == 1 else f"{number:,} groups"
    decided = DECIDED_BY[settings.get("chosen_by", "given")]
    if settings.get("chosen_by") == "n_groups" and settings.get("n_groups") != number:
        decided = f"{settings.get('n_groups'):,} were asked for, which the pool does not have"
    said = [f"{groups} at quorum {settings.get('quorum', 0.5):.3g}; {decided}"]
    others = [str(other["n_groups"]) for other in consensus.extraction.get("alternatives", [])]
    if others:
        numbers = "number was" if len(others) == 1 else "numbers were"
        said.append(f"the next best {numbers} {', '.join(others)}")
    elements, sources = settings.get("min_elements"), settings.get("min_candidates")
    smallest, fewest = _least(consensus) if settings.get("chosen_by") == "n_groups" else (np.inf, np.inf)
    needed = [f"{elements} elements"] if smallest >= int(elements or 0) else []
    # where the data decided, base results could be chosen as they are, however many sources are behind their groups
    if settings.get("chosen_by") not in ("points", "links") and fewest >= int(sources or 0):
        needed.append(f"{sources} of {len(consensus.pool.sources):,} sources")
    if needed:
        said.append(f"a group needs {' and '.join(needed)}")
    if tested and number and _none_is_confirmed(consensus):
        said.append("the test of agreement (level 0.05) confirms none of them: chance may explain them")
    silent = consensus.extraction.get("silent", 0) + len(consensus.pool.left_out)
    if silent:
        what = "1 candidate that is empty or holds" if silent == 1 else f"{silent:,} candidates that are empty or hold"
        said.append(f"{what} nearly everything did not vote")
    said.append(alone if left else "every element is in a group")
    return "; ".join([*said, *([of_data] if of_data else [])]) + "."


def _least(consensus: Consensus) -> tuple[float, float]:
    """Elements of the smallest group, and sources behind the group of the fewest: a wanted number takes such, too."""
    sizes = consensus.membership.sum(axis=0)
    behind = [np.unique(consensus.pool.source_of[own]).size for own in consensus.candidates]
    return float(min(sizes, default=np.inf)), float(min(behind, default=np.inf))


def _none_is_confirmed(consensus: Consensus) -> bool:
    """Whether several sources, of which nothing but their labels is known, agree on no group beyond chance."""
    settings = consensus.settings
    labels_alone = settings.get("evidence", "agreement") == "agreement" and not settings.get("overlap")
    several = labels_alone and len(consensus.pool.sources) > 1
    return several and bool(consensus.significance.min() > np.log10(LEVEL))


def element_columns(consensus: Consensus, group: str = "label") -> dict[str, Any]:
    """Columns of a table of the elements: group, confidence (where groups cannot overlap) and backing."""
    sure = {} if consensus.settings.get("overlap") else {"confidence": consensus.confidence().elements}
    return {group: consensus.labels, **sure, "backing": consensus.backing}


def write_elements(consensus: Consensus, path: Path, more: Mapping[str, Any], escape: bool = False) -> None:
    """Write a table with one line an element: id, group, confidence, backing and whatever else is given."""
    group, *numbers = element_columns(consensus, "group").items()
    ids = np.arange(consensus.labels.size) if consensus.pool.ids is None else consensus.pool.ids
    rounded = {name: np.round(values, DIGITS) for name, values in numbers}
    write_table(path, {group[0]: group[1], **rounded, **more}, ids=ids, escape=escape)


def frame_of(consensus: Consensus) -> pd.DataFrame:
    """The columns of the elements under the user's own ids."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError.of("pandas", "tables") from error
    index = None if consensus.pool.ids is None else pd.Index(consensus.pool.ids, name="id")
    return pd.DataFrame(element_columns(consensus), index=index)


def arrow_of(consensus: Consensus) -> pa.Table:
    """The columns of the elements, with their ids where there are any."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "tables") from error
    columns = {name: pa.array(values) for name, values in element_columns(consensus).items()}
    return pa.table(columns if consensus.pool.ids is None else {"id": pa.array(consensus.pool.ids), **columns})


def chance_text(log_chance: float) -> str:
    """A chance, given by its base-10 logarithm, for people to read.

    Examples
    --------
    >>> chance_text(-0.1), chance_text(-3.3), chance_text(-250.0), chance_text(1.0)
    ('0.79', '5e-04', '< 1e-99', '10')
    """
    if log_chance < -99:
        return "< 1e-99"
    chance = 10.0 ** min(log_chance, 300.0)
    return f"{chance:.2g}" if chance >= 0.001 else f"{chance:.0e}"


def table_of(consensus: Consensus) -> str:
    """Small HTML table of the groups."""
    sizes = np.bincount(consensus.labels[consensus.labels >= 0], minlength=len(consensus))
    overlap = bool(consensus.settings.get("overlap"))
    sure = None if overlap else consensus.confidence().groups
    # of overlapping groups from labels the chance takes a search of its own for each
    chance = None if overlap and consensus.evidence is None else consensus.significance
    rows = "".join(
        f"<tr><td>{t}</td><td>{sizes[t]}</td>{'' if sure is None else f'<td>{sure[t]:.2f}</td>'}"
        f"{'' if chance is None else f'<td>{as_text(chance_text(float(chance[t])))}</td>'}<td>{group.size}</td>"
        f"<td>{consensus.backing[consensus.labels == t].mean() if sizes[t] else 0.0:.2f}</td></tr>"
        for t, group in enumerate(consensus.candidates[:MOST_ROWS])
    )
    names = ["group", "elements", *([] if sure is None else ["confidence"]), *([] if chance is None else ["chance"])]
    names += ["candidates", "mean backing"]
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"
    return f"<p>{as_text(sentence_of(consensus))}</p><table>{head}{rows}</table>"
