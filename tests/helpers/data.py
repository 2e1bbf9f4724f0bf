"""Tests that need the data sets."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus import datasets


def _present() -> bool:
    try:
        return datasets.data_dir().is_dir()
    except FileNotFoundError:
        return False


needs_data = pytest.mark.skipif(not _present(), reason="BICONSENSUS_DATA names no folder")


def sizes(labels):
    return sorted(np.unique(labels, return_counts=True)[1].tolist())
