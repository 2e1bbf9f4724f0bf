"""The public data sets of the experiments, by name.

Files are fetched when they are first used, from their public repositories at a fixed commit, checked by their SHA-256
and kept in the user's cache (``pip install 'biconsensus[datasets]'`` brings pooch, which does it); four small ones come
with the package. Environment variables: ``BICONSENSUS_DATA`` names a folder that has the files already, and then
nothing is fetched; ``BICONSENSUS_CACHE`` names another folder for the cache; ``BICONSENSUS_DATA_URL`` the address of a
mirror. Every loader returns NumPy arrays, truth as integer labels with -1 for outliers and noise; `names_of` lists what
a loader takes, `fetch` gets a whole set beforehand. Cite the authors of what you use: the page "Data sets" has them.
"""

from biconsensus.datasets._folder import data_dir
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
from biconsensus.datasets._sets import fetch, names_of
from biconsensus.datasets._vision import (
    Correspondences,
    Picture,
    Segments,
    load_adelaidermf,
    load_cells,
    load_hopkins155,
    load_york_urban,
)

__all__ = [
    "Correspondences",
    "EnsemblePool",
    "Labelled",
    "Network",
    "Picture",
    "School",
    "Segments",
    "data_dir",
    "fetch",
    "load_adelaidermf",
    "load_benchmark",
    "load_cells",
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
__dir__ = __all__.copy  # what dir() shows
