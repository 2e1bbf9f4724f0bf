"""How long it takes to describe sources, alone or given the groups of a mode.

A source is a column of labels. Given groups of the rows, its labels are told group by group. The labels of each group
are drawn from an unknown distribution of their own, with Perks' prior (a total weight of one, spread evenly over the
labels of the source). The code length is minus the logarithm of the probability of the labels, so that parameters
are paid for and a source that has nothing to do with the groups takes longer than alone. All lengths are in nats.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from biconsensus.matrix._condensed import draw_rows
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool, seen_by_sources
from biconsensus.pool._rows import mix
from biconsensus.protocols import FloatArray, IntArray

SAMPLE_ROWS = 2_000
"""Rows of the sample that is used of many more rows: a few hundred elements are enough to tell camps apart."""
MAX_ROUNDS = 30
"""Bound of the loop that fits groups; it mostly ends by itself after a few rounds."""


@dataclass(frozen=True)
class SourceTable:
    """The labels of all sources on the distinct rows, or on a sample of them."""

    rows: IntArray
    """(k,) the distinct row of the pool that each row is."""
    labels: csr_array
    """(k, l) ones: the label of every source that saw the row; the labels of all sources stand side by side."""
    counts: FloatArray
    """(k,) elements that each row stands for; where rows are a sample, as many in all as the sample is worth."""
    source_of: IntArray
    """(l,) the source of each label."""
    n_sources: int

    @classmethod
    def of(cls, pool: Pool) -> SourceTable:
        """The table of a pool, of rows drawn by their content where there are very many.

        Two rows have the same label in a source if the same candidates of the source hold them; "in no group" is a
        label as well. Weights do not count, and real memberships count as held where they are not zero.
        """
        problem = PreferenceMatrix.from_pool(pool)
        drawn = draw_rows(problem, SAMPLE_ROWS)
        rows = np.arange(pool.rows.shape[0]) if drawn is None else drawn.rows
        counts = np.asarray(pool.counts[rows] if drawn is None else drawn.counts, np.float64)
        if drawn is not None:
            # a sample tells no more than a table of its effective size (Kish); larger counts would overrate chance
            counts *= counts.sum() / float(counts @ counts)
        codes, n_labels = _codes(pool, rows)
        seen = codes >= 0
        start = np.concatenate([[0], np.cumsum(n_labels)])
        indices = (codes + start[:-1])[seen]
        indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        labels = csr_array((np.ones(indices.size), indices, indptr), shape=(rows.size, int(start[-1])))
        return cls(rows, labels, counts, np.repeat(np.arange(n_labels.size), n_labels), n_labels.size)

    def select(self, sources: IntArray) -> SourceTable:
        """The table of some of the sources."""
        own = np.flatnonzero(np.isin(self.source_of, sources))
        number = np.searchsorted(sources, self.source_of[own])
        return SourceTable(self.rows, csr_array(self.labels[:, own]), self.counts, number, sources.size)

    @property
    def size(self) -> float:
        """Number of elements that the rows are worth."""
        return float(self.counts.sum())

    @cached_property
    def n_labels(self) -> IntArray:
        """(c,) labels of each source."""
        return np.bincount(self.source_of, minlength=self.n_sources)

    @cached_property
    def _by_source(self) -> csr_array:
        """(c, l) ones where a label is of a source."""
        cells = np.ones(self.source_of.size), (self.source_of, np.arange(self.source_of.size))
        return csr_array(cells, shape=(self.n_sources, self.source_of.size))

    @cached_property
    def _weighted(self) -> csr_array:
        """(l, k) the labels by source, each row times the elements that it stands for."""
        turned = csr_array(self.labels.T)
        turned.data = self.counts[turned.indices]
        return turned

    @cached_property
    def prior(self) -> FloatArray:
        """(l,) weight of each label in the prior: one over the number of labels of its source."""
        return 1.0 / self.n_labels[self.source_of]

    @cached_property
    def alone(self) -> FloatArray:
        """(c,) length of each source by itself."""
        return self.lengths(np.zeros(self.counts.size, np.int64))

    def shared(self, groups: IntArray) -> csr_array:
        """(l, T) elements that each label shares with each group (k,) of the rows; -1 is in no group."""
        inside = np.flatnonzero(groups >= 0)
        shape = self.counts.size, int(groups.max(initial=-1)) + 1
        members = csr_array((np.ones(inside.size), (inside, groups[inside])), shape=shape)
        return csr_array(self._weighted @ members)

    def lengths(self, groups: IntArray) -> FloatArray:
        """(c,) length of each source given groups of the rows."""
        return np.asarray(self._lengths(self.shared(groups)).sum(axis=1))

    def _lengths(self, shared: csr_array) -> FloatArray:
        """(c, T) length of each source inside each group, from what labels and groups share (l, T)."""
        prior = np.repeat(self.prior, np.diff(shared.indptr))
        told = csr_array((gammaln(shared.data + prior) - gammaln(prior), shared.indices, shared.indptr), shared.shape)
        totals = (self._by_source @ shared).toarray()
        return np.asarray(gammaln(totals + 1.0) - (self._by_source @ told).toarray())

    def between(self) -> FloatArray:
        """(c, c) length of each source (line) given the groups of each other source (column)."""
        shared = csr_array(self._weighted @ self.labels)
        return np.asarray((self._lengths(shared)) @ self._by_source.T)

    def groups_of(self, source: int) -> IntArray:
        """(k,) the labels of a source as groups of the rows; rows that it did not see in none."""
        own = np.flatnonzero(self.source_of == source)
        part = self.labels[:, own]
        groups = np.full(self.counts.size, -1)
        groups[np.flatnonzero(np.diff(part.indptr))] = part.indices
        return groups

    def length_of_groups(self, groups: IntArray) -> float:
        """Length of groups themselves: how many, how large, and which row is where."""
        sizes = np.bincount(groups[groups >= 0], self.counts[groups >= 0])
        sizes = sizes[sizes > 0]
        which = gammaln(self.size + 1.0) - gammaln(sizes + 1.0).sum()
        how_large = gammaln(self.size) - gammaln(sizes.size) - gammaln(max(self.size - sizes.size, 0.0) + 1.0)
        return float(np.log(self.size + 1.0) + max(how_large, 0.0) + which)

    def length_with(self, groups: IntArray) -> float:
        """Length of groups and of all sources given them."""
        return self.length_of_groups(groups) + float(self.lengths(groups).sum())

    def fit_groups(self, start: IntArray) -> IntArray:
        """Groups of the rows that describe the sources well, grown from a start.

        Every row goes to the group under which its labels are most probable, and groups take their distributions from
        their rows, until nothing changes (classification expectation-maximisation).
        """
        groups = start
        for _ in range(MAX_ROUNDS):
            shared = self.shared(groups).toarray()
            sizes = np.bincount(groups[groups >= 0], self.counts[groups >= 0], minlength=shared.shape[1])
            totals = self._by_source @ shared
            chance = np.log(shared + self.prior[:, None]) - np.log(totals[self.source_of] + 1.0)
            again = (self.labels @ chance + np.log(np.maximum(sizes, 1e-300))).argmax(axis=1)
            if np.array_equal(again, groups):
                break
            groups = again
        return np.unique(groups, return_inverse=True)[1]


def _codes(pool: Pool, rows: IntArray) -> tuple[IntArray, IntArray]:
    """(k, c) number of the label of each row in each source, -1 where it was not seen; (c,) labels of each source."""
    part = csr_array(pool.rows[rows])
    n_sources = len(pool.sources)
    keys = mix(np.arange(pool.shape[1]))
    cells = np.repeat(np.arange(rows.size), np.diff(part.indptr)) * np.int64(n_sources) + pool.source_of[part.indices]
    # rows are held by the same candidates where the sums of their keys are the same
    sums = np.zeros(rows.size * n_sources, np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(sums, cells, keys[part.indices])
    held = sums.reshape(rows.size, n_sources)
    seen = seen_by_sources(pool, rows)
    codes, numbers = np.full((rows.size, n_sources), -1), np.zeros(n_sources, np.int64)
    for s in range(n_sources):
        found, codes[seen[:, s], s] = np.unique(held[seen[:, s], s], return_inverse=True)
        numbers[s] = found.size
    return codes, numbers
