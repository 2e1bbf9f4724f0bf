"""No network, no code in files, nothing run that came from outside."""

import ast
import io
import json
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import biconsensus as bc
from tests.helpers.strategies import paper_consensus

SOURCE = Path(bc.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

OFFLINE = """
import os, sys
touched = []
NETWORK = {f"socket.{name}" for name in ("connect", "bind", "getaddrinfo", "gethostbyname", "sendto")}
def watch(event, details):
    local = event in ("socket.connect", "socket.bind") and isinstance(details[1], (str, bytes))  # a file, not a port
    if event in NETWORK and not local:
        touched.append((event, str(details)))
sys.addaudithook(watch)

import numpy as np
import biconsensus as bc
from biconsensus.cli import run
from sklearn.cluster import KMeans
X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 12, axis=0) + np.random.default_rng(0).random((36, 2))
t = np.arange(30.0)
base = [KMeans(3, n_init=1)] * 4
model = bc.ConsensusClustering(base, random_state=0).fit(X)
cliques = np.kron(np.eye(3), np.ones((8, 8))) - np.eye(24)
bc.ConsensusCommunities("louvain", n_runs=3, random_state=0, n_jobs=2).fit(cliques)
bc.MultiModelFitter("line", 0.1, n_samples=200, random_state=0).fit(np.column_stack([t, t % 2]))
model.consensus_.save("saved.bic")
bc.Consensus.load("saved.bic").write_report("report.html")
assert run(["inspect", "saved.bic"]) == 0
assert os.path.getsize("report.html") > 1000
print("touched", touched)
"""


def test_neither_import_nor_run_opens_a_network_socket(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "touched []"


def test_the_watch_sees_a_socket(tmp_path):
    """The test above could fail: the same watch notices a look-up of a name that cannot be found."""
    program = OFFLINE.split("import numpy")[0] + (
        "import socket\ntry:\n    socket.create_connection(('host.invalid', 9), 0.1)\nexcept OSError:\n    pass\n"
        "print('touched', touched)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "socket.getaddrinfo" in done.stdout


RUNS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
READS_CODE = ("pickle.", "marshal.", "shelve.", "joblib.load")
OWN_FILES = {"sources/_workers.py", "explore/_worker.py"}
"""Read what their own processes wrote a moment before: memory maps in a folder of their own, a pipe to a child."""


@cache
def parsed(path):
    """Syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def calls():
    """File, name and constant keywords of every call in the package."""
    for path in FILES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call):
                given = {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
                yield path.relative_to(SOURCE).as_posix(), ast.unparse(node.func), given


def test_no_file_of_the_package_runs_what_it_reads():
    for path, name, given in calls():
        assert name not in RUNS, path
        assert not name.startswith(READS_CODE) or path in OWN_FILES, f"{path} calls {name}"
        assert given.get("shell") is not True, path
        assert given.get("allow_pickle") is not True, path
        if name in {"np.load", "np.save"}:
            assert given.get("allow_pickle") is False, f"{name} in {path} must say allow_pickle=False"


FETCHES = {"datasets/_fetch.py": {"pooch"}}
"""The one file that may open a connection, by one package, when a data set is asked for and is not here."""
SERVES = {"explore/_handle.py": {"socket"}, "explore/_server.py": {"urllib"}, "explore/_worker.py": {"pickle"}}
"""The explorer, which nothing imports before it is asked for: it listens on this machine and opens no connection."""


def imported_at(nodes):
    """Top-level packages that some statements import, or ask for with `need`."""
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        asked = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("need", "import_module")
        names += [node.args[0].value] if asked and isinstance(node.args[0], ast.Constant) else []
        yield from (name.partition(".")[0] for name in names)


def test_no_file_of_the_package_knows_the_network():
    network = {"socket", "urllib", "http", "requests", "httpx", "ftplib", "smtplib", "ssl", "pickle", "pooch"}
    for path in FILES:
        module = parsed(path)
        found = set(imported_at(ast.walk(module))) & network
        name = path.relative_to(SOURCE).as_posix()
        assert found == (FETCHES | SERVES).get(name, set()), path
        early = set(imported_at(module.body)) & network
        assert not early or name in SERVES, f"{path} imports it before it is asked for"


def test_saved_files_hold_plain_arrays_and_json_only(tmp_path):
    ids = np.array([f"e{i}" for i in range(30)])
    pool = bc.Pool.from_labels([np.repeat([0, 1, 2], 10)] * 4, ids=ids)
    paper_consensus(pool).save(tmp_path / "saved.bic")
    with zipfile.ZipFile(tmp_path / "saved.bic") as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "meta.json":
                assert json.loads(content)["version"] == 1
            else:
                array = np.load(io.BytesIO(content), allow_pickle=False)
                assert array.dtype.kind in "biuf", name
                assert not array.dtype.hasobject


def test_a_saved_object_array_is_refused_without_being_run(tmp_path):
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (ran,))

    paper_consensus([np.repeat([0, 1], 10)] * 4).save(tmp_path / "saved.bic")
    stream = io.BytesIO()
    np.save(stream, np.array([Evil()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "saved.bic") as old:
        parts = {name: old.read(name) for name in old.namelist()} | {"gains.npy": stream.getvalue()}
    with zipfile.ZipFile(tmp_path / "evil.bic", "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)
    with pytest.raises(bc.errors.FileFormatError, match="damaged"):
        bc.Consensus.load(tmp_path / "evil.bic")
    assert not ran.exists()
