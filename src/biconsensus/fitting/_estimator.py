"""MultiModelFitter: an unknown number of parametric models, which may overlap, among outliers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from biconsensus._checks import (
    check_columns_are_numbers,
    check_finite,
    check_is_plain,
    check_jobs,
    check_seed,
    check_squares,
)
from biconsensus._names import parameters
from biconsensus.errors import InputError
from biconsensus.fitting._describe import Extent, covariance_of, extent_of, warn_of_nothing, warn_of_pieces
from biconsensus.fitting._groups import Found
from biconsensus.fitting._search import consensus_of, fitted_labels, labels_of, members_of, searched
from biconsensus.fitting._settings import (
    Nfa,
    Sampling,
    Settings,
    check_settings,
    check_threshold,
    diagonal,
    distinct,
    families_of,
    nfa_of,
    sampling_of,
)
from biconsensus.fitting._threshold import RANGE, warn_if_too_large
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus, made_by

__all__ = ["MultiModelFitter"]


@parameters(
    "MultiModelFitter('line', 0.1, n_samples=1000)",
    n_groups="use params_[:n] after the fit: the number of models is found, and the most meaningful come first",
)
class MultiModelFitter(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an unknown number of overlapping parametric models, with a bound on false alarms.

    Minimal samples make hypotheses; the hypotheses that chance explains are left out; bi-clustering groups the
    others with their elements; each group is refitted by least squares and has to be meaningful among the elements
    that better models do not explain. What is left is searched again until nothing is found. A model that
    lies within others is no structure of its own and is dropped.

    Parameters
    ----------
    model : str, Model, or list of these, default "line"
        Name of a model, or an object with `sample_size`, `fit` and `residuals`; several compete for the elements.
    threshold : float or "auto"
        Largest distance of an inlier to its model, in the units of the model's residuals (required; about 2.5 times the
        noise). "auto" takes it from the data, round by round; `propose_threshold` shows it.
    n_samples : int or "auto", default "auto"
        Minimal samples of the first round; later ones draw as many as keep the chance of a sample free of outliers.
        "auto": as many as find the smallest meaningful model.
    epsilon : float, default 1
        False models that are tolerated, on average, where there is only background.
    sampling : str or Sampling, optional
        How samples are drawn: "uniform", "local", "exhaustive", or an object for the details; the family's own way by
        default.
    test : Nfa, optional
        How the number of false alarms is counted; ``Nfa.paper()`` keeps the literal choices of the paper.
    bounds : mapping of str to (float, float), optional
        Smallest and largest value of what a model may look like, such as ``{"radius": (5, 50)}``.
    label_width : float, optional
        Elements get the label of the nearest model within that many thresholds. By default each model has its own
        width: labels go as far as elements are more likely of the model than clutter, at most one threshold, for
        correspondences from 1 to 2.5.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    params_ : float array, shape (t, p)
        Parameters of the models, the most meaningful first, each by the elements that those before it leave; a list of
        arrays where there are several families.
    families_ : list of t str
        Family of each model.
    thresholds_ : float array, shape (t,)
        Threshold of each model.
    bands_ : float array, shape (t,)
        Distance up to which elements get the label of each model.
    membership_ : sparse bool array, shape (m, t)
        Elements within the threshold of each model.
    labels_ : int array, shape (m,)
        Nearest model of each element within its band, -1 for outliers. For correspondences the likeliest model, given
        its distance, the noise of each model, and the labels around.
    nfa_ : float array, shape (t,)
        Base-10 logarithm of the number of false alarms by which each model was accepted. It depends on the hypotheses
        that were drawn and on the round, so it need not grow in the order of the models.
    support_ : list of t int arrays
        Candidates of `pool_` behind each model.
    pool_ : Pool
        The hypotheses behind the models.
    consensus_ : Consensus
        The models as bi-clusters of `pool_`, with the same labels.
    n_tested_, n_kept_ : int
        Hypotheses of the first round, and how many of them passed the screening.
    n_rounds_ : int
        Rounds.

    Notes
    -----
    Number of false alarms: ``NFA = N_tests * P(Binomial(m - b, p) >= k - b)``, with the b sampled elements left out.
    The chance p of a hit is measured on background points that follow the local density of the data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (60, 2))
    >>> x[:20, 1], x[20:40, 0] = 0.5 * x[:20, 0], 0.3
    >>> fitter = MultiModelFitter("line", threshold=0.02, random_state=0).fit(x)
    >>> len(fitter.params_), bool(fitter.labels_[0] != fitter.labels_[20])
    (2, True)
    """

    def __init__(
        self,
        model: Any = "line",
        threshold: float | str | None = None,
        *,
        n_samples: int | str = "auto",
        epsilon: float = 1.0,
        sampling: Sampling | str | None = None,
        test: Nfa | str | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        label_width: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.threshold = threshold
        self.n_samples = n_samples
        self.epsilon = epsilon
        self.sampling = sampling
        self.test = test
        self.bounds = bounds
        self.label_width = label_width
        self.random_state = random_state
        self.n_jobs = n_jobs

    params_: FloatArray | list[FloatArray]
    families_: list[str]
    thresholds_: FloatArray
    bands_: FloatArray
    membership_: csr_array
    labels_: IntArray
    nfa_: FloatArray
    support_: list[IntArray]
    pool_: Pool
    consensus_: Consensus
    _found: list[Found]

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
        data = self._numbers(X)
        seed, n_jobs = check_seed(self.random_state), check_jobs(self.n_jobs)
        sampling = sampling_of(self.sampling)
        settings = check_settings(
            Settings(self.n_samples, self.epsilon, sampling, nfa_of(self.test), self.label_width, n_jobs),
            data.shape[1],
        )
        families = families_of(self.model, data, sampling, settings.test, self.bounds)
        threshold = check_threshold(self.threshold, families[0].model)
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**32, dtype=np.uint32)
        rng = np.random.default_rng(seed)
        if threshold is not None and threshold > RANGE[1] * diagonal(families[0].model, families[0].view(data)):
            warn_if_too_large(threshold, families, data)
        literal = settings.test.literal
        search = searched(families, data if literal else distinct(data, families), threshold, settings, rng)
        found, structures = search.found, search.structures()
        order = search.order()
        self._found = [found[i] for i in order]
        self.bands_ = structures.bands[order]
        self.n_tested_, self.n_kept_, self.n_rounds_ = search.n_tested, search.n_kept, search.n_rounds
        self.nfa_ = np.array([one.log_nfa for one in self._found], np.float64)
        self.thresholds_ = np.array([one.fit.threshold for one in self._found], np.float64)
        self.families_ = [one.family.name for one in self._found]
        params = [one.fit.params for one in self._found]
        self.params_ = params if len(families) > 1 else np.array(params) if params else np.empty((0, 0))
        self.membership_ = members_of(self._found, data)
        self.labels_ = fitted_labels(search, self._found, self.bands_, data)
        self.consensus_ = made_by(consensus_of(self._found, data, self.membership_, self.labels_), self, "fit(X)")
        self.pool_, self.support_ = self.consensus_.pool, list(self.consensus_.candidates)
        if not found:
            warn_of_nothing(search, families, data, threshold)
        elif threshold is not None and not search.uneven and 2 * structures.n_beside_another() > len(found):
            warn_of_pieces(structures, families, data)
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Nearest model of new elements, -1 for those that are near none; their neighbours do not count.

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
        data = self._numbers(X, reset=False)
        return labels_of(self._found, self.bands_, data)

    def covariances(self, X: ArrayLike) -> list[FloatArray]:
        """Covariance of the parameters of each model, by leaving out parts of its elements in turn (jackknife).

        Parameters
        ----------
        X : float array, shape (m, d)
            The elements that were fitted.

        Returns
        -------
        list of t float arrays, shape (p, p)
            NaN where a model has too few elements. Parameters that obey a constraint, such as a normal of unit
            length, have a singular covariance.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = np.column_stack([rng.uniform(-1, 1, 200), rng.normal(0, 0.01, 200)])
        >>> fitter = MultiModelFitter("line", threshold=0.03, random_state=0).fit(x)
        >>> error = np.sqrt(fitter.covariances(x)[0][2, 2])  # of the offset: about 0.01 / sqrt(200)
        >>> bool(0.0004 < error < 0.0014)
        True
        """
        check_is_fitted(self, "params_")
        data = self._numbers(X, reset=False)
        rng = np.random.default_rng(0)  # which elements are left out together hardly matters
        return [covariance_of(one, data, rng) for one in self._found]

    def extents(self, X: ArrayLike, gap: float | None = None) -> list[Extent]:
        """Connected parts of the elements of each model, and how far the largest part reaches.

        Parameters
        ----------
        X : float array, shape (m, d)
            Elements.
        gap : float, optional
            Largest distance between connected elements; four times the median distance of the elements of a model
            to their nearest by default.

        Returns
        -------
        list of t Extent

        Examples
        --------
        >>> x = np.column_stack([np.append(np.arange(20), np.arange(60, 90)), np.zeros(50)])
        >>> x = np.vstack([x, np.random.default_rng(0).uniform(0, 90, (50, 2))])
        >>> extent = MultiModelFitter("line", threshold=0.1, random_state=0).fit(x).extents(x)[0]
        >>> [len(part) for part in extent.parts], extent.lengths.round(3).tolist()
        ([30, 20], [29.0, 0.0])
        """
        check_is_fitted(self, "params_")
        data = self._numbers(X, reset=False)
        members = members_of(self._found, data).tocsc()
        return [
            extent_of(one, data, np.sort(members[:, [t]].indices).astype(np.int64), gap)
            for t, one in enumerate(self._found)
        ]

    def _numbers(self, X: ArrayLike, reset: bool = True) -> FloatArray:
        """(m, d) the elements as finite numbers."""
        check_is_plain(X)
        if np.ndim(X) == 1 and np.size(X):
            raise InputError(
                f"X must be a table, one row for each element and one column for each coordinate; got {np.size(X)} "
                "numbers in a row. Reshape your data, as in X.reshape(-1, 2)."
            )
        check_columns_are_numbers(X)
        data = check_finite(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset))
        return check_squares(data)
