"""From fine to coarse: the groups at every quorum, and the choice among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.quorum._confidence import Confidence, confidence
    from biconsensus.quorum._path import QuorumPath

__all__ = [
    "Confidence",
    "QuorumPath",
    "confidence",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Confidence": "biconsensus.quorum._confidence",
        "QuorumPath": "biconsensus.quorum._path",
        "confidence": "biconsensus.quorum._confidence",
    },
)
