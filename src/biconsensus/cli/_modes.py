"""The command `biconsensus modes`: the camps of a table of groupings."""

from __future__ import annotations

import json

from biconsensus._words import counted
from biconsensus.cli import _options as opt
from biconsensus.cli._output import Output


def modes(
    labels: opt.LabelFile,
    header: opt.Header = None,
    id_column: opt.Id = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    out: opt.Out = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
) -> None:
    """Groupings that do not agree: find the camps among them, and an answer for each.

    Groupings that agree with each other form a camp. The consensus of one camp is called a mode. `--out` writes one
    column for each mode, with the group of every element.
    """
    import numpy as np

    from biconsensus.cli._listing import show
    from biconsensus.cli._tables import input_name, label_pool
    from biconsensus.find import Search
    from biconsensus.modes._modes import find_modes
    from biconsensus.pool.io import write_table

    output = Output("modes", labels, out, as_json=as_json, quiet=quiet, escape=escape)
    with output.working(f"reading {input_name(labels)}"):
        pool, _ = label_pool(labels, opt.reading(header, id_column, columns, drop, None), jobs, output)
    with output.working(
        f"finding the modes of {counted(len(pool.sources), 'grouping')} of {counted(pool.shape[0], 'element')}"
    ):
        found = find_modes(pool, Search(n_jobs=jobs))
    names = [source.name for source in pool.sources]
    if out is not None:
        ids = np.arange(pool.shape[0]) if pool.ids is None else pool.ids
        write_table(out, {f"mode {k}": mode.labels for k, mode in enumerate(found)}, ids=ids, escape=escape)
    if as_json:
        each = [
            {"sources": [names[s] for s in mode.sources], "groups": len(mode), "explained": round(mode.explained, 6)}
            for mode in found
        ]
        agreement = np.round(found.agreement, 6).tolist()
        print(json.dumps({"summary": found.summary, "modes": each, "agreement": agreement}, indent=2))
    elif not quiet:
        shares = [[f"{share:.0%}" for share in line] for line in found.explains]
        rows = [
            (name, "none" if own < 0 else str(own), *line) for own, line, name in zip(found.source_modes, shares, names)
        ]
        show(("source", "mode", *(f"explained by mode {k}" for k in range(len(found)))), rows)
        print(found.summary)
    output.show_notes()
