"""The folder of the data: errors that say what to do."""

from __future__ import annotations

import pytest

from biconsensus import datasets
from biconsensus.errors import UnknownNameError
from tests.helpers.data import needs_data


def test_missing_folder_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="set the environment variable BICONSENSUS_DATA"):
        datasets.load_uci("iris")
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"JLinkageExamples\.mat is missing; set BICONSENSUS_DATA"):
        datasets.load_jlinkage("A")


@needs_data
@pytest.mark.parametrize(
    ("load", "name", "near"),
    [
        (datasets.load_uci, "irs", "iris"),
        (datasets.load_network, "footbal", "football"),
        (datasets.load_jlinkage, "PozzoVegiani", "PozzoVeggiani"),
        (datasets.load_benchmark, "fcps/atoms", "fcps/atom"),
        (datasets.names_of, "networks", "network"),
    ],
)
def test_unknown_names_list_the_valid_ones(load, name, near):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{near}'"):
        load(name)
