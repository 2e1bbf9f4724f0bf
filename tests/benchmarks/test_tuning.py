"""The scripts that constants were read from, on a few pools: what they call must be there."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

pools = importlib.import_module("benchmarks.tuning.pools")


@pytest.fixture
def one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    X, truth = make_blobs(120, centers=3, cluster_std=0.5, random_state=1)
    table = pools._k_means(X, truth, "mixtures", 0)
    case = pools._shuffled("mixtures", "mixture 0", table, truth, 0)
    for name in ("choice", "certainty", "given_number"):
        script = importlib.import_module(f"benchmarks.tuning.{name}")
        monkeypatch.setattr(script, "tuning_pools", lambda n_draws, every: iter([case]))


@pytest.mark.usefixtures("one_pool")
@pytest.mark.parametrize("name", ["choice", "certainty", "given_number"])
def test_script_prints_a_table_of_all_rules(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    script: Any = importlib.import_module(f"benchmarks.tuning.{name}")
    script.main(1, 1)
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert len(lines) >= 8
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_halves_share_no_data_set_and_rows_are_shuffled() -> None:
    names = [f"mixture {k}" for k in range(16)]
    halves = {pools.TuningPool("mixtures", name, np.zeros(0), np.zeros(0)).half for name in names}
    assert halves == {"chosen on", "looked at"}
    truth = np.repeat([0, 1], 50)
    case = pools._shuffled("mixtures", "mixture 0", truth[:, None], truth, 0)
    assert (case.table[:, 0] == case.truth).all()
    assert np.flatnonzero(np.diff(case.truth)).size > 5
