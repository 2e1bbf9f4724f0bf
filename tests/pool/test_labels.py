"""Labels of every kind: what is in no group, what was not seen, and the names that stay."""

import numpy as np
import pandas as pd
import pytest

import biconsensus as bc


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
