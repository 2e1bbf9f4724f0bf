"""The next question: the pair of elements whose answer by a person would settle most, and what answers change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

__all__ = ["Question"]

if TYPE_CHECKING:
    from biconsensus.questions._questions import Question

__getattr__, __dir__ = lazy_names(__name__, {"Question": "biconsensus.questions._questions"})
