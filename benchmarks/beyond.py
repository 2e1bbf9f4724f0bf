"""Several answers, growing pools, questions: what is reached (docs/benchmarks/beyond.md).

The pools, draws and seeds of modes took no part in any choice; those of development had other ones (the sets of points
are the same). Rules were changed in view of figures of this page: `converged` (the worst part decides; with the mean of
the parts 13 of 15 answers were within .02, with an extrapolation before that 12 of 16), the share of elements that may
move before the search is done again, and how far an answer holds for others (three of the fourteen pools below had
ended below their start). Fresh pools have to confirm `converged` and questions: points that were generated with
seeds that nothing was tried on.

BENCH=quick measures a few of each; ``python -m benchmarks.beyond planted large`` measures these parts only.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import biconsensus as bc
from benchmarks import accuracy_pools as pools
from benchmarks.meaning_networks import lfr, published
from benchmarks.results import Results, Values
from benchmarks.scale_realistic import write_realistic
from biconsensus import datasets, metrics
from biconsensus.modes._camps import find_camps
from biconsensus.modes._description import SourceTable
from biconsensus.questions._questions import with_answers
from biconsensus.result._consensus import Answered
from biconsensus.result._regrouped import regrouped
from biconsensus.sources.networks import get_algorithm

QUICK = os.environ.get("BENCH") == "quick"
N_PLANTED = 5 if QUICK else 50
N_STREAMS = 3 if QUICK else 100
N_QUESTIONS, N_RANDOM = 20, 100
LARGE = 20_000 if QUICK else 1_000_000
CLOSE = 0.98
"""ARI from which two answers count as the same."""
LARGEST_SET = 200
"""Elements of the sets on which answers of many runs are compared."""


def planted(n_modes: int, trial: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sources in several camps: 2 to 8 groups of unequal sizes, 3 to 10 sources, noise 0 to 30%, in each mode."""
    rng = np.random.default_rng([2026, n_modes, trial])
    m = int(rng.integers(100, 1000))
    table, owner = [], []
    for mode in range(n_modes):
        k = int(rng.integers(2, 9))
        groups, noise = rng.choice(k, m, p=rng.dirichlet(np.full(k, 2.0))), rng.uniform(0, 0.3)
        for _ in range(int(rng.integers(3, 11))):
            wrong = rng.random(m) < noise
            table.append(rng.permutation(k)[np.where(wrong, rng.integers(0, k, m), groups)])
            owner.append(mode)
    order = rng.permutation(len(owner))
    return np.column_stack(table)[:, order], np.array(owner)[order]


def owners(table: NDArray[Any]) -> NDArray[Any]:
    """The mode of each source, -1 for none, without the consensus of each mode."""
    found = np.full(table.shape[1], -1)
    for k, camp in enumerate(find_camps(SourceTable.of(bc.Pool.from_labels(table)))):
        found[camp.sources] = k
    return found


def measure_planted(n_modes: int) -> Values:
    """Number of modes right, and agreement of the sources with their modes."""
    right, agreement = [], []
    for trial in range(N_PLANTED):
        table, owner = planted(n_modes, trial)
        found = owners(table)
        right.append(int(found.max(initial=-1)) + 1 == n_modes)
        agreement.append(metrics.ari(owner, found))
    return {"right": float(np.mean(right)), "ari": float(np.mean(agreement)), "least": float(np.min(agreement))}


def granular(family: str) -> Iterator[NDArray[Any]]:
    """Pools of the accuracy benchmark whose sources differ in how finely they group."""
    if family == "ensemble_pools":
        sets = pools.by_name(datasets.load_ensemble_pool, pools.ENSEMBLES)
        for draw in range(20, 22 if QUICK else 30):
            for members, _ in sets.values():
                columns = np.random.default_rng([7, draw]).choice(members.shape[1], 10, replace=False)
                yield members[:, columns]
    else:
        for k, (name, X, truth) in enumerate(pools.points()):
            if not QUICK or k % 12 == 0:
                yield pools._k_means(X, truth, family, name, 51).table


def measure_granular(family: str) -> Values:
    """Share of the pools whose sources form one camp."""
    number = [int(owners(table).max(initial=-1)) + 1 for table in granular(family)]
    return {"one": float(np.mean(np.array(number) == 1)), "pools": len(number)}


def measure_networks() -> Values:
    """Modes among the base runs of the default pool, on networks that everybody knows."""
    found = {}
    for name in ("karate_club", "football", "polbooks"):
        network = datasets.load_network(name)
        model = bc.ConsensusCommunities(random_state=0).fit(network.adjacency)
        modes = bc.find_modes(model.pool_)
        found[name] = [mode.sources.size for mode in modes]
    return found


def block_likelihood(adjacency: NDArray[Any], groups: NDArray[Any], corrected: bool) -> float:
    """Twice the logarithm of the profile likelihood of two blocks: the objective of Karrer and Newman (2011)."""
    inside = np.eye(2)[groups]
    links = inside.T @ adjacency @ inside
    sizes = inside.sum(axis=0) if not corrected else inside.T @ adjacency.sum(axis=1)
    there = links > 0
    if sizes.min() == 0:
        return -np.inf
    return float((links[there] * np.log((links / np.outer(sizes, sizes))[there])).sum())


def best_blocks(adjacency: NDArray[Any], corrected: bool, start: int) -> tuple[float, NDArray[Any]]:
    """Two blocks from a random start: in every sweep each node moves once, best first, and the best state is kept."""
    groups = np.random.default_rng([17, start]).integers(0, 2, len(adjacency))
    best = block_likelihood(adjacency, groups, corrected)
    while True:
        state, left, found = groups.copy(), list(range(len(groups))), None
        while left:
            scores = []
            for node in left:
                state[node] ^= 1
                scores.append(block_likelihood(adjacency, state, corrected))
                state[node] ^= 1
            top = int(np.argmax(scores))
            state[left.pop(top)] ^= 1
            if scores[top] > best + 1e-9:
                best, found = scores[top], state.copy()
        if found is None:
            return best, groups
        groups = found


def sampled_blocks(adjacency: NDArray[Any], corrected: bool, number: int) -> list[NDArray[Any]]:
    """Partitions into two blocks, sampled by that objective around the best of ten searches.

    As it is twice the likelihood, samples stay at their peak: the temperature is a half.
    """
    score, groups = max((best_blocks(adjacency, corrected, start) for start in range(10)), key=lambda one: one[0])
    rng, found = np.random.default_rng([18, corrected]), []
    for step in range(200 * number):
        node = int(rng.integers(len(groups)))
        groups[node] ^= 1
        there = block_likelihood(adjacency, groups, corrected)
        if rng.random() < np.exp(min(there - score, 0.0)):
            score = there
        else:
            groups[node] ^= 1
        if step % 200 == 199:
            found.append(groups.copy())
    return found


def measure_landscape() -> Values:
    """Modes of sampled partitions of the karate club by two models, whose two landscapes are published."""
    network = datasets.load_network("karate_club")
    adjacency = network.adjacency.toarray().astype(float)
    plain, corrected = (sampled_blocks(adjacency, side, 15) for side in (False, True))
    modes = bc.find_modes([*plain, *corrected])
    degrees, truth, found = adjacency.sum(axis=1), np.asarray(network.labels), []
    for mode in modes:
        small = mode.labels == int(np.bincount(mode.labels[mode.labels >= 0]).argmin())
        hubs = bool(degrees[small].min() > degrees[~small].max())
        of_plain = int((mode.sources < 15).sum())
        found.append(
            {
                "plain": of_plain,
                "corrected": int(mode.sources.size - of_plain),
                "factions": metrics.ari(truth, mode.labels),
                "hubs": hubs,
                "smaller": int(small.sum()),
            }
        )
    return {"modes": found, "alone": int((modes.source_modes < 0).sum())}


def large_table(m: int, n_sources: int, n_modes: int) -> NDArray[np.int16]:
    """Sources in one or two camps, with a tenth of wrong labels."""
    rng = np.random.default_rng(11)
    table = np.empty((m, n_sources), np.int16)
    groups = [(k, rng.integers(0, k, m)) for k in (12, 7)[:n_modes]]
    for s in range(n_sources):
        k, own = groups[s % n_modes]
        wrong = rng.random(m) < 0.1
        table[:, s] = np.where(wrong, rng.integers(0, k, m), own)
    return table


def measure_large_modes(n_modes: int) -> Values:
    """Processor seconds for the modes of a large table, from the table to a consensus for each mode."""
    table = large_table(LARGE, 20, n_modes)
    start = time.process_time()
    found = bc.find_modes(table)
    _ = [mode.labels for mode in found]
    return {"seconds": time.process_time() - start, "modes": len(found)}


def measure_streams() -> Values:
    """Streams of sources: labels and objective after every update, against a fit from scratch."""
    equal = same = total = 0
    for trial in range(N_STREAMS):
        table, _ = planted(1 + trial % 2, 1000 + trial)
        table = table[:150, :7]
        c = bc.find_consensus(table[:, :3])
        for stop in range(4, table.shape[1] + 1):
            c = c.update(table[:, stop - 1 : stop])
        whole = bc.find_consensus(table)
        total += 1
        equal += int(metrics.ari(whole.labels, c.labels) == 1.0)
        same += int(np.isclose(whole.objective, c.objective))
    return {"streams": total, "labels": equal / total, "objective": same / total}


def growing_table(kind: str) -> NDArray[Any]:
    """Twenty sources: a tenth of wrong labels each, or k-means results with 10 to 60 centres."""
    if kind == "easy":
        return large_table(LARGE, 20, 1)
    with tempfile.TemporaryDirectory() as folder:
        write_realistic(Path(folder) / "table.npy", LARGE, seed=3)
        return np.ascontiguousarray(np.load(Path(folder) / "table.npy"))


def measure_update(kind: str) -> Values:
    """Cost of a twentieth source (median of three times), over that of a fit of all from scratch."""
    table = growing_table(kind)
    first = bc.find_consensus(table[:, :-1].copy())
    _ = first.labels
    # what is imported when it is first needed is no part of the cost
    bc.find_consensus(table[:100, :5]).update(table[:100, 5:6])
    start = time.process_time()
    whole = bc.find_consensus(table)
    _ = whole.labels
    scratch, updates = time.process_time() - start, []
    for _ in range(3):
        start = time.process_time()
        grown = first.update(table[:, -1:].copy())
        _ = grown.labels
        updates.append(time.process_time() - start)
    # both answers under the weights of either: each should be the better one under its own
    own, other = (regrouped(one, one.labels, "given").objective for one in (grown, whole))
    crossed, back = regrouped(grown, whole.labels, "given").objective, regrouped(whole, grown.labels, "given").objective
    return {
        "ratio": float(np.median(updates)) / scratch,
        "seconds": scratch,
        "ari": metrics.ari(whole.labels, grown.labels),
        "under its weights": own / crossed,
        "under theirs": back / other,
    }


def stopping_pools() -> Iterator[tuple[str, Callable[[int], NDArray[Any]]]]:
    """Sets of points and networks, each with a function that gives its base run of a number."""
    for name, X, truth in islice(pools.points(), 0, None, 6 if QUICK else 1):
        for kind, (low, high) in {"k in 2..12": (2, 12), "k near K": (max(2, np.unique(truth).size - 1), 0)}.items():
            top = high or low + 3
            yield f"{name}, {kind}", partial(_k_means_run, X[:LARGEST_SET], low, min(top, LARGEST_SET // 4))
    networks = {name: published(name) for name in ("karate_club", "football", "polbooks")}
    networks |= {f"LFR {mixing:g} #{seed}": lfr(mixing, seed) for mixing in (0.48, 0.59) for seed in (21, 22)}
    for name, (graph, _) in networks.items():
        yield name, partial(_network_run, graph)


def fresh_stopping_pools() -> Iterator[tuple[str, Callable[[int], NDArray[Any]]]]:
    """Generated blobs on which the stopping rule was never looked at before it stood."""
    for number in range(4 if QUICK else 60):
        rng = np.random.default_rng([777, number])
        K, d = int(rng.integers(2, 9)), int(rng.integers(2, 8))
        X, _ = make_blobs(LARGEST_SET, d, centers=K, cluster_std=rng.uniform(0.6, 3), random_state=7000 + number)
        low, high = ((2, 12), (max(2, K - 1), K + 2))[number % 2]
        yield f"blobs {number}", partial(_k_means_run, X, low, high, seed=778)


def _k_means_run(X: NDArray[Any], low: int, high: int, number: int, seed: int = 51) -> NDArray[Any]:
    """One k-means result, with a random number of centres."""
    rng = np.random.default_rng([seed, number])
    k, seed = int(rng.integers(low, high + 1)), int(rng.integers(1 << 31))
    return np.asarray(KMeans(k, n_init=1, init="random", random_state=seed).fit(X).labels_)


def _network_run(graph: Any, number: int) -> NDArray[Any]:
    """One run of Louvain, label propagation or Leiden, in turn."""
    name = ("louvain", "label_propagation", "leiden")[number % 3]
    return np.asarray(get_algorithm(name)(graph, 5_000 + number))


def measure_stopping(run: Callable[[int], NDArray[Any]]) -> Values:
    """Runs after which `converged` says so (10, 20 or 40; else 0), and ARI with the answer of four times the runs."""
    runs: list[NDArray[Any]] = []
    for number in (10, 20, 40):
        runs += [run(k) for k in range(len(runs), number)]
        c = bc.find_consensus(np.column_stack(runs))
        if c.converged:
            break
    else:
        number = 0
    runs += [run(k) for k in range(len(runs), 4 * len(runs))]
    return {"runs": number, "ari": metrics.ari(c.labels, bc.find_consensus(np.column_stack(runs)).labels)}


def question_pools() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Pools with classes: five of the ensemble pools, every fourth of the sets of points."""
    for name, (members, truth) in pools.by_name(datasets.load_ensemble_pool, pools.ENSEMBLES[1:]).items():
        rng = np.random.default_rng([8, 20])
        some, columns = rng.permutation(truth.size)[:800], rng.choice(members.shape[1], 10, replace=False)
        yield name, members[np.ix_(some, columns)], truth[some]
    for name, X, truth in islice(pools.points(), 0, None, 4):
        case = pools._k_means(X, truth, "k in 2..12", name, 51)
        yield name, case.table, case.truth


def fresh_question_pools() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Generated points of the six kinds of `tuning.questions`, with other seeds."""
    from benchmarks.tuning.questions import generated

    for number in range(100, 103 if QUICK else 124):
        yield f"generated {number}", *generated(number)


def after_questions(c: bc.Consensus, truth: NDArray[Any], number: int = N_QUESTIONS) -> bc.Consensus:
    """The result after true answers to a number of questions."""
    for _ in range(number):
        question = c.next_question()
        if question is None:
            break
        i, j = question.elements
        c = c.answer(i, j, together=bool(truth[i] == truth[j]))
    return c


def after_random(first: bc.Consensus, truth: NDArray[Any], draws: int) -> float:
    """Mean ARI after true answers to random pairs, over some draws of them."""
    found = []
    for draw in range(draws):
        pairs = np.random.default_rng([draw, 3]).integers(0, truth.size, (N_RANDOM, 2))
        said = [Answered(int(i), int(j), bool(truth[i] == truth[j])) for i, j in pairs if i != j]
        found.append(metrics.ari(truth, with_answers(first, said).labels))
    return float(np.mean(found))


def measure_questions(table: NDArray[Any], truth: NDArray[Any]) -> Values:
    """ARI before, after questions, and after random pairs (mean of five draws)."""
    first = bc.find_consensus(table)
    before, after = (metrics.ari(truth, one.labels) for one in (first, after_questions(first, truth)))
    return {"before": before, "asked": after, "random": after_random(first, truth, 5)}


def measure_question_time() -> Values:
    """Processor seconds for a question among 100,000 elements: the first, which makes the tree, and the next."""
    c = bc.find_consensus(large_table(100_000 if not QUICK else 5_000, 20, 1))
    seconds = []
    for _ in range(2):
        start = time.process_time()
        question = c.next_question()
        seconds.append(time.process_time() - start)
        if question is not None:
            c = c.answer(*question.elements, together=True)
    return {"first": seconds[0], "next": seconds[1]}


def summary(values: Values) -> Values:
    """Figures that other pages quote."""
    planted = [values[f"planted {k}"]["right"] for k in (1, 2, 3, 4) if f"planted {k}" in values]
    ratios = [values[f"update {kind}"]["ratio"] for kind in ("easy", "realistic") if f"update {kind}" in values]
    update = {"update ratio": max(ratios)} if ratios else {}
    return ({"modes right": min(planted)} if planted else {}) | update


def landscape_lines(found: Values) -> list[str]:
    """The landscape of the karate club beside the published one."""
    lines = [
        "Landscapes of networks: graph-tool, with which Peixoto (2021) samples partitions and finds their modes, is "
        "not on PyPI. So partitions of the karate club into two groups were sampled here by their likelihood (at "
        "temperature 1/2), 15 each by the two models whose answers are published: the plain block model divides it "
        "into vertices of high and of low degree, the model with corrected degrees into the two factions but for one "
        "vertex (Karrer and Newman, Physical Review E 83, 016107, 2011; Peel, Larremore and Clauset, Science Advances "
        "3, e1602548, 2017, show the two as separate peaks of one landscape). Modes found among the 30 partitions, "
        "without being told of models or number:",
        "",
        "| mode | plain model | corrected degrees | the smaller group | ARI with the factions |",
        "|---|---|---|---|---|",
    ]
    for k, one in enumerate(found["modes"]):
        what = f"{one['smaller']} vertices" + (", all of higher degree than any other" if one["hubs"] else "")
        lines.append(f"| {k} | {one['plain']} of 15 | {one['corrected']} of 15 | {what} | {one['factions']:.3f} |")
    return [*lines, "", f"In no mode: {found['alone']} of 30."]


def stopping_lines(values: Values, kind: str, what: str) -> list[str]:
    """What the stopping rule reached."""
    sets = [one for key, one in values.items() if key.startswith(kind)]
    stopped = [one["ari"] for one in sets if one["runs"]]
    if not stopped:
        return []
    others = [one["ari"] for one in sets if not one["runs"]]
    numbers = ", ".join(f"{sum(one['runs'] == n for one in sets)} after {n}" for n in (10, 20, 40))
    return [
        "",
        f"The stopping rule on {len(sets)} {what}: `converged` says so on {len(stopped)} ({numbers} runs). The answer "
        f"of four times the runs is within .02 ARI on {np.mean(np.array(stopped) >= CLOSE):.0%} of these (asked: 95%), "
        f"{np.mean(stopped):.3f} on average, {min(stopped):.3f} at least. On the others 40 runs are not said to be "
        f"enough: there the ARI with the answer of 160 is {np.mean(others or [1.0]):.3f} on average, and above .98 on "
        f"{np.mean(np.array(others or [1.0]) >= CLOSE):.0%}.",
    ]


def question_lines(values: Values, kind: str) -> list[str]:
    """What questions reached, pool by pool."""
    asked = {key.removeprefix(kind): one for key, one in values.items() if key.startswith(kind)}
    lines = ["", "| pool | before | questions | random pairs |", "|---|---|---|---|"]
    for name, one in asked.items():
        lines.append(f"| {name} | {one['before']:.3f} | {one['asked']:.3f} | {one['random']:.3f} |")
    if not asked:
        return ["", "Not yet measured with the rule that stands now."]
    means = [np.mean([one[key] for one in asked.values()]) for key in ("before", "asked", "random")]
    below = [name for name, one in asked.items() if one["asked"] < one["before"] - 0.01]
    better = sum(one["asked"] >= one["random"] for one in asked.values())
    return [
        *lines,
        f"| mean | {means[0]:.3f} | {means[1]:.3f} | {means[2]:.3f} |",
        "",
        f"At least as good as the random pairs on {better} of {len(asked)}; more than .01 below the start: "
        f"{', '.join(below) or 'none'}.",
    ]


def page(values: Values) -> str:
    """The page of what was measured so far."""
    lines = ["# Several answers, a growing pool, the next question", "", __doc__ or "", "## Modes", ""]
    lines += ["| planted modes | number right | mean ARI of the sources | least |", "|---|---|---|---|"]
    for k in (1, 2, 3, 4):
        if (one := values.get(f"planted {k}")) is not None:
            lines.append(f"| {k} | {one['right']:.0%} | {one['ari']:.3f} | {one['least']:.3f} |")
    lines += [
        "",
        "Pools whose sources differ in granularity, and the share in which one camp is found (asked: 95%):",
    ]
    lines += ["", "| pools | number | one camp |", "|---|---|---|"]
    for family in ("ensemble_pools", *pools.KINDS):
        if (one := values.get(f"granular {family}")) is not None:
            lines.append(f"| {family} | {one['pools']} | {one['one']:.1%} |")
    if (one := values.get("networks")) is not None:
        sizes = "; ".join(f"{name}: {', '.join(map(str, found)) or 'none'}" for name, found in one.items())
        lines += ["", f"Sources in each mode of the default pool of base runs on networks: {sizes}."]
    if (one := values.get("landscape")) is not None:
        lines += ["", *landscape_lines(one)]
    for k in (1, 2):
        if (one := values.get(f"large {k}")) is not None:
            mode = "1 mode" if one["modes"] == 1 else f"{one['modes']} modes"
            lines += ["", f"{LARGE:,} x 20, {mode}: {one['seconds']:.1f} processor seconds with all consensuses."]
    lines += ["", "## A growing pool", ""]
    if (one := values.get("streams")) is not None:
        lines.append(
            f"{one['streams']} streams of one source at a time: labels equal to a fit from scratch in "
            f"{one['labels']:.0%}, objective in {one['objective']:.0%}."
        )
    for kind, what in (("easy", "a tenth of wrong labels"), ("realistic", "k-means results, k from 10 to 60")):
        if (one := values.get(f"update {kind}")) is not None:
            lines += [
                "",
                f"One more source at {LARGE:,} x 19 ({what}) costs {one['ratio']:.3f} of a fit from scratch (asked: "
                f"0.10), which takes {one['seconds']:.1f} processor seconds. ARI of the two answers {one['ari']:.3f}; "
                f"the loss of the grown one, over that of the other, is {one['under its weights']:.4f} under its own "
                f"weights of candidates and {one['under theirs']:.4f} under those of the other.",
            ]
    kinds = f"k-means runs of at most {LARGEST_SET} points, runs of Louvain, label propagation and Leiden on networks"
    lines += stopping_lines(values, "stopping ", f"pools ({kinds})")
    lines += stopping_lines(values, "fresh stopping ", "fresh pools (k-means runs of generated blobs)")
    lines += ["", "## Questions", "", f"ARI before, after {N_QUESTIONS} questions, after {N_RANDOM} random pairs:"]
    lines += question_lines(values, "question ")
    lines += ["", "The same on fresh pools:"]
    lines += question_lines(values, "fresh question ")
    if (one := values.get("time of a question")) is not None:
        lines += [
            "",
            f"100,000 elements: {one['first']:.2f} processor seconds for the first question, {one['next']:.2f} after.",
        ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure everything, the quick parts first."""
    warnings.simplefilter("ignore")
    kept = Results.open("beyond", page, summary)
    jobs: dict[str, Any] = {f"planted {k}": (measure_planted, k) for k in (1, 2, 3, 4)}
    jobs |= {f"large {k}": (measure_large_modes, k) for k in (1, 2)}
    jobs |= {f"update {kind}": (measure_update, kind) for kind in ("easy", "realistic")}
    jobs["time of a question"] = (measure_question_time,)
    asked = sys.argv[1:]
    if not asked or any(one.startswith("question") for one in asked):
        jobs |= {f"question {name}": (measure_questions, table, truth) for name, table, truth in question_pools()}
    if not asked or any(one.startswith("fresh") for one in asked):
        fresh = fresh_question_pools()
        jobs |= {f"fresh question {name}": (measure_questions, table, truth) for name, table, truth in fresh}
        jobs |= {f"fresh stopping {name}": (measure_stopping, run) for name, run in fresh_stopping_pools()}
    jobs |= {f"granular {family}": (measure_granular, family) for family in ("ensemble_pools", *pools.KINDS)}
    jobs |= {"networks": (measure_networks,), "landscape": (measure_landscape,), "streams": (measure_streams,)}
    if not asked or any(one.startswith("stopping") for one in asked):
        jobs |= {f"stopping {name}": (measure_stopping, run) for name, run in stopping_pools()}
    for key, (measure, *given) in jobs.items():
        if key not in kept.values and (not asked or key.startswith(tuple(asked))):
            kept.values[key] = measure(*given)
            print(key, kept.values[key], flush=True)
            kept.save()
    if not asked:
        kept.finish()


if __name__ == "__main__":
    main()
