"""A consensus for people: one sentence, its elements as a data frame, its groups as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape as as_text
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus._checks import need
from biconsensus._words import counted
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
    decided_by, of_data = consensus.settings.get("chosen_by"), consensus.extraction.get("front", {}).get("said")
    if consensus.extraction.get("origin") == "no structure":
        return _no_groups(consensus, of_data)
    if decided_by == "models":  # their sources are samples of points, which mean nothing to a reader
        return f"{counted(len(consensus), 'model')}; {DECIDED_BY['models']}; {_left_over(consensus)}."
    parts = [
        _found_and_decided(consensus),
        _next_best(consensus),
        _needed_by_a_group(consensus),
        _not_confirmed(consensus) if tested else None,
        _without_a_vote(consensus),
        _left_over(consensus),
        of_data,
    ]
    return "; ".join(part for part in parts if part) + "."


def _no_groups(consensus: Consensus, of_data: str | None) -> str:
    """That chance explains all groups, and how many the sources would have."""
    data = consensus.settings.get("evidence", "pool")
    said = [
        f"No groups that chance does not explain: all {consensus.labels.size:,} elements are one group "
        f"(decided by the {data}{f'; {of_data}' if of_data else ''})."
    ]
    numbers = [other["n_groups"] for other in consensus.extraction.get("alternatives", [])]
    said += [
        f"Without the {data}, the sources agree best on {n} groups; n_groups={n} gives that number." for n in numbers
    ]
    return " ".join(said)


def _found_and_decided(consensus: Consensus) -> str:
    """How many groups there are, at which quorum, and what decided that."""
    settings, number = consensus.settings, len(consensus)
    chosen_by, wanted = settings.get("chosen_by", "given"), settings.get("n_groups")
    decided = f"; {DECIDED_BY[chosen_by]}"
    if chosen_by == "n_groups" and wanted != number:
        decided = f"; {wanted:,} were asked for, which the pool does not have"
    elif not number and chosen_by == "pool":
        decided = ""
    return f"{counted(number, 'group')} at quorum {settings.get('quorum', 0.5):.3g}{decided}"


def _next_best(consensus: Consensus) -> str | None:
    """The numbers of groups for which the data says most after the one that was chosen."""
    others = [str(other["n_groups"]) for other in consensus.extraction.get("alternatives", [])]
    if not others:
        return None
    return f"the next best {'number was' if len(others) == 1 else 'numbers were'} {', '.join(others)}"


def _needed_by_a_group(consensus: Consensus) -> str | None:
    """The minimum sizes, as far as every group has them: a number of groups that is wanted takes smaller ones, too."""
    settings = consensus.settings
    chosen_by, elements = settings.get("chosen_by"), int(settings.get("min_elements") or 0)
    sources = int(settings.get("min_candidates") or 0)
    smallest, fewest = _least(consensus) if chosen_by == "n_groups" else (np.inf, np.inf)
    # a user who writes find_consensus(labels, 4) may mean four groups
    by_user = chosen_by == "pool" and "min_elements" in consensus.asked
    given = f" (min_elements={elements})" if by_user else ""
    needed = [f"{counted(elements, 'element')}{given}"] if smallest >= elements else []
    # where the data decides, a base result can be chosen unchanged, however few sources are behind its groups
    if chosen_by not in ("points", "links") and fewest >= sources:
        needed.append(f"{sources} of {counted(len(consensus.pool.sources), 'source')}")
    return f"a group needs {' and '.join(needed)}" if needed else None


def _least(consensus: Consensus) -> tuple[float, float]:
    """Elements of the smallest group, and the fewest sources behind any group."""
    sizes = consensus.membership.sum(axis=0)
    behind = [np.unique(consensus.pool.source_of[own]).size for own in consensus.candidates]
    return float(min(sizes, default=np.inf)), float(min(behind, default=np.inf))


def _not_confirmed(consensus: Consensus) -> str | None:
    """That several sources, of which nothing but their labels is known, agree on no group beyond chance."""
    settings, number = consensus.settings, len(consensus)
    labels_alone = settings.get("evidence", "agreement") == "agreement" and not settings.get("overlap")
    if not (number and labels_alone and len(consensus.pool.sources) > 1):
        return None
    if consensus.significance.min() <= np.log10(LEVEL):
        return None
    one, several = "does not confirm it: chance may explain it", "confirms none of them: chance may explain them"
    return f"the test of agreement (level {LEVEL}) {one if number == 1 else several}"


def _without_a_vote(consensus: Consensus) -> str | None:
    """How many candidates did not vote, and why."""
    silent = consensus.extraction.get("silent", 0) + len(consensus.pool.left_out)
    why = "it is empty or holds" if silent == 1 else "they are empty or hold"
    return f"{counted(silent, 'input group')} did not vote, because {why} nearly everything" if silent else None


def _left_over(consensus: Consensus) -> str:
    """How many elements are in no group."""
    left = int((consensus.labels < 0).sum())
    if not left:
        return "every element is in a group"
    return f"{counted(left, 'element')} {'is' if left == 1 else 'are'} in no group"


def note_on_chances(consensus: Consensus) -> str | None:
    """The note below a table of groups of which each may be chance by itself; only if the data decided."""
    decided = consensus.settings.get("chosen_by")
    if decided not in ("points", "links") or len(consensus) < 2 or consensus.significance.min() <= np.log10(LEVEL):
        return None
    return f"No group is beyond chance by itself (below {LEVEL}): the {decided} speak for the groups together."


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
    pd = need("pandas", "tables")
    index = None if consensus.pool.ids is None else pd.Index(consensus.pool.ids, name="id")
    return pd.DataFrame(element_columns(consensus), index=index)


def arrow_of(consensus: Consensus) -> pa.Table:
    """The columns of the elements, with their ids where there are any."""
    pa = need("pyarrow", "tables")
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


def group_columns(consensus: Consensus, most: int, chance: bool = True) -> dict[str, list[str]]:
    """The first groups as text, column by column: the table of notebooks and of terminals.

    Overlapping groups have no confidence, which is defined for disjoint ones.
    """
    shown, overlap = range(min(len(consensus), most)), bool(consensus.settings.get("overlap"))
    sizes = np.asarray(consensus.membership.sum(axis=0), np.int64)
    inside = np.flatnonzero(consensus.labels >= 0)
    labelled, summed = (
        np.bincount(consensus.labels[inside], each, minlength=len(consensus))
        for each in (None, consensus.backing[inside])
    )
    source_of, behind = consensus.pool.source_of, consensus.candidates
    columns = {"group": [f"{t:,}" for t in shown], "elements": [f"{sizes[t]:,}" for t in shown]}
    if not overlap:
        sure = consensus.confidence().groups
        columns["confidence"] = [f"{sure[t]:.2f}" for t in shown]
    if chance:
        columns["chance"] = [chance_text(float(consensus.significance[t])) for t in shown]
    columns["sources"] = [f"{np.unique(source_of[behind[t]]).size:,}" for t in shown]
    columns["candidates"] = [f"{behind[t].size:,}" for t in shown]
    columns["backing"] = [f"{summed[t] / max(labelled[t], 1):.2f}" for t in shown]
    return columns


def are_shown(consensus: Consensus) -> bool:
    """Whether there are groups to list: one that stands for "no groups" would have a confidence like any other."""
    return len(consensus) > 0 and consensus.extraction.get("origin") != "no structure"


def table_of(consensus: Consensus) -> str:
    """The sentence and, where there are groups, a small HTML table of them."""
    said = f"<p>{as_text(sentence_of(consensus))}</p>"
    if not are_shown(consensus):
        return said
    # of overlapping groups from labels the chance takes a search of its own for each
    quick = not consensus.settings.get("overlap") or consensus.evidence is not None
    columns = group_columns(consensus, MOST_ROWS, chance=quick)
    head = "".join(f"<th>{name}</th>" for name in columns)
    rows = "".join(f"<tr>{''.join(f'<td>{as_text(cell)}</td>' for cell in row)}</tr>" for row in zip(*columns.values()))
    more = f"<p>the first {MOST_ROWS} of {len(consensus):,} groups</p>" if len(consensus) > MOST_ROWS else ""
    note = note_on_chances(consensus) if quick else None
    below = "" if note is None else f"<p>{as_text(note)}</p>"
    return f"{said}<table><tr>{head}</tr>{rows}</table>{more}{below}"
