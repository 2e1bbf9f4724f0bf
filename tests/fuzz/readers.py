"""Coverage-guided fuzzing of every reader: whatever the bytes, a result or one of the library's own errors.

``python -m tests.fuzz.readers [labels points graphs saved] [--runs N]`` runs each target in a process of its own, with
atheris. An input that ends in any other exception, or takes longer than a minute, is kept in tests/fuzz/cases/ and
run by the tests from then on.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
RUNS = 100_000
ENDINGS = {
    "labels": [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet"],
    "points": [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet"],
    "graphs": [".gml", ".graphml", ".net", ".edges", ".csv", ".tsv"],
    "saved": [".bic"],
}


def read(target: str, content: bytes, folder: Path) -> None:
    """Read one input: its first byte chooses the ending of the file, the rest is the file."""
    from biconsensus.errors import BiconsensusError
    from biconsensus.graphs import read_graph
    from biconsensus.pool._pool import Pool
    from biconsensus.pool.io import read_labels, read_points
    from biconsensus.result._consensus import Consensus

    endings = ENDINGS[target]
    path = folder / f"input{endings[content[0] % len(endings)] if content else endings[0]}"
    path.write_bytes(changed_archive(content[1:]) if target == "saved" else content[1:])
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


def saved_parts() -> dict[str, bytes]:
    """The parts of a small saved consensus."""
    import biconsensus as bc

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.bic"
        bc.find_consensus([[0, 0, 1, 1, None]] * 3 + [[0, 0, 1, 1, -1]], min_elements=2).save(path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


PARTS: dict[str, bytes] = {}


def changed_archive(content: bytes) -> bytes:
    """A saved result with one part changed: bytes replaced at a place, cut off, or replaced as a whole."""
    PARTS.update(PARTS or saved_parts())
    if len(content) < 4:
        return content
    parts, names = dict(PARTS), sorted(PARTS)
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
        ],
        "saved": [],
    }[target]
    found = [bytes([k % len(ENDINGS[target])]) + text for k, text in enumerate(texts)]
    return found + [bytes([3]) + npy() for _ in range(target in ("labels", "points"))] + [b"\x00\x05\x80\x00abcd"]


def npy() -> bytes:
    """A small array file."""
    import numpy as np

    stream = io.BytesIO()
    np.save(stream, np.arange(6).reshape(3, 2))
    return stream.getvalue()


def fuzz(target: str, runs: int) -> None:
    """Fuzz one target in this process."""
    import atheris

    with atheris.instrument_imports(include=["biconsensus"]):
        pass

    with tempfile.TemporaryDirectory() as folder:
        corpus, work = Path(folder) / "corpus", Path(folder) / "work"
        corpus.mkdir()
        work.mkdir()
        for k, seed in enumerate(seeds(target)):
            (corpus / f"seed{k}").write_bytes(seed)
        CASES.mkdir(exist_ok=True)
        options = [
            f"-runs={runs}",
            "-timeout=60",
            "-report_slow_units=60",
            "-max_len=2048",
            "-rss_limit_mb=4096",
            "-verbosity=0",
            "-seed=1",
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
    parser.add_argument("--here", action="store_true", help="fuzz the one target in this process")
    options = parser.parse_args()
    if options.here:
        fuzz(options.targets[0], options.runs)
        return 0
    failed = 0
    for target in options.targets:
        command = [sys.executable, "-m", "tests.fuzz.readers", target, "--runs", str(options.runs), "--here"]
        code = subprocess.run(command, check=False).returncode
        print(
            f"{target}: {options.runs} inputs, {'no fault' if code == 0 else f'FAILED with exit code {code}'}",
            flush=True,
        )
        failed += code != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
