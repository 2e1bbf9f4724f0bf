"""The folder of the user: errors that say what to do."""

from __future__ import annotations

import pytest

from biconsensus import datasets
from biconsensus.errors import MissingDataError


def test_missing_folder_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(MissingDataError, match="set the environment variable BICONSENSUS_DATA"):
        datasets.load_uci("iris")
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"JLinkageExamples\.mat is missing; set BICONSENSUS_DATA"):
        datasets.load_jlinkage("A")
    with pytest.raises(MissingDataError, match="no file of the data set 'network'"):
        datasets.names_of("network")


def test_a_folder_may_have_more_than_the_table(monkeypatch, tmp_path):
    (tmp_path / "self_tuning").mkdir()
    (tmp_path / "self_tuning" / "mine.csv").write_text("1,2\n3,4\n")
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path))
    assert datasets.names_of("self_tuning") == ["mine"]
    assert datasets.load_self_tuning("mine").X.shape == (2, 2)
