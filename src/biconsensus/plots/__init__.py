"""Pictures of a consensus with matplotlib: each function takes a result and returns the Axes.

The numbers behind a picture are separate from its drawing: `matrix_image`, `group_numbers`, `source_numbers`,
`backing_histogram` and `least_certain` give them without matplotlib.
"""

from __future__ import annotations

from biconsensus.plots._bases import base_scores, source_labels
from biconsensus.plots._convergence import convergence
from biconsensus.plots._domain import models, network, residuals, scatter
from biconsensus.plots._groups import backing, group_sizes, scores, sources
from biconsensus.plots._matrix import MatrixImage, matrix_image
from biconsensus.plots._matrix_display import PreferenceMatrixDisplay, preference_matrix
from biconsensus.plots._modes import mode_groups, modes
from biconsensus.plots._numbers import (
    GroupNumbers,
    SourceNumbers,
    backing_histogram,
    group_numbers,
    least_certain,
    source_numbers,
)
from biconsensus.plots._palette import color_of, marker_of
from biconsensus.plots._path import PathRibbons, path_ribbons, quorum_path

__all__ = [
    "GroupNumbers",
    "MatrixImage",
    "PathRibbons",
    "PreferenceMatrixDisplay",
    "SourceNumbers",
    "backing",
    "backing_histogram",
    "base_scores",
    "color_of",
    "convergence",
    "group_numbers",
    "group_sizes",
    "least_certain",
    "marker_of",
    "matrix_image",
    "mode_groups",
    "models",
    "modes",
    "network",
    "path_ribbons",
    "preference_matrix",
    "quorum_path",
    "residuals",
    "scatter",
    "scores",
    "source_labels",
    "source_numbers",
    "sources",
]
__dir__ = __all__.copy  # what dir() shows
