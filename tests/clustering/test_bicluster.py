"""BiclusterConsensus under scikit-learn's own checks, and against its score."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import consensus_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import biconsensus as bc

pytestmark = pytest.mark.filterwarnings("ignore::biconsensus.errors.NoConsensusWarning")

# scikit-learn's checks feed random real matrices, in which there is often nothing to agree on: the empty answer and
# its warning are right there, and is the only warning that is ignored. No check is expected to fail.


FORMATS = {"check_estimator_sparse_array", "check_estimator_sparse_matrix", "check_dtype_object"}
"""Checks that fit one matrix in a dozen formats: a given quorum tells what they ask in a tenth of the time."""


@parametrize_with_checks([bc.BiclusterConsensus(min_elements=2, min_candidates=1)])
def test_scikit_learn_checks(estimator, check):
    check(clone(estimator).set_params(quorum=0.4) if check.func.__name__ in FORMATS else estimator)


@pytest.fixture
def planted():
    A = np.zeros((30, 12), bool)
    A[:10, :4] = A[10:22, 4:8] = A[22:, 8:] = True
    return A


@pytest.mark.parametrize("kind", [np.asarray, csr_array, lambda A: A.astype(np.float32), lambda A: A.astype(int)])
def test_planted_blocks_come_back(planted, kind):
    model = bc.BiclusterConsensus().fit(kind(planted))
    rows = np.stack([planted[:, k] for k in (4, 0, 8)])
    columns = np.stack([planted[10], planted[0], planted[29]])
    assert consensus_score(model.biclusters_, (rows, columns)) == 1.0
    assert np.array_equal(model.rows_.argmax(axis=0), model.labels_)


def test_shapes_of_single_biclusters(planted):
    model = bc.BiclusterConsensus().fit(planted)
    assert model.get_shape(0) == (12, 4)
    assert model.get_submatrix(0, planted).all()


def test_parameters_are_kept_and_cloned():
    model = bc.BiclusterConsensus(min_elements=3, quorum=0.4)
    assert clone(model).get_params() == model.get_params()


def test_too_few_columns_warn(planted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(bc.errors.NoConsensusWarning, match="set min_candidates=2"):
            bc.BiclusterConsensus(min_candidates=4).fit(planted[:, :2])
