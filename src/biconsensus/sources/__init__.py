"""Where base results come from: runs of clusterers, subspace clusterings, community detections, sampled models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.sources._images import line_segments
    from biconsensus.sources._sampling import detection_probability, samples_needed
    from biconsensus.sources._spectral import GaussianSpectralClustering
    from biconsensus.sources._subspace import SparseSubspaceClustering

__all__ = [
    "GaussianSpectralClustering",
    "SparseSubspaceClustering",
    "detection_probability",
    "line_segments",
    "samples_needed",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "GaussianSpectralClustering": "biconsensus.sources._spectral",
        "SparseSubspaceClustering": "biconsensus.sources._subspace",
        "detection_probability": "biconsensus.sources._sampling",
        "line_segments": "biconsensus.sources._images",
        "samples_needed": "biconsensus.sources._sampling",
    },
)
