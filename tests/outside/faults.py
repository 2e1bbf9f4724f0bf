"""Rows 43 to 96 of the table of faults, seen from outside: the public API and the command line, no test suite.

``python -m tests.outside.faults [rows]`` prints one line a row and ends with 1 if a row does not behave as written.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

import biconsensus as bc

PROGRAM = [sys.executable, "-m", "biconsensus.cli"]
TRUTH = np.repeat([0, 1, 2], 20)
RANDOM = np.random.default_rng(1)
TABLE = np.where(RANDOM.random((60, 5)) < 0.1, RANDOM.integers(3, size=(60, 5)), TRUTH[:, None])
CHECKS: dict[int, list[Callable[[], bool]]] = {}


def row(number: int) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    """Register the check of a row."""

    def register(check: Callable[[], bool]) -> Callable[[], bool]:
        CHECKS.setdefault(number, []).append(check)
        return check

    return register


def cli(*words: Any, stdin: bytes = b"", shell: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a command in the current folder."""
    command = [*PROGRAM, *map(str, words)]
    line: Any = f"{' '.join(command)} {shell}" if shell else command
    return subprocess.run(line, input=stdin, capture_output=True, shell=bool(shell), timeout=300, check=False)


def answer(*words: Any, **options: Any) -> dict[str, Any]:
    """The summary that a command prints."""
    found: dict[str, Any] = json.loads(cli(*words, "--json", **options).stdout)
    return found


def refused(call: Callable[[], Any], *words: str) -> bool:
    """Whether a call ends in an error of the library that holds these words."""
    try:
        call()
    except bc.errors.BiconsensusError as error:
        return all(word in str(error) for word in words)
    return False


def names(labels: Any) -> list[str]:
    """Labels that became candidates."""
    return [name.partition(": ")[2] for name in bc.Pool.from_labels(labels).names]


def written(head: str, table: Any = TABLE, first: Any = None) -> None:
    """Write t.csv."""
    rows = [",".join(map(str, line)) for line in np.asarray(table).tolist()]
    rows = rows if first is None else [f"{name},{line}" for name, line in zip(first, rows)]
    Path("t.csv").write_text("\n".join([*([head] if head else []), *rows]) + "\n", encoding="utf-8")


@row(43)
def _() -> bool:
    X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * np.repeat([[0], [1]], 30, axis=0)
    labels = bc.ConsensusClustering(random_state=0).fit(X * 1e200).labels_
    return bc.metrics.ari(np.repeat([0, 1], 30), labels) == 1.0


@row(44)
def _() -> bool:
    big = np.array([2**53, 2**53 + 1] * 4)
    return len(names([big, np.array([0, 1] * 4, np.uint64)])) == 4


@row(45)
def _() -> bool:
    return names([np.array([2**64 - 1, 2**63] * 4, np.uint64)]) == [str(2**63), str(2**64 - 1)]


@row(46)
def _() -> bool:
    pairs = [(2**63, 2**63 + 1), ("007", "7"), ("1_0", "10")]
    Path("t.csv").write_text("a,b,c\n" + "".join(",".join(str(p[k % 2]) for p in pairs) + "\n" for k in range(20)))
    return bool(answer("merge", "t.csv")["candidates"] == 6)


@row(47)
def _() -> bool:
    written(",0,1,2,3,4", first=range(60))
    with_index = answer("merge", "t.csv")
    written("0,1,2,3,4")
    without = answer("merge", "t.csv")
    forced = answer("merge", "t.csv", "--no-header")
    return [found["elements"] for found in (with_index, without, forced)] == [60, 60, 61] and with_index["sources"] == 5


@row(48)
def _() -> bool:
    written("sample,a,b,c,d,e", first=[f"s{k}" for k in range(60)])
    text = answer("merge", "t.csv")
    written("sample,a,b,c,d,e", first=range(60))
    numbers = answer("cluster", "t.csv", "--groups", 3)
    return text["sources"] == 5 and "'sample'" in text["notes"][0] and "ids from 'sample'" in numbers["read"]


@row(49)
def _() -> bool:
    Path("t.csv").write_text("a,x\n" + "b,y\n" * 10 + "c,z\n" * 10)
    found = answer("merge", "t.csv")
    return "--no-header" in found["notes"][0] and answer("merge", "t.csv", "--no-header")["elements"] == 21


@row(51)
def _() -> bool:
    four = [np.repeat([0, 1, 2], 4)] * 3
    return all(len(bc.find_consensus(four[:k])) == 3 for k in (2, 3))


@row(52)
def _() -> bool:
    ids = [(k, str(k)) for k in range(60)]
    bc.find_consensus(bc.Pool.from_labels(TABLE, ids=ids)).save("r.bic")
    return bc.Consensus.load("r.bic").pool.ids.tolist() == ids  # type: ignore[union-attr]


@row(53)
def _() -> bool:
    days = np.datetime64("2024-01-01", "ns") + np.arange(60) * np.timedelta64(1, "D")
    for ids in (days, [1, "1", *range(2, 60)]):
        bc.find_consensus(bc.Pool.from_labels(TABLE, ids=ids)).save("r.bic")
        if bc.Consensus.load("r.bic").pool.ids.tolist() != (ids if isinstance(ids, list) else days.tolist()):  # type: ignore[union-attr]
            return False
    return True


@row(54)
def _() -> bool:
    return len(names([np.array(["NaT", "2020-01-01", "2020-01-02"], "M8[ns]")])) == 2


@row(55)
def _() -> bool:
    Path("t.csv").write_text("a,b\n1\n")
    said = [cli("merge", "t.csv", "--out", target, "--save", "r.bic") for target in ("x.unknown", ".")]
    return all(done.returncode == 2 and b"t.csv" not in done.stderr for done in said)


@row(56)
def _() -> bool:
    written("a,b,c,d,e")
    Path("link.csv").symlink_to("real.csv")
    main, child = os.openpty()
    device = os.ttyname(child)
    codes = [cli("merge", "t.csv", "--out", target).returncode for target in ("link.csv", device)]
    stayed = Path("link.csv").is_symlink() and Path(device).is_char_device()
    return codes == [0, 0] and stayed and os.read(main, 100).startswith(b"id,group")


@row(57)
def _() -> bool:
    written("a,b,c,d,e")
    calls = [("--out", "t.csv"), ("--save", "t.csv"), ("--out", "x.csv", "--save", "./x.csv")]
    return all(cli("merge", "t.csv", *words).returncode == 2 for words in calls) and not Path("x.csv").exists()


@row(58)
def _() -> bool:
    code = (
        "import os, threading, biconsensus as bc\nos.umask(0o077)\nfound = bc.find_consensus([[0] * 5 + [1] * 5] * 3)\n"
        "def write(k):\n    for i in range(150):\n        found.save(f'{k}-{i}.bic')\n"
        "threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]\n"
        "[t.start() for t in threads]\n[t.join() for t in threads]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    files = list(Path().glob("*-*.bic"))
    return len(files) == 1200 and {path.stat().st_mode & 0o777 for path in files} == {0o600}


@row(59)
def _() -> bool:
    np.savez_compressed("t.npz", labels=np.zeros((10_000_000, 4), np.int8))
    data = bytearray(Path("t.npz").read_bytes())
    at = data.rindex(b"PK\x01\x02") + 24
    data[at : at + 4] = (0xFFFFFFF0).to_bytes(4, "little")
    Path("t.npz").write_bytes(data)
    done = cli("merge", "t.npz")
    return done.returncode == 2 and b"would unpack" in done.stderr


@row(60)
def _() -> bool:
    return all(refused(lambda q=q: bc.find_consensus(TABLE, quorum=q), "quorum") for q in (1 - 1e-10, 1e-300))  # type: ignore[misc]


@row(61)
def _() -> bool:
    Path("t.csv").write_text("a,b\n" + "x\u2028\x85\x0cy,0\nz,1\n" * 8, encoding="utf-8", newline="")
    return bool(answer("merge", "t.csv")["elements"] == 16)


@row(62)
def _() -> bool:
    source = bc.Provenance("k-means", seed=np.int64(3))  # type: ignore[arg-type]
    bc.find_consensus(bc.Pool.from_labels(TABLE, sources=[source] * 5)).save("r.bic")
    return bc.Consensus.load("r.bic").pool.sources[0].seed == 3


@row(63)
def _() -> bool:
    A = bc.Pool.from_labels(TABLE).to_matrix()
    return len(set(bc.BiclusterConsensus(n_groups=2).fit(A).labels_.tolist()) - {-1}) == 2


@row(64)
def _() -> bool:
    calls: list[Callable[[], Any]] = [
        lambda: bc.find_consensus(TABLE, quorum=0.9, n_groups=3),
        lambda: bc.ConsensusClustering(quorum=0.9, n_groups=3).fit(TABLE.astype(float)),
    ]
    written("a,b,c,d,e")
    said = cli("merge", "t.csv", "--quorum", 0.9, "--groups", 3)
    return all(refused(call, "n_groups=3 picks its own quorum") for call in calls) and b"picks its own" in said.stderr


@row(65)
def _() -> bool:
    vectors = [[0] * 4 + [1] * 4] * 4
    return refused(lambda: bc.find_consensus(map(list, vectors)), "Give a list") and bc.Pool.from_labels(
        iter(v) for v in vectors
    ).shape == (8, 8)


@row(67)
def _() -> bool:
    written("a,b,c,d,e")
    return all(cli("merge", "t.csv", "--out", "g.csv", shell=s).returncode == 0 for s in (">&-", "2>&-", ">&- 2>&-"))


@row(68)
def _() -> bool:
    written("a,b,c,d,e")
    name = os.fsdecode(b"\xff.csv")
    Path("t.csv").rename(name)
    return cli("merge", name, "--report", "page.html").returncode == 0 and Path("page.html").stat().st_size > 0


@row(69)
def _() -> bool:
    written("id,a,b,c,d,e", first=["=1+1", *range(1, 60)])
    cli("merge", "t.csv", "--out", "g.csv", "--escape")
    return Path("g.csv").read_text().splitlines()[1].startswith("'=1+1,")


@row(70)
def _() -> bool:
    written("a,b,c,d,e", np.repeat(TABLE, 3000, axis=0))
    process = subprocess.Popen(
        [*PROGRAM, "merge", "t.csv", "--out", "g.csv", "--save", "r.bic"], stdout=subprocess.PIPE
    )
    before = {path.name for path in Path().iterdir()}
    while process.poll() is None and {path.name for path in Path().iterdir()} <= before:
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    return process.returncode in (0, 143) and not any(path.name.startswith(".") for path in Path().iterdir())


@row(72)
def _() -> bool:
    X = np.random.default_rng(0).normal(size=(30, 2))
    Path("t.csv").write_text("a,b\n0,1\n" + "x" * 1_000_000 + ",1\n")
    return (
        refused(lambda: bc.find_consensus([[[1], [2]]] * 3), "source 0")
        and refused(lambda: bc.find_consensus([[1j, 2j]] * 3), "source 0")
        and refused(lambda: bc.find_consensus(TABLE, n_jobs=0), "n_jobs")
        and refused(lambda: bc.find_consensus(TABLE, memory_limit="1GB"), "memory_limit")  # type: ignore[arg-type]
        and refused(lambda: bc.find_consensus(TABLE, memory_limit=np.nan), "memory_limit")  # type: ignore[arg-type]
        and refused(lambda: bc.find_consensus(TABLE, weights=["a"]), "weights")
        and refused(lambda: bc.find_consensus(TABLE, together=[0, 1]), "together[0]")  # type: ignore[list-item]
        and refused(lambda: bc.ConsensusClustering(random_state="x").fit(X), "random_state")
        and len(bc.find_consensus(TABLE, solver=None)) == 3  # type: ignore[arg-type]
        and b"line 3" in cli("merge", "t.csv").stderr
    )


@row(73)
def _() -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one = bc.ConsensusClustering().fit([[1.0, 2.0]]).labels_
        none = bc.find_consensus(np.full((10, 4), -1)).labels
    return {*one, *none} == {-1} and len(caught) == 2


@row(74)
def _() -> bool:
    return names([np.array(["-1", "a", "a"]), [Decimal(-1), Decimal(2), Decimal(2)]]) == ["a", "2"]


@row(75)
def _() -> bool:
    return all(
        refused(lambda more=more: bc.find_consensus(TABLE, memory_limit=10, **more), "above the limit")  # type: ignore[misc]
        for more in ({}, {"n_groups": 3})
    )


@row(82)
def _() -> bool:
    table = np.vstack([TABLE, [[0, 1, 2, -1, -1]] * 3])
    found = [bc.find_consensus(table, quorum=0.5, unassigned=what) for what in ("nearest", "leave")]
    return len({tuple(tuple(b.elements.tolist()) for b in one.biclusters) for one in found}) == 1


@row(93)
def _() -> bool:
    written("a,b,c,d,e")
    return answer("merge", "-", "--columns", "a,b,c", "--drop", "c", stdin=Path("t.csv").read_bytes())["sources"] == 2


def main(rows: list[int]) -> int:
    """Run the checks, one line each; the number of rows that do not behave."""
    wrong = 0
    for number in rows or sorted(CHECKS):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                good, why = all(check() for check in CHECKS[number]), ""
            except Exception as error:
                good, why = False, f" ({type(error).__name__}: {error})"
            os.chdir("/")
        wrong += not good
        print(f"row {number}: {'as written' if good else 'NOT as written'}{why}", flush=True)
    print(f"{len(rows or CHECKS) - wrong} of {len(rows or CHECKS)} rows as written")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]]))
