"""Streams give what the whole table gives, in any form, any chunks and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biconsensus.engines._chunks import is_streamed, open_chunks
from biconsensus.engines._compressed import merge_compressed
from biconsensus.engines._local import compress_stream, pool_from_stream
from biconsensus.errors import FileFormatError, InputError, InputTypeError, PoolWarning, UnknownNameError
from biconsensus.find import find_consensus
from biconsensus.pool import _rows as rows_module
from biconsensus.pool._pool import Pool
from tests.helpers.noisy_tables import noisy
from tests.helpers.strategies import examples


def same_pool(a, b):
    """Whether two pools are equal in everything that a solver or a user sees."""
    assert a.shape == b.shape
    assert a.names == b.names
    assert a.sources == b.sources
    assert (a.source_of == b.source_of).all()
    assert (a.inverse == b.inverse).all()
    assert (a.counts == b.counts).all()
    assert (a.rows != b.rows).nnz == 0
    assert (a.unseen is None) == (b.unseen is None)
    if a.unseen is not None:
        assert (a.unseen != b.unseen).nnz == 0
    return True


@pytest.fixture
def small_segments(monkeypatch):
    """Segments and blocks so small that a small table has many of them."""
    monkeypatch.setattr(rows_module, "SEGMENT", 97)
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 800)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("cuts", [[], [1000], [1, 2, 1500, 2999]])
def test_chunks_give_the_pool_of_the_whole(small_segments, n_jobs, cuts):
    table = noisy()
    chunks = np.split(table, cuts)
    assert same_pool(pool_from_stream(iter(chunks), n_jobs=n_jobs), Pool.from_labels(table))


def test_chunks_may_widen_and_gaps_may_appear_late(small_segments):
    table = noisy().astype(np.int64)
    table[2500:, 0] += 1000
    table[2990:, 1] = 2**40
    absent = np.zeros(table.shape, bool)
    absent[1500:, 2] = np.arange(1500) % 3 == 0
    masked = np.ma.MaskedArray(table, absent)
    narrow = np.ma.MaskedArray(table[:1500].astype(np.int8), absent[:1500])
    parts = [{f"source {k}": part[:, k] for k in range(6)} for part in (narrow, masked[1500:2500], masked[2500:])]
    expected = Pool.from_labels([masked[:, k] for k in range(6)])
    assert same_pool(pool_from_stream(iter(parts)), expected)
    assert expected.unseen is not None


labels = st.one_of(st.none(), st.integers(-1, 3), st.sampled_from(["a", "b", "-", "<x>"]), st.sampled_from([0.5, 2.5]))


@examples(60)
@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=30), st.integers(1, 29))
def test_labels_of_any_type_in_any_chunks(rows, cut):
    columns = {f"c{k}": np.array([*[row[k] for row in rows], None], dtype=object)[:-1] for k in range(2)}
    if not any(v is not None and v != -1 for column in columns.values() for v in column):
        return
    chunks = [{n: c[:cut] for n, c in columns.items()}, {n: c[cut:] for n, c in columns.items()}]
    chunks = [chunk for chunk in chunks if chunk["c0"].size]
    assert same_pool(pool_from_stream(iter(chunks)), Pool.from_labels(columns, columns=list(columns)))
    parts = [compress_stream([chunk]) for chunk in chunks]
    merged, (whole, where) = merge_compressed(part for part, _ in parts), compress_stream(chunks)
    assert (merged.counts == whole.counts).all()
    assert (np.concatenate([merged.places_of(part)[rows] for part, rows in parts]) == where).all()
    assert same_pool(merged.pool(where), Pool.from_labels(columns, columns=list(columns)))


def test_missing_code():
    table = np.array([[0, 9], [0, 1], [9, 1], [0, 1]])
    assert same_pool(pool_from_stream(iter([table[:1], table[1:]]), missing=9), Pool.from_labels(table, missing=9))


def test_places_of_the_rows_of_a_part():
    table = noisy(200)
    found, where = compress_stream([table])
    for dtype in (table.dtype, np.int64):
        part, rows = compress_stream([table[50:].astype(dtype)])
        assert (found.places_of(part)[rows] == where[50:]).all()
    strange, _ = compress_stream([np.array([[77] * 6, [2**40] * 6])])
    assert found.places_of(strange).tolist() == [-1, -1]
    assert found.n_elements == 200


# -- files and frames -----------------------------------------------------------------------------------------------
def frames(table):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {f"c{k}": np.ascontiguousarray(table[:, k]) for k in range(table.shape[1])}
    arrow = pa.table(columns)
    return {
        "arrow": arrow,
        "batches": arrow.to_batches(max_chunksize=700),
        "reader": arrow.to_reader(max_chunksize=700),
        "polars": pl.DataFrame(columns),
        "lazy": pl.LazyFrame(columns),
        "pandas": iter([pd.DataFrame(columns)[:100], pd.DataFrame(columns)[100:].reset_index(drop=True)]),
    }


@pytest.mark.parametrize("form", ["arrow", "batches", "reader", "polars", "lazy", "pandas"])
def test_frames(form):
    pytest.importorskip("pyarrow")
    table = noisy()
    expected = Pool.from_labels({f"c{k}": table[:, k] for k in range(6)})
    assert same_pool(pool_from_stream(frames(table)[form]), expected)


def test_npy_file_and_memory_map(tmp_path):
    table = noisy(dtype=np.int8)
    np.save(tmp_path / "t.npy", table)
    before = (tmp_path / "t.npy").read_bytes()
    expected = Pool.from_labels(table)
    assert same_pool(pool_from_stream(tmp_path / "t.npy"), expected)
    assert same_pool(pool_from_stream(np.load(tmp_path / "t.npy", mmap_mode="r")), expected)
    assert (tmp_path / "t.npy").read_bytes() == before


def test_parquet_file_and_folder_with_ids(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = noisy()
    ids = np.array([f"e{k}" for k in range(len(table))])
    columns = {f"c{k}": table[:, k] for k in range(6)}
    whole = pa.table({"key": ids, **columns})
    parquet.write_table(whole, tmp_path / "t.parquet", row_group_size=500)
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, start in enumerate(range(0, 3000, 750)):
        parquet.write_table(whole.slice(start, 750), folder / f"part-{k}.parquet")
    for source in (tmp_path / "t.parquet", str(folder)):
        pool = pool_from_stream(source, id_column="key")
        assert same_pool(pool, Pool.from_labels(columns, columns=list(columns)))
        assert (pool.ids == ids).all()
    assert same_pool(pool_from_stream(whole, id_column="key"), Pool.from_labels(columns, columns=list(columns)))
    with pytest.raises(UnknownNameError, match=r"unknown id column 'kye'\. Did you mean 'key'"):
        pool_from_stream(tmp_path / "t.parquet", id_column="kye")


def test_a_written_answer_is_one_grouping_in_a_file_and_in_memory(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    answer = find_consensus([[0, 0, 0, 0, 1, 1, 1, 1]] * 3).to_arrow()
    parquet.write_table(answer, tmp_path / "answer.parquet")
    with pytest.warns(PoolWarning, match=r"answer\.parquet: left out .* 'confidence', 'backing'"):
        assert pool_from_stream(tmp_path / "answer.parquet").shape == (8, 2)
    with pytest.warns(
        PoolWarning, match=r"labels: left out .* 'confidence', 'backing'; give only the columns that vote"
    ):
        assert pool_from_stream(answer).shape == (8, 2)


@pytest.mark.parametrize("kind", ["parquet", "dataset", "arrow", "reader", "polars", "lazy"])
def test_the_rules_of_files_hold_for_every_table_with_names(kind, tmp_path):
    pl, parquet = pytest.importorskip("polars"), pytest.importorskip("pyarrow.parquet")
    dataset = pytest.importorskip("pyarrow.dataset")
    kept = [f"sample {k}" for k in range(12)]
    frame = pl.DataFrame({"a": [0, 1] * 6, "sample": kept, "number": range(12), "truth": [1, 0, 0] * 4})
    table = frame.to_arrow()
    parquet.write_table(table, tmp_path / "t.parquet")
    source = {
        "parquet": tmp_path / "t.parquet",
        "dataset": dataset.dataset(tmp_path / "t.parquet"),
        "arrow": table,
        "reader": table.to_reader(max_chunksize=7),
        "polars": frame,
        "lazy": frame.lazy(),
    }[kind]
    with pytest.warns(PoolWarning) as said:
        pool = pool_from_stream(source)
    assert pool.names == ("a: 0", "a: 1")
    assert (pool.ids is None) if kind == "reader" else (pool.ids.tolist() == kept)
    assert pool.shape == (12, 2)
    assert [str(one.message).partition(": ")[2].partition(";")[0] for one in said] == [
        "column 'truth' was taken as the truth, for scores only",
        "column 'sample' is different in every row and was taken as the ids",
        "left out because every row has a value of its own, as ids have: 'number'",
    ]


def test_an_id_column_and_a_written_index_are_no_labels(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [1, 1, 1]}, index=["x", "y", "z"])
    frame.to_parquet(tmp_path / "t.parquet")
    named = pl.DataFrame({"id": ["x", "y", "z"], "a": [0, 0, 1], "b": [1, 1, 1]})
    for source in (tmp_path / "t.parquet", named, named.to_arrow()):
        pool = pool_from_stream(source)
        assert pool.names == ("a: 0", "a: 1", "b: 1")
        assert pool.ids.tolist() == ["x", "y", "z"]


def test_csv_goes_through_its_reader(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\nx,0,u\ny,,u\nz,1,v\n")
    pool = pool_from_stream(tmp_path / "t.csv")
    assert pool.names == ("a: 0", "a: 1", "b: u", "b: v")
    assert pool.ids.tolist() == ["x", "y", "z"]
    assert pool.unseen.sum() == 1


def test_what_is_streamed():
    pl = pytest.importorskip("polars")
    assert is_streamed("t.parquet")
    assert is_streamed(pl.DataFrame({"a": [1]}))
    assert is_streamed(iter([]))
    assert not is_streamed([[0, 1], [1, 1]])
    assert not is_streamed(np.zeros((2, 2), int))
    with pytest.raises(InputTypeError, match="cannot be read in chunks from int"):
        open_chunks(3)


def test_bad_streams_are_named(tmp_path):
    with pytest.raises(InputError, match=r"all chunks must have the columns \['a'\]; one has \['b'\]"):
        compress_stream([{"a": [0, 1]}, {"b": [0, 1]}])
    with pytest.raises(InputError, match="0 elements"):
        pool_from_stream(iter([]))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        pool_from_stream(tmp_path / "none.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"holds no file that ends in \.parquet"):
        pool_from_stream(tmp_path / "empty")
    (tmp_path / "bad.parquet").write_bytes(b"nonsense")
    with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
        pool_from_stream(tmp_path / "bad.parquet")
    with pytest.raises(InputError, match="0 parts"):
        merge_compressed([])
    with pytest.raises(InputError, match=r"below 2\*\*63"):
        compress_stream([np.array([[2**63]], np.uint64)])
    with pytest.raises(InputError, match="reserved where a column holds text"):
        compress_stream([{"a": np.array(["x", -(2**31)], dtype=object)}])
