"""Does the answer of a consensus method depend on the order of the rows? Writes docs/order_audit.md.

``python -m benchmarks.order_audit [SET ...]``; BENCH=quick takes one small set. Each set of `ensemble_pools` is
represented by a sample of its elements, ten of its groupings, and several orders of the same rows.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks.results import Results, Values
from benchmarks.tensor_methods import celta, gtlec
from benchmarks.tuning.pools import ENSEMBLES
from benchmarks.without_data import by_name
from biconsensus import datasets
from biconsensus.baselines import get_baseline
from biconsensus.metrics import nmi

QUICK = os.environ.get("BENCH") == "quick"
N_ELEMENTS = 100 if QUICK else 150
N_GROUPINGS = 10
N_SHUFFLES = 1 if QUICK else 2
Array = NDArray[Any]
METHODS: dict[str, Callable[[Array, int], Array]] = {
    "CELTA": celta,
    "GTLEC": gtlec,
    "CELTA, transform along the slices": lambda table, k: celta(table, k, axis="slices"),
    "EAC": lambda table, k: get_baseline("evidence_accumulation")(table, k),
    "LWEA": lambda table, k: get_baseline("lwea")(table, k),
    "NWCA": lambda table, k: get_baseline("nwca")(table, k),
    "LWGP": lambda table, k: get_baseline("lwgp")(table, k, random_state=0),
    "biconsensus, n_groups": lambda table, k: bc.find_consensus(table, n_groups=k, unassigned="nearest").labels,
}
ORDERS = ("sorted by class", "as in the file", "shuffled")


def main(names: list[str]) -> None:
    """Every set, method and order that was not measured yet."""
    warnings.simplefilter("ignore")
    kept = Results.open("order_audit", page, summary, at="docs/order_audit.md")
    chosen = names or (ENSEMBLES[1:2] if QUICK else ENSEMBLES)
    for name, (members, truth) in by_name(datasets.load_ensemble_pool, chosen).items():
        rng = np.random.default_rng(17)
        chosen = np.sort(rng.choice(len(truth), min(N_ELEMENTS, len(truth) // 2 * 2), replace=False))
        table = members[np.ix_(chosen, rng.choice(members.shape[1], N_GROUPINGS, replace=False))]
        entry = kept.values.setdefault(name, {"neighbours of one class": _runs(truth[chosen])})
        for method, run in METHODS.items():
            if method not in entry:
                entry[method] = orders(run, table, truth[chosen], rng_seed=17)
                kept.save()
                print(name, method, entry[method], flush=True)
    (kept.save if names else kept.finish)()


def orders(run: Callable[[Array, int], Array], table: Array, truth: Array, rng_seed: int) -> Values:
    """NMI with the truth in every order, the mean and the range of the shuffles."""
    n_groups = np.unique(truth).size

    def score(order: Array) -> float:
        return round(float(nmi(truth[order], run(table[order], n_groups))), 4)

    rng = np.random.default_rng(rng_seed)
    shuffles = [score(rng.permutation(len(truth))) for _ in range(N_SHUFFLES)]
    return {
        "sorted by class": score(np.argsort(truth, kind="stable")),
        "as in the file": score(np.arange(len(truth))),
        "shuffled": round(float(np.mean(shuffles)), 4),
        "each shuffle": shuffles,
    }


def _runs(truth: Array) -> float:
    """Share of neighbouring rows of the file that have one class."""
    return round(float(np.mean(truth[1:] == truth[:-1])), 3)


def page(values: Values) -> str:
    """The means, and every set."""
    lines = ["# The order of the rows", "", HEAD, "", "| mean NMI | " + " | ".join(ORDERS) + " |", "|---" * 4 + "|"]
    methods = [m for m in METHODS if values and all(m in entry for entry in values.values())]
    for method in methods:
        cells = [f"{np.mean([entry[method][order] for entry in values.values()]):.3f}" for order in ORDERS]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    lines += ["", "## Every set", "", EACH, "", f"| | {' | '.join(values)} |", "|---" * (len(values) + 1) + "|"]
    shares = [f"{entry['neighbours of one class']:.0%}" for entry in values.values()]
    lines.append(f"| neighbours in the file of one class | {' | '.join(shares)} |")
    for method in methods:
        found = [entry[method] for entry in values.values()]
        cells = [f"{entry['sorted by class']:.2f} → {entry['shuffled']:.2f}" for entry in found]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", WHY])


def summary(values: Values) -> Values:
    """Mean NMI of each method in each order."""
    complete = [m for m in METHODS if values and all(m in entry for entry in values.values())]
    return {
        m: {order: round(float(np.mean([e[m][order] for e in values.values()])), 4) for order in ORDERS}
        for m in complete
    }


HEAD = f"""A set of groupings says which elements belong together. The order of the elements in the file says nothing
about that, so a consensus must not depend on it. But many public sets are sorted by class, and then a method that mixes
neighbouring rows reads a part of the truth from the order of the file.

Each set below is represented by {N_ELEMENTS} of its elements and {N_GROUPINGS} of its 100 groupings. Every method is
told the number of classes and runs on exactly the same table in three orders: sorted by class, as in the file, and
shuffled ({N_SHUFFLES} times; the mean is shown). NMI is measured with the classes, which are moved along.

CELTA (AAAI 2021) and GTLEC (ACM MM 2023) are our transcriptions (`benchmarks/tensor_methods.py`) of the programs that
their authors published, with the settings found there; the programs themselves were not run.
"CELTA, transform along the slices" has one change, which is explained below. The small differences of EAC are ties in
its tree, which are broken by position. The small differences of LWGP come from its k-means."""
EACH = "NMI sorted by class → shuffled."
WHY = """## Why

Both methods stack m x m matrices into a tensor and ask for a low tensor nuclear norm. That norm is taken after a
Fourier transform along one axis of the tensor. In the programs the tensor is first rotated, so that the transform runs
along the elements, in the order of the file. If the file is sorted by class, the blocks of the matrices are long runs
along that axis, and a few low frequencies describe them. If the file is shuffled, low frequencies are not enough. If
the transform runs along the slices instead, the order of the elements has no influence.

You can test any method in the same way, your own for instance:

```python
from biconsensus.baselines import audit

print(audit(my_method, table, n_groups, truth=truth))
```

On the [leaderboard](leaderboard.md) label tables, networks and matches are shuffled before any method sees them."""


if __name__ == "__main__":
    main(sys.argv[1:])
