"""What the paper compares with, and what users know, under one signature.

``f(pool, n_groups=None, *, random_state=None, **own)`` returns (m,) labels, -1 for elements in no group. A pool may be
anything that `Pool.from_labels` takes. `audit` says whether the answer of a method depends on the order of its input.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from biconsensus._lazy import lazy_names
from biconsensus.errors import UnknownNameError

CONSENSUS = {
    "campigotto": "biconsensus.baselines._campigotto:campigotto",
    "clique": "biconsensus.baselines._clique:clique",
    "coassociation": "biconsensus.baselines._coassociation:coassociation",
    "ec_cms": "biconsensus.baselines._ec_cms:ec_cms",
    "ecg": "biconsensus.baselines._ecg:ecg",
    "evidence_accumulation": "biconsensus.baselines._evidence_accumulation:evidence_accumulation",
    "fast_consensus": "biconsensus.baselines._fast_consensus:fast_consensus",
    "hbgf": "biconsensus.baselines._hbgf:hbgf",
    "iterated_consensus": "biconsensus.baselines._iterated_consensus:iterated_consensus",
    "jlinkage": "biconsensus.baselines._jlinkage:jlinkage",
    "kmeans_matrix": "biconsensus.baselines._kmeans_matrix:kmeans_matrix",
    "leiden_matrix": "biconsensus.baselines._louvain_matrix:leiden_matrix",
    "louvain_matrix": "biconsensus.baselines._louvain_matrix:louvain_matrix",
    "lwea": "biconsensus.baselines._lwea:lwea",
    "lwgp": "biconsensus.baselines._lwea:lwgp",
    "mcla": "biconsensus.baselines._mcla:mcla",
    "nwca": "biconsensus.baselines._lwea:nwca",
    "snmf": "biconsensus.baselines._snmf:snmf",
    "spectral": "biconsensus.baselines._spectral:spectral",
    "usenc": "biconsensus.baselines._usenc:usenc",
}
"""Name of each consensus baseline and where it is; imported when asked for."""


def get_baseline(name: str) -> Callable[..., Any]:
    """Find a baseline by name.

    Parameters
    ----------
    name : str
        One of the keys of `CONSENSUS`.

    Returns
    -------
    callable
        ``f(pool, n_groups=None, *, random_state=None, **own)``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    >>> get_baseline("evidence_accumulation")(pool, 2)
    array([0, 0, 1, 1])
    """
    if name not in CONSENSUS:
        raise UnknownNameError.of("baseline", name, CONSENSUS)
    module, _, function = CONSENSUS[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


__all__ = ["CONSENSUS", "Audit", "audit", "fitting", "get_baseline", *CONSENSUS]

# ``baselines.snmf(pool, 3)`` works without importing everything
__getattr__, __dir__ = lazy_names(
    __name__,
    {name: place.partition(":")[0] for name, place in CONSENSUS.items()}
    | {
        "Audit": "biconsensus.baselines._audit",
        "CONSENSUS": __name__,
        "audit": "biconsensus.baselines._audit",
        "fitting": None,
        "get_baseline": __name__,
    },
)
