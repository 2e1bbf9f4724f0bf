"""Coverage-guided fuzzing of every reader: whatever the bytes, a result or one of the library's own errors.

``python -m tests.fuzz.readers [labels points graphs saved] [--runs N] [--seed N]`` runs each target in a process of
its own, with atheris. An input that ends in any other exception, or takes longer than a minute, is kept in
tests/fuzz/cases/ and run by the tests from then on. Another seed gives other inputs, so that a long run can be made of
several.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import io
import sys
import tempfile
import warnings
import zipfile
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
RUNS = 100_000
TABLES = [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".xlsx", "-"]
ENDINGS = {
    "labels": TABLES,
    "points": TABLES,
    "graphs": [
        *(".gml", ".graphml", ".net", ".edges", ".csv", ".tsv"),
        *(".gexf", ".adjlist", ".mtx", ".npz", ".metis", ".edges.gz"),
    ],
    "saved": [".bic"],
}
"""Endings of the files of each target; "-" is the standard input."""
WATCHED = [
    "pool.io._arrays",
    "pool.io._columns",
    "pool.io._roles",
    "pool.io._tables",
    "pool.io._text",
    "graphs._files",
    "graphs._graph",
    "result._storage",
]
"""Modules whose branches guide the fuzzer: those that look at the bytes."""


def read(target: str, content: bytes, folder: Path) -> None:
    """Read one input: its first byte chooses the ending of the file, the rest is the file."""
    from biconsensus.errors import BiconsensusError
    from biconsensus.graphs import read_graph
    from biconsensus.pool._pool import Pool
    from biconsensus.pool.io import read_labels, read_points
    from biconsensus.result._consensus import Consensus

    endings = ENDINGS[target]
    ending = endings[content[0] % len(endings)] if content else endings[0]
    stored = bytes_of(target, ending, content[1:])
    path = Path(ending) if ending == "-" else folder / f"input{ending}"
    before = sys.stdin
    if ending == "-":
        sys.stdin = io.TextIOWrapper(io.BytesIO(stored))
    else:
        path.write_bytes(stored)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if target == "labels":
                table = read_labels(path)
                Pool.from_labels(table.columns, ids=table.ids)
            elif target == "points":
                read_points(path)
            elif target == "graphs":
                read_graph(path)
            else:
                result = Consensus.load(path)
                result.labels, result.backing, result.biclusters, repr(result)
    except BiconsensusError:
        pass
    finally:
        sys.stdin = before


def bytes_of(target: str, ending: str, content: bytes) -> bytes:
    """What the file holds: the content itself, packed, or, for archives, as a change of a good one."""
    if target == "saved" or ending == ".xlsx" or (target, ending) == ("graphs", ".npz"):
        return changed_archive(content, "saved" if target == "saved" else ending)
    return gzip.compress(content, 1) if ending.endswith(".gz") else content


@lru_cache
def parts_of(kind: str) -> dict[str, bytes]:
    """The parts of a small saved consensus (saved), sheet (.xlsx) or sparse array (.npz)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed"
        WRITERS[kind](path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def write_saved(path: Path) -> None:
    """A consensus of four groupings, two of them with gaps."""
    import biconsensus as bc

    bc.find_consensus([[0, 0, 1, 1, None]] * 3 + [[0, 0, 1, 1, -1]], min_elements=2).save(path)


def write_sheet(path: Path) -> None:
    """A table of labels in an Excel file."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["name", "a", "b"], ["x", 0, 1.5], ["y", None, 2], ["z", "one", True]):
        book.active.append(row)
    book.save(path)


def write_adjacency(path: Path) -> None:
    """A triangle as a sparse array."""
    import numpy as np
    from scipy.sparse import csr_array, save_npz

    with path.open("wb") as stream:
        save_npz(stream, csr_array(1 - np.eye(3)))


WRITERS = {"saved": write_saved, ".xlsx": write_sheet, ".npz": write_adjacency}


def changed_archive(content: bytes, kind: str = "saved") -> bytes:
    """A good archive with one part changed: bytes replaced at a place, cut off, or replaced as a whole."""
    if len(content) < 4:
        return content
    parts = dict(parts_of(kind))
    names = sorted(parts)
    name, place, kind, new = names[content[0] % len(names)], content[1], content[2] % 4, content[3:]
    old = parts[name]
    spot = place * max(len(old) - 1, 0) // 255
    parts[name] = [old[:spot] + new + old[spot + len(new) :], old[:spot], new, old[:spot] + new + old[spot:]][kind]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part, value in parts.items():
            archive.writestr(part, value)
    return stream.getvalue()


def seeds(target: str) -> list[bytes]:
    """Valid files, as a start for the fuzzer."""
    texts = {
        "labels": [b"id,a,b\nx,0,1\ny,,1\nz,1,-1\n", b"a\tb\n0\t1\n1\t1\n", b"a;b\n0;1\n"],
        "points": [b"x,y\n0,1.5\n2,3e2\n", b"0 1\n2 3\n", b"x\ty\n1\t2\n"],
        "graphs": [
            b'graph [ node [ id 0 label "a" ] node [ id 1 ] edge [ source 0 target 1 value 2 ] ]',
            b'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
            b'<edge source="a" target="b"/></graph></graphml>',
            b'*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 1.0\n',
            b"a b 1\nb c 2\n",
            b"a,b,1\nb,c\n",
            b"a\tb\nb\tc\n",
            b'<gexf version="1.2"><graph defaultedgetype="undirected"><nodes><node id="0"/><node id="1"/></nodes>'
            b'<edges><edge id="0" source="0" target="1"/></edges></graph></gexf>',
            b"a b c\nb c\n",
            b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1.5\n",
            b"\x00\x05\x80\x00abcd",
            b"3 2\n2\n1 3\n2\n",
            b"a b\nb c\n",
        ],
        "saved": [],
    }[target]
    found = [bytes([k % len(ENDINGS[target])]) + text for k, text in enumerate(texts)]
    if ENDINGS[target] is TABLES:
        found += [bytes([3]) + npy(), bytes([6]) + b"\x05\x80\x00abcd", bytes([7]) + texts[0], bytes([7]) + npy()]
    return [*found, b"\x00\x05\x80\x00abcd"]


def npy() -> bytes:
    """A small array file."""
    import numpy as np

    stream = io.BytesIO()
    np.save(stream, np.arange(6).reshape(3, 2))
    return stream.getvalue()


def watch() -> None:
    """Import what is watched, so that the fuzzer sees which branches an input takes."""
    import atheris

    with atheris.instrument_imports(include=[f"biconsensus.{name}" for name in WATCHED]):
        for name in WATCHED:
            importlib.import_module(f"biconsensus.{name}")


def fuzz(target: str, runs: int, seed: int, folder: Path) -> None:
    """Fuzz one target with files in a folder, and end this process: what it made there is left to the caller."""
    import atheris

    corpus, work = folder / "corpus", folder / "work"
    corpus.mkdir()
    work.mkdir()
    for k, start in enumerate(seeds(target)):
        (corpus / f"seed{k}").write_bytes(start)
    CASES.mkdir(exist_ok=True)
    options = [
        f"-runs={runs}",
        "-timeout=60",
        "-report_slow_units=60",
        "-max_len=2048",
        "-rss_limit_mb=4096",
        "-verbosity=0",
        f"-seed={seed}",
    ]
    atheris.Setup(
        [sys.argv[0], *options, f"-artifact_prefix={CASES}/{target}-", str(corpus)],
        lambda content: read(target, content, work),
    )
    atheris.Fuzz()


def main() -> int:
    """Fuzz all targets that were asked for; the exit code is the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(ENDINGS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    watch()
    failed, in_memory = 0, Path("/dev/shm")
    for target in options.targets:
        with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as folder:
            arguments = target, options.runs, options.seed, Path(folder)
            process = get_context("fork").Process(target=fuzz, args=arguments)
            process.start()
            process.join()
        code = process.exitcode
        print(
            f"{target}: {options.runs} inputs, {'no fault' if code == 0 else f'FAILED with exit code {code}'}",
            flush=True,
        )
        failed += code != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
