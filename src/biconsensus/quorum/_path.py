"""The quorum path: groups for every quorum, and the choice of a place on it.

The path is that of the joint method, candidates weighted by how certain the pool is of them; nothing else is looked at.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.errors import MissingDependencyError, PoolWarning
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray
from biconsensus.quorum._points import Cut, best_cut, cut_at, joined, large, lifetimes, walked
from biconsensus.quorum._score import GIVEN_NUMBER, Fit, Judge

if TYPE_CHECKING:
    import pandas as pd

QUORUMS = tuple(
    Fraction(n, 10_000)
    for n in (9000, 8000, 6500, 5000, 4000, 3000, 2200, 1600, 1200, 900, 650, 480, 350, 250, 180, 130, 90, 60, 40, 25)
)
"""Places of the path, from fine to coarse."""
MAX_WALK = 3000
"""Columns up to which the eigenvectors of the random walk are computed."""


@dataclass(frozen=True)
class QuorumPath:
    """Groups for every quorum, from fine to coarse.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4
    >>> path = QuorumPath.of(bc.Pool.from_labels(base), min_elements=2, min_candidates=2)
    >>> len(path.best), len(path.at(0.8)), len(path.with_n_groups(3))
    (2, 4, 3)
    """

    judge: Judge
    """The pool, weighted, and what tells how places fit it."""
    cuts: tuple[Cut, ...]
    min_elements: int
    min_candidates: int

    @property
    def problem(self) -> PreferenceMatrix:
        """The pool, candidates weighted by certainty, trivial ones by zero."""
        return self.judge.problem

    @classmethod
    def of(
        cls,
        pool: Pool,
        weights: FloatArray | None = None,
        *,
        min_elements: int = 7,
        min_candidates: int = 4,
        quorums: tuple[Fraction, ...] = QUORUMS,
    ) -> QuorumPath:
        """Trace the path of a pool.

        Parameters
        ----------
        pool : Pool
            The candidates.
        weights : (n,) array, optional
            Weights of the candidates in place of those of the pool; certainty multiplies them.
        min_elements, min_candidates : int
            Smallest group: elements, and distinct sources behind it.
        quorums : tuple of Fraction
            Places, in falling order.

        Returns
        -------
        QuorumPath

        Notes
        -----
        Each place starts from the answer of the one before and from the most frequent rows.
        """
        judge = Judge.of(PreferenceMatrix.from_pool(pool, weights))
        sizes = min_elements, min_candidates
        cuts: list[Cut] = []
        for quorum in quorums:
            cuts.append(cut_at(judge, quorum, cuts[-1].columns if cuts else None, sizes))
        return cls(judge, tuple(cuts), min_elements, min_candidates)

    @cached_property
    def weights(self) -> Fit:
        """How much each part of a fit counts in this kind of pool."""
        return self.judge.weights([cut.fit for cut in self.cuts])

    def score(self, cut: Cut) -> float:
        """How well a cut fits the pool, in one number; larger is better."""
        return cut.fit.weighted(self.weights)

    @property
    def best(self) -> Cut:
        """The place of the largest score; ties go to the quorum nearest to a majority."""
        return best_cut(self.cuts, self.score)

    def at(self, quorum: float | Fraction) -> Cut:
        """Groups at any quorum; between two places the search starts from the finer one.

        Parameters
        ----------
        quorum : float in (0, 1)
            Where to cut.

        Returns
        -------
        Cut
        """
        theta = Fraction(quorum).limit_denominator(10_000)
        for cut in self.cuts:
            if cut.quorum == theta:
                return cut
        finer = [cut.columns for cut in self.cuts if cut.quorum > theta]
        sizes = self.min_elements, self.min_candidates
        return cut_at(self.judge, theta, finer[-1] if finer else None, sizes)

    def with_n_groups(self, n_groups: int) -> Cut:
        """The best grouping into so many: a place of the path, a finer one with groups joined, or the walk's own.

        Parameters
        ----------
        n_groups : int
            Number of groups wanted.

        Returns
        -------
        Cut
            With a warning where groups are under the minimum sizes, or fewer.
        """
        cuts = [cut for cut in self.cuts if len(cut) == n_groups]
        cuts += [joined(self.judge, cut, n_groups) for cut in self.cuts if len(cut) > n_groups]
        cuts += [cut for cut in [self._direct(n_groups)] if cut is not None]
        # between groupings of one number of groups, what the walk retains told better than the score
        found = max(cuts, key=lambda cut: cut.fit.weighted(GIVEN_NUMBER)) if cuts else max(self.cuts, key=len)
        if len(found) != n_groups or not large(self.problem, found, self.min_elements, self.min_candidates):
            warnings.warn(
                f"n_groups={n_groups}: the pool does not have so many groups of min_elements={self.min_elements} and "
                f"min_candidates={self.min_candidates}; returning {len(found)}, whatever their size.",
                PoolWarning,
                stacklevel=2,
            )
        return found

    def _direct(self, n_groups: int) -> Cut | None:
        """Groups straight from the random walk, where the pool is large enough for them and not too large for it."""
        n_rows, n_columns = self.problem.shape
        if not 1 <= n_groups <= min(n_rows, n_columns) or n_columns > MAX_WALK:
            return None
        return walked(self.judge, self.best.quorum, n_groups)

    def to_frame(self) -> pd.DataFrame:
        """One line for each group of each place, for a ribbon or a tree.

        Returns
        -------
        DataFrame
            quorum, group, n_elements, gain, parent (group of the next place that holds most of it, -1 for none),
            lifetime (range of log quorum over which the group lives), score of the place.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError.of("pandas", "tables") from error
        alive = self.lifetimes()
        lines: list[dict[str, Any]] = []
        for k, cut in enumerate(self.cuts):
            coarser = self.cuts[k + 1].labels if k + 1 < len(self.cuts) else np.full(cut.labels.size, -1)
            for t, block in enumerate(cut.blocks):
                held = np.bincount(coarser[block.rows] + 1, self.problem.counts[block.rows])
                lines.append(
                    {
                        "quorum": float(cut.quorum),
                        "group": t,
                        "n_elements": self.problem.n_elements(block.rows),
                        "gain": block.gain,
                        "parent": int(held.argmax()) - 1,
                        "lifetime": float(alive[k][t]),
                        "score": self.score(cut),
                    }
                )
        return pd.DataFrame(lines)

    def lifetimes(self) -> list[FloatArray]:
        """For each place, the range of log quorum over which each of its groups lives on in its neighbours.

        Returns
        -------
        list of (T,) arrays
        """
        return lifetimes(self.problem, self.cuts)


def choose(
    pool: Pool,
    weights: FloatArray | None = None,
    *,
    n_groups: int | None = None,
    min_elements: int = 7,
    min_candidates: int = 4,
) -> tuple[QuorumPath, Cut]:
    """Choose the place on the quorum path of a pool.

    Parameters
    ----------
    pool : Pool
        The candidates; trivial ones do not vote.
    weights : (n,) array, optional
        Weights in place of those of the pool.
    n_groups : int, optional
        Number of groups wanted; by default the score decides.
    min_elements, min_candidates : int
        Smallest group: elements, and distinct sources behind it.

    Returns
    -------
    path : QuorumPath
    cut : Cut
        The chosen place; its blocks refer to `path.problem`.

    Notes
    -----
    The score of a place is ``recall / 2 + precision / 2 + silhouette - difference + 3 retention`` where the sources
    do not agree but share clear groups; else ``2 recall + precision / 2 + difference + retention / 4`` if they see few
    groups and the silhouette if they see many. `judge` says what the parts are and how the kind of pool is told.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4
    >>> path, cut = choose(bc.Pool.from_labels(base))
    >>> len(cut)
    2
    """
    path = QuorumPath.of(pool, weights, min_elements=min_elements, min_candidates=min_candidates)
    return path, path.best if n_groups is None else path.with_n_groups(n_groups)
