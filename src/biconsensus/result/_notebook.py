"""Tables of a consensus for people: its elements as a data frame, its groups as notebooks show them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from biconsensus.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd

    from biconsensus.result._consensus import Consensus

MOST_ROWS = 50
"""Groups that are listed, the largest gains first."""


def frame_of(consensus: Consensus) -> pd.DataFrame:
    """Label and backing of the elements under the user's own ids."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError.of("pandas", "tables") from error
    index = None if consensus.pool.ids is None else pd.Index(consensus.pool.ids, name="id")
    return pd.DataFrame({"label": consensus.labels, "backing": consensus.backing}, index=index)


def table_of(consensus: Consensus) -> str:
    """Small HTML table of the groups."""
    sizes = np.bincount(consensus.labels[consensus.labels >= 0], minlength=len(consensus))
    rows = "".join(
        f"<tr><td>{t}</td><td>{sizes[t]}</td><td>{group.size}</td><td>{consensus.gains[t]:.4g}</td>"
        f"<td>{consensus.backing[consensus.labels == t].mean() if sizes[t] else 0.0:.2f}</td></tr>"
        for t, group in enumerate(consensus.candidates[:MOST_ROWS])
    )
    head = "<tr><th>group</th><th>elements</th><th>candidates</th><th>gain</th><th>mean backing</th></tr>"
    return f"<p>{escape(repr(consensus))}</p><table>{head}{rows}</table>"
