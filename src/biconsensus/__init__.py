"""The groups that many groupings agree on.

Give it many groupings of the same things; it returns the groups they agree on: how many there are, who belongs, who is
an outlier, and which inputs back each group.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

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
    "anndata",
    "baselines",
    "datasets",
    "errors",
    "find_consensus",
    "metrics",
    "plots",
]

_LAZY = {
    "Bicluster": "biconsensus.core.consensus",
    "BiclusterConsensus": "biconsensus.estimators.bicluster",
    "Consensus": "biconsensus.core.consensus",
    "ConsensusClustering": "biconsensus.estimators.clustering",
    "ConsensusCommunities": "biconsensus.estimators.communities",
    "MultiModelFitter": "biconsensus.estimators.fitting",
    "Pool": "biconsensus.core.pool",
    "PreferenceMatrix": "biconsensus.core.preference",
    "Provenance": "biconsensus.core.build",
    "find_consensus": "biconsensus.find",
}
_MODULES = ("anndata", "baselines", "datasets", "errors", "metrics", "plots")

if TYPE_CHECKING:
    from biconsensus import anndata, baselines, datasets, errors, metrics, plots
    from biconsensus.core.build import Provenance
    from biconsensus.core.consensus import Bicluster, Consensus
    from biconsensus.core.pool import Pool
    from biconsensus.core.preference import PreferenceMatrix
    from biconsensus.estimators.bicluster import BiclusterConsensus
    from biconsensus.estimators.clustering import ConsensusClustering
    from biconsensus.estimators.communities import ConsensusCommunities
    from biconsensus.estimators.fitting import MultiModelFitter
    from biconsensus.find import find_consensus


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `import biconsensus` stays quick."""
    if name in _LAZY:
        value = getattr(import_module(_LAZY[name]), name)
    elif name in _MODULES:
        value = import_module(f"biconsensus.{name}")
    else:
        raise AttributeError(f"module 'biconsensus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names."""
    return sorted([*globals(), *__all__])
