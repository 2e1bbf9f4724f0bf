"""Sets by name, from the table and from a folder; fetched sets are those of the folder."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from biconsensus import datasets
from biconsensus.errors import UnknownNameError
from tests.helpers.data import needs_data
from tests.helpers.web import Repositories


@pytest.mark.parametrize(
    ("load", "name", "near"),
    [
        (datasets.load_uci, "irs", "iris"),
        (datasets.load_network, "footbal", "football"),
        (datasets.load_jlinkage, "PozzoVegiani", "PozzoVeggiani"),
        (datasets.load_benchmark, "fcps/atoms", "fcps/atom"),
        (datasets.load_cells, "coin", "coins"),
        (datasets.names_of, "networks", "network"),
        (datasets.fetch, "networks", "network"),
    ],
)
def test_unknown_names_list_the_valid_ones(cache, load, name, near):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{near}'"):
        load(name)


def test_names_need_no_file(cache):
    assert len(datasets.names_of("hopkins155")) == 155
    assert datasets.names_of("ensemble_pool") == ["Caltech20", "IS", "MF", "SPF", "Semeion", "VS"]
    assert "fcps/atom" in datasets.names_of("benchmark")
    assert not cache.exists()


LOADS = {
    "benchmark": lambda: datasets.load_benchmark("sipu/flame", labels=1),
    "cells": lambda: datasets.load_cells("nuclei"),
    "ensemble_pool": lambda: datasets.load_ensemble_pool("VS"),
    "facebook100": lambda: datasets.load_facebook100("Reed98").info,
    "hopkins155": lambda: datasets.load_hopkins155("1R2RC"),
    "jlinkage": lambda: datasets.load_jlinkage("D"),
    "network": lambda: datasets.load_network("football").labels,
    "self_tuning": lambda: datasets.load_self_tuning("smiley"),
    "single_cell": lambda: datasets.load_single_cell(),
    "uci": lambda: datasets.load_uci("glass"),
    "york_urban_detected": lambda: datasets.load_york_urban("P1080091", segments="detected", truth="plus"),
}


@needs_data
@pytest.mark.parametrize("name", LOADS)
def test_what_is_fetched_is_what_the_folder_has(data, cache, monkeypatch, name):
    monkeypatch.setenv("BICONSENSUS_DATA", str(data))
    here = LOADS[name]()
    monkeypatch.delenv("BICONSENSUS_DATA")
    with Repositories.of_folder(data) as server:
        monkeypatch.setenv("BICONSENSUS_DATA_URL", server.address)
        fetched = LOADS[name]()
        assert 1 <= len(server.asked) <= 4, "only what the name needs"
    for one, other in zip(here, fetched, strict=True):
        np.testing.assert_array_equal(one, other)


@needs_data
def test_a_whole_set_is_fetched_at_once(data, cache, monkeypatch):
    with Repositories.of_folder(data) as server:
        monkeypatch.setenv("BICONSENSUS_DATA_URL", server.address)
        paths = datasets.fetch("network")
        assert len(paths) == len(server.asked) == 8
    assert datasets.load_network("karate_club").adjacency.shape == (34, 34)


@needs_data
def test_york_urban_with_and_without_its_image(data, tmp_path, monkeypatch):
    folder = tmp_path / "york_urban"
    (folder / "lines_noimg").mkdir(parents=True)
    shutil.copytree(data / "york_urban" / "YorkUrbanDB", folder / "YorkUrbanDB")
    # one file is at hand as published, with the photograph in it
    published = data / "york_urban" / "YorkUrbanDB" / "P1020171LinesAndVP.mat"
    assert "finalImg" in loadmat(published)
    shutil.copy(published, folder / "lines_noimg")
    found = []
    for place in (data, tmp_path):
        monkeypatch.setenv("BICONSENSUS_DATA", str(place))
        found.append(datasets.load_york_urban("P1020171"))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@needs_data
def test_adelaidermf_with_and_without_its_images(data, tmp_path, monkeypatch):
    plain = {key: value for key, value in loadmat(data / "adelaidermf" / "book.mat").items() if key[0] != "_"}
    (tmp_path / "adelaidermf").mkdir()
    images = {"img1": np.zeros((20, 30, 3), np.uint8), "img2": np.zeros((20, 30, 3), np.uint8)}
    savemat(tmp_path / "adelaidermf" / "book.mat", plain | images)
    found = []
    for place in (data, tmp_path):
        monkeypatch.setenv("BICONSENSUS_DATA", str(place))
        found.append(datasets.load_adelaidermf("book"))
    np.testing.assert_array_equal(found[0].X, found[1].X)
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
