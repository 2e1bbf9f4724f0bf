"""The table of files: complete, well formed, and true of the files that come with the package."""

from __future__ import annotations

import hashlib
import re

import pytest

from biconsensus.datasets._sets import SETS
from biconsensus.datasets._table import PACKAGED, table
from tests.helpers.data import needs_data


def test_every_row_is_well_formed():
    assert len(table()) == 753
    for file in table().values():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", file.repository)
        assert re.fullmatch(r"[0-9a-f]{40}", file.commit)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert re.fullmatch(r"[\w./-]+", file.path), "an address needs no quoting"
        assert ".." not in file.path + file.file
        assert file.size > 0
        assert file.dataset in SETS


def test_every_file_belongs_to_a_set_and_every_set_is_complete(monkeypatch):
    monkeypatch.delenv("BICONSENSUS_DATA", raising=False)
    used = {file for dataset in SETS.values() for file in dataset.all_files()}
    assert used == set(table())
    assert {name: len(dataset.names()) for name, dataset in SETS.items()} == {
        "adelaidermf": 19,
        "benchmark": 41,
        "cells": 2,
        "ensemble_pool": 6,
        "facebook100": 3,
        "hopkins155": 156,
        "jlinkage": 13,
        "network": 6,
        "self_tuning": 6,
        "single_cell": 1,
        "uci": 7,
        "york_urban": 102,
        "york_urban_detected": 29,
    }


def test_packaged_files_are_those_of_the_table():
    files = [path for path in PACKAGED.rglob("*") if path.is_file() and path.name != "README.txt"]
    assert len(files) == 4
    for path in files:
        known = table()[path.relative_to(PACKAGED).as_posix()]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == known.sha256
        assert path.stat().st_size == known.size
        assert path.name in (PACKAGED / "README.txt").read_text(), "its terms are stated"


@needs_data
@pytest.mark.parametrize("name", [name for name in SETS if name not in ("adelaidermf", "york_urban")])
def test_a_local_folder_has_the_same_files(data, name):
    for file in SETS[name].all_files():
        assert hashlib.sha256((data / file).read_bytes()).hexdigest() == table()[file].sha256
