"""The third front: elements, many sampled models, those that the elements agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.fitting._estimator import propose_threshold

__all__ = [
    "propose_threshold",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "propose_threshold": "biconsensus.fitting._estimator",
    },
)
