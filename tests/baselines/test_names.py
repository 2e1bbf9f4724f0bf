"""Baselines by name: the function, whatever was imported before."""

import sys

import pytest

from biconsensus import baselines
from biconsensus.errors import UnknownNameError


@pytest.mark.parametrize("name", sorted(baselines.CONSENSUS))
def test_a_name_is_the_function_before_and_after_its_file_is_imported(name):
    first = getattr(baselines, name)
    assert callable(first)
    file = baselines.CONSENSUS[name].partition(":")[0]
    assert file in sys.modules
    assert getattr(baselines, name) is first is baselines.get_baseline(name)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'snmf'"):
        baselines.get_baseline("snfm")
    with pytest.raises(AttributeError, match="no attribute 'snfm'"):
        baselines.snfm  # noqa: B018
