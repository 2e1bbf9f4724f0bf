"""Agreement: do the sources of a pool agree on a group more than chance explains?

That is all a table of labels can say. It certifies agreement, not truth: sources that share one error agree as well.

The null hypothesis permutes the labels within each source, sizes kept, every source on its own. A set of elements that
one source alone defines, a candidate or a union of its candidates, is then a random set to every other source, and
what it shares with a set of theirs is hypergeometric. So p-values are computed, not simulated, and a price for every
choice (of the source, of the candidates in a union) makes them hold for all groups of all groupings at once, however
these were found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp

from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray

LEVEL = 0.05
"""Family-wise error up to which a group counts as significant: the convention of statistics."""
WITNESSES = 10
"""Sources, those most like a group first, that may speak for it: bounds the time; the level holds for any number."""
ROWS = 4096
"""Distinct rows that are counted together: they stay in the cache, a third of the time of all at once."""


@dataclass(frozen=True, eq=False)
class AgreementEvidence:
    """How far the sources of a pool agree on groups, beyond chance.

    Parameters
    ----------
    pool : Pool
        The candidates. Weights do not count; what a source did not see takes no part.

    Notes
    -----
    A witness of a group G is a source, with the union U of its candidates that is most like G (Jaccard index). Each
    other source answers with its union V of candidates whose overlap with U is least likely: ``P(|U and V| >= what they
    share)``, times ``2^j C(k, j)`` for the choice of j of its k candidates. These answers are independent under the
    null hypothesis; Fisher's method combines them, and the result is multiplied by the number of sources and by
    ``2^j C(k, j)`` for the choice of U. Since the inverse prices of all choices add up to at most 1, the chance that
    any group of any grouping comes below alpha is at most alpha; so the best of several witnesses costs nothing more.
    A group must also share more with U than chance explains, or it would borrow the certificate of a set that it has
    little to do with.

    Examples
    --------
    >>> import biconsensus as bc
    >>> evidence = AgreementEvidence(bc.Pool.from_labels([[0] * 10 + [1] * 10 + [2] * 10] * 3))
    >>> evidence.of_groups(np.repeat([0, 1, 2], 10)).round(1)
    array([-6.7, -6.7, -6.7])
    >>> evidence.of_groups(np.arange(30) % 3)
    array([0., 0., 0.])
    """

    pool: Pool
    kind: str = field(default="agreement", init=False)

    def of_grouping(self, labels: IntArray) -> float:
        """Share of the grouped elements in significant groups less the share in other groups.

        Parameters
        ----------
        labels : (m,) array of int
            Group of each element, -1 for none.

        Returns
        -------
        float
            Between -1 and 1; 0 for fewer than two groups. It tells whether there is agreement at all; it does not say
            which of two significant groupings is better.
        """
        sizes = np.bincount(np.asarray(labels)[np.asarray(labels) >= 0])
        if sizes.size < 2:
            return 0.0
        significant = self.of_groups(labels) <= np.log10(LEVEL)
        return float(np.where(significant, sizes, -sizes).sum() / sizes.sum())

    def of_groups(self, labels: IntArray) -> FloatArray:
        """Log10 p-value of each group: the chance that sources with permuted labels agree so on any set of elements.

        Parameters
        ----------
        labels : (m,) array of int
            Group of each element, -1 for none.

        Returns
        -------
        (T,) array
            Not above 0; 0 where there is no other source to ask.
        """
        labels = np.asarray(labels)
        n_groups = int(labels.max(initial=-1)) + 1
        if n_groups == 0 or len(self._candidates) < 2:
            return np.zeros(n_groups)
        inside = np.flatnonzero(labels >= 0)
        shape = (self.pool.rows.shape[0], n_groups)
        members = csr_array((np.ones(inside.size), (self.pool.inverse[inside], labels[inside])), shape=shape)
        unions, jaccard, log_p = self._compared(members)
        best = unions.first_of_largest(jaccard)
        likeness = unions.spread(jaccard[best])
        log_likeness, place = unions.spread(log_p[best]), unions.spread(best, -1)
        lowest = np.zeros(n_groups)
        for witness in np.argsort(-likeness, axis=0, kind="stable")[:WITNESSES]:
            own = witness, np.arange(n_groups)
            confirmed = self._confirmed(witness, unions.candidates_up_to(place[own]))
            lowest = np.minimum(lowest, np.maximum(confirmed, log_likeness[own]))
        return np.asarray(lowest / np.log(10.0))

    def place(self, labels: IntArray) -> IntArray:
        """The same labels: what no source holds is known to none of them."""
        return labels

    @cached_property
    def _held(self) -> csr_array:
        """(r, n) ones where a candidate holds a distinct row."""
        return csr_array((self.pool.rows != 0).astype(np.float64))

    @cached_property
    def _sizes(self) -> FloatArray:
        """(n,) elements of each candidate."""
        return np.asarray(self.pool.sizes, dtype=np.float64)

    @cached_property
    def _candidates(self) -> list[IntArray]:
        """For each source that has any, its candidates that are not empty."""
        filled = np.flatnonzero(self._sizes > 0)
        order = filled[np.argsort(self.pool.source_of[filled], kind="stable")]
        parts = np.split(order, np.flatnonzero(np.diff(self.pool.source_of[order])) + 1)
        return [part for part in parts if part.size]

    @cached_property
    def _numbers(self) -> IntArray:
        """(c,) candidates of each source."""
        return np.array([own.size for own in self._candidates])

    @cached_property
    def _source(self) -> IntArray:
        """(n,) number of the source of each candidate among those that have any; -1 for empty candidates."""
        found = np.full(self._sizes.size, -1)
        found[np.concatenate(self._candidates)] = np.repeat(np.arange(self._numbers.size), self._numbers)
        return found

    @cached_property
    def _disjoint(self) -> BoolArray:
        """(c,) whether no two candidates of a source share an element."""
        pairs = self._shared.tocoo()
        meet = (pairs.row != pairs.col) & (self._source[pairs.row] == self._source[pairs.col])
        return ~np.isin(np.arange(self._numbers.size), self._source[pairs.row[meet]])

    @cached_property
    def _amounts(self) -> csr_array:
        """(r, n) elements of each distinct row that a candidate holds."""
        return csr_array(self._held.multiply(self.pool.counts[:, None]))

    @cached_property
    def _shared(self) -> csr_array:
        """(n, n) elements that two candidates share: all that the unions of sources need of the rows."""
        parts = [slice(start, start + ROWS) for start in range(0, self._held.shape[0], ROWS)]
        shared = csr_array(self._held[parts[0]].T @ self._amounts[parts[0]])
        for part in parts[1:]:
            shared = shared + self._held[part].T @ self._amounts[part]
        return csr_array(shared)

    @cached_property
    def _unseen(self) -> csr_array | None:
        """(v, r) ones where a mask hides a distinct row; None where every source saw everything."""
        return None if self.pool.unseen is None else csr_array(self.pool.unseen.T.astype(np.float64))

    @cached_property
    def _hidden(self) -> csr_array | None:
        """(v, n) elements of each candidate that each mask hides."""
        return None if self._unseen is None else csr_array(self._unseen @ self._amounts)

    @cached_property
    def _totals(self) -> FloatArray:
        """(c,) elements that each source saw."""
        counts = self.pool.counts.astype(np.float64)
        hidden = None if self._unseen is None else (self._unseen @ counts)[:, None]
        return self._seen(counts.sum(keepdims=True), hidden)[:, 0]

    def _seen(self, amounts: FloatArray, hidden: FloatArray | None) -> FloatArray:
        """(c, k) how much of k amounts each source saw, of which each mask hides some (v, k)."""
        if hidden is None or self.pool.mask_of is None:
            return np.tile(amounts, (len(self._candidates), 1))
        return np.asarray(amounts - hidden[[self.pool.mask_of[own[0]] for own in self._candidates]])

    def _compared(self, members: csr_array) -> tuple[Unions, FloatArray, FloatArray]:
        """Unions that meet groups (r, T), how like their groups they are (Jaccard index), and the log p of that."""
        unions = self._unions(self._held.T @ members)
        hidden = None if self._unseen is None else (self._unseen @ members).toarray()
        seen = self._seen(np.asarray(members.sum(axis=0), dtype=np.float64), hidden)[unions.source, unions.group]
        jaccard = unions.shared / (seen + unions.size - unions.shared)
        return unions, jaccard, _log_tail(unions.shared, self._totals[unions.source], seen, unions.size) + unions.price

    def _confirmed(self, witness: IntArray, chosen: csr_array) -> FloatArray:
        """(T,) log p-value, all choices paid for, of unions of candidates (n, T) that one source each defines."""
        sizes = np.diff(chosen.tocsc().indptr)
        log_p = _log_fisher(self._answers(chosen, witness), len(self._candidates) - 1)
        return np.asarray(log_p + np.log(len(self._candidates)) + _log_choices(self._numbers[witness], sizes))

    def _answers(self, chosen: csr_array, witness: IntArray) -> FloatArray:
        """(c, T) log p-value of what each source shares with unions (n, T); 0 for the source that they are of."""
        # candidates that make a union do not overlap: what it shares is the sum of what they share
        unions = self._unions(self._shared @ chosen)
        hidden = None if self._hidden is None else (self._hidden @ chosen).toarray()
        marked = self._seen(np.asarray(chosen.T @ self._sizes), hidden)[unions.source, unions.group]
        log_p = _log_tail(unions.shared, self._totals[unions.source], marked, unions.size) + unions.price
        found = unions.spread(np.minimum(unions.smallest(log_p), 0.0))
        found[witness, np.arange(witness.size)] = 0.0
        return found

    def _unions(self, held: csr_array) -> Unions:
        """Unions of the candidates of each source for some sets, by how much of each set every candidate holds (n, T).

        The candidates of a source that meet a set, by the share of them in it, make the unions of the first 1, 2, ...
        of them. Where candidates of a source overlap, single ones in place of unions.
        """
        entries = held.tocoo()
        source, size = self._source[entries.row], self._sizes[entries.row]
        order = np.lexsort([entries.row, -entries.data / size, entries.col, source])
        candidate, group, source = entries.row[order], entries.col[order], source[order]
        shared, size = entries.data[order], size[order]
        start = np.flatnonzero(np.diff(source * held.shape[1] + group, prepend=-1))
        length = np.diff(np.append(start, order.size))
        number = np.where(self._disjoint[source], np.arange(order.size) - np.repeat(start, length) + 1, 1)
        together = self._disjoint[source]
        shared = np.where(together, _cumulated(shared, start, length), shared)
        size = np.where(together, _cumulated(size, start, length), size)
        price = _log_choices(self._numbers[source], number)
        shape = self._numbers.size, held.shape[1]
        return Unions(source, group, candidate, shared, size, price, number, start, shape, self._sizes.size)


@dataclass(frozen=True, eq=False)
class Unions:
    """Unions of candidates of one source each, for several sets: by source, then by set, the smallest first."""

    source: IntArray
    group: IntArray
    candidate: IntArray
    """(u,) the source of each union, the set that it is for, and the last candidate in it."""
    shared: FloatArray
    size: FloatArray
    """(u,) what it shares with the set, and holds in all."""
    price: FloatArray
    """(u,) log price of the choice of its candidates."""
    number: IntArray
    """(u,) candidates in it: this one and those just before it."""
    start: IntArray
    """First union of each pair of a source and a set that meet."""
    shape: tuple[int, int]
    """Sources and sets."""
    n_candidates: int

    def smallest(self, values: FloatArray) -> FloatArray:
        """The smallest of the values (u,) of each pair."""
        return np.minimum.reduceat(values, self.start) if self.start.size else values

    def first_of_largest(self, values: FloatArray) -> IntArray:
        """For each pair, the first union of those with the largest of the values (u,)."""
        if self.start.size == 0:
            return self.start
        length = np.diff(np.append(self.start, values.size))
        largest = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, self.start), length))
        return largest[np.searchsorted(largest, self.start)]

    def spread(self, values: NDArray[Any], otherwise: float = 0) -> NDArray[Any]:
        """(sources, sets) values of the pairs, and another value where a source and a set do not meet."""
        found = np.full(self.shape, otherwise, values.dtype)
        found[self.source[self.start], self.group[self.start]] = values
        return found

    def candidates_up_to(self, places: IntArray) -> csr_array:
        """(n, sets) the candidates of one union for each set (-1: none)."""
        numbers = np.where(places >= 0, self.number[places] if self.number.size else 0, 0)
        first = np.repeat(places - numbers + 1, numbers)
        within = np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)
        candidates, sets = self.candidate[first + within], np.repeat(np.arange(places.size), numbers)
        return csr_array((np.ones(candidates.size), (candidates, sets)), shape=(self.n_candidates, places.size))


def _cumulated(values: FloatArray, start: IntArray, length: IntArray) -> FloatArray:
    """Sums from the first value of each part; whole numbers, so that differences of sums are exact."""
    total = np.cumsum(values)
    before = total[start] - values[start]
    return np.asarray(total - np.repeat(before, length))


def _log_binomial(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
    """Log of n over k."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _log_choices(n: IntArray, k: IntArray) -> FloatArray:
    """Log of 2^k C(n, k), the price of choosing k of n: the inverses add up to less than 1 over all choices."""
    return np.asarray(k * np.log(2.0) + _log_binomial(n.astype(np.float64), k.astype(np.float64)))


def _log_tail(shared: FloatArray, total: FloatArray, marked: FloatArray, drawn: FloatArray) -> FloatArray:
    """Upper bound of log P(X >= shared) for `drawn` of `total` elements of which some are marked.

    The terms of a hypergeometric distribution fall at least as fast as the first two, so that a geometric series bounds
    their sum; up to the mode the bound is 1.
    """
    first = _log_binomial(marked, shared) + _log_binomial(total - marked, drawn - shared) - _log_binomial(total, drawn)
    ratio = (marked - shared) * (drawn - shared) / ((shared + 1.0) * (total - marked - drawn + shared + 1.0))
    bound = first - np.log1p(-np.minimum(ratio, 1.0 - 1e-12))
    return np.where(ratio < 1.0, np.minimum(bound, 0.0), 0.0)


def _log_fisher(log_p: FloatArray, number: int) -> FloatArray:
    """(T,) Fisher's combination of that many independent log p-values (c, T): log P(chi2 of 2 `number` > -2 sum)."""
    total = np.maximum(-log_p.sum(axis=0), 1e-300)
    terms = np.arange(number)[:, None]
    return np.asarray(logsumexp(terms * np.log(total) - gammaln(terms + 1.0), axis=0) - total)
