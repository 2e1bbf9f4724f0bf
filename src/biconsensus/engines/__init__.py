"""Where the heavy passes run: on this machine, chunk by chunk, or on a Dask cluster.

`_chunks` reads what is larger than memory, `_coder` turns chunks of labels into rows, `_compressed` holds distinct rows
with their numbers of elements and adds them up, `_local` and `_dask` put it together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.engines._features import cluster_distributed
    from biconsensus.engines._gathering import DaskConsensus
    from biconsensus.engines._local import pool_from_stream
    from biconsensus.engines._output import labels_in_chunks, write_labels

__all__ = [
    "DaskConsensus",
    "cluster_distributed",
    "labels_in_chunks",
    "pool_from_stream",
    "write_labels",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DaskConsensus": "biconsensus.engines._gathering",
        "cluster_distributed": "biconsensus.engines._features",
        "labels_in_chunks": "biconsensus.engines._output",
        "pool_from_stream": "biconsensus.engines._local",
        "write_labels": "biconsensus.engines._output",
    },
)
