"""Where the time of a default consensus goes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_contenders import touch_memory

STAGES = {
    "distinct rows": ("biconsensus.pool._pool", "Pool.from_labels"),
    "sample": ("biconsensus.matrix._condensed", "Condensed.of"),
    "weights": ("biconsensus.quorum._score", "PathScorer.of"),
    "path": ("biconsensus.quorum._path", "point_at"),
    "majority": ("biconsensus.find", "_blocks_at"),
    "finish": ("biconsensus.quorum._path", "QuorumPath.finish"),
}
"""Stages, and the function that does each of them; what is left of the whole is "the rest"."""


def time_stages(path: Path) -> dict[str, float]:
    """Processor seconds of each stage of one consensus of a table, after a small one that warms everything up."""
    import importlib

    import biconsensus as bc

    table, spent = np.array(np.load(path, mmap_mode="r")), dict.fromkeys(STAGES, 0.0)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return function(*given, **named)
            finally:
                spent[name] += time.process_time() - started

        return call

    bc.find_consensus(table[:2000])
    touch_memory(table)
    for name, (module, place) in STAGES.items():
        *inside, last = place.split(".")
        owner = importlib.import_module(module)
        for part in inside:
            owner = getattr(owner, part)
        own = vars(owner)[last]
        is_class = isinstance(own, classmethod)
        replaced = timed(name, own.__func__ if is_class else own)
        setattr(owner, last, classmethod(replaced) if is_class else replaced)
    started = time.process_time()
    found = bc.find_consensus(table)
    found.labels  # noqa: B018, made when first asked for
    whole = time.process_time() - started
    return {**spent, "the rest": whole - sum(spent.values()), "whole": whole, "rows": found.pool.rows.shape[0]}


if __name__ == "__main__" and len(sys.argv) == 2:
    print(json.dumps(time_stages(Path(sys.argv[1]))))
