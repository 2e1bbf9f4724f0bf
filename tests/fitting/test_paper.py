"""Fits of bi-clusters as the paper makes them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from biconsensus.fitting._hypotheses import Screened
from biconsensus.fitting._paper import _fit
from biconsensus.models import LineModel
from biconsensus.significance._models import Background, NfaTest


def test_least_squares_on_the_elements_or_the_best_hypothesis() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(-1, 1, 30), rng.normal(0, 0.01, 30)])
    params = np.array([[0.0, 1.0, 0.5], [0.0, 1.0, 0.3], [0.0, 1.0, 0.1]])
    log_nfa = np.array([-9.0, -5.0, -7.0])
    screened = Screened(params, np.zeros((3, 2), int), csc_array((30, 3)), log_nfa, np.ones(3), params, 3)
    chance = Background.of(LineModel(), x, 100, np.random.default_rng(0), "paper")
    test = NfaTest(LineModel(), 30, np.array([0.05]), chance, 3.0, 0)
    elements, columns = np.arange(5, 25), np.array([1, 2])
    np.testing.assert_array_equal(_fit(x, test, screened, elements, columns), LineModel().refit(x[5:25], np.ones(20)))
    np.testing.assert_array_equal(_fit(x, test, screened, elements[:2], columns), LineModel().refit(x[5:7], np.ones(2)))
    np.testing.assert_array_equal(_fit(x, test, screened, elements[:1], columns), params[2])
