"""Mutants that no result can tell from the original, by module, function and change, and why."""

OVERWRITTEN = "the first value is always overwritten before it is read"
SPEED = "decides how fast the answer comes, not which"
RESHAPE = "NumPy takes every negative size as the one to be found"
TOGETHER = "both are there or none is; two tests are for type checkers"
UNSEEN = "pool.unseen is not None and pool.view_of is not None"
NEVER = "the two are never equal there"
GUARDED = "the guard of the other branch decides the same for fewer than 10^12 elements"
UNREAD = "a place that nothing reads"
BEYOND = "a sum goes on beyond the digits that are asked for"
UNREACHED = "sums over fewer than 10^10 elements end before"
EQUIVALENT = {
    "acontrario.py log_binomial_tail: hits > 0 -> hits >= 0 #1": "no hits at all are certain, whatever the chance",
    "acontrario.py log_binomial_tail: 1.0 -> 2.0 #2": UNREAD,
    "acontrario.py log_binomial_tail: 1.0 -> 2.0 #3": UNREAD,
    "acontrario.py log_binomial_tail: 0.5 -> 1.5 #1": UNREAD,
    "acontrario.py log_binomial_tail: tail <= _TINY -> tail < _TINY #1": NEVER,
    "acontrario.py _log_far_tail: 100000 -> 100001 #1": UNREACHED,
    "acontrario.py _log_far_tail: 1e-12 * total -> 1e-12 // total #1": BEYOND,
    "acontrario.py _log_far_tail: term > 1e-12 * total -> term >= 1e-12 * total #1": NEVER,
    "acontrario.py _log_far_tail: break -> continue #1": BEYOND,
    "acontrario.py log_excess_tail: k > 0 -> k >= 0 #1": "no hits are never more than a share",
    "acontrario.py log_excess_tail: 0.0 -> 1.0 #1": "the smaller of it and 0 is taken",
    "acontrario.py _log_hypergeometric: 1000000 -> 1000001 #1": UNREACHED,
    "acontrario.py _log_hypergeometric: 1e-09 * total -> 1e-09 // total #1": BEYOND,
    "acontrario.py _log_hypergeometric: term > 1e-09 * total -> term >= 1e-09 * total #1": NEVER,
    "acontrario.py log_weighted_tail: grid.size - 1 -> grid.size + 1 #1": "the largest chance is on the grid itself",
    f"core/storage.py _pack: {UNSEEN} -> {UNSEEN.replace(' and ', ' or ')} #1": TOGETHER,
    f"core/shares.py held_share: {UNSEEN} -> {UNSEEN.replace(' and ', ' or ')} #1": TOGETHER,
    "core/pool.py Pool.seen_sizes: self.unseen is None or self.view_of is None -> "
    "self.unseen is None and self.view_of is None #1": TOGETHER,
    "core/combine.py merged_views: pool.unseen is None or pool.view_of is None -> "
    "pool.unseen is None and pool.view_of is None #1": TOGETHER,
    "core/consensus.py Consensus.membership: found + added -> found - added #1": (
        "the entries of the two are apart, and true for any number but zero"
    ),
    "core/diagnostics.py diagnose: 0 -> 1 #4": "identical candidates have one size",
    "core/diagnostics.py source_agreement: 1.0 -> 2.0 #1": "the index of partitions of two elements is the same",
    "core/diagnostics.py source_agreement: top > 1e-12 -> top >= 1e-12 #1": NEVER,
    "core/build.py from_labels: 1 -> 2 #1": "only zero is looked at",
    "core/build.py joined_sets: len(s) > 1 -> len(s) >= 1 #1": "the row of one element is merged with itself again",
    "solvers/vote.py VoteSolver._clear: 1 -> 2 #1": UNREAD,
    "solvers/ballot.py Ballot._way: TURNED * nnz -> TURNED // nnz #1": SPEED,
    "solvers/vote.py VoteSolver.load: 0 -> 1 #4": "the first search sets the sizes again",
    "solvers/vote.py VoteSolver.load: 0 -> 1 #5": "the first search sets the sizes again",
    "solvers/vote.py VoteSolver._near: n_held > FEW_POINTS * len(self._points) -> "
    "n_held >= FEW_POINTS * len(self._points) #1": SPEED,
    "solvers/vote.py VoteSolver._near: gone + 1 -> gone - 1 #1": SPEED,
    "solvers/sparse_votes.py SparseVotes._columns: self._problem.unseen is not None and self._problem.view is not None"
    " -> self._problem.unseen is not None or self._problem.view is not None #1": TOGETHER,
    "solvers/dense_votes.py DenseVotes.__init__: self._problem.unseen is not None and self._problem.view is not None"
    " -> self._problem.unseen is not None or self._problem.view is not None #1": TOGETHER,
    "solvers/dense_votes.py DenseVotes._count: self._problem.view is not None and self._views is not None -> "
    "self._problem.view is not None or self._views is not None #1": TOGETHER,
    "solvers/dense_votes.py DenseVotes.of_sets.join: by_view is None or block.unseen is None -> "
    "by_view is None and block.unseen is None #1": TOGETHER,
    "solvers/dense_votes.py DenseVotes.__init__: self._problem.counts.sum() < SINGLE -> "
    "self._problem.counts.sum() <= SINGLE #1": "2^24 itself is exact too",
    "solvers/dense_votes.py DenseVotes.__init__: ballot.weights.sum() < SINGLE -> ballot.weights.sum() <= SINGLE #1": (
        "2^24 itself is exact too"
    ),
    "solvers/dense_votes.py DenseVotes._of_few.join: 0 -> 1 #1": "the rows of candidates are not read",
    "solvers/ballot.py Ballot.first_columns: 1 -> 2 #1": SPEED,
    "solvers/vote.py VoteSolver._keep: not key or not rows.size -> not key and (not rows.size) #1": (
        "columns that join have rows, and empty sets do not get here"
    ),
    "solvers/vote.py VoteSolver._search: self._sizes_in_sample(self._coarse)[fresh] >= WELL_SAMPLED -> "
    "self._sizes_in_sample(self._coarse)[fresh] > WELL_SAMPLED #1": SPEED,
    "solvers/sets.py Sets.from_pairs: False -> True #1": SPEED,
    "solvers/descent.py sample_rows: chance * total < SAMPLE * problem.counts -> "
    "chance * total <= SAMPLE * problem.counts #1": NEVER,
    "core/preference.py : 16 -> 17 #1": SPEED,
    "core/preference.py : 1 -> 2 #2": SPEED,
    "core/preference.py _distinct_columns: 24 -> 25 #1": SPEED,
    "core/preference.py _distinct_columns: mix(np.arange(PROBE)) >> np.uint64(24) -> "
    "mix(np.arange(PROBE)) << np.uint64(24) #1": SPEED,
    "core/preference.py _distinct_columns: (np.diff(start[order]) != 0) | (np.diff(sizes[order]) != 0) -> "
    "(np.diff(start[order]) != 0) & (np.diff(sizes[order]) != 0) #1": SPEED,
    "core/compress.py : 1 -> 2 #1": SPEED,
    "core/compress.py : 20 -> 21 #1": SPEED,
    "core/compress.py : 1 << 20 -> 1 >> 20 #1": SPEED,
    "core/encode.py : 2 -> 3 #1": "a code that nothing else has",
    "core/encode.py Column.codes: 1 -> 2 #3": UNREAD,
    "core/encode.py _distinct: 1000 -> 1001 #1": SPEED,
    "core/encode.py _distinct: 4 -> 5 #1": SPEED,
    "core/encode.py _distinct: int(cells.max()) - low > 4 * cells.size + 1000 -> "
    "int(cells.max()) - low >= 4 * cells.size + 1000 #1": SPEED,
    "core/encode.py _distinct: 4 * cells.size + 1000 -> 4 * cells.size - 1000 #1": SPEED,
    "core/encode.py _distinct: 4 * cells.size -> 4 // cells.size #1": SPEED,
    "core/compress.py row_hashes: 1 -> 2 #1": SPEED,
    "core/compress.py row_hashes: 1 -> 2 #2": SPEED,
    "core/compress.py row_hashes: 0 -> 1 #2": SPEED,
    "core/compress.py row_hashes: MANY * matrix.shape[0] // max(1, matrix.nnz) -> "
    "MANY * matrix.shape[0] * max(1, matrix.nnz) #1": SPEED,
    "core/compress.py group_hashes: 1 -> 2 #1": OVERWRITTEN,
    "solvers/vote.py VoteSolver._heavy_rows: live.size < number -> live.size <= number #1": SPEED,
    "solvers/vote.py VoteSolver._leading: 1.0 -> 2.0 #1": "nothing divided by anything is nothing",
    "solvers/vote.py VoteSolver.load: 0 -> 1 #1": UNREAD,
    "solvers/vote.py VoteSolver._near: entries.indptr[gone + 1] - entries.indptr[gone] -> "
    "entries.indptr[gone + 1] + entries.indptr[gone] #1": SPEED,
    "solvers/vote.py VoteSolver._keep: point.gain > 0 -> point.gain >= 0 #1": "what joins by a vote gains",
    "solvers/vote.py heaviest: number >= counts.size -> number > counts.size #1": "both ways sort all rows then",
    "solvers/dense_votes.py DenseVotes.__init__: indptr[min(k + size, indptr.size - 1)] - indptr[k] -> "
    "indptr[min(k + size, indptr.size - 1)] + indptr[k] #1": "more ones than are read",
    "solvers/ballot.py Ballot.share: whole or self.unit is not None -> whole and self.unit is not None #1": GUARDED,
    "solvers/sparse_votes.py SparseVotes._columns: True -> False #1": GUARDED,
    "solvers/dense_votes.py DenseVotes._count: True -> False #1": GUARDED,
    "solvers/ballot.py Ballot._way: n_sets < TURNED -> n_sets <= TURNED #1": SPEED,
    "solvers/ballot.py Ballot._way: SPARSE * reached + (0 if made else TURNED * nnz) -> "
    "SPARSE * reached - (0 if made else TURNED * nnz) #1": SPEED,
    "solvers/ballot.py Ballot.first_columns: self.problem.entries.nnz / max(1, self.problem.shape[0]) -> "
    "self.problem.entries.nnz * max(1, self.problem.shape[0]) #1": SPEED,
    "solvers/ballot.py Ballot.first_columns: 0 -> 1 #1": SPEED,
    "solvers/ballot.py : 20 -> 21 #1": SPEED,
    "solvers/descent.py settle: break -> continue #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: if self._ballot.n_jobs == 1 or len(self._blocks) == 1: -> "
    "if not (self._ballot.n_jobs == 1 or len(self._blocks) == 1): #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: self._ballot.n_jobs == 1 or len(self._blocks) == 1 -> "
    "self._ballot.n_jobs == 1 and len(self._blocks) == 1 #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: self._ballot.n_jobs == 1 -> self._ballot.n_jobs != 1 #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: len(self._blocks) == 1 -> len(self._blocks) != 1 #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: 1 -> 2 #1": SPEED,
    "solvers/dense_votes.py DenseVotes._each: 1 -> 2 #2": SPEED,
    "core/encode.py _column: categories is not None and hasattr(vector.cat, 'codes') -> "
    "categories is not None or hasattr(vector.cat, 'codes') #1": "pandas has both, other frames have none",
    "solvers/vote.py : 256 -> 257 #1": SPEED,
    "solvers/vote.py : 14 -> 15 #1": SPEED,
    "solvers/vote.py : 1 -> 2 #4": SPEED,
    "solvers/vote.py : 1 << 14 -> 1 >> 14 #1": SPEED,
    "solvers/vote.py : 64 -> 65 #3": SPEED,
    "solvers/ballot.py : 14 -> 15 #1": SPEED,
    "solvers/ballot.py : 1 -> 2 #1": SPEED,
    "solvers/ballot.py : 1 -> 2 #2": SPEED,
    "solvers/ballot.py : 64 -> 65 #1": SPEED,
    "solvers/dense_votes.py : 64 -> 65 #1": SPEED,
    "search.py _greedy_cut: 0 -> 1 #1": "the columns of a cut of Algorithm 1 are not read",
    "search.py _majority: 0 -> 1 #1": "the columns of a cut of Algorithm 1 are not read",
    "core/shares.py held_share: asked > 0 -> asked >= 0 #1": "who holds a row has seen it, but for rounding",
    "core/predict.py _known: 1 -> 2 #2": "of two empty rows, either is empty",
    "search.py _greedy_cut: 0 -> 1 #2": "equal numbers have one minimum",
    "core/predict.py predict: 1 -> 2 #3": "of what is asked for, nothing is asked",
    "core/combine.py _of_sources: -1 -> 1 #1": OVERWRITTEN,
    "core/combine.py _of_sources: 1 -> 2 #1": OVERWRITTEN,
    "core/combine.py join: 1 -> 2 #2": RESHAPE,
    "core/combine.py join: 1 -> 2 #4": RESHAPE,
    "core/combine.py _views_of: pool.unseen is None or pool.view_of is None -> "
    "pool.unseen is None and pool.view_of is None #1": TOGETHER,
    "core/preference.py PreferenceMatrix.seen: self.unseen is None or self.view is None -> "
    "self.unseen is None and self.view is None #1": TOGETHER,
    "core/preference.py PreferenceMatrix.gain: self.unseen is not None and self.view is not None -> "
    "self.unseen is not None or self.view is not None #1": TOGETHER,
    "solvers/ballot.py : 1 << 20 -> 1 >> 20 #1": SPEED,
    "solvers/vote.py : 1 -> 2 #3": SPEED,
    "solvers/vote.py : 64 -> 65 #2": SPEED,
    "solvers/vote.py VoteSolver.best_block: rows.any() and columns.any() -> rows.any() or columns.any() #1": (
        "a search without live rows or columns finds nothing"
    ),
    "core/preference.py : 1 -> 2 #1": SPEED,
    "core/preference.py : 12 -> 13 #1": SPEED,
    "core/preference.py : 1 << 12 -> 1 >> 12 #1": SPEED,
}
