"""The groups that many groupings agree on.

Give it many groupings of the same things; it returns the groups they agree on: how many there are, who belongs, who is
an outlier, and which inputs back each group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

__version__ = "0.2.0"

__all__ = [
    "Bicluster",
    "BiclusterConsensus",
    "Consensus",
    "ConsensusClustering",
    "ConsensusCommunities",
    "MultiModelFitter",
    "Pool",
    "PreferenceMatrix",
    "Provenance",
    "Runs",
    "Search",
    "baselines",
    "datasets",
    "errors",
    "find_consensus",
    "find_modes",
    "metrics",
    "pl",
    "plots",
    "tl",
]

if TYPE_CHECKING:
    from biconsensus import baselines, datasets, errors, metrics, pl, plots, tl
    from biconsensus.clustering._bicluster import BiclusterConsensus
    from biconsensus.clustering._estimator import ConsensusClustering
    from biconsensus.communities._estimator import ConsensusCommunities
    from biconsensus.find import Search, find_consensus
    from biconsensus.fitting._estimator import MultiModelFitter
    from biconsensus.matrix._matrix import PreferenceMatrix
    from biconsensus.modes._modes import find_modes
    from biconsensus.pool._build import Provenance
    from biconsensus.pool._pool import Pool
    from biconsensus.result._consensus import Bicluster, Consensus
    from biconsensus.sources._running import Runs

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Bicluster": "biconsensus.result._consensus",
        "BiclusterConsensus": "biconsensus.clustering._bicluster",
        "Consensus": "biconsensus.result._consensus",
        "ConsensusClustering": "biconsensus.clustering._estimator",
        "ConsensusCommunities": "biconsensus.communities._estimator",
        "MultiModelFitter": "biconsensus.fitting._estimator",
        "Pool": "biconsensus.pool._pool",
        "PreferenceMatrix": "biconsensus.matrix._matrix",
        "Provenance": "biconsensus.pool._build",
        "Runs": "biconsensus.sources._running",
        "Search": "biconsensus.find",
        "find_consensus": "biconsensus.find",
        "find_modes": "biconsensus.modes._modes",
        "baselines": None,
        "datasets": None,
        "errors": None,
        "metrics": None,
        "pl": None,
        "plots": None,
        "tl": None,
    },
)
