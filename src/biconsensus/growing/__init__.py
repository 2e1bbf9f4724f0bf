"""A pool that grows: the answer after more sources or more elements, and whether more would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

__all__ = ["Convergence"]

if TYPE_CHECKING:
    from biconsensus.growing._convergence import Convergence

__getattr__, __dir__ = lazy_names(__name__, {"Convergence": "biconsensus.growing._convergence"})
