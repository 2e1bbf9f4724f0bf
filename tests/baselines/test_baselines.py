"""Baselines by name: the function, whatever was imported before."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus import baselines
from biconsensus.baselines import CONSENSUS, get_baseline
from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._jlinkage import jlinkage
from biconsensus.errors import InputError, TooLargeError, UnknownNameError
from tests.helpers.k_means_runs import runs
from tests.helpers.noisy_pools import PARTITION, noisy_pool, same


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


MINE = ("clique", "coassociation", "evidence_accumulation", "jlinkage", "snmf", "spectral")


@pytest.mark.parametrize("name", MINE)
def test_identical_partitions_come_back(name):
    pool = bc.Pool.from_labels(np.tile(PARTITION[:, None], (1, 5)))
    assert same(get_baseline(name)(pool, 3, random_state=0), PARTITION)


@pytest.mark.parametrize("name", MINE)
def test_a_few_errors_are_voted_down(name):
    pool, _ = noisy_pool()
    found = get_baseline(name)(pool, 3, random_state=0)
    # Groups picked whole keep the errors of the source that they come from.
    assert bc.metrics.ari(PARTITION, found) >= (0.75 if name in ("clique", "jlinkage") else 1.0)


@pytest.mark.parametrize("name", MINE)
def test_elements_in_no_candidate_are_in_no_group(name):
    table = np.tile(np.append(PARTITION, -1)[:, None], (1, 4))
    labels = get_baseline(name)(bc.Pool.from_labels(table), 3, random_state=0)
    assert labels[-1] == -1
    assert same(labels[:-1], PARTITION)


def test_every_registered_name_is_there():
    for name in CONSENSUS:
        assert callable(get_baseline(name))
    with pytest.raises(UnknownNameError, match="Did you mean 'spectral'"):
        get_baseline("spectrl")


def test_a_matrix_that_would_not_fit_is_refused_before_it_is_made():
    pool, _ = noisy_pool()
    with pytest.raises(TooLargeError, match="co-occurrence matrix"):
        cooccurrence(pool, memory_limit=100)
    with pytest.raises(TooLargeError, match="distances"):
        jlinkage(pool, memory_limit=100)


@pytest.mark.parametrize("name", MINE)
def test_a_wrong_number_of_groups_is_refused(name):
    with pytest.raises(InputError, match="n_groups: got 0"):
        get_baseline(name)(noisy_pool()[0], 0)


@pytest.mark.parametrize("name", ["lwea", "lwgp", "nwca", "usenc", "hbgf", "mcla", "ec_cms", "kmeans_matrix"])
def test_clear_groups_are_found_by_all(name: str) -> None:
    data, truth = make_blobs(200, centers=5, cluster_std=0.4, random_state=2)
    pool = bc.Pool.from_labels(runs(data))
    assert adjusted_rand_score(truth, get_baseline(name)(pool, 5, random_state=0)) > 0.8


@pytest.mark.parametrize("name", ["lwgp", "usenc", "hbgf", "mcla", "ec_cms", "kmeans_matrix"])
def test_those_that_cannot_count_say_so(name: str, table: NDArray[np.int_]) -> None:
    with pytest.raises(InputError, match="n_groups"):
        get_baseline(name)(bc.Pool.from_labels(table))


@pytest.mark.parametrize("name", sorted(set(CONSENSUS) - {"ecg", "fast_consensus"}))
def test_a_label_table_is_taken_as_a_pool_is(name: str) -> None:
    """Row 88 of the faults."""
    table = np.tile(PARTITION[:, None], (1, 4))
    told = {} if name in ("iterated_consensus", "leiden_matrix", "louvain_matrix", "campigotto") else {"n_groups": 3}
    labels = [get_baseline(name)(given, random_state=0, **told) for given in (table, bc.Pool.from_labels(table))]
    np.testing.assert_array_equal(*labels)
