"""MultiModelFitter: an unknown number of parametric models, which may overlap, among outliers."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from biconsensus._checks import check_finite
from biconsensus.errors import NoConsensusWarning
from biconsensus.fitting._result import consensus_of, members_of, nearest, polish
from biconsensus.fitting._search import Search
from biconsensus.fitting._settings import Settings, check_settings, propose_threshold
from biconsensus.models import get_model
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

__all__ = ["MultiModelFitter", "propose_threshold"]


class MultiModelFitter(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an unknown number of overlapping parametric models, with a bound on false alarms.

    Minimal samples make hypotheses; the hypotheses that chance explains are left out; bi-clustering groups the
    others with their elements; each group is refitted by least squares and has to be meaningful
    among the elements that better models do not explain. What is left is searched again until nothing is found.

    Parameters
    ----------
    model : str or Model, default "line"
        Name of a model, or an object with `sample_size`, `fit` and `residuals`.
    threshold : float or "auto"
        Largest distance of an inlier to its model, in the units of the model's residuals (required; about 2.5 times the
        noise). "auto" chooses it for each model, at the price of more tests; `propose_threshold` looks at the data.
    n_samples : int or "auto", default 5000
        Minimal samples of the first round; later ones draw as many as keep the chance of a sample free of outliers.
        "auto": as many as find the smallest meaningful model with probability `detection`.
    sampling : {"uniform", "local", "exhaustive"}, default "uniform"
        How samples are drawn; "local" prefers elements near each other.
    sigma : float, optional
        Scale of the local law, in the units of X; a fifth of the diagonal of the bounding box by default.
    mean_distance : float, default 0
        Distance that the local law prefers.
    epsilon : float, default 1
        False models that are tolerated, on average, where there is only noise.
    screen_epsilon : float, default 10
        The same for the hypotheses that go into the bi-clustering: relaxed.
    min_elements, min_candidates : int, default 2 and 4
        Smallest bi-cluster: elements, hypotheses.
    hits : {"background", "paper", "empirical"}, default "background"
        Where the chance of a hit comes from: background points, closed forms, or the density of the matrix.
    tests : {"sampled", "combinatorial"}, default "sampled"
        How tests are counted.
    mode : {"default", "paper"}, default "default"
        "paper" keeps the literal choices of the paper: closed forms, all samples as tests, nothing left out, one
        round, literal exclusion.
    preference : {"hard", "soft"}, default "hard"
        Whether elements vote with ones, or with values that fall with their distance.
    improve : int, default 0
        Steps of local improvement of the hypotheses that pass the screening, for models with a method
        ``improve(params (k, p), data (m, d), threshold, steps) -> (k, p)``; the test stays that of the sampled ones.
    label_width : float, default 1
        Elements get the label of the nearest model within that many thresholds. A small threshold keeps neighbouring
        models apart while they are searched; a width above 1 then leaves fewer of their elements without a label.
    dispersion : float, optional
        If given, a model must stay meaningful without its densest spot, a ball of this many thresholds.
    lengths : bool, default False
        Whether elements are segments (x1, y1, x2, y2) that count with their lengths.
    detection : float, default 0.99
        Wanted probability of detection, for ``n_samples="auto"``.
    max_elements : int, default 5000
        Larger data is searched on random subsets of this size, and verified on all elements.
    max_rounds : int, default 20
        Most rounds.
    n_background : int, optional
        Background points; four for each element that is looked at, 4096 at least.
    random_state : int, Generator or None
        Seed.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    params_ : float array, shape (t, p)
        Parameters of the models, the most meaningful first.
    thresholds_ : float array, shape (t,)
        Threshold of each model.
    membership_ : sparse bool array, shape (m, t)
        Elements within the threshold of each model.
    labels_ : int array, shape (m,)
        Nearest model of each element within `label_width` thresholds, -1 for outliers.
    nfa_ : float array, shape (t,)
        Base-10 logarithm of the number of false alarms.
    support_ : list of t int arrays
        Candidates of `pool_` behind each model.
    pool_ : Pool
        The hypotheses behind the models.
    consensus_ : Consensus
        The models as bi-clusters of `pool_`.
    n_tested_, n_kept_ : int
        Hypotheses of the first round, and how many of them passed the screening.
    n_rounds_ : int
        Rounds.

    Notes
    -----
    Number of false alarms: ``NFA = N_tests * P(Binomial(m - b, p) >= k - b)``, with the b sampled elements left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (60, 2))
    >>> x[:20, 1], x[20:40, 0] = 0.5 * x[:20, 0], 0.3
    >>> fitter = MultiModelFitter("line", threshold=0.02, n_samples=1000, random_state=0).fit(x)
    >>> len(fitter.params_), bool(fitter.labels_[0] != fitter.labels_[20])
    (2, True)
    """

    def __init__(
        self,
        model: Any = "line",
        threshold: float | str | None = None,
        *,
        n_samples: int | str = 5000,
        sampling: str = "uniform",
        sigma: float | None = None,
        mean_distance: float = 0.0,
        epsilon: float = 1.0,
        screen_epsilon: float = 10.0,
        min_elements: int = 2,
        min_candidates: int = 4,
        hits: str = "background",
        tests: str = "sampled",
        mode: str = "default",
        preference: str = "hard",
        improve: int = 0,
        label_width: float = 1.0,
        dispersion: float | None = None,
        lengths: bool = False,
        detection: float = 0.99,
        max_elements: int = 5_000,
        max_rounds: int = 20,
        n_background: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.threshold = threshold
        self.n_samples = n_samples
        self.sampling = sampling
        self.sigma = sigma
        self.mean_distance = mean_distance
        self.epsilon = epsilon
        self.screen_epsilon = screen_epsilon
        self.min_elements = min_elements
        self.min_candidates = min_candidates
        self.hits = hits
        self.tests = tests
        self.mode = mode
        self.preference = preference
        self.improve = improve
        self.label_width = label_width
        self.dispersion = dispersion
        self.lengths = lengths
        self.detection = detection
        self.max_elements = max_elements
        self.max_rounds = max_rounds
        self.n_background = n_background
        self.random_state = random_state
        self.n_jobs = n_jobs

    params_: FloatArray
    thresholds_: FloatArray
    membership_: csr_array
    labels_: IntArray
    nfa_: FloatArray
    support_: list[IntArray]
    pool_: Pool
    consensus_: Consensus

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find the models.

        Parameters
        ----------
        X : float array, shape (m, d)
            Elements: points, segments, correspondences, as the model asks.
        y : ignored

        Returns
        -------
        MultiModelFitter

        Examples
        --------
        >>> x = np.column_stack([np.arange(30.0), np.arange(30.0) % 2])
        >>> fitter = MultiModelFitter("line", threshold=0.1, random_state=0).fit(x)
        >>> fitter.membership_.sum(axis=0).tolist()
        [15, 15]
        """
        data = check_finite(validate_data(self, X, dtype=np.float64, ensure_all_finite=False))
        model = get_model(self.model)
        settings = check_settings(Settings(**{name: getattr(self, name) for name in Settings.names()}), model, data)
        rng = np.random.default_rng(self.random_state)
        search = Search(model, data, self.threshold, settings, rng)
        found = sorted(search.run(), key=lambda one: one.log_nfa)
        self.n_tested_, self.n_kept_, self.n_rounds_ = search.n_tested, search.n_kept, search.n_rounds
        self.nfa_ = np.array([one.log_nfa for one in found], np.float64)
        self.thresholds_ = np.array([one.fit.threshold for one in found], np.float64)
        self.params_ = polish(model, data, found)
        self.membership_ = members_of(model, data, self.params_, found)
        self.labels_ = nearest(model, data, self.params_, self.thresholds_, self.label_width)
        self.pool_, self.support_, self.consensus_ = consensus_of(model, data, found, self.membership_)
        if not found:
            warnings.warn(
                f"no model is meaningful (epsilon={self.epsilon}): {search.n_kept} of {search.n_tested} hypotheses "
                "passed the screening. Larger n_samples, sampling='local' or another threshold may help.",
                NoConsensusWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Nearest model of new elements, -1 for those within `label_width` thresholds of none.

        Parameters
        ----------
        X : float array, shape (m, d)

        Returns
        -------
        int array, shape (m,)

        Examples
        --------
        >>> x = np.column_stack([np.arange(30.0), np.arange(30.0) % 2])
        >>> fitter = MultiModelFitter("line", threshold=0.1, random_state=0).fit(x)
        >>> (fitter.predict([[100.0, 1.0], [0.0, 9.0]]) >= 0).tolist()
        [True, False]
        """
        check_is_fitted(self, "params_")
        data = check_finite(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))
        return nearest(get_model(self.model), data, self.params_, self.thresholds_, self.label_width)
