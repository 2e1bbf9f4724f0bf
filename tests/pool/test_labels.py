"""Labels of every kind: what is in no group, what was not seen, and the names that stay."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus.errors import InputError, InputTypeError, PoolWarning, UnknownNameError
from biconsensus.pool.io import read_labels


def kept(labels, **options):
    """Names of the candidates, who is in them, and who was not seen by the first source."""
    pool = bc.Pool.from_labels(labels, **options)
    groups = {name: np.flatnonzero(column).tolist() for name, column in zip(pool.names, pool.to_matrix().toarray().T)}
    hidden = [] if pool.unseen is None else np.flatnonzero(pool.unseen.toarray()[pool.inverse][:, 0]).tolist()
    return groups, hidden


@pytest.mark.parametrize(
    ("vector", "options", "groups", "hidden"),
    [
        (["b", "a", -1, "b"], {}, {"a": [1], "b": [0, 3]}, []),
        (["b", "a", None, "b"], {}, {"a": [1], "b": [0, 3]}, [2]),
        (np.array(["b", "a", np.nan, -1.0], dtype=object), {}, {"a": [1], "b": [0]}, [2]),
        ([True, False, True, True], {}, {"0": [1], "1": [0, 2, 3]}, []),
        ([(0, 1), (0, 1), (2, 3), (2, 3)], {}, {"(0, 1)": [0, 1], "(2, 3)": [2, 3]}, []),
        ([-5, 3, -1, 3], {}, {"-5": [0], "3": [1, 3]}, []),
        ([10**12, 3, -(10**12), 3], {}, {str(-(10**12)): [2], "3": [1, 3], str(10**12): [0]}, []),
        ([7.0, 2.5, -1.0, np.nan], {}, {"2.5": [1], "7": [0]}, [3]),
        ([7, 9, -1, 7], {"missing": 9}, {"7": [0, 3]}, [1]),
        ([7.0, 9.0, -1.0, np.nan], {"missing": 9}, {"7": [0]}, [1, 3]),
        (np.ma.MaskedArray([4, 9, -1, 4], mask=[0, 0, 0, 1]), {"missing": 9}, {"4": [0]}, [1, 3]),
        (np.ma.MaskedArray([4.0, np.nan, -1, 4], mask=[0, 0, 0, 1]), {}, {"4": [0]}, [1, 3]),
        (pd.Series(pd.Categorical([4, 9, -1, None])), {}, {"4": [0], "9": [1]}, [3]),
        (pd.Series(pd.Categorical([4, 9, -1, None])), {"missing": 9}, {"4": [0]}, [1, 3]),
        (pd.Series([4, 9, -1, None], dtype="Int64"), {"missing": 9}, {"4": [0]}, [1, 3]),
        (np.array([0, 255, 3, 255], np.uint8), {}, {"0": [0], "3": [2], "255": [1, 3]}, []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_vector(vector, options, groups, hidden):
    expected = {f"source 0: {name}": elements for name, elements in groups.items()}
    assert kept([vector], **options) == (expected, hidden)


def test_a_single_vector_is_one_grouping():
    for vector in (np.array([0, 0, 1]), [0, 0, 1], iter([np.array([0, 0, 1])])):
        assert kept(vector)[0] == {"source 0: 0": [0, 1], "source 0: 1": [2]}


def test_tables_of_words_and_mappings_and_frames():
    words = np.array([["a", "x"], ["b", "x"]])
    assert kept(words)[0] == {"source 0: a": [0], "source 0: b": [1], "source 1: x": [0, 1]}
    assert kept({"k": ["a", "b"], 3: [1, 1]})[0] == {"k: a": [0], "k: b": [1], "3: 1": [0, 1]}
    frame = pd.DataFrame({"k": ["a", "b"], "g": [1.0, 1.0]}, index=["one", "two"])
    assert kept(frame)[0] == {"k: a": [0], "k: b": [1], "g: 1": [0, 1]}
    assert bc.Pool.from_labels(frame).ids.tolist() == ["one", "two"]
    assert bc.Pool.from_labels(frame, ids=["p", "q"]).ids.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([[0.0, np.inf]], ValueError, "'source 0' contains an infinite label"),
        (np.zeros((2, 2, 2), int), ValueError, "1 or 2 dimensions, got 3"),
        ([np.zeros((2, 2), int)], ValueError, "'source 0' must have 1 dimension, got 2"),
        ("abc", TypeError, "got str"),
        (7, TypeError, "got int"),
        ([], ValueError, "0 groupings"),
        ([[0, 1], [0, 1, 1]], ValueError, "'source 0' has 2 labels, 'source 1' has 3"),
    ],
)
def test_what_cannot_be_read_is_named(labels, error, message):
    with pytest.raises(error, match=message):
        bc.Pool.from_labels(labels)


@pytest.mark.parametrize("gap", [None, float("nan"), np.float64("nan"), np.float32("nan"), np.datetime64("NaT", "D")])
def test_gaps_of_every_type_among_text_are_not_seen(gap):
    pool = bc.Pool.from_labels([["a", gap, "b"]])
    assert pool.names == ("source 0: a", "source 0: b")
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, True, False]


def test_categories_keep_their_order_and_unused_ones_are_left_out():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.Categorical(["b", "a", None, "b", "c"], categories=["c", "b", "z", "a"]))
    pool = bc.Pool.from_labels(pd.DataFrame({"x": column}))
    assert pool.names == ("x: c", "x: b", "x: a")
    assert pool.to_matrix().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False, False]


def test_categories_that_are_numbers_keep_the_meaning_of_minus_one_and_of_the_missing_code():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.Categorical([3, -1, 9, 5], categories=[9, 5, 3, -1]))
    pool = bc.Pool.from_labels(pd.DataFrame({"x": column}), missing=9)
    assert pool.names == ("x: 5", "x: 3")
    assert pool.to_matrix().toarray().tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]
    assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False]


@pytest.mark.parametrize("far", [3, 1011, 1012, 1013, 10**6, 2**40])
def test_numbers_in_any_range_are_counted_alike(far):
    table = np.array([[0, far, far, -1, 7]])
    pool = bc.Pool.from_labels(list(table))
    assert pool.names == tuple(f"source 0: {value}" for value in sorted({0, 7, far}))
    expected = [[int(value == group) for group in sorted({0, 7, far})] for value in table[0]]
    assert pool.to_matrix().toarray().astype(int).tolist() == expected


def test_truth_values_are_labels():
    pool = bc.Pool.from_labels([np.array([True, False, True])])
    assert pool.names == ("source 0: 0", "source 0: 1")
    mixed = bc.Pool.from_labels([["a", True, -1, 1.5]])
    assert mixed.names == ("source 0: True", "source 0: 1.5", "source 0: a")
    assert mixed.to_matrix().toarray()[2].tolist() == [0, 0, 0]


def test_the_plain_index_of_a_frame_is_no_identifier():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [0, 0, 1]})
    assert bc.Pool.from_labels(frame).ids is None
    assert bc.Pool.from_labels(frame.set_index(pd.Index([7, 8, 9]))).ids.tolist() == [7, 8, 9]


def test_categories_of_polars_are_their_texts():
    pl = pytest.importorskip("polars")
    texts = ["b", "a", None, "b"]
    plain = bc.Pool.from_labels([texts])
    for kind in (pl.Categorical, pl.Enum(["c", "b", "a"])):
        pool = bc.Pool.from_labels(pl.DataFrame({"source 0": pl.Series(texts, dtype=kind)}))
        assert pool.names == plain.names
        assert np.array_equal(pool.to_matrix().toarray(), plain.to_matrix().toarray())
        assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False, False, True, False]


def test_sparse_labels_are_refused_with_the_way_for_memberships():
    with pytest.raises(TypeError, match=r"labels is a sparse matrix.*Pool\.from_matrix"):
        bc.Pool.from_labels(csr_array(np.eye(3)))


M = 12
NAMES = [f"sample {k}" for k in range(M)]
A, B = np.arange(M) % 2, np.arange(M) % 3
FRAME = pd.DataFrame({"name": NAMES, "a": A, "b": B})
DECIDES = r"Pool\.from_labels\(labels, columns=\[\.\.\.\]\) decides"


@pytest.mark.parametrize(
    ("table", "voting"),
    [
        (FRAME, ["a", "b"]),
        (FRAME.to_dict("list"), ["a", "b"]),
        (pl.from_pandas(FRAME), ["a", "b"]),
        (pa.Table.from_pandas(FRAME), ["a", "b"]),
        (FRAME.astype({"name": "category"}), ["a", "b"]),
        (FRAME.to_numpy(), ["source 1", "source 2"]),
        ([NAMES, A, B], ["source 1", "source 2"]),
    ],
    ids=["pandas", "mapping", "polars", "arrow", "categorical", "objects", "list"],
)
def test_text_that_is_different_in_every_row_becomes_the_ids(table, voting):
    with pytest.warns(PoolWarning, match=f"is different in every row and was taken as the ids; {DECIDES}") as said:
        pool = bc.Pool.from_labels(table)
    assert [source.name for source in pool.sources] == voting
    assert pool.ids.tolist() == NAMES
    assert [one.filename for one in said] == [__file__]  # it points at the line of the user


@pytest.mark.parametrize("ids", ["index", "argument"])
def test_text_that_is_different_in_every_row_is_left_out_where_there_are_ids(ids):
    table = FRAME.set_axis(range(100, 100 + M)) if ids == "index" else FRAME
    with pytest.warns(PoolWarning, match=f"as ids have: 'name'; {DECIDES}"):
        pool = bc.Pool.from_labels(table, ids=None if ids == "index" else range(100, 100 + M))
    assert [source.name for source in pool.sources] == ["a", "b"]
    assert pool.ids.tolist() == list(range(100, 100 + M))


def test_running_numbers_are_no_grouping_in_a_table_with_names():
    for table in (FRAME.assign(name=range(M)), {"name": list(range(M)), "a": A, "b": B}):
        with pytest.warns(PoolWarning, match="column 'name' is different in every row and was taken as the ids"):
            assert bc.Pool.from_labels(table).ids.tolist() == list(range(M))


@pytest.mark.parametrize("apart", [np.arange(M), np.arange(M)[::-1], np.ma.MaskedArray(range(M), [1] + [0] * (M - 1))])
def test_whole_numbers_without_names_are_labels_however_many(apart):
    assert len(bc.Pool.from_labels([apart, A]).sources) == 2
    assert len(bc.Pool.from_labels(np.stack([np.ma.getdata(apart), A], axis=1)).sources) == 2


def test_an_id_column_needs_no_warning_and_is_left_out_where_there_are_ids():
    frame = FRAME.rename(columns={"name": "id"})
    assert bc.Pool.from_labels(frame).ids.tolist() == NAMES
    with pytest.warns(PoolWarning, match="left out because the elements have ids already: 'id'"):
        assert bc.Pool.from_labels(frame, ids=range(M)).ids.tolist() == list(range(M))


def test_the_truth_and_measures_of_a_result_do_not_vote():
    with pytest.warns(PoolWarning) as said:
        pool = bc.Pool.from_labels({"truth": 1 - A, "a": A, "b": B, "confidence": A / 2})
    assert [source.name for source in pool.sources] == ["a", "b"]
    assert [str(one.message).partition(";")[0] for one in said] == [
        "labels: column 'truth' was taken as the truth, for scores only",
        "labels: left out because they say how sure a grouping is, and group nothing: 'confidence'",
        "labels: groupings that say exactly what the truth says: 'a'",
    ]


@pytest.mark.parametrize("columns", [["a", "name"], [1, 0], [1, "name"]])
def test_columns_says_which_vote(columns):
    pool = bc.Pool.from_labels(FRAME, columns=columns)
    assert [source.name for source in pool.sources] == ["a", "name"]
    assert pool.ids is None
    assert [source.name for source in bc.Pool.from_labels(FRAME, columns="b").sources] == ["b"]
    with pytest.raises(UnknownNameError, match=r"unknown column 'bb'. Did you mean 'b'\? Valid names: a, b, name"):
        bc.Pool.from_labels(FRAME, columns=["bb"])


def test_nothing_is_said_of_columns_that_were_not_chosen():
    frame = FRAME.rename(columns={"name": "id"}).assign(truth=A).set_axis(NAMES)
    assert [source.name for source in bc.Pool.from_labels(frame, columns=["a", "b"]).sources] == ["a", "b"]


def test_columns_are_found_by_the_labels_that_pandas_gave_them():
    frame = pd.DataFrame({5: A, 0: B, ("x", "y"): A})
    assert [source.name for source in bc.Pool.from_labels(frame, columns=[0, ("x", "y")]).sources] == [
        "0",
        "('x', 'y')",
    ]


def test_all_columns_vote_where_each_is_described():
    for options in ({"names": "nab"}, {"weights": [1, 1, 2]}, {"sources": [bc.Provenance(name) for name in "nab"]}):
        assert len(bc.Pool.from_labels(FRAME, **options).sources) == 3


def test_a_table_that_was_read_is_taken_as_it_was_read(tmp_path):
    FRAME.to_csv(tmp_path / "labels.csv", index=False)
    table = read_labels(tmp_path / "labels.csv", columns=["name", "a"])
    assert [source.name for source in bc.Pool.from_labels(table).sources] == ["name", "a"]
    table = read_labels(tmp_path / "labels.csv", id_column="name")
    assert bc.Pool.from_labels(table, columns=["b"]).names == ("b: 0", "b: 1", "b: 2")
    assert bc.Pool.from_labels(table, columns=["b"]).ids.tolist() == NAMES


def test_columns_of_one_name_stay_apart():
    frame = pd.concat([FRAME[["a"]], FRAME[["b"]].rename(columns={"b": "a"})], axis=1)
    assert [source.name for source in bc.Pool.from_labels(frame).sources] == ["a", "a (2)"]
    table = pa.Table.from_arrays([pa.array(A), pa.array(B)], names=["a", "a"])
    assert [source.name for source in bc.find_consensus(table).pool.sources] == ["a", "a (2)"]


@pytest.mark.parametrize("form", [list, lambda columns: dict(zip("ab", columns))], ids=["list", "mapping"])
def test_columns_of_pandas_with_different_indices_are_refused(form):
    a, b = pd.Series(A, index=NAMES), pd.Series(B, index=NAMES)
    assert bc.Pool.from_labels(form([a, b])).ids.tolist() == NAMES
    assert bc.Pool.from_labels(form([pd.Series(A), pd.Series(B)])).ids is None
    with pytest.raises(InputError, match=r"have different indices: their rows do not belong together. Align them"):
        bc.Pool.from_labels(form([a, b[::-1]]))
    with pytest.raises(InputError, match="must have one length"):
        bc.Pool.from_labels(form([a, b[1:]]))


def test_what_is_no_vector_is_refused():
    with pytest.raises(InputTypeError, match="labels holds 5 where a label vector is needed"):
        bc.Pool.from_labels([[0, 0, 1], 5])
    with pytest.raises(InputTypeError, match="labels holds 5 where a label vector is needed"):
        bc.Pool.from_labels({"a": 5})
    for unordered in ({0, 1, 2}, [{0, 1, 2}], [{0: "a", 1: "b"}]):
        with pytest.raises(InputTypeError, match=r"labels must be an|where a label vector is needed"):
            bc.Pool.from_labels(unordered)


def test_records_are_a_table_with_names():
    records = FRAME[["a", "b"]].to_records()
    pool = bc.Pool.from_labels(records)
    assert [source.name for source in pool.sources] == ["a", "b"]
    assert pool.ids.tolist() == list(range(M))  # the index that pandas wrote


def test_the_name_of_a_column_is_no_ids():
    with pytest.raises(InputTypeError, match=r"got 'name'; give the column itself: table\['name'\]"):
        bc.Pool.from_labels(FRAME, ids="name", columns=["a", "b"])


def test_clusterers_in_place_of_their_labels_are_named() -> None:
    from sklearn.cluster import KMeans

    with pytest.raises(InputTypeError, match=r"labels holds KMeans\(n_clusters=2\); give the labels that it found"):
        bc.Pool.from_labels([KMeans(2), KMeans(3)])
