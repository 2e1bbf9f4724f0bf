"""Loaders for the public data sets of the experiments; the files themselves are not part of the package.

The folder is named by the environment variable ``BICONSENSUS_DATA``; in a source checkout ``../shared/data`` beside
the repository serves too. Every loader returns NumPy arrays, truth as integer labels with -1 for outliers and noise;
`names_of` lists what a loader takes.
"""

from biconsensus.datasets._folder import data_dir, names_of
from biconsensus.datasets._networks import Network, School, load_facebook100, load_network
from biconsensus.datasets._points import (
    EnsemblePool,
    Labelled,
    load_benchmark,
    load_ensemble_pool,
    load_jlinkage,
    load_self_tuning,
    load_single_cell,
    load_uci,
)
from biconsensus.datasets._vision import (
    Correspondences,
    Segments,
    load_adelaidermf,
    load_hopkins155,
    load_york_urban,
)

__all__ = [
    "Correspondences",
    "EnsemblePool",
    "Labelled",
    "Network",
    "School",
    "Segments",
    "data_dir",
    "load_adelaidermf",
    "load_benchmark",
    "load_ensemble_pool",
    "load_facebook100",
    "load_hopkins155",
    "load_jlinkage",
    "load_network",
    "load_self_tuning",
    "load_single_cell",
    "load_uci",
    "load_york_urban",
    "names_of",
]
