"""Tables of ten thousand to a hundred million elements; writes docs/benchmarks/scale.md, its plots and scale.json.

Every call has a process of its own, contenders in turn; of several calls the least figures count, because others on the
machine can only add to them. Arguments narrow what is measured, as in
``python -m benchmarks.scale "realistic 10^6" stages``. BENCH=quick stops at 10^5 elements, BENCH=full goes to 10^8 (two
tables of 2 GB on disk).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import ROOT, Results, Values
from benchmarks.scale_agreement import KINDS, agreement
from benchmarks.scale_contenders import write_table
from benchmarks.scale_points import KINDS as POINTS
from benchmarks.scale_realistic import write_realistic
from benchmarks.scale_solver import CASES, compare_dask, time_search
from benchmarks.scale_stages import STAGES

MODE = os.environ.get("BENCH", "")
SIZES = {"quick": [10**4, 10**5], "full": [10**4, 10**5, 10**6, 10**7, 10**8]}.get(MODE, [10**4, 10**5, 10**6, 10**7])
TABLES: dict[str, Callable[[Path, int, str], None]] = {"easy": write_table, "realistic": write_realistic}
NAMES = {
    "biconsensus": "biconsensus",
    "polars": "Polars `group_by`",
    "numpy": "NumPy pass",
    "louvain": "Louvain on A",
    "usenc": "U-SENC step, true K",
    "told": "biconsensus, true K",
}
PEERS = ("louvain", "usenc")
SLOWER = (*PEERS, "told")
LARGEST_OF_PEERS = {"easy": 10**6, "realistic": 10**7}
"""Elements up to which peers are called; at 10^7 only once: Louvain needs 14 GB and both more than a minute."""
LARGEST_IN_MEMORY = 10**7
"""Elements up to which tables are held in memory, as int16; beyond, they are mapped files of int8."""
CALLS = 2
"""Calls of every contender, of which the least figures count; as many for all, so that none has more luck."""
CALLED_TWICE = 10**6
"""Elements up to which that holds for the slower ones, too."""
NEEDED = 0.001
"""Seconds from which on a stage counts as needed: where all rows are searched, nothing is left to finish."""
TIME_LIMIT = 600
"""Seconds that one call may take."""


def size_name(m: int) -> str:
    """A power of ten, in words of the page."""
    return f"10^{round(np.log10(m))}"


def measure_table(kind: str, m: int, folder: Path, known: Values) -> Values:
    """All contenders on one table, the least of their calls; not those that are known from an earlier run."""
    path = folder / f"{kind}-{m}.npy"
    TABLES[kind](path, m, "int16" if m <= LARGEST_IN_MEMORY else "int8")
    names = [name for name in NAMES if name not in SLOWER or m <= LARGEST_OF_PEERS[kind]]
    if m > LARGEST_IN_MEMORY:
        names = ["biconsensus", "numpy"]
    names = [name for name in names if name not in known]
    runs: dict[str, list[Values]] = {name: [] for name in names}
    n_calls = CALLS if m <= LARGEST_IN_MEMORY else 1
    for k in range(n_calls):
        for name in names:
            if k == 0 or m <= CALLED_TWICE or name not in SLOWER:
                runs[name].append(call("scale_contenders", name, str(path)))
    found: Values = {name: {key: min(run[key] for run in own) for key in own[0]} for name, own in runs.items()}
    path.unlink()
    return known | found | {"calls": n_calls, "earlier": sorted(known)}


def measure_stages(kind: str, m: int, folder: Path) -> Values:
    """Processor seconds of every stage of one consensus."""
    path = folder / f"stages-{kind}-{m}.npy"
    TABLES[kind](path, m, "int16")
    found = call("scale_stages", str(path))
    path.unlink()
    return found


def call(script: str, *arguments: str) -> Values:
    """What one call in a process of its own prints."""
    command = [sys.executable, "-m", f"benchmarks.{script}", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIME_LIMIT, check=True)
    found: Values = json.loads(done.stdout)
    return found


def jobs(folder: Path, known: Values) -> dict[str, Callable[[], Values]]:
    """Everything that is measured, by the key under which it is kept.

    Contenders that are known, under "earlier" and the key of their table, are not called again.
    """

    def job(measure: Callable[..., Values], *given: Any) -> Callable[[], Values]:
        return lambda: measure(*given)

    found = {
        (key := f"{kind} {size_name(m)}"): job(measure_table, kind, m, folder, known.get(f"earlier {key}", {}))
        for m in reversed(SIZES)
        for kind in TABLES
    }
    staged = [m for m in SIZES if m <= LARGEST_IN_MEMORY]
    found |= {
        f"stages {kind} {size_name(m)}": job(measure_stages, kind, m, folder)
        for m in reversed(staged)
        for kind in TABLES
    }
    found |= {
        f"points {kind} {size_name(m)}": job(call, "scale_points", kind, str(m))
        for kind in POINTS
        for m in ([10**4] if MODE == "quick" else [10**5, 10**6])
    }
    found |= {
        f"agreement {kind} {seed}": job(agreement, kind, seed)
        for kind, (_, number) in KINDS.items()
        for seed in range(1 if MODE == "quick" else number)
    }
    rows = [3_000, 10_000] if MODE == "quick" else [3_000, 10_000, 30_000, 100_000]
    many = [n for n in (5_000, 10_000, 20_000, 40_000) if n <= rows[-1]]
    found |= {
        f"search {name} {n}": job(time_search, name, n)
        for name in CASES
        for n in (many if name == "many groups" else rows)
    }
    return found | {"dask": job(compare_dask, folder, 10**5 if MODE == "quick" else 10**6)}


def summary(values: Values) -> Values:
    """Figures that other pages quote."""
    found: Values = {}
    for kind in TABLES:
        for m in SIZES:
            here = values.get(f"{kind} {size_name(m)}", {})
            if "polars" in here:
                ratio = here["biconsensus"]["cpu"] / here["polars"]["cpu"]
                found[f"{kind} {size_name(m)} over Polars"] = round(ratio, 1)
            if any(name in here for name in PEERS):
                fastest = min(here[name]["cpu"] for name in PEERS if name in here)
                found[f"{kind} {size_name(m)} peers"] = round(fastest / here["biconsensus"]["cpu"], 1)
    agreed = [one["ari"] for key, one in values.items() if key.startswith("agreement ")]
    if agreed:
        found["agreement"] = round(float(np.mean(agreed)), 4)
        found["agreeing"] = sum(ari >= 0.995 for ari in agreed)
        found["agreements"] = len(agreed)
        halves = [one["ari of half"] for key, one in values.items() if key.startswith("agreement ")]
        found["agreeing halves"] = sum(ari >= 0.995 for ari in halves)
    for key, one in values.items():
        if key.startswith("points "):
            found[key] = round(one["cpu"])
    return found


def page(values: Values) -> str:
    """The page of what was measured so far."""
    parts = [
        "# Size",
        "",
        "Two kinds of label tables with 20 groupings each. Easy: 12 groups in every grouping, 2% of the cells "
        "at random. Realistic: points of 25 overlapping normal clusters, grouped by 20 k-means with 10 to 60 centres. "
        "Tables are int16 in memory; at 10^8 they are mapped files of int8.",
        "",
        *_tables(values),
        *_aims(values),
        *_stages(values),
        *_agreement(values),
        *_search(values),
        *_points(values),
    ]
    if (one := values.get("dask")) is not None:
        parts += [
            "## Dask",
            "",
            f"The realistic table with {one['elements']:,} elements in 16 Parquet partitions, files read included: "
            f"{one['alone']:.1f} s on one machine in chunks, {one['spread']:.1f} s with two worker processes of Dask "
            "and the labels gathered. The labels are identical, and those of the table in memory.",
            "",
        ]
    return "\n".join(parts)


def _tables(values: Values) -> list[str]:
    """Processor seconds, memory and agreement with the truth, easy and realistic side by side."""
    lines = [
        "## Time, memory, agreement",
        "",
        "Processor seconds (times those of Polars), memory in MB above the table, ARI with the truth and number of "
        "groups. Peers are called up to 10^6 elements of the easy table and 10^7 of the realistic one. Memory was "
        "written to and given back before the clock started, "
        "because a virtual machine hands out fresh memory slowly. Of two calls of each the least figures count; at "
        "10^7 the peers, and biconsensus told K, are called once.",
        "",
        "![Time and memory against the number of elements](scale.png)",
        "",
        "| elements | table | " + " | ".join(NAMES.values()) + " |",
        "|" + "---|" * (len(NAMES) + 2),
    ]
    old = [f"{key} ({', '.join(NAMES[name] for name in here['earlier'])})" for key, here in _with_earlier(values)]
    if old:
        lines[2] += f" Of an earlier run, so that ratios are rough, are: {'; '.join(old)}."
    for m in [10**4, 10**5, 10**6, 10**7, 10**8]:
        for kind in TABLES:
            if (here := values.get(f"{kind} {size_name(m)}")) is not None:
                base = here.get("polars", {}).get("cpu")
                cells = " | ".join(_cell(here.get(name), base) for name in NAMES)
                lines.append(f"| {size_name(m)} | {kind} | {cells} |")
    return [*lines, ""]


def _with_earlier(values: Values) -> list[tuple[str, Values]]:
    """The tables of which some contenders were kept from an earlier run."""
    return [(key, here) for key, here in values.items() if isinstance(here, dict) and here.get("earlier")]


def _cell(found: Values | None, base: float | None) -> str:
    """One cell of the table."""
    if found is None:
        return ""
    times = "" if base is None else f" ({found['cpu'] / base:.1f})"
    score = f", ARI {found['ari']:.3f}, {found['groups']:.0f} groups" if "ari" in found else ""
    return f"{found['cpu']:.2g} s{times}, {found['memory']:,.0f} MB{score}"


def _aims(values: Values) -> list[str]:
    """What was to be reached, as ratios within this run."""
    said = summary(values)
    rows: list[tuple[str, str, str]] = []
    for size, wanted in (("10^6", "10"), ("10^7", "2")):
        if (ratio := said.get(f"realistic {size} over Polars")) is not None:
            rows.append((f"realistic, {size}: processor time over Polars", f"at most {wanted}", f"{ratio:.1f}"))
    for size in ("10^6", "10^7"):
        here = values.get(f"realistic {size}", {})
        if not all(name in here for name in SLOWER):
            continue
        ours = here["biconsensus"]
        for name in PEERS:
            ratio = here[name]["cpu"] / ours["cpu"]
            said_when = " (earlier run)" if name in here.get("earlier", ()) else ""
            rows.append((f"realistic, {size}: times as fast as {NAMES[name]}{said_when}", "at least 5", f"{ratio:.1f}"))
            lead = ours["ari"] - here[name]["ari"]
            rows.append((f"realistic, {size}: ARI less that of {NAMES[name]}", "at least 0", f"{lead:+.3f}"))
        lead = here["told"]["ari"] - here["usenc"]["ari"]
        rows.append((f"realistic, {size}: the same, both told K", "at least 0", f"{lead:+.3f}"))
    if (here := values.get("realistic 10^8")) is not None and "realistic 10^7" in values:
        polars = 10 * values["realistic 10^7"]["polars"]["cpu"]
        ratio = here["biconsensus"]["cpu"] / polars
        said_when = " (earlier run)" if here.get("earlier") else ""
        rows.append((f"realistic, 10^8{said_when}: over ten times Polars at 10^7", "at most 1.5", f"{ratio:.1f}"))
        memory = here["biconsensus"]["memory"] / 1024
        rows.append(("realistic, 10^8: memory, pages of the file included", "under 8 GB", f"{memory:.1f} GB"))
    for kind in POINTS:
        if (one := values.get(f"points {kind} 10^6")) is not None:
            name = f"10^6 {kind} points of 10 features: time on two cores, memory"
            rows.append((name, "60 s, 4 GB", f"{one['seconds']:.0f} s, {one['memory'] / 1024:.1f} GB"))
    if "agreement" in said:
        text = f"{said['agreeing']} of {said['agreements']}, mean {said['agreement']:.4f}"
        rows.append(("ARI of sampled and exact search at least .995", "all of 20 pools", text))
    if not rows:
        return []
    lines = ["| figure | wanted | measured |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    return ["## Aims", "", *lines, ""]


def _stages(values: Values) -> list[str]:
    """Processor seconds of every stage, and how each grows."""
    lines = [
        "## Stages",
        "",
        "Processor seconds of each stage of `find_consensus(table)` and of the labels. The exponents are fitted on all "
        "sizes at which a stage takes a millisecond or more (1 is linear). No majority is searched for where "
        "the path of a sample is far from one.",
        "",
        "![Seconds of each stage](scale-stages.png)",
        "",
    ]
    names = [*STAGES, "the rest", "whole"]
    for kind in TABLES:
        found = _staged(values, kind)
        if found:
            lines += ["| table | elements | rows | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 3)]
            for m, here in found.items():
                cells = " | ".join(f"{here[name]:.3f}" for name in names)
                lines.append(f"| {kind} | {size_name(m)} | {here['rows']:,.0f} | {cells} |")
            if len(found) > 1:
                slopes = " | ".join(_slope({m: here[name] for m, here in found.items()}) for name in names)
                lines.append(f"| {kind} | exponent | | {slopes} |")
            lines.append("")
    return lines


def _staged(values: Values, kind: str) -> dict[int, Values]:
    """Stages by the number of elements."""
    sizes = [10**4, 10**5, 10**6, 10**7]
    return {m: values[f"stages {kind} {size_name(m)}"] for m in sizes if f"stages {kind} {size_name(m)}" in values}


def _slope(seconds: dict[int, float]) -> str:
    """The exponent of a stage, from the sizes that need it."""
    needed = {m: value for m, value in seconds.items() if value >= NEEDED}
    return f"{_exponent(list(needed), list(needed.values())):.2f}" if len(needed) > 1 else ""


def _exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of the logarithm of seconds in that of sizes."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-4)), 1)[0])


def _agreement(values: Values) -> list[str]:
    """The answer of a sample beside that of the search on all rows."""
    found = {key.removeprefix("agreement "): one for key, one in values.items() if key.startswith("agreement ")}
    if not found:
        return []
    said, missing = summary(values), sum(number for _, number in KINDS.values()) - len(found)
    lines = [
        "## A sample beside all rows",
        "",
        f"The default on a sample of the rows beside the search on all rows: mean ARI {said['agreement']:.4f}, "
        f"{said['agreeing']} of {said['agreements']} pools at least .995"
        + (f"; {missing} of {len(found) + missing} pools were not measured." if missing > 0 else ".")
        + " No pool had a part in any choice. The search on all rows of a random half of the elements agrees as well "
        f"with that of all elements on {said['agreeing halves']} pools.",
        "",
        "| pool | distinct rows | searched | groups | all rows | ARI of both | half and all | with truth | all rows | "
        "times faster |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(found.items()):
        lines.append(
            f"| {name} | {one['rows']:,} | {one['searched']:,} | {one['groups']} | {one['groups of all rows']} | "
            f"{one['ari']:.4f} | {one['ari of half']:.4f} | {one['truth']:.4f} | {one['truth of all rows']:.4f} | "
            f"{one['seconds of all rows'] / one['seconds']:.1f} |"
        )
    return [*lines, ""]


def _search(values: Values) -> list[str]:
    """The whole consensus on pools whose rows hardly repeat."""
    found = {key: one for key, one in values.items() if key.startswith("search ")}
    if not found:
        return []
    slopes = ", ".join(
        f"{name} {_exponent([o['memberships'] for o in own], [o['seconds'] for o in own]):.2f}"
        for name in CASES
        if len(own := [one for key, one in found.items() if key.startswith(f"search {name} ")]) > 1
    )
    lines = [
        "## Pools whose rows hardly repeat",
        "",
        "Of the three kinds of the paper, and of very many small groups; processor seconds of the default consensus. "
        "The number of groups grows with the rows in communities and small groups. "
        f"Exponents in the memberships: {slopes}.",
        "",
        "| pool | rows | candidates | memberships | seconds | groups |",
        "|---|---|---|---|---|---|",
    ]
    for name in CASES:
        own = [one for key, one in found.items() if key.startswith(f"search {name} ")]
        lines += [
            f"| {name} | {one['rows']:,} | {one['candidates']:,} | {one['memberships']:,} | {one['seconds']:.2f} | "
            f"{one['groups']} |"
            for one in sorted(own, key=lambda one: one["rows"])
        ]
    return [*lines, ""]


def _points(values: Values) -> list[str]:
    """Whole fits of very many points."""
    found = {key.removeprefix("points "): one for key, one in values.items() if key.startswith("points ")}
    if not found:
        return []
    lines = [
        "## Points",
        "",
        "`ConsensusClustering().fit(X)` of points of ten features: 12 clear or 25 overlapping normal clusters. The "
        "nearest landmark of each point is looked up on all cores; the rest runs on one.",
        "",
        "| points | seconds on two cores | seconds of processor | memory, data included | distinct rows | groups "
        "| ARI |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {one['seconds']:.0f} | {one['cpu']:.0f} | {one['memory'] / 1024:.1f} GB | "
        f"{one['rows']:,} | {one['groups']} | {one['ari']:.3f} |"
        for name, one in sorted(found.items())
    ]
    return [*lines, ""]


def draw(values: Values, folder: Path) -> None:
    """The two plots of the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    sizes = [10**4, 10**5, 10**6, 10**7, 10**8]
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4), sharex=True, constrained_layout=True)
    for row, kind in zip(axes, TABLES, strict=True):
        for axis, key, title in zip(
            row, ("cpu", "memory"), ("seconds of processor", "MB above the table"), strict=True
        ):
            for name, label in NAMES.items():
                points = [(m, values.get(f"{kind} {size_name(m)}", {}).get(name, {}).get(key, 0.0)) for m in sizes]
                points = [(m, value) for m, value in points if value > 0]
                if points:
                    wide = 2.6 if name == "biconsensus" else 1.3
                    axis.loglog(*zip(*points, strict=True), "o-", lw=wide, ms=4, label=label.replace("`", ""))
            axis.set(title=f"{kind}: {title}")
            axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set(xlabel="elements")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(folder / "scale.png", dpi=110)
    figure, stage_axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, constrained_layout=True)
    for axis, kind in zip(stage_axes, TABLES, strict=True):
        found = _staged(values, kind)
        for name in [*STAGES, "the rest", "whole"]:
            # a stage that was not needed has no point
            seconds = [max(here[name], 1e-4) if here[name] > 0 else np.nan for here in found.values()]
            axis.loglog(list(found), seconds, "o-", lw=2.6 if name == "whole" else 1.2, ms=4, label=name)
        if found:
            last = max(found)
            line = [found[last]["whole"] * m / last for m in found]
            axis.loglog(list(found), line, "k:", lw=1, label="linear")
        axis.set(xlabel="elements", title=f"the {kind} table")
        axis.grid(alpha=0.3)
    stage_axes[0].set(ylabel="seconds of processor")
    figure.legend(*stage_axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.savefig(folder / "scale-stages.png", dpi=110)
    plt.close("all")


def main() -> None:
    """Measure what is missing, and write the page after each piece."""
    kept = Results.open("scale", page, summary)
    with tempfile.TemporaryDirectory() as folder:
        everything = jobs(Path(folder), kept.values)
        for key, measure in everything.items():
            if key not in kept.values and (not sys.argv[1:] or key.startswith(tuple(sys.argv[1:]))):
                kept.values[key] = measure()
                kept.values.pop(f"earlier {key}", None)
                print(key, kept.values[key], flush=True)
                kept.save()
                draw(kept.values, kept.folder)
    if all(key in kept.values for key in everything):
        kept.finish()


if __name__ == "__main__":
    main()
