"""The HTML report: one self-contained file that opens offline, quick also for a million elements."""

from __future__ import annotations

from biconsensus.report._page import render_report, write_report
from biconsensus.report._views import FittedModels

__all__ = ["FittedModels", "render_report", "write_report"]
__dir__ = __all__.copy  # what dir() shows
