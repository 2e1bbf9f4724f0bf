"""Where base results come from: runs of clusterers, subspace clusterings, community detections, sampled models."""

from __future__ import annotations
