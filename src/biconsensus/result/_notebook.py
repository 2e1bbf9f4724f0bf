"""A consensus for people: one sentence, its elements as a data frame, its groups as notebooks show them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from biconsensus.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from biconsensus.result._consensus import Consensus

MOST_ROWS = 50
"""Groups that are listed, the largest gains first."""


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


def sentence_of(consensus: Consensus) -> str:
    """What was found and what was decided, in one or two sentences of plain words."""
    settings, number = consensus.settings, len(consensus)
    left = int((consensus.labels < 0).sum())
    if consensus.extraction.get("origin") == "no structure":
        return (
            f"No groups that chance does not explain: all {consensus.labels.size:,} elements are one group "
            f"(decided by the {settings.get('evidence', 'pool')})."
        )
    groups = "1 group" if number == 1 else f"{number:,} groups"
    said = [f"{groups} at quorum {settings.get('quorum', 0.5):.3g}; {DECIDED_BY[settings.get('chosen_by', 'given')]}"]
    others = [str(other["n_groups"]) for other in consensus.extraction.get("alternatives", [])]
    if others:
        said.append(f"the next best numbers were {', '.join(others)}")
    said.append(
        f"a group needs {settings.get('min_elements')} elements and {settings.get('min_candidates')} of "
        f"{len(consensus.pool.sources):,} sources"
    )
    silent = consensus.extraction.get("silent", 0) + len(consensus.pool.left_out)
    if silent:
        what = "1 candidate that is empty or holds" if silent == 1 else f"{silent:,} candidates that are empty or hold"
        said.append(f"{what} nearly everything did not vote")
    said.append(f"{left:,} elements are in no group" if left else "every element is in a group")
    return "; ".join(said) + "."


def frame_of(consensus: Consensus) -> pd.DataFrame:
    """Label and backing of the elements under the user's own ids."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError.of("pandas", "tables") from error
    index = None if consensus.pool.ids is None else pd.Index(consensus.pool.ids, name="id")
    return pd.DataFrame({"label": consensus.labels, "backing": consensus.backing}, index=index)


def arrow_of(consensus: Consensus) -> pa.Table:
    """Label and backing of the elements, with their ids where there are any."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "tables") from error
    columns = {"label": pa.array(consensus.labels), "backing": pa.array(consensus.backing)}
    return pa.table(columns if consensus.pool.ids is None else {"id": pa.array(consensus.pool.ids), **columns})


def table_of(consensus: Consensus) -> str:
    """Small HTML table of the groups."""
    sizes = np.bincount(consensus.labels[consensus.labels >= 0], minlength=len(consensus))
    rows = "".join(
        f"<tr><td>{t}</td><td>{sizes[t]}</td><td>{group.size}</td><td>{consensus.gains[t]:.4g}</td>"
        f"<td>{consensus.backing[consensus.labels == t].mean() if sizes[t] else 0.0:.2f}</td></tr>"
        for t, group in enumerate(consensus.candidates[:MOST_ROWS])
    )
    head = "<tr><th>group</th><th>elements</th><th>candidates</th><th>gain</th><th>mean backing</th></tr>"
    return f"<p>{escape(sentence_of(consensus))}</p><table>{head}{rows}</table>"
