"""Votes by sparse products: the cost is that of the memberships which the sets reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._coverage import stored_rows
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers.vote._counting import Count, Sets

if TYPE_CHECKING:
    from biconsensus.solvers.vote._ballot import Ballot


class SparseVotes:
    """Both votes of a ballot."""

    def __init__(self, ballot: Ballot) -> None:
        self._ballot, self._problem = ballot, ballot.problem
        self._counts = self._problem.counts.astype(np.float64)
        # both ways to look at the entries share the same ones
        ones = np.ones(self._problem.entries.nnz)
        self._entries, self._by_column = (
            csr_array((ones, way.indices, way.indptr), shape=way.shape)
            for way in (self._problem.entries, self._problem.by_column)
        )

    def of_sets(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Count:
        """Rows that join each set, then the columns that join those rows."""
        ballots = sets.matrix(self._ballot.weights)
        held = ballots @ self._by_column
        which, rows = stored_rows(held), held.indices
        asked = ballots.sum(axis=1)
        if self._problem.unseen is None:
            needed = self._ballot.share(asked)[which]
        else:
            needed = self._ballot.share(asked[which] - self._hidden(ballots, which, rows))
        joined = (held.data > needed) & live_rows[rows]
        return self._columns(Sets.from_pairs(which[joined], rows[joined], len(sets)), live_columns)

    def of_candidates(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """The columns that join the rows of each candidate."""
        held = csr_array(self._by_column[starts])
        live = live_rows[held.indices]
        rows = Sets.from_pairs(stored_rows(held)[live], held.indices[live], starts.size)
        count = self._columns(rows, live_columns)
        return Sets.from_pairs(count.which, count.columns, starts.size)

    def _columns(self, rows: Sets, live_columns: BoolArray) -> Count:
        """The columns that join sets of rows."""
        inside = rows.matrix(self._counts)
        held = inside @ self._entries
        n_elements, which, columns = inside.sum(axis=1), stored_rows(held), held.indices
        seen = n_elements[which]
        if self._problem.unseen is not None and self._problem.view is not None:
            hidden = (inside @ self._problem.unseen).toarray()
            seen = seen - hidden[which, self._problem.view[columns]]
        joined = np.flatnonzero((held.data > self._ballot.share(seen, whole=True)) & live_columns[columns])
        joined = joined[np.lexsort((columns[joined], which[joined]))]

        def rows_of(k: int) -> IntArray:
            return np.sort(rows.items[rows.bounds[k] : rows.bounds[k + 1]]).astype(np.int64)

        return Count(rows_of, n_elements, which[joined], columns[joined], held.data[joined], seen[joined])

    def _hidden(self, ballots: csr_array, which: IntArray, rows: IntArray) -> FloatArray:
        """(p,) weight that pairs of a set and a row have in columns whose view did not see the row."""
        unseen, view = self._problem.unseen, self._problem.view
        assert unseen is not None
        assert view is not None
        by_view = np.zeros((ballots.shape[0], unseen.shape[1]))
        np.add.at(by_view, (stored_rows(ballots), view[ballots.indices]), ballots.data)
        dark = csr_array(unseen[rows])
        pair = stored_rows(dark)
        return np.bincount(pair, by_view[which[pair], dark.indices], minlength=rows.size).astype(np.float64)
