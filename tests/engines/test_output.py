"""Labels written in chunks are those of the consensus, in the same order, with the user's ids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biconsensus.engines import _chunks as chunks
from biconsensus.engines import _output as output
from biconsensus.engines._output import labels_in_chunks, write_labels
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.find import find_consensus
from biconsensus.pool._pool import Pool
from tests.helpers.strategies import paper_consensus


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 500)
    return np.where(rng.random((500, 6)) < 0.15, rng.integers(-1, 4, (500, 6)), truth[:, None])


@pytest.mark.parametrize(
    "options",
    [{}, {"unassigned": "nearest"}, {"overlap": True}, {"together": [[0, 1, 2], [7, 9]]}, {"quorum": 0.6}],
)
def test_chunks_are_the_labels(table, options):
    found = find_consensus(table, **options)
    assert found.labels.max() >= 3
    for size in (1, 77, 1000):
        assert (np.concatenate(list(labels_in_chunks(found, size))) == found.labels).all()


@pytest.mark.parametrize("ending", [".npy", ".parquet"])
def test_files_hold_the_labels(table, tmp_path, monkeypatch, ending):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(chunks, "ROWS", 64)
    ids = np.array([f"e{k}" for k in range(500)])
    found = paper_consensus(Pool.from_labels(table, ids=ids))
    path = tmp_path / f"out{ending}"
    write_labels(found, path, name="group")
    if ending == ".npy":
        assert (np.load(path) == found.labels).all()
        return
    read = parquet.read_table(path)
    assert read.column_names == ["id", "group"]
    assert read["id"].to_pylist() == ids.tolist()
    assert read["group"].to_pylist() == found.labels.tolist()


def test_ids_come_from_the_source_in_its_own_chunks(table, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "in"
    source.mkdir()
    key = np.arange(500) * 10
    for k, part in enumerate(np.array_split(np.arange(500), 3)):
        columns = {f"c{j}": table[part, j] for j in range(6)}
        parquet.write_table(pa.table({"key": key[part], **columns}), source / f"{k}.parquet")
    monkeypatch.setattr(output, "ROWS", 64)
    found = paper_consensus(table)
    write_labels(found, tmp_path / "out.parquet", source, "key")
    read = parquet.read_table(tmp_path / "out.parquet")
    assert read["key"].to_pylist() == key.tolist()
    assert read["label"].to_pylist() == found.labels.tolist()
    for wrong, word in ((table[:400], "more"), (np.concatenate([table, table]), "fewer")):
        with pytest.raises(InputError, match=f"there are {word} identifiers than the"):
            write_labels(paper_consensus(wrong), tmp_path / "out.parquet", source, "key")
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 500
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out.parquet"]


def test_unknown_ending(table, tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown ending '\.parqet'"):
        write_labels(paper_consensus(table), tmp_path / "out.parqet")


def test_labels_of_a_changed_pool_are_not_mixed_up(table):
    found = paper_consensus(table)
    moved = replace(found, row_of=found.row_of[::-1])
    assert (np.concatenate(list(labels_in_chunks(moved, 50))) == moved.labels).all()
    placed = replace(found, placed=np.arange(500) % 3)  # as data may say, elements of one row apart
    assert (np.concatenate(list(labels_in_chunks(placed, 50))) == placed.labels).all()
