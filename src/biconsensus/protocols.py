"""The small interfaces that the parts of the library meet at, on one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from biconsensus.matrix._matrix import PreferenceMatrix
    from biconsensus.pool._pool import Pool

__all__ = ["Block", "Evidence", "Model", "Solver", "Source", "WeightRule"]
__dir__ = __all__.copy  # what dir() shows

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

Progress = Callable[[int, int, str], None]
"""Called with what is done, how much there is (0 where nobody knows) and the name of the step.

An exception that it raises ends the work.
"""


def silent(done: int, total: int, step: str) -> None:
    """A progress function that does nothing."""


@dataclass(frozen=True)
class Block:
    """Rows and columns of a preference matrix that belong together, and what they gain."""

    rows: BoolArray
    """(r,) mask over the distinct rows of the preference matrix."""
    columns: BoolArray
    """(q,) mask over its distinct columns."""
    gain: float
    """sum over rows i and columns j of the block of s_i M_ij w_j (B_ij - theta)."""


GUARD = 1e-12
"""Relative excess over a quorum of real weights that counts as a tie."""


def comparable(gain: float) -> float:
    """A gain without the digits that only rounding makes, so that ties are ties."""
    return float(f"{gain:.12e}")


@runtime_checkable
class Solver(Protocol):
    """Finds one best block; it does not know about the loop that asks for block after block."""

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; called once, before any `best_block`."""

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best block inside the live rows and columns that has the minimum sizes, or None.

        Sizes are counted by `PreferenceMatrix.n_elements(rows)` and `PreferenceMatrix.n_sources(columns)`.
        """


@runtime_checkable
class Model(Protocol):
    """A parametric model; stateless and batched, so that thousands of hypotheses need no Python loop."""

    @property
    def sample_size(self) -> int:
        """Elements in a minimal sample (b)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Parameters (k, p) of k minimal samples (k, b, d); NaN rows where a sample is degenerate."""

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k), not negative, of m elements (m, d) to k models (k, p)."""


class Evidence(Protocol):
    """What a front knows of the elements beyond the pool: the points, the network, the residuals.

    Further attributes are optional; `quorum._choice` reads them. `looked_at`: the numbers of the elements that
    `of_grouping` uses, if they are few. `fewest_backers`: how many sources must say the same as a grouping.
    `backers_against_one_group(labels)`: how many must, to show that there are groups at all. `sharpness` and
    `backing_power`: powers of the agreement of one source, and of the sum over all, in the score of a grouping.
    """

    @property
    def kind(self) -> str:
        """What the evidence rests on, in one word: "points", "links", "agreement", "models"."""

    def of_grouping(self, labels: IntArray) -> float:
        """Evidence for a grouping (m,) of the elements: 0 for one group, larger is better, negative is worse."""

    def of_groups(self, labels: IntArray) -> FloatArray:
        """(T,) base-10 logarithm of the chance (p-value or number of false alarms) of each group of a grouping."""

    def place(self, labels: IntArray) -> IntArray:
        """The same grouping with elements placed that no candidate of any group holds; unchanged if none can be."""


class WeightRule(Protocol):
    """Gives a weight to each candidate of a pool."""

    def __call__(self, pool: Pool) -> FloatArray:
        """(n,) positive weights."""


class Source(Protocol):
    """Makes one grouping of the data: one base result of a pool."""

    def __call__(self, data: Any, seed: int) -> NDArray[Any]:
        """(m,) labels (-1: in no group), or (m, g) memberships where groups may overlap."""
