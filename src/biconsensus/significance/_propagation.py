"""Weak groups of a network: the planted partition averaged over all groupings, by belief propagation.

Near the limit of detectability no single grouping is worth its description, though the network as a whole shows that
there are groups. Belief propagation (Decelle et al. 2011; with degrees, Zhang and Moore 2014) gives each node a
probability for each group, and the Bethe free energy says how many nats the model saves over one group. How many groups
can be told at all, and where to start, is read from the spectrum of the Bethe Hessian (Saade et al. 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.cluster import KMeans

from biconsensus.protocols import FloatArray, IntArray
from biconsensus.significance._links import Links, compact

GROWTH = 1.4
"""Factor between the numbers of groups that are tried; the evidence is flat over a factor of two around its best."""
MAX_GROUPS = 48
"""Most groups that are tried: more than that are told node by node, or not at all."""
MAX_CELLS = 4_000_000
"""Messages times groups up to which it is tried (about a quarter of a second for one sweep)."""
MAX_SWEEPS = 100
"""Sweeps after which messages that have not settled are taken as they are."""
SETTLED = 1e-3
"""Mean change of a message at which it ends."""
UNSETTLED = 0.25
"""Mean change of a message above which the free energy is not believed: where messages still wander that far it can be
any number (benchmarks/tuning/links.py)."""
DAMPING = 0.2
"""Share of the old message that is kept: none oscillates, more than a half loses weak groups."""
HEAD_START = 0.7
"""Probability of the group that a node starts in."""
SMALLEST = 7
"""Fewest nodes of a group that is proposed, the paper's smallest group."""


@dataclass(frozen=True)
class State:
    """Messages of belief propagation at rest."""

    marginals: FloatArray
    """(m, q) probability of each group for each node."""
    nats: float
    """Bethe log evidence over one group."""
    rates: tuple[float, float]
    """Links inside and between groups, over chance."""
    shares: FloatArray
    """(q,) prior probability of each group."""
    change: float
    """Mean change of a message in the last sweep."""


def propagate(links: Links, together: list[list[int]]) -> list[tuple[IntArray, float]]:
    """Groupings by belief propagation, each with its log evidence averaged over all groupings.

    Parameters
    ----------
    links : Links
        The network.
    together : list of lists of int
        Nodes that must share a group.

    Returns
    -------
    list of ((m,) int array, float)
        At most two: with equal shares, and with the shares of the groups learned and paid for; empty where the
        spectrum or the evidence says that nothing can be told.
    """
    n_cells = links.source.size
    if 2 * n_cells > MAX_CELLS or links.n_linked < 4:
        return []
    spectrum = _Spectrum(links)
    q, best, worse = spectrum.n_detectable, None, 0
    if q < 2:
        return []
    paid = 0.5 * float(np.log(links.total))  # half a log for the one rate that is learned, as BIC has it
    while q <= spectrum.most_groups and q * n_cells <= MAX_CELLS and worse < 2:
        state = run(links, q, spectrum.start(q))
        if _believed(links, state) and (best is None or state.nats > best.nats):
            best, worse = state, 0
        else:
            worse += 1
        q = max(q + 1, round(GROWTH * q))
    if best is None or best.nats <= paid:
        return []
    found = [(_labels(links, best, together), best.nats - paid)]
    learned = run(links, best.shares.size, best.marginals.argmax(axis=1), best, learn_shares=True)
    labels = _labels(links, learned, together)
    price = paid + 0.5 * int(labels.max()) * float(np.log(links.n_linked))
    if _believed(links, learned) and learned.nats - price > found[0][1]:
        found.append((labels, learned.nats - price))
    return [(labels, nats) for labels, nats in found if labels.max() > 0]


class _Spectrum:
    """Lowest eigenvectors of the Bethe Hessian ``(r^2 - 1) I - r A + D`` at ``r^2 = <k^2> / <k> - 1``.

    As many eigenvalues are negative as there are groups that any method can tell (Saade et al. 2014).
    """

    def __init__(self, links: Links) -> None:
        self.links = links
        self.nodes = np.flatnonzero(links.linked)
        adjacency = csr_array(links.adjacency[self.nodes][:, self.nodes])
        degree = links.degree[self.nodes]
        squared = max(float((degree**2).sum() / degree.sum()) - 1.0, 1.0)
        hessian = (squared - 1.0) * eye_array(degree.size) - np.sqrt(squared) * adjacency + diags_array(degree)
        self._hessian = csr_array(hessian)
        self.most_groups = max(2, min(MAX_GROUPS, self.nodes.size // SMALLEST))
        values, self._vectors = self._lowest(min(8, self.nodes.size - 1))
        if (values < 0).all() and values.size < self.most_groups:
            values, self._vectors = self._lowest(min(self.most_groups, self.nodes.size - 1))
        self.n_detectable = min(int((values < 0).sum()), self.most_groups)

    def _lowest(self, number: int) -> tuple[FloatArray, FloatArray]:
        """So many lowest eigenvalues and their vectors; those that were found where it does not converge."""
        size = self._hessian.shape[0]
        start = np.random.default_rng(0).standard_normal(size)
        try:
            values, vectors = eigsh(self._hessian, k=number, which="SA", tol=1e-3, v0=start, maxiter=300)
        except ArpackNoConvergence as stopped:
            values, vectors = stopped.eigenvalues, stopped.eigenvectors
        order = np.argsort(values)
        return values[order], vectors[:, order]

    def start(self, n_groups: int) -> IntArray:
        """(m,) groups to start from: k-means on the directions of the nodes in the lowest eigenvectors."""
        if self._vectors.shape[1] < n_groups and self._vectors.shape[1] < self.nodes.size - 1:
            self._vectors = self._lowest(min(2 * n_groups, self.most_groups, self.nodes.size - 1))[1]
        rows = self._vectors[:, :n_groups]
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        labels = np.zeros(self.links.n_nodes, np.int64)
        labels[self.nodes] = KMeans(n_groups, n_init=1, random_state=0).fit_predict(rows)
        return labels


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
    source, reverse, degree, total = links.source, links.reverse, links.degree, links.total
    inside, between = _first_rates(links, n_groups, start) if before is None else before.rates
    shares = np.full(n_groups, 1.0 / n_groups)
    marginals = np.full((links.n_nodes, n_groups), (1.0 - HEAD_START) / n_groups, np.float32)
    marginals[np.arange(links.n_nodes), start] += np.float32(HEAD_START)
    messages = marginals[source]
    nodes = np.flatnonzero(links.linked)
    first = links.adjacency.indptr[:-1][nodes]
    weight = links.weight.astype(np.float32)[:, None]
    plain = bool(np.allclose(links.weight, 1.0))
    fields = np.zeros_like(marginals)
    change = 1.0
    for sweep in range(MAX_SWEEPS + 1):
        expected = (degree @ marginals) / (2.0 * total)
        incoming = np.log(between + (inside - between) * messages, dtype=np.float32)[reverse]
        if not plain:
            incoming *= weight
        fields[nodes] = np.add.reduceat(incoming, first, axis=0)
        prior = np.log(shares) - np.outer(degree, between + (inside - between) * expected - 1.0)
        fields[nodes] += prior[nodes].astype(np.float32)
        if sweep == MAX_SWEEPS or (change < SETTLED and sweep > 10):
            break
        marginals = _normal(fields.copy())
        fresh = fields[source]
        fresh -= incoming
        _normal(fresh)
        change = float(np.abs(fresh - messages).sum(axis=1).mean())
        messages *= np.float32(DAMPING)
        fresh *= np.float32(1.0 - DAMPING)
        messages += fresh
        if sweep >= 5:  # rates follow once the messages know the start
            both = np.einsum("ij,ij->i", messages, messages[reverse])
            expected = (degree @ marginals) / (2.0 * total)
            chance = float((expected**2).sum())
            share = inside * float((links.weight / (between + both * (inside - between))) @ both) / (2.0 * total)
            share = min(max(share, 1e-6), 1.0 - 0.5 / total)
            inside = 0.5 * inside + 0.5 * share / chance
            between = 0.5 * between + 0.5 * (1.0 - share) / max(1.0 - chance, 1e-9)
            if learn_shares:
                shares = np.maximum(marginals[nodes].mean(axis=0, dtype=np.float64), 1e-6)
                shares = shares / shares.sum()
    both = np.einsum("ij,ij->i", messages, messages[reverse]).astype(np.float64)
    of_nodes = fields[nodes].astype(np.float64)
    top = of_nodes.max(axis=1)
    nats = float((top + np.log(np.exp(of_nodes - top[:, None]).sum(axis=1))).sum())
    nats -= float((links.weight * np.log(between + both * (inside - between))).sum()) / 2.0
    nats += total * (between + (inside - between) * float((expected**2).sum()) - 1.0)
    return State(marginals, nats, (inside, between), shares, change)


def _normal(logs: FloatArray) -> FloatArray:
    """Rows of logarithms as probabilities, in place."""
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return logs


def _first_rates(links: Links, n_groups: int, start: IntArray) -> tuple[float, float]:
    """Rates at the limit of detectability, ``w_in / w_out = q / (sqrt(c) - 1) + 1``, or those of the start if clearer.

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
