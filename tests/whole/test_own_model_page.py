"""The page on own models says what is true: its code runs and finds both parabolas."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "own_model.md"


def test_the_code_of_the_page_runs_and_finds_both_parabolas(capsys):
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    body = code[0].split("class Parabola", 1)[1].splitlines()
    assert len([line for line in body if line.strip()]) <= 17
    names: dict[str, object] = {}
    exec("\n".join(code), names)
    fitter = names["fitter"]
    expected = np.array([[0.5, 0, -1], [-0.8, 0, 1.5]])
    found = fitter.params_[np.argsort(-fitter.params_[:, 0])]
    np.testing.assert_allclose(found, expected, atol=0.02)
    truth = np.repeat([0, 1], 80)
    assert (
        np.mean(np.argmin(np.abs(fitter.params_[fitter.labels_[:160]][:, 0, None] - expected[:, 0]), 1) == truth) > 0.9
    )
    assert "[" in capsys.readouterr().out
