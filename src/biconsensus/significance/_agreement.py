"""Agreement: do the sources of a pool agree on a group more than chance explains?

That is all a table of labels can say. It certifies agreement, not truth: sources that share one error agree as well.

The null hypothesis permutes the labels within each source, sizes kept, every source on its own. A set of elements that
one source alone defines, a candidate or a union of its candidates, is then a random set to every other source, and
what it shares with a set of theirs is hypergeometric. So p-values are computed, not simulated, and a price for every
choice (of the source, of the candidates in a union) makes them hold for all groups of all groupings at once, however
these were found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp

from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

LEVEL = 0.05
"""Family-wise error up to which a group counts as significant: the convention of statistics."""
WITNESSES = 10
"""Sources, those most like a group first, that may speak for it: bounds the time; the level holds for any number."""
CELLS = 4_000_000
"""Numbers per array when the unions of a source are compared with many groups: bounds memory, not the answer."""


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
        likeness, log_likeness, unions = self._likest_unions(members)
        lowest = np.zeros(n_groups)
        for witness in np.argsort(-likeness, axis=0, kind="stable")[:WITNESSES]:
            place = witness, np.arange(n_groups)
            log_p = self._confirmed(witness, [unions[s][t] for t, s in enumerate(witness)])
            lowest = np.minimum(lowest, np.maximum(log_p, log_likeness[place]))
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
    def _disjoint(self) -> list[bool]:
        """For each source, whether no two of its candidates share an element."""
        return [bool(self._held[:, own].sum(axis=1).max() <= 1) for own in self._candidates]

    @cached_property
    def _totals(self) -> FloatArray:
        """(c,) elements that each source saw."""
        return self._seen(csr_array(self.pool.counts[:, None].astype(np.float64)))[:, 0]

    def _seen(self, amounts: csr_array) -> FloatArray:
        """(c, k) how much of k row-wise amounts (r, k) each source saw."""
        total = np.asarray(amounts.sum(axis=0), dtype=np.float64)
        if self.pool.unseen is None or self.pool.mask_of is None:
            return np.tile(total, (len(self._candidates), 1))
        lost = (self.pool.unseen.T.astype(np.float64) @ amounts).toarray()
        return np.asarray(total - lost[[self.pool.mask_of[own[0]] for own in self._candidates]])

    def _likest_unions(self, members: csr_array) -> tuple[FloatArray, FloatArray, list[list[IntArray]]]:
        """For each source and group (r, T) the union most like the group: Jaccard index, log p of it, candidates."""
        n_groups = members.shape[1]
        held, seen = (self._held.T @ members).toarray(), self._seen(members)
        likeness, log_p = np.zeros((len(self._candidates), n_groups)), np.zeros((len(self._candidates), n_groups))
        unions: list[list[IntArray]] = []
        for s, own in enumerate(self._candidates):
            unions.append([])
            for part in _parts(n_groups, own.size):
                order, shared, size, price = self._unions(s, held[:, part])
                jaccard = shared / (seen[s, part] + size - shared)
                top = jaccard.argmax(axis=0)
                place = top, np.arange(top.size)
                likeness[s, part] = jaccard[place]
                log_p[s, part] = _log_tail(shared[place], self._totals[s], seen[s, part], size[place]) + price[top]
                for t, last in enumerate(top):
                    unions[s].append(own[order[: last + 1, t] if self._disjoint[s] else order[[last], t]])
        return likeness, log_p, unions

    def _confirmed(self, witness: IntArray, unions: list[IntArray]) -> FloatArray:
        """(T,) log p-value, all choices paid for, of the unions that one source each defines."""
        sizes = np.array([union.size for union in unions])
        chosen = np.ones(int(sizes.sum())), (np.concatenate(unions), np.repeat(np.arange(sizes.size), sizes))
        union_rows = csr_array(self._held @ csr_array(chosen, shape=(self._held.shape[1], sizes.size)))
        union_rows.data[:] = 1.0  # candidates of one source may overlap
        log_p = _log_fisher(self._answers(union_rows, witness), len(self._candidates) - 1)
        return np.asarray(log_p + np.log(len(self._candidates)) + _log_choices(self._numbers[witness], sizes))

    def _answers(self, union_rows: csr_array, witness: IntArray) -> FloatArray:
        """(c, T) log p-value of what each source shares with each union (r, T); 0 for the source it comes from."""
        amounts = csr_array(union_rows.multiply(self.pool.counts[:, None]))
        held, marked = (self._held.T @ amounts).toarray(), self._seen(amounts)
        found = np.zeros((len(self._candidates), witness.size))
        for t, own in enumerate(self._candidates):
            for part in _parts(witness.size, own.size):
                _, shared, size, price = self._unions(t, held[:, part])
                log_p = _log_tail(shared, self._totals[t], marked[t, part], size) + price[:, None]
                found[t, part] = np.minimum(log_p.min(axis=0), 0.0)
        found[witness, np.arange(witness.size)] = 0.0
        return found

    def _unions(self, source: int, held: FloatArray) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Unions of candidates of a source for sets of which each candidate holds so much (n, T).

        (k, T) order of the candidates by the share of them in the set; (k, T) what the first 1 to k of them share with
        the set and (k, T) hold in all; (k,) log price. Where candidates overlap, single ones in place of unions.
        """
        own = self._candidates[source]
        shared, size = held[own], np.broadcast_to(self._sizes[own, None], (own.size, held.shape[1]))
        order = np.argsort(-shared / size, axis=0, kind="stable")
        shared, size = np.take_along_axis(shared, order, axis=0), np.take_along_axis(size, order, axis=0)
        if not self._disjoint[source]:
            return order, shared, size, np.full(own.size, np.log(2.0 * own.size))
        price = _log_choices(np.full(own.size, own.size), np.arange(1, own.size + 1))
        return order, shared.cumsum(axis=0), size.cumsum(axis=0), price


def _parts(number: int, width: int) -> Iterator[slice]:
    """Slices of columns, narrow enough that arrays of that width stay within the bound."""
    step = max(1, CELLS // max(width, 1))
    return (slice(start, min(start + step, number)) for start in range(0, number, step))


def _log_binomial(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
    """Log of n over k."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _log_choices(n: IntArray, k: IntArray) -> FloatArray:
    """Log of 2^k C(n, k), the price of choosing k of n: the inverses add up to less than 1 over all choices."""
    return np.asarray(k * np.log(2.0) + _log_binomial(n.astype(np.float64), k.astype(np.float64)))


def _log_tail(shared: FloatArray, total: float, marked: FloatArray, drawn: FloatArray) -> FloatArray:
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
