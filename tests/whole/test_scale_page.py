"""The code of the page about size runs, and gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import biconsensus as bc

ROOT = Path(__file__).resolve().parents[2]


def test_code_of_the_page(tmp_path, monkeypatch):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    table = np.where(rng.random((300, 6)) < 0.1, rng.integers(0, 3, (300, 6)), truth[:, None])
    (tmp_path / "labels").mkdir()
    for k, part in enumerate(np.split(np.arange(300), 3)):
        columns = {"id": part} | {f"c{j}": table[part, j] for j in range(6)}
        parquet.write_table(pa.table(columns), tmp_path / "labels" / f"{k}.parquet")
    local, spread = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scale.md").read_text(), re.DOTALL)[:2]
    names = {"bc": bc, "client": None}
    exec(local, names)
    labels = bc.find_consensus(table).labels
    assert (names["consensus"].labels == labels).all()
    assert parquet.read_table("groups.parquet")["label"].to_pylist() == labels.tolist()
    assert parquet.read_table("groups.parquet")["id"].to_pylist() == list(range(300))
    exec(spread.replace('"labels/"', '"labels/", columns=[f"c{j}" for j in range(6)]'), names)
    assert (names["consensus"].labels.compute() == labels).all()
    assert (names["consensus"].gather().labels == labels).all()
    assert names["consensus"].to_frame().compute().shape == (300, 3)
