"""What several loaders do with a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biconsensus.protocols import IntArray


def matlab(path: Path, *names: str) -> dict[str, Any]:
    """Variables of a MATLAB file: those named, so that images beside them are not read."""
    from scipy.io import loadmat

    with warnings.catch_warnings():
        # SciPy 1.18 announces sparse arrays in place of matrices; both are read alike here
        warnings.simplefilter("ignore", DeprecationWarning)
        variables: dict[str, Any] = loadmat(path, variable_names=names)
    return variables


def codes(values: ArrayLike) -> IntArray:
    """Labels from 0 in the order of the sorted values."""
    return np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int64)
