"""Fitting: many models are sampled from the elements, and those on which the elements agree are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.fitting._describe import Extent
    from biconsensus.fitting._settings import Nfa, Sampling
    from biconsensus.fitting._threshold import propose_threshold

__all__ = [
    "Extent",
    "Nfa",
    "Sampling",
    "propose_threshold",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Extent": "biconsensus.fitting._describe",
        "Nfa": "biconsensus.fitting._settings",
        "Sampling": "biconsensus.fitting._settings",
        "propose_threshold": "biconsensus.fitting._threshold",
    },
)
