"""Tests that need the data sets."""

from __future__ import annotations

import numpy as np
import pytest

needs_data = pytest.mark.usefixtures("data")


def sizes(labels):
    return sorted(np.unique(labels, return_counts=True)[1].tolist())
