"""Sparse subspace clustering against independent solutions of the same problem."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from biconsensus.errors import InputError
from biconsensus.sources._self_expression import SelfExpression
from biconsensus.sources._subspace import SparseSubspaceClustering, affinity_of, compress, subspace_path


def planes(seed=0, noise=0.02, shift=0.0):
    """Sixty points on three planes of a space of eight dimensions."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(20, 2)) @ rng.normal(size=(2, 8)) + shift * rng.normal(size=8) for _ in range(3)]
    return np.concatenate(parts) + noise * rng.normal(size=(60, 8)), np.repeat(np.arange(3), 20)


def agree(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def normalisation(X):
    G = np.abs(X @ X.T)
    np.fill_diagonal(G, 0)
    return G.max(axis=0).min()


def cost(C, X, kappa):
    return np.abs(C).sum() + kappa / (2 * normalisation(X)) * ((X.T - X.T @ C) ** 2).sum()


def test_coefficients_are_those_of_a_lasso_for_each_point():
    X, _ = planes()
    kappa = 20.0
    C, _ = SelfExpression.of(X).solve(kappa, max_iter=20_000, tol=1e-9, exact=True)
    quick, _ = SelfExpression.of(X).solve(kappa, max_iter=20_000, tol=1e-9)
    assert cost(C, X, kappa) <= cost(quick, X, kappa) <= 1.5 * cost(C, X, kappa)
    penalty = normalisation(X) / kappa
    for i in (0, 25, 59):
        others = np.delete(np.arange(60), i)
        lasso = Lasso(alpha=penalty / X.shape[1], fit_intercept=False, tol=1e-12, max_iter=200_000)
        lasso.fit(X[others].T, X[i])
        np.testing.assert_allclose(C[others, i], lasso.coef_, atol=2e-5)
    assert (C.diagonal() == 0).all()


def test_affine_coefficients_add_up_to_one_and_cost_less_than_neighbours():
    X, _ = planes(shift=2.0)
    kappa = 20.0
    C, _ = SelfExpression.of(X, affine=True).solve(kappa, max_iter=20_000, tol=1e-9, exact=True)
    np.testing.assert_allclose(C.sum(axis=0), 1, atol=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=C.shape) * (rng.random(C.shape) < 0.2)
        np.fill_diagonal(step, 0)
        step -= np.where(np.eye(60), 0, step.sum(axis=0) / 59)
        assert cost(C + 1e-3 * step, X, kappa) > cost(C, X, kappa) - 1e-4


def test_one_factorisation_serves_all_kappas():
    X, _ = planes(1)
    problem = SelfExpression.of(X, affine=True)
    for kappa in (5.0, 50.0):
        fresh, _ = SelfExpression.of(X, affine=True).solve(kappa)
        np.testing.assert_array_equal(problem.solve(kappa)[0], fresh)


def test_a_gross_error_in_one_coordinate_goes_to_the_outlier_term():
    X, truth = planes(noise=0.0)
    broken = X.copy()
    broken[::7, 3] += 6.0
    problem = SelfExpression.of(broken, outliers=20.0)
    assert problem.vectors.shape[0] == 60 + 8
    C, _ = problem.solve(20.0, max_iter=2000)
    assert C.shape == (60, 60)
    labels = SparseSubspaceClustering(3, 20.0, outliers=20.0, max_iter=2000, random_state=0).fit_predict(broken)
    clean = np.arange(60) % 7 != 0
    assert agree(labels[clean], truth[clean])


def test_planes_are_told_apart():
    X, truth = planes()
    for labels in subspace_path(X, 3, [20, 50, 100], random_state=0):
        assert agree(labels, truth)
    shifted, truth = planes(2, shift=3.0)
    model = SparseSubspaceClustering(3, 50, affine=True, random_state=0).fit(shifted)
    assert agree(model.labels_, truth)
    np.testing.assert_array_equal(model.affinity_, model.affinity_.T)


def test_affinity_cuts_and_scales_each_column():
    C = np.array([[0.0, 3.0, -1.0], [-4.0, 0.0, 1.0], [1.0, -3.0, 0.0]])
    # Column 0 keeps 4 of 5 (its share is already above 0.7), the others keep both entries.
    expected = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(affinity_of(C, rho=0.7), expected + expected.T)


def test_compression_keeps_the_inner_products_of_a_low_rank_cloud():
    X = planes(noise=0.0)[0]
    low = compress(X, 6)
    assert low.shape == (60, 6)
    np.testing.assert_allclose(low @ low.T, X @ X.T, atol=1e-9)


def test_a_point_that_nothing_can_express_does_not_disturb_the_others():
    X, truth = planes()
    labels = SparseSubspaceClustering(3, 50, random_state=0).fit_predict(np.vstack([X, np.zeros(8)]))
    assert agree(labels[:60], truth)
    with pytest.raises(InputError, match="orthogonal to all others"):
        SparseSubspaceClustering(2).fit(np.eye(4))
    with pytest.raises(InputError, match="kappa: got 0"):
        SparseSubspaceClustering(3, 0).fit(planes()[0])


@parametrize_with_checks([SparseSubspaceClustering(2, max_iter=30)])
def test_the_contract_of_scikit_learn_for_subspaces(estimator, check):
    check(estimator)
