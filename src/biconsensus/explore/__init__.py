"""The explorer: the report on this machine with the engine behind it, to move a consensus and to question it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

__all__ = ["Explorer", "explore"]

if TYPE_CHECKING:
    from biconsensus.explore._handle import Explorer, explore

__getattr__, __dir__ = lazy_names(
    __name__, {"Explorer": "biconsensus.explore._handle", "explore": "biconsensus.explore._handle"}
)
