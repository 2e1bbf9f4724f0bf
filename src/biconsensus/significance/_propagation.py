"""Weak groups of a network: the planted partition averaged over all groupings, by belief propagation.

Near the limit of detectability no single grouping is worth its description, though the network as a whole shows that
there are groups. Belief propagation (Decelle et al. 2011; with degrees, Zhang and Moore 2014) gives each node a
probability for each group, and the Bethe free energy says how many nats the model saves over one group. How many groups
can be told at all, and where to start, is read from the spectrum of the Bethe Hessian (Saade et al. 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.special import stdtrit

from biconsensus.protocols import FloatArray, IntArray
from biconsensus.significance._description import Links, compact, refine

GROWTH = 1.6
"""Factor between the numbers of groups that are tried; the evidence is flat over a factor of two around its best."""
MAX_GROUPS = 48
"""Most groups that are tried: more than that are told node by node, or not at all."""
MAX_CELLS = 4_000_000
"""Messages times groups up to which it is tried (about a quarter of a second for one sweep)."""
MAX_SWEEPS = 40
"""Sweeps after which messages that have not settled are used unsettled."""
SETTLED = 1e-3
"""Mean change of a message at which it ends."""
UNSETTLED = 0.3
"""Mean change of a message above which the free energy is not believed: where messages still wander that far it can be
any number."""
RESTLESS = 0.15
"""Mean change of a message above which a state has a voice beside others, but is no answer: it mostly has too many
groups (LFR networks and block models with seeds 200 to 211 and 5200 to 5201, which no page reports)."""
N_LOOKS = 5
"""Last sweeps over which the free energy is averaged; where messages wander, so does it."""
N_BATCHES = 20
"""Parts of a sweep; after each, the degree sums of the groups are brought up to date."""
HEAD_START = 0.7
"""Probability of the group that a node starts in."""
SPECTRAL_NATS = 1.0
"""Evidence of groups that rest on the spectrum alone: more than none, less than what pays for its own description."""
N_REWIRED = 20
"""Rewired networks whose spectrum says what chance gives: a compromise with time, other numbers were not tried."""
LEVEL = 0.001
"""Probability that a network without groups is taken for one with groups by its spectrum: far below the 5% that false
alarms may cost, because whole networks are judged by it."""
NATS_FOR_AN_ERROR = 0.05
"""Evidence that the groups of belief propagation need for each node that they are expected to place wrongly. On LFR
networks and block models of 4 to 20 groups near their limit (39 networks, seeds 50 to 58) the mean ARI was .237, .238
and .239 with .025, .05 and .1: it matters little."""
SMALLEST = 3
"""Fewest nodes of a group that is proposed: the smallest community."""


@dataclass(frozen=True)
class State:
    """Messages of belief propagation at rest."""

    marginals: FloatArray
    """(m, q) probability of each group for each node."""
    nats: float
    """Bethe log evidence over one group, the mean over the last sweeps."""
    error: float
    """Its standard deviation over them: 0 where messages are at rest."""
    rates: tuple[float, float]
    """Links inside and between groups, over chance."""
    shares: FloatArray
    """(q,) prior probability of each group."""
    change: float
    """Mean change that a message was asked for in the last sweep."""

    @property
    def sure_nats(self) -> float:
        """What is left of the log evidence if it is two errors too high: messages that wander mostly add to it."""
        return self.nats - 2.0 * self.error


@dataclass(frozen=True)
class Told:
    """Groups that the network as a whole shows, and how sure it is of their nodes."""

    labels: IntArray
    """(m,) likeliest group of each node."""
    nats: float
    """Log evidence averaged over all groupings, above 0."""
    misplaced: float
    """Share of the nodes that are expected to be in another group."""


@dataclass(frozen=True)
class Weak:
    """Groups that the network shows, but that no single grouping tells."""

    share: FloatArray
    """(2e,) for each link, in both directions, how much speaks for its two ends being in one group, in [0, 1]."""
    nats: float
    """Evidence that there are groups."""
    misplaced: float
    """Share of the nodes that are expected to be in another group."""
    n_groups: int = 1
    """How many belief propagation has the most evidence for; 1 where nothing that it says can be believed."""


def propagate(links: Links, together: list[list[int]], runs: Sequence[IntArray] = ()) -> tuple[list[Told], Weak | None]:
    """Groupings by belief propagation.

    Parameters
    ----------
    links : Links
        The network.
    together : list of lists of int
        Nodes that must share a group.
    runs : sequence of (m,) int arrays
        Groupings that the base runs found; those that shatter the network, or leave it whole, do not count. They are
        asked only where belief propagation knows too little.

    Returns
    -------
    list of Told
        At most two, best first; none where the spectrum says that nothing can be told.
    Weak or None
        What speaks for each link where there are groups, but too little says who is in them.
    """
    if 2 * links.source.size > MAX_CELLS or links.n_linked < 4:
        return [], None
    spectrum = _Spectrum(links)
    if not spectrum.shows_groups():
        return [], None
    states = _states(links, spectrum)
    best = _best(states)
    nats = -np.inf if best is None else _evidence(links, best)
    misplaced = 1.0 if best is None else 1.0 - _certainty(links, best)
    usual = [labels for labels in runs if 2 <= int(labels.max(initial=-1)) + 1 <= spectrum.most_groups]
    if usual and nats < NATS_FOR_AN_ERROR * links.n_linked * misplaced:
        n_groups = max(states, key=_hoped_nats).shares.size if states else 1
        share = _share_together(links, spectrum, usual, states)
        return [], Weak(share, max(nats, SPECTRAL_NATS), misplaced, n_groups)
    if best is None:
        return [], None
    # the same with shares of the groups that are learned, and paid for
    found = [best, run(links, best.shares.size, best.marginals.argmax(axis=1), best, learn_shares=True)]
    told = [
        Told(_labels(links, state, together), _evidence(links, state), 1.0 - _certainty(links, state))
        for state in found
        if _believed(links, state)
    ]
    return sorted((one for one in told if one.nats > 0 and one.labels.max() > 0), key=lambda one: -one.nats), None


def spectral_groupings(links: Links) -> list[IntArray]:
    """What the spectrum alone shows: one grouping, or none where the network is too large or too small to look."""
    if 2 * links.source.size > MAX_CELLS or links.n_linked < 4:
        return []
    spectrum = _Spectrum(links)
    return [spectrum.start(max(2, spectrum.n_detectable))]


def _states(links: Links, spectrum: _Spectrum) -> list[State]:
    """Belief propagation for growing numbers of groups, until the evidence falls, and then nearer to the best of them.

    All starts come from the network, so that no base run and no seed has a say. Only what can be believed is returned.
    """
    n_cells, found = links.source.size, list[State]()

    def believed() -> list[State]:
        return [state for state in found if _believed(links, state)]

    def affordable(n_groups: int) -> bool:
        return 2 <= n_groups <= spectrum.most_groups and n_groups * n_cells <= MAX_CELLS

    q, worse = max(2, spectrum.n_detectable), 0
    while affordable(q) and worse < 2:
        state = run(links, q, spectrum.start(q))
        near = _believed(links, state) and all(state.nats + state.error >= other.nats for other in believed())
        worse = 0 if near else worse + 1
        found.append(state)
        q = max(q + 1, round(GROWTH * q))
    best = _best(believed())
    if best is None:
        return believed()
    number, tried = best.shares.size, {state.shares.size for state in found}
    nearer = {round(number / np.sqrt(GROWTH)), round(number * np.sqrt(GROWTH))} - tried
    found += [run(links, q, spectrum.start(q)) for q in sorted(nearer) if affordable(q)]
    # groups that are one too many for the description merge
    likeliest = max(believed(), key=_rank).marginals.argmax(axis=1)
    merged = refine(links, likeliest, np.random.default_rng(0))[0]
    if affordable(int(merged.max()) + 1):
        found.append(run(links, int(merged.max()) + 1, merged))
    return believed()


def _rank(state: State) -> tuple[bool, float]:
    """States at rest before others, and more evidence before less."""
    return state.change < RESTLESS, state.sure_nats


def _best(states: Sequence[State]) -> State | None:
    """The state with the most evidence whose messages are at rest, if there is one."""
    best = max(states, key=_rank, default=None)
    return best if best is not None and best.change < RESTLESS else None


def _share_together(links: Links, spectrum: _Spectrum, runs: Sequence[IntArray], states: Sequence[State]) -> FloatArray:
    """(2e,) how much speaks for the two ends of each link being together: runs, spectrum and belief propagation.

    Belief propagation has as large a voice as it is certain, its numbers of groups by their evidence; the rest is
    shared by the runs and by spectral groupings into as many groups as the runs found.
    """
    left, right = links.source, links.target

    def kept(groupings: Sequence[IntArray]) -> FloatArray:
        return np.asarray(np.mean([labels[left] == labels[right] for labels in groupings], axis=0))

    numbers = sorted({int(labels.max()) + 1 for labels in runs})
    others = 0.5 * kept(runs) + 0.5 * kept([spectrum.start(number) for number in numbers])
    if not states:
        return others
    best = max(states, key=_hoped_nats)
    voice = np.exp([_hoped_nats(state) - _hoped_nats(best) for state in states])
    voice = voice / voice.sum()
    believed = sum(v * np.einsum("ij,ij->i", s.marginals[left], s.marginals[right]) for v, s in zip(voice, states))
    certain = _certainty(links, best)
    return np.asarray((1.0 - certain) * others + certain * believed)


def _hoped_nats(state: State) -> float:
    """Log evidence if it is an error too low: where all have a voice, none is left out for wandering."""
    return state.nats + state.error


def _certainty(links: Links, state: State) -> float:
    """Mean probability of the likeliest group of a node."""
    return float(state.marginals[links.linked].max(axis=1).mean())


def _evidence(links: Links, state: State) -> float:
    """Nats over one group, half a log paid for each number that was learned, as BIC has it."""
    learned = 0 if np.ptp(state.shares) == 0 else int((state.shares * links.n_linked >= 1.0).sum()) - 1
    return state.sure_nats - 0.5 * float(np.log(links.total)) - 0.5 * learned * float(np.log(links.n_linked))


class _Spectrum:
    """Lowest eigenvectors of the Bethe Hessian ``(r^2 - 1) I - r A + D`` at ``r^2 = <k^2> / <k> - 1``.

    As many eigenvalues are negative as there are groups that any method can tell (Saade et al. 2014), if the network is
    large. In small ones they can be low without being negative.
    """

    def __init__(self, links: Links) -> None:
        self.links = links
        self.nodes = np.flatnonzero(links.linked)
        self._hessian = self._bethe_hessian(links)
        self.most_groups = max(2, min(MAX_GROUPS, self.nodes.size // SMALLEST))
        self._values, self._vectors = _lowest(self._hessian, min(8, self.nodes.size - 1))
        values = self._values
        if (values < 0).all() and values.size < self.most_groups:
            values, self._vectors = _lowest(self._hessian, min(self.most_groups, self.nodes.size - 1))
        self.n_detectable = min(int((values < 0).sum()), self.most_groups)

    def shows_groups(self) -> bool:
        """Whether there are groups: two negative eigenvalues, or lower ones than in networks with the same degrees.

        The sum of the lowest but the first is compared with that of rewired networks, by the t-distribution of one
        more draw. Where weights differ, a few heavy links make negative eigenvalues too, so they are counted in the
        network in which all links weigh the same.
        """
        links = self.links
        if links.equal_weights:
            n_detectable = self.n_detectable
        else:
            n_detectable = int((_lowest(self._bethe_hessian(links.with_weights_to(0.0)), 2)[0] < 0).sum())
        if n_detectable >= 2:
            return True
        if N_REWIRED * links.source.size > MAX_CELLS:
            return False
        rng = np.random.default_rng(0)
        others = (self._bethe_hessian(rewired(links, rng)) for _ in range(N_REWIRED))
        null = [_lowest(other, self._values.size)[0][1:].sum() for other in others]
        spread = float(np.std(null, ddof=1)) * float(np.sqrt(1.0 + 1.0 / N_REWIRED))
        low = float(self._values[1:].sum()) - float(np.mean(null))
        return low < float(stdtrit(N_REWIRED - 1, LEVEL)) * spread

    def _bethe_hessian(self, links: Links) -> csr_array:
        """The matrix for other links between the same nodes, some of which may have lost theirs."""
        adjacency, degree = csr_array(links.adjacency[self.nodes][:, self.nodes]), links.degree[self.nodes]
        squared = max(float((degree**2).sum() / degree.sum()) - 1.0, 1.0)
        return csr_array((squared - 1.0) * eye_array(degree.size) - np.sqrt(squared) * adjacency + diags_array(degree))

    def start(self, n_groups: int) -> IntArray:
        """(m,) groups to start from: k-means on the directions of the nodes in the lowest eigenvectors."""
        from sklearn.cluster import KMeans  # here, because most that imports this file never comes to this

        if self._vectors.shape[1] < n_groups and self._vectors.shape[1] < self.nodes.size - 1:
            self._vectors = _lowest(self._hessian, min(2 * n_groups, self.most_groups, self.nodes.size - 1))[1]
        rows = self._vectors[:, :n_groups]
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        labels = np.zeros(self.links.n_nodes, np.int64)
        labels[self.nodes] = KMeans(n_groups, n_init=1, random_state=0).fit_predict(rows)
        return labels


def _lowest(hessian: csr_array, number: int) -> tuple[FloatArray, FloatArray]:
    """The lowest eigenvalues, as many as asked, and their vectors; only the converged ones if some are not."""
    start = np.random.default_rng(0).standard_normal(hessian.shape[0])
    try:
        values, vectors = eigsh(hessian, k=number, which="SA", tol=1e-3, v0=start, maxiter=300)
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.argsort(values)
    return values[order], vectors[:, order]


def rewired(links: Links, rng: np.random.Generator) -> Links:
    """A network without groups: the ends of all links in random order, so that every node keeps its number of links.

    A link keeps the weight that it had at one of its ends. Loops and repeated links are mixed again with others; the
    few that stay are left out.
    """
    once = links.source < links.target
    order = rng.permutation(2 * int(once.sum()))
    left, right = np.split(np.concatenate([links.source[once], links.target[once]])[order], 2)
    weight = np.tile(links.weight[once], 2)[order[: left.size]]
    n = links.n_nodes
    for _ in range(MAX_MIXES):
        bad = np.ones(left.size, bool)
        bad[np.unique(np.minimum(left, right) * n + np.maximum(left, right), return_index=True)[1]] = False
        bad |= left == right
        mixed = np.flatnonzero(bad)
        if mixed.size == 0:
            break
        mixed = np.unique(np.append(mixed, rng.integers(left.size, size=4 * mixed.size)))
        right[mixed] = rng.permutation(right[mixed])
    key, kept = np.unique(np.minimum(left, right) * n + np.maximum(left, right), return_index=True)
    key, weight = key[key // n != key % n], weight[kept[key // n != key % n]]
    pairs = np.concatenate([key // n, key % n]), np.concatenate([key % n, key // n])
    return Links(csr_array((np.tile(weight, 2), pairs), shape=(n, n)))


MAX_MIXES = 20
"""How often loops and repeated links of a rewired network are mixed again, at most; it bounds the time."""


def run(
    links: Links, n_groups: int, start: IntArray, before: State | None = None, *, learn_shares: bool = False
) -> State:
    """Belief propagation on the degree-corrected planted partition, its rates learned.

    ``p_i->j(t) ~ g_t exp(-k_i h_t) prod over l in N(i) without j of (w_out + (w_in - w_out) p_l->i(t))`` with
    ``h_t = w_out + (w_in - w_out) T_t - 1`` and ``T_t = sum_i k_i p_i(t) / 2E``.

    Parameters
    ----------
    links : Links
        The network.
    n_groups : int
        Number of groups (q).
    start : (m,) int array
        Group that each node starts in.
    before : State, optional
        Whose rates are taken; by default those at the limit of detectability, or of `start` where they are clearer.
    learn_shares : bool
        Whether groups have shares of their own, or all the same.
    """
    # nodes in random order, so that the nodes of one batch are spread over the network
    nodes = np.random.default_rng(0).permutation(np.flatnonzero(links.linked))
    shuffled = Links(csr_array(links.adjacency[nodes][:, nodes]))
    degree, total, reverse, n = shuffled.degree, shuffled.total, shuffled.reverse, nodes.size
    plain = links.equal_weights
    weight = shuffled.weight.astype(np.float32)[:, None]
    inside, between = _first_rates(links, n_groups, start) if before is None else before.rates
    shares = np.full(n_groups, 1.0 / n_groups)
    if learn_shares:
        shares = np.maximum(np.bincount(start[nodes], minlength=n_groups), 1.0)
        shares = shares / shares.sum()
    marginals = np.full((n, n_groups), (1.0 - HEAD_START) / n_groups, np.float32)
    marginals[np.arange(n), start[nodes]] += np.float32(HEAD_START)
    messages = marginals[shuffled.source]
    expected = (degree @ marginals) / (2.0 * total)
    ends = shuffled.adjacency.indptr
    bounds = np.unique(np.linspace(0, n, min(N_BATCHES, n) + 1).astype(np.int64))
    batches = [(slice(a, b), slice(ends[a], ends[b]), ends[a:b] - ends[a]) for a, b in pairwise(bounds.tolist())]

    def likelihoods(edges: slice) -> tuple[Any, Any]:
        """What links are worth between groups and inside: a link of weight w counts as w links with the same ends."""
        return (between, inside) if plain else (between ** weight[edges], inside ** weight[edges])

    def fields_of(rows: slice, edges: slice, first: IntArray) -> tuple[FloatArray, FloatArray]:
        """Log weights of the groups for some nodes, and what each of their edges brings."""
        apart, together = likelihoods(edges)
        incoming = np.log(apart + (together - apart) * messages[reverse[edges]], dtype=np.float32)
        prior = np.log(shares) - np.outer(degree[rows], between + (inside - between) * expected - 1.0)
        return np.add.reduceat(incoming, first, axis=0) + prior.astype(np.float32), incoming

    def both_ends(both: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(2e,) likelihood of each link with its ends in one group, and in all, from the chance `both` of one group."""
        apart, together = (np.ravel(part) for part in likelihoods(slice(None)))
        inner = together * both
        return inner, inner + apart * (1.0 - both)

    def log_evidence() -> float:
        """Bethe log evidence over one group."""
        nats = total * (between + (inside - between) * float((expected**2).sum()) - 1.0)
        for rows, edges, first in batches:
            fields = fields_of(rows, edges, first)[0].astype(np.float64)
            top = fields.max(axis=1)
            nats += float((top + np.log(np.exp(fields - top[:, None]).sum(axis=1))).sum())
        both = np.einsum("ij,ij->i", messages, messages[reverse]).astype(np.float64)
        return nats - float(np.log(both_ends(both)[1]).sum()) / 2.0

    change, looks = 1.0, []
    for sweep in range(MAX_SWEEPS):
        moved = 0.0
        # where groups are weak, messages that go all the way to their new values never come to rest
        step = np.float32(1.0 / np.sqrt(1.0 + sweep / 2.0))
        for rows, edges, first in batches:
            fields, incoming = fields_of(rows, edges, first)
            fresh = np.repeat(fields, np.diff(np.append(first, edges.stop - edges.start)), axis=0)
            fresh -= incoming
            _normal(fresh)
            moved += float(np.abs(fresh - messages[edges]).sum())
            messages[edges] += step * (fresh - messages[edges])
            # all nodes see the degree sums of the groups: they must follow at once, or nodes rush to and fro
            before_batch = degree[rows] @ marginals[rows]
            marginals[rows] = _normal(fields)
            expected = expected + (degree[rows] @ marginals[rows] - before_batch) / (2.0 * total)
        change = moved / messages.shape[0]
        if sweep >= 3:  # rates follow once the messages know the start
            both = np.einsum("ij,ij->i", messages, messages[reverse])
            chance = float((expected**2).sum())
            inner, every = both_ends(both)
            share = float(shuffled.weight @ (inner / every)) / (2.0 * total)
            share = min(max(share, 1e-6), 1.0 - 0.5 / total)
            inside = 0.5 * inside + 0.5 * share / chance
            between = 0.5 * between + 0.5 * (1.0 - share) / max(1.0 - chance, 1e-9)
            if learn_shares:
                shares = np.maximum(marginals.mean(axis=0, dtype=np.float64), 1e-6)
                shares = shares / shares.sum()
        if change < SETTLED and sweep > 6:
            break
        if sweep >= MAX_SWEEPS - N_LOOKS:
            looks.append(log_evidence())
    looks = looks or [log_evidence()]
    whole = np.full((links.n_nodes, n_groups), 1.0 / n_groups, np.float32)
    whole[nodes] = marginals
    nats, error = float(np.mean(looks)), float(np.std(looks))
    return State(whole.astype(np.float64), nats, error, (inside, between), shares, change)


def _normal(logs: FloatArray) -> FloatArray:
    """Rows of logarithms as probabilities, in place."""
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return logs


def _first_rates(links: Links, n_groups: int, start: IntArray) -> tuple[float, float]:
    """Rates at the limit of detectability, ``w_in / w_out = q / (sqrt(c) - 1) + 1``, or the start's if clearer.

    Zhang and Moore (2014); c is the mean excess degree. A start underestimates its rates where groups are weak.
    """
    degree = links.degree[links.linked]
    excess = max(float((degree**2).sum() / degree.sum()) - 1.0, 1.5)
    ratio = n_groups / (float(np.sqrt(excess)) - 1.0) + 1.0
    inside, between = links.rates(compact(start))
    ratio = max(ratio, inside / between)
    between = n_groups / (ratio + n_groups - 1.0)
    return ratio * between, between


def _believed(links: Links, state: State) -> bool:
    """Whether the free energy can be believed: messages near rest, and as many links in the model as there are."""
    inside, between = state.rates
    expected = (links.degree @ state.marginals) / (2.0 * links.total)
    mean = between + (inside - between) * float((expected**2).sum())
    return bool(np.isfinite(state.nats) and state.change < UNSETTLED and abs(mean - 1.0) < 0.02)


def _labels(links: Links, state: State, together: list[list[int]]) -> IntArray:
    """(m,) likeliest group of each node, of groups with enough nodes; nodes that must be together share theirs."""
    marginals = np.asarray(state.marginals, dtype=np.float64).copy()
    for nodes in together:
        marginals[nodes] = marginals[nodes].mean(axis=0)
    while True:
        labels = marginals.argmax(axis=1)
        number = np.bincount(labels[links.linked], minlength=marginals.shape[1])
        small = np.flatnonzero((number > 0) & (number < min(SMALLEST, links.n_linked // 2)))
        if small.size == 0:
            return compact(labels)
        marginals[:, small[number[small].argmin()]] = -1.0
