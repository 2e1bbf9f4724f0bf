"""Several answers if the sources form several camps: one consensus for each camp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

__all__ = ["Mode", "Modes", "SharedGroup"]

if TYPE_CHECKING:
    from biconsensus.modes._modes import Mode, Modes, SharedGroup

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "biconsensus.modes._modes"))
