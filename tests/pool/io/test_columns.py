"""Cells as labels and as numbers."""

from __future__ import annotations

import pytest

from biconsensus.errors import FileFormatError
from biconsensus.pool.io import read_points
from tests.helpers.files import written


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "the cell is empty"),
        ("abc", "'abc' is no finite number"),
        ("nan", "'nan'"),
        ("inf", "'inf'"),
        ("1;2", "semicolon"),
    ],
)
def test_cells_that_are_no_numbers_have_line_and_column(tmp_path, cell, message):
    with pytest.raises(FileFormatError, match=rf"line 4, column 2 \(y\): .*{message}"):
        read_points(written(tmp_path, f"x,y\n1,2\n3,4\n5,{cell}\n"))
