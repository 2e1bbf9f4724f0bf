"""Where the data sets are, and what is in each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biconsensus.errors import UnknownNameError
from biconsensus.protocols import IntArray

VARIABLE = "BICONSENSUS_DATA"

FILES = {
    "adelaidermf": ("adelaidermf", "*.mat"),
    "benchmark": ("clustering_data_v1", "*/*.data.gz"),
    "ensemble_pool": ("ensemble_pools", "bc_pool_*.mat"),
    "facebook100": ("facebook100", "*.mat"),
    "hopkins155": ("hopkins155", "*_truth.mat"),
    "network": ("networks", "*.gml"),
    "self_tuning": ("self_tuning", "*.csv"),
    "york_urban": ("york_urban/lines_noimg", "*LinesAndVP.mat"),
    "york_urban_detected": ("york_urban/yud_plus/lines", "*.txt"),
}
"""Folder and pattern of the files of each set that has one file for each name."""

AFFIXES = ("bc_pool_", "_truth", "LinesAndVP", ".data.gz")


def data_dir() -> Path:
    """Folder of the data sets.

    Returns
    -------
    pathlib.Path
        What the environment variable ``BICONSENSUS_DATA`` names, else ``../shared/data`` beside a source checkout.

    Raises
    ------
    FileNotFoundError
        Where there is no such folder; the message says what to set.

    Examples
    --------
    >>> import tempfile
    >>> from unittest import mock
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"BICONSENSUS_DATA": folder}):
    ...     data_dir() == Path(folder)
    True
    """
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if folder.is_dir():
        return folder
    raise FileNotFoundError(
        f"there is no folder of data sets at {folder}; set the environment variable {VARIABLE} to the folder that "
        f"holds jlinkage/, uci/, networks/ and the others."
    )


def names_of(dataset: str) -> list[str]:
    """Names that the loader of a set takes.

    Parameters
    ----------
    dataset : str
        Such as "network", "benchmark" or "hopkins155": the part of the loader's name after ``load_``.

    Returns
    -------
    list of str
        In order; Hopkins 155 without the sequence "dancing", which is not one of the 155.

    Examples
    --------
    >>> names_of("network")  # doctest: +SKIP
    ['dolphins', 'football', 'footballTSEinput', 'karate_club', 'lesmis', 'polbooks']
    """
    return sorted(set(_files(dataset)) - ({"dancing"} if dataset == "hopkins155" else set()))


def file_of(dataset: str, name: str) -> Path:
    """The file of one name of a set, or an error with the valid names."""
    files = _files(dataset)
    if name not in files:
        raise UnknownNameError.of(f"{dataset} data set", name, files)
    return files[name]


def existing(*parts: str) -> Path:
    """A file below the data folder, or an error that says what is missing."""
    path = data_dir().joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; set {VARIABLE} to a folder of data sets that has it.")
    return path


def matlab(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file."""
    from scipy.io import loadmat

    variables: dict[str, Any] = loadmat(path)
    return variables


def codes(values: ArrayLike) -> IntArray:
    """Labels from 0 in the order of the sorted values."""
    return np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int64)


def _files(dataset: str) -> dict[str, Path]:
    """The files of a set by name."""
    if dataset not in FILES:
        raise UnknownNameError.of("data set", dataset, FILES)
    folder, pattern = FILES[dataset]
    return {_name(path, dataset): path for path in sorted(existing(folder).glob(pattern))}


def _name(path: Path, dataset: str) -> str:
    """Name of a set from its file: no affixes; with the collection in front where there are several."""
    name = path.name
    for affix in AFFIXES:
        name = name.replace(affix, "")
    name = name.removesuffix(path.suffix)
    return f"{path.parent.name}/{name}" if dataset == "benchmark" else name
