"""The sets of the experiments: what each holds, and which files belong to which name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from biconsensus.datasets._folder import VARIABLE, local_folder, matching, path_of, paths_of
from biconsensus.datasets._table import table
from biconsensus.errors import MissingDataError, UnknownNameError

MODELS = {
    "Star5_S00075_O50": 5,
    "Star5_S00075_O75": 5,
    "Star11_S00075_O50": 11,
    "Circles5_S00075_O50": 5,
    "Stairs4_S00075_O60": 4,
    "Star5_S00075_O0": 5,
    "Star5_S0015_O0": 5,
    "Star5_S0_O5": 5,
    "Star11_S00075_O0": 11,
    "Star5_S0015_O50": 5,
    "Stairs_S0015_060": 4,
    "PozzoVeggiani": 0,
    "CastelVecchio": 0,
}
"""Number of true models of each J-linkage set, of fifty points each; the rest are outliers."""


@dataclass(frozen=True)
class DataSet:
    """One set: its files either follow patterns with the name in them, or are listed by name."""

    title: str
    """What it is, in a few words."""
    patterns: tuple[str, ...] = ()
    """Files of one name; the first pattern also tells which names there are."""
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files by name, where the files are not called like the name."""
    shared: tuple[str, ...] = ()
    """Files that every name needs."""
    notes: tuple[str, ...] = ()
    """Descriptions by the source: they come with the whole set."""
    any_name: str = "*"
    """What a name looks like."""
    left_out: tuple[str, ...] = ()
    """Names with a file that are not part of the set."""

    def names(self) -> list[str]:
        """Names with a file, in order; those left out are still there for who asks for them."""
        if self.listed:
            return sorted(self.listed)
        first = self.patterns[0]
        place = re.compile(re.escape(first).replace(re.escape("{name}"), "(.+)"))
        found = [place.fullmatch(file) for file in matching(first.replace("{name}", self.any_name))]
        return sorted(match[1] for match in found if match)

    def files(self, name: str) -> list[str]:
        """Files that one name needs, its own first."""
        patterns = [*self.listed.get(name, ()), *(each.replace("{name}", name) for each in self.patterns), *self.shared]
        return list(dict.fromkeys(file for pattern in patterns for file in _expanded(pattern)))

    def all_files(self) -> list[str]:
        """Files of the whole set."""
        found = [file for name in self.names() for file in self.files(name)]
        return list(dict.fromkeys([*found, *(file for note in self.notes for file in matching(note))]))


YORK_TRUTH = (
    "york_urban/YorkUrbanDB/{name}GroundTruthVP_CamParams.mat",
    "york_urban/YorkUrbanDB/{name}GroundTruthVP_Orthogonal_CamParams.mat",
    "york_urban/yud_plus/vps/{name}GroundTruthVP_CamParams.mat",
)
YORK_CAMERA = "york_urban/YorkUrbanDB/cameraParameters.mat"

SETS = {
    "adelaidermf": DataSet("point matches between two images, 19 pairs", ("adelaidermf/{name}.mat",)),
    "benchmark": DataSet(
        "labelled points, 41 sets of the clustering benchmark of Gagolewski",
        ("clustering_data_v1/{name}.data.gz", "clustering_data_v1/{name}.labels[0-9].gz"),
        notes=("clustering_data_v1/README.md", "clustering_data_v1/*/README.txt"),
        any_name="*/*",
    ),
    "cells": DataSet(
        "a photograph of coins, a micrograph of nuclei with its mask",
        listed={"coins": ("cells/coins.png",), "nuclei": ("cells/img2d.tif", "cells/mask2d.tif")},
    ),
    "ensemble_pool": DataSet(
        "pools of 100 base clusterings by Huang et al., 6 sets", ("ensemble_pools/bc_pool_{name}.mat",)
    ),
    "facebook100": DataSet("friendships at three schools", ("facebook100/{name}.mat",)),
    "hopkins155": DataSet(
        "point trajectories of moving objects, 155 sequences",
        ("hopkins155/{name}_truth.mat",),
        left_out=("dancing",),  # five motions: not one of the 155
    ),
    "jlinkage": DataSet(
        "lines, circles and planes among outliers",
        listed=dict.fromkeys(MODELS, ("jlinkage/JLinkageExamples.mat",)),
    ),
    "network": DataSet(
        "small networks: football, political books, karate club and others",
        ("networks/{name}.gml",),
        notes=("networks/*.txt", "networks/*.dat"),
    ),
    "self_tuning": DataSet("plane sets of self-tuning spectral clustering, 6 sets", ("self_tuning/{name}.csv",)),
    "single_cell": DataSet("expression of 20214 genes in 90 cells", listed={"yan": ("single_cell/yan.rda",)}),
    "uci": DataSet(
        "seven tables of the UCI repository",
        listed={
            "breast": ("uci/breast-cancer-wisconsin.data",),
            "glass": ("uci/glass.data",),
            "iris": ("uci/iris.csv",),
            "wine": ("uci/wine.csv",),
            "ecoli": ("uci/ecoli.data",),
            "segment": ("uci/segment.arff",),
            "vehicle": ("uci/vehicle.arff",),
        },
        notes=("uci/*.names",),
    ),
    "york_urban": DataSet(
        "line segments drawn by hand in 102 photographs, with vanishing points",
        ("york_urban/lines_noimg/{name}LinesAndVP.mat", *YORK_TRUTH),
        shared=(YORK_CAMERA,),
        notes=("york_urban/YorkUrbanDB/*.mat",),
    ),
    "york_urban_detected": DataSet(
        "line segments of a detector in 29 of these photographs",
        ("york_urban/yud_plus/lines/{name}.txt", *YORK_TRUTH),
        shared=(YORK_CAMERA,),
    ),
}
"""Every set by the part of its loader's name after ``load_``."""


def names_of(dataset: str) -> list[str]:
    """Names that the loader of a set takes.

    Parameters
    ----------
    dataset : str
        Such as "network", "benchmark" or "hopkins155": the part of the loader's name after ``load_``.

    Returns
    -------
    list of str
        In order; Hopkins 155 without the sequence "dancing", which is not one of the 155. Where the environment
        variable ``BICONSENSUS_DATA`` names a folder, the names that have a file there.

    Examples
    --------
    >>> names_of("network")
    ['dolphins', 'football', 'footballTSEinput', 'karate_club', 'lesmis', 'polbooks']
    """
    found = set_of(dataset)
    return [name for name in _present(dataset) if name not in found.left_out]


def fetch(dataset: str, name: str | None = None) -> list[Path]:
    """Fetch a set, or one name of it, into the cache.

    Loaders fetch what they need by themselves; this is for a machine that will be offline later.

    Parameters
    ----------
    dataset : str
        Such as "network"; see ``names_of``.
    name : str, optional
        One name of the set; the whole set without it.

    Returns
    -------
    list of pathlib.Path
        The files: in the folder that ``BICONSENSUS_DATA`` names, in the package, or in the cache.

    Raises
    ------
    MissingDataError
        Where a file is not here and cannot be fetched; the message says how to get it.

    Examples
    --------
    >>> [path.name for path in fetch("uci", "iris")]
    ['iris.csv']
    """
    return paths_of(set_of(dataset).all_files() if name is None else files_of(dataset, name))


def set_of(dataset: str) -> DataSet:
    """A set by name, or an error with the valid names."""
    if dataset not in SETS:
        raise UnknownNameError.of("data set", dataset, SETS)
    return SETS[dataset]


def files_of(dataset: str, name: str) -> list[str]:
    """Files of one name of a set, its own first, or an error with the valid names."""
    names = _present(dataset)
    if name not in names:
        raise UnknownNameError.of(f"{dataset} data set", name, names)
    return set_of(dataset).files(name)


def file_of(dataset: str, name: str) -> Path:
    """The first file of one name of a set as a path, fetched where it is not here."""
    return path_of(files_of(dataset, name)[0])


def size_of(file: str) -> int:
    """Bytes of a file as published; 0 for a file that only the user's folder has."""
    return table()[file].size if file in table() else 0


def _present(dataset: str) -> list[str]:
    """Names of a set; a user's folder without any of its files is an error that says so."""
    names = set_of(dataset).names()
    if not names:
        raise MissingDataError(
            f"no file of the data set {dataset!r} is in {local_folder()}; set {VARIABLE} to a folder that has it, or "
            f"unset it to have the files fetched.",
            dataset,
        )
    return names


def _expanded(pattern: str) -> list[str]:
    """Files that match a pattern; a plain path is itself, so that one that is missing is noticed."""
    return matching(pattern) if set(pattern) & set("*[") else [pattern]
