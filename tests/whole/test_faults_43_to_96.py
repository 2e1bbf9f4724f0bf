"""Faults that were found by trying to break version 0.1.0: one test or more for each row, numbered alike.

They use the public API and the command line only, and fail on version 0.1.0. Rows that another part answers have their
tests there; docs/reliability.md names them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biconsensus as bc
from biconsensus.cli import run
from biconsensus.errors import BiconsensusError, NoConsensusWarning

PROGRAM = [sys.executable, "-m", "biconsensus"]
TRUTH = np.repeat([0, 1, 2], 20)
NOISE = np.random.default_rng(0).integers(3, size=(60, 5))
TABLE = np.where(np.random.default_rng(1).random((60, 5)) < 0.1, NOISE, TRUTH[:, None])
"""Five groupings of sixty elements into three groups, each wrong on a few of its own."""


def names_of(labels: Any) -> list[str]:
    """Labels that became candidates, without the names of their sources."""
    return [name.partition(": ")[2] for name in bc.Pool.from_labels(labels).names]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The command line in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words: Any, stdin: bytes | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def groups_of(path: Path) -> dict[str, str]:
    """Group of every id of a file that --out wrote."""
    return {row["id"]: row["group"] for row in csv.DictReader(path.read_text().splitlines())}


def ari_of(path: Path) -> float:
    """Agreement of a file that --out wrote with the truth."""
    return bc.metrics.ari(TRUTH, list(groups_of(path).values()))


# -- numbers and labels ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_43_data_of_any_scale_is_rescaled_before_distances_are_squared(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] += 8
    model = bc.ConsensusClustering(random_state=0).fit(X * scale)
    assert bc.metrics.ari(np.repeat([0, 1], 30), model.labels_) == pytest.approx(1.0)
    assert (model.predict(X * scale) == model.labels_).all()


def test_43_data_of_extreme_scale_is_refused_for_clusterers_with_a_unit() -> None:
    from sklearn.cluster import DBSCAN

    with pytest.raises(ValueError, match=r"X spans about 2\*\*6\d\d.*multiply it by"):
        bc.ConsensusClustering([DBSCAN(eps=0.5)]).fit(np.random.default_rng(0).normal(size=(60, 2)) * 1e200)


def test_43_data_far_from_zero_is_centred() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] += 8
    model = bc.ConsensusClustering(random_state=0).fit(X + 1e9)
    assert bc.metrics.ari(np.repeat([0, 1], 30), model.labels_) == pytest.approx(1.0)


BIG = 2**53


@pytest.mark.parametrize(
    "column",
    [
        np.array([BIG, BIG + 1] * 4),
        [BIG, BIG + 1] * 4,
        [BIG, BIG + 1, float("nan")] * 4,
        pd.Series([BIG, BIG + 1, None] * 4, dtype="Int64"),
        pd.Series([BIG, BIG + 1, None] * 4, dtype="UInt64"),
    ],
    ids=["array", "list", "list with a gap", "nullable", "nullable unsigned"],
)
def test_44_labels_above_2_to_the_53_stay_apart(column: Any) -> None:
    beside = np.arange(len(column), dtype=np.uint64) % 2
    assert names_of({"a": column, "b": beside})[:2] == [str(BIG), str(BIG + 1)]


def test_44_frames_of_polars_with_gaps() -> None:
    assert names_of(pl.DataFrame({"a": [BIG, BIG + 1, None]})) == [str(BIG), str(BIG + 1)]


@pytest.mark.parametrize("label", [2**63, 2**64 - 1])
def test_45_labels_of_64_bits_are_exact_or_refused(label: int) -> None:
    column = np.array([label, 1] * 4, np.uint64)
    assert names_of([column]) == ["1", str(label)]
    assert names_of(np.stack([column, column], axis=1))[1] == str(label)
    assert names_of([[label, -1, label + 1, 2**70]]) == [str(label), str(label + 1), str(2**70)]
    with pytest.raises(ValueError, match=r"below 2\*\*63"):
        bc.find_consensus(pl.DataFrame({"a": column, "b": column}))


@pytest.mark.parametrize("cells", [(str(2**63), str(2**63 + 1)), ("007", "7"), ("1_0", "10"), ("1e1", "10")])
def test_46_cells_that_are_written_differently_are_different_labels(cli: Any, cells: tuple[str, str]) -> None:
    Path("t.csv").write_text("a,b,c\n" + "".join(f"{cells[k // 10]},x,{k // 10}\n" for k in range(20)))
    code, out, _ = cli("merge", "t.csv", "--json")
    assert code == 0
    assert json.loads(out)["candidates"] == 5


def test_46_numbers_with_zeros_keep_them(cli: Any) -> None:
    Path("t.csv").write_text("a,b\n" + "007,x\n010,y\n" * 8)
    cli("merge", "t.csv", "--save", "r.bic", "-q")
    assert bc.Consensus.load("r.bic").pool.names[:2] == ("a: 007", "a: 010")


# -- tables ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("index", [True, False])
def test_47_a_table_that_pandas_wrote_without_names(cli: Any, index: bool) -> None:
    pd.DataFrame(TABLE).to_csv("t.csv", index=index)
    code, out, said = cli("merge", "t.csv", "--out", "g.csv")
    assert code == 0
    assert list(groups_of(Path("g.csv"))) == [str(k) for k in range(60)]
    assert ari_of(Path("g.csv")) > 0.9
    assert "line 1 is the header; 5 groupings (0, 1, 2, 3, 4)" in out
    assert ("ids from the index" in out) == index
    assert ("line 1 (0, 1, 2, 3, 4) was read as the header" in said) == (not index)


def test_47_options_decide(cli: Any) -> None:
    Path("t.csv").write_text("0,1,2\n" + "0,0,0\n" * 10 + "1,1,1\n" * 10)
    assert json.loads(cli("merge", "t.csv", "--json")[1])["elements"] == 20
    assert json.loads(cli("merge", "t.csv", "--no-header", "--json")[1])["elements"] == 21
    Path("u.csv").write_text("0,1\n" * 10 + "1,0\n" * 10)
    assert json.loads(cli("merge", "u.csv", "--json")[1])["elements"] == 20
    assert json.loads(cli("merge", "u.csv", "--header", "--json")[1])["elements"] == 19


@pytest.mark.parametrize("ids", [[f"s{k}" for k in range(60)], list(range(100, 160))], ids=["text", "numbers"])
@pytest.mark.parametrize("command", ["merge", "cluster"])
def test_48_an_id_column_by_any_name_neither_votes_nor_is_a_feature(cli: Any, command: str, ids: list[Any]) -> None:
    frame = pd.DataFrame({"sample": ids, **{f"run{k}": TABLE[:, k] for k in range(5)}, "other": ids})
    frame.to_csv("t.csv", index=False)
    code, out, said = cli(command, "t.csv", "--out", "g.csv")
    assert code == 0
    assert list(groups_of(Path("g.csv"))) == [str(i) for i in ids]
    assert "column 'sample'" in said
    assert "was taken as the ids" in said
    assert "left out because every row has a value of its own, as ids have: 'other'" in said
    assert "(run0, run1, run2, run3, run4); ids from 'sample'; left out: other." in out
    short = ("--quorum", 0.5)  # only what was read is looked at from here on
    code, out, _ = cli(command, "t.csv", "--id", "other", "--columns", "run0,run1", "--columns", "run2", *short)
    assert "(run0, run1, run2); ids from 'other'." in out
    code, out, _ = cli(command, "t.csv", "--drop", "sample", "--drop", "run4", *short)
    assert "(run0, run1, run2, run3); ids from 'other'." in out


def test_48_an_id_does_not_leak_the_truth(cli: Any) -> None:
    X = np.random.default_rng(3).normal(size=(60, 2))
    frame = pd.DataFrame({"sample": np.arange(60), "x": X[:, 0], "y": X[:, 1], "class": TRUTH, "copy": TRUTH * 5})
    frame.to_csv("t.csv", index=False)
    code, out, said = cli("cluster", "t.csv", "--drop", "copy", "--json")
    found = json.loads(out)
    assert code == 0
    assert abs(found["scores"]["ari"]) < 0.3
    assert "truth from 'class'" in found["read"]
    said = cli("cluster", "t.csv", "--truth", "class", "--columns", "x,y,copy", "-k", 3)[2]
    assert "features that say exactly what the truth says: 'copy'" in said


def test_48_whole_numbers_that_differ_are_pointed_out_among_features(cli: Any) -> None:
    order = np.random.default_rng(0).permutation(60)
    pd.DataFrame({"nr": order, "x": TRUTH + 0.5, "y": NOISE[:, 0] * 0.1}).to_csv("t.csv", index=False)
    assert "features with another whole number in every row: 'nr'" in cli("cluster", "t.csv", "-k", 3)[2]


def test_49_text_labels_without_a_header(cli: Any) -> None:
    Path("t.csv").write_text("a,x\n" * 10 + "b,y\n" * 10)
    code, out, said = cli("merge", "t.csv", "--json")
    assert (code, json.loads(out)["elements"]) == (0, 20)
    assert "line 1 (a, x) was read as data, because its values come again" in said
    Path("u.csv").write_text("p,q\n" + "a,x\n" * 10 + "b,y\n" * 10)
    said = cli("merge", "u.csv", "--json")[2]
    assert "line 1 (p, q) was read as the header; --no-header makes it the first row" in said
    assert json.loads(cli("merge", "u.csv", "--no-header", "--json")[1])["elements"] == 21


# -- what is kept ---------------------------------------------------------------------------------------------------
def saved_and_loaded(ids: Any, tmp_path: Path) -> Any:
    """Ids of a pool through a file and back."""
    table = pd.DataFrame(TABLE, index=ids) if isinstance(ids, pd.Index) else TABLE
    pool = bc.Pool.from_labels(table, ids=None if isinstance(ids, pd.Index) else ids)
    found = bc.find_consensus(pool)
    found.save(tmp_path / "r.bic")
    return pool.ids, bc.Consensus.load(tmp_path / "r.bic").pool.ids


def test_52_ids_of_several_parts_come_back(tmp_path: Path) -> None:
    kinds: list[Any] = [
        pd.MultiIndex.from_product([["a", "b", "c"], range(20)]),
        [(k, f"e{k}") for k in range(60)],
        np.array([(k, f"e{k}") for k in range(60)], dtype=[("nr", int), ("name", "U4")]),
        [Decimal(k) / 7 for k in range(60)],
    ]
    for ids in kinds:
        before, after = saved_and_loaded(ids, tmp_path)
        assert after.dtype == before.dtype
        assert after.tolist() == before.tolist()


def test_52_ids_that_no_file_can_keep_are_refused_when_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"the id .*object.* could not be read back from a file"):
        saved_and_loaded([object() for _ in range(60)], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "ids",
    [
        pd.date_range("2024-01-01", periods=60),
        pd.date_range("2024-01-01", periods=60, tz="Europe/Berlin"),
        pd.timedelta_range("1s", periods=60),
        [1, "1", *range(2, 60)],
        pd.Index([1, "1", *range(2, 60)]),
        [2**60 + k for k in range(60)],
        [f"{k:03d}" for k in range(60)],
    ],
    ids=["dates", "dates with a zone", "durations", "mixed", "mixed index", "large", "text"],
)
def test_53_ids_are_kept_as_they_are(ids: Any, tmp_path: Path) -> None:
    before, after = saved_and_loaded(ids, tmp_path)
    assert after.dtype == before.dtype
    assert after.tolist() == before.tolist()
    assert [type(value) for value in after.tolist()] == [type(value) for value in before.tolist()]
    if isinstance(ids, list):
        assert before.tolist() == ids


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[s]"])
def test_54_a_missing_date_is_not_seen(kind: str) -> None:
    column = np.array([1, 1, 2, 2, "NaT"], dtype=kind)
    for labels in ([column], pd.DataFrame({"source 0": column})):
        pool = bc.Pool.from_labels(labels)
        assert len(pool.names) == 2
        assert pool.unseen is not None
        assert pool.unseen.toarray()[pool.inverse].ravel().tolist() == [False] * 4 + [True]


# -- outputs --------------------------------------------------------------------------------------------------------
@pytest.fixture
def labels_csv(tmp_path: Path) -> Path:
    """A table of labels with ids."""
    path = tmp_path / "labels.csv"
    pd.DataFrame(TABLE, columns=[f"run{k}" for k in range(5)], index=[f"e{k}" for k in range(60)]).to_csv(path)
    return path


@pytest.mark.parametrize(
    ("target", "message"),
    [("x.unknown", "unknown ending"), ("folder", "unknown ending|folder"), ("x.npy", "one column"), ("no/x.csv", "no")],
)
def test_55_bad_targets_are_refused_before_any_work(cli: Any, target: str, message: str) -> None:
    Path("folder").mkdir()
    Path("broken.csv").write_text("a,b\n1\n")  # reading it would be an error: it must not come so far
    code, _, said = cli("merge", "broken.csv", "--out", target, "--save", "r.bic", "--report", "r.html")
    assert code == 2
    assert "broken.csv" not in said
    assert any(part in said for part in message.split("|"))
    for option in ("--save", "--report"):
        code, _, said = cli("merge", "broken.csv", option, "folder")
        assert (code, "folder is a folder" in said) == (2, True)


def test_55_the_whole_result_is_saved_first(cli: Any) -> None:
    # a missing text cannot be written to NPZ, which nobody knows before the ids are read
    ids = pd.Series([f"e{k}" for k in range(59)] + [None])
    pd.DataFrame({"id": ids, **{f"run{k}": TABLE[:, k] for k in range(5)}}).to_parquet("t.parquet")
    code, _, said = cli("merge", "t.parquet", "--save", "r.bic", "--out", "g.npz")
    assert (code, "missing text" in said) == (2, True)
    assert len(bc.Consensus.load("r.bic")) == 3


def test_56_links_are_written_through(cli: Any, labels_csv: Path) -> None:
    Path("real").mkdir()
    Path("real/g.csv").write_text("old")
    for name in ("g.csv", "r.bic", "p.html"):
        Path(name).symlink_to(f"real/{name}")
    code, _, said = cli("merge", labels_csv, "--out", "g.csv", "--save", "r.bic", "--report", "p.html", "-q")
    assert (code, said) == (0, "")
    assert all(Path(name).is_symlink() for name in ("g.csv", "r.bic", "p.html"))
    assert ari_of(Path("real/g.csv")) > 0.9
    assert Path("real/p.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert len(bc.Consensus.load("r.bic")) == 3


def test_56_devices_and_pipes_are_written_and_stay(cli: Any, labels_csv: Path) -> None:
    # a terminal of our own: were a device replaced after all, no other program would miss it
    main, child = os.openpty()
    device = Path(os.ttyname(child))
    os.mkfifo("pipe.csv")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe.csv").read_text()), daemon=True)
    reader.start()
    for target in ("pipe.csv", device):
        code, _, said = cli("merge", labels_csv, "--out", target, "-q")
        assert (code, said) == (0, "")
    reader.join(timeout=30)
    assert stat.S_ISFIFO(Path("pipe.csv").stat().st_mode)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert len(read[0].splitlines()) == 61
    assert os.read(main, 100).startswith(b"id,group,confidence,backing")
    os.close(main)
    os.close(child)


def test_57_no_output_is_the_input_or_another_output(cli: Any, labels_csv: Path) -> None:
    before = labels_csv.read_bytes()
    Path("link.csv").symlink_to(labels_csv)
    os.link(labels_csv, "hard.csv")
    for target in ("labels.csv", "link.csv", "hard.csv", "./labels.csv"):
        for option in ("--out", "--save", "--report"):
            code, _, said = cli("merge", labels_csv, option, target)
            assert (code, "is the same file as the input" in said) == (2, True)
    code, _, said = cli("merge", labels_csv, "--save", "new.csv", "--out", "./new.csv")
    assert (code, "--out new.csv is the same file as --save" in said) == (2, True)
    assert labels_csv.read_bytes() == before
    assert not Path("new.csv").exists()


def test_58_threads_write_with_the_mode_of_the_user(tmp_path: Path) -> None:
    code = f"""
import os, threading, biconsensus as bc
os.umask(0o077)
found = bc.find_consensus([[0] * 5 + [1] * 5] * 3)
def write(k):
    for i in range(10):
        found.save({str(tmp_path)!r} + f"/{{k}}-{{i}}.bic")
        assert os.stat({str(tmp_path)!r} + f"/{{k}}-{{i}}.bic").st_mode & 0o777 == 0o600
threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
asked = []
os.umask = lambda mask: asked.append(mask)  # of the whole process: no thread may touch it
[t.start() for t in threads]; [t.join() for t in threads]
assert asked == [], asked
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.glob("*.bic")}
    assert len(list(tmp_path.iterdir())) == 80
    assert modes == {0o600}


def test_59_a_small_npz_that_unpacks_to_more_than_the_memory_is_refused(cli: Any) -> None:
    # 40 MB of zeros under a header that declares them; the archive then declares a thousand times the memory
    np.savez_compressed("t.npz", labels=np.zeros((10_000_000, 4), np.int8))
    data = bytearray(Path("t.npz").read_bytes())
    with zipfile.ZipFile("t.npz") as archive:
        (entry,) = archive.infolist()
    size = entry.file_size.to_bytes(4, "little")
    at = data.rindex(b"PK\x01\x02") + 24
    assert data[at : at + 4] == size or data[at : at + 4] == b"\xff" * 4
    data[at : at + 4] = (0xFFFFFFF0).to_bytes(4, "little")
    Path("t.npz").write_bytes(data)
    code, _, said = cli("merge", "t.npz")
    assert code == 2
    assert "would unpack" in said
    assert "refused" in said


@pytest.mark.parametrize("quorum", [1 - 1e-10, 1e-300, 1 - 1e-16])
def test_60_a_quorum_that_cannot_be_told_from_0_or_1_is_refused(quorum: float) -> None:
    with pytest.raises(ValueError, match="quorum must lie between"):
        bc.find_consensus(TABLE, quorum=quorum)
    unanimous = np.repeat(TRUTH[:, None], 5, axis=1)
    for finest in (1 - 1e-9, 1e-9):
        found = bc.find_consensus(unanimous, quorum=finest)
        assert bc.metrics.ari(TRUTH, found.labels) == pytest.approx(1.0)


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\x1e"])
def test_61_breaks_that_are_no_ends_of_lines_belong_to_the_cell(cli: Any, mark: str) -> None:
    Path("t.csv").write_text("a,b\n" + f"x{mark}y,0\nz,1\n" * 8, encoding="utf-8", newline="")
    code, out, said = cli("merge", "t.csv", "--save", "r.bic", "--json")
    assert (code, said) == (0, "")
    assert json.loads(out)["elements"] == 16
    assert f"a: x{mark}y" in bc.Consensus.load("r.bic").pool.names


def test_62_provenance_with_numpy_numbers_is_saved(tmp_path: Path) -> None:
    source = bc.Provenance("k-means", {"k": np.int64(3), "tol": np.float32(0.5)}, seed=np.int64(3))
    pool = bc.Pool.from_labels(TABLE, sources=[source] * 5)
    bc.find_consensus(pool).save(tmp_path / "r.bic")
    loaded = bc.Consensus.load(tmp_path / "r.bic").pool.sources[0]
    assert (loaded.name, loaded.params, loaded.seed) == ("k-means", {"k": 3, "tol": 0.5}, 3)


def test_63_the_bicluster_estimator_takes_a_number_of_groups() -> None:
    A = bc.Pool.from_labels(TABLE).to_matrix()
    found = bc.BiclusterConsensus(n_groups=2).fit(A)
    assert len(set(found.labels_.tolist()) - {-1}) == 2


def test_65_generators_of_label_vectors_are_understood_or_refused() -> None:
    vectors = [[0, 0, 0, 0, 1, 1, 1, 1]] * 4
    for given in ((row for row in vectors), map(list, vectors), iter(map(np.array, vectors))):
        with pytest.raises(ValueError, match=r"received a vector\. Give a list"):
            bc.find_consensus(given)
    assert bc.Pool.from_labels(row for row in vectors).shape == (8, 8)
    assert bc.Pool.from_labels([map(int, row) for row in vectors]).shape == (8, 8)
    assert bc.Pool.from_labels([iter(row) for row in vectors]).shape == (8, 8)
    assert names_of(["x", "x", "y"]) == ["x", "y"]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_67_closed_streams_are_quiet(labels_csv: Path, tmp_path: Path, closed: str) -> None:
    line = f"{' '.join(PROGRAM)} merge {labels_csv} --out g.csv {closed}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert "Error" not in done.stderr + done.stdout
    assert ari_of(tmp_path / "g.csv") > 0.9


def test_68_names_that_are_not_utf_8_are_replaced(cli: Any, labels_csv: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"gr\xf6\xdfe.csv")
    try:
        labels_csv.rename(tmp_path / name)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    done = subprocess.run(
        [*PROGRAM, "merge", name, "--out", os.fsdecode(b"\xff.csv")],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert cli("merge", name, "--report", "page.html", "-q") == (0, "", "")
    assert "Consensus of gr??e.csv" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ari_of(tmp_path / os.fsdecode(b"\xff.csv")) > 0.9


def test_69_formulas_are_escaped_where_asked(cli: Any) -> None:
    ids = ["=1+1", "+a", "-b", "@c", "\td", *(f"e{k}" for k in range(55))]
    pd.DataFrame({"id": ids, "a": TRUTH, "b": TRUTH}).to_csv("t.csv", index=False)
    cli("merge", "t.csv", "--out", "plain.csv", "-q")
    cli("merge", "t.csv", "--out", "safe.csv", "--escape", "-q")
    plain, safe = list(groups_of(Path("plain.csv"))), list(groups_of(Path("safe.csv")))
    assert plain[:4] == ids[:4]
    assert safe[:4] == [f"'{name}" for name in ids[:4]]
    assert safe[5:] == ids[5:]


SLOW_WRITER = """
import os, signal, sys, biconsensus as bc
from biconsensus.cli import main
write = bc.Consensus.write_report
def slow(self, path, **options):
    from biconsensus.pool.io import atomic_path
    with atomic_path(path) as new:
        new.write_text("half")
        print("writing", flush=True)
        signal.pause()
bc.Consensus.write_report = slow
sys.argv = ["biconsensus", *sys.argv[1:]]
main()
"""


def test_70_sigterm_while_writing_leaves_no_temporary_file(labels_csv: Path, tmp_path: Path) -> None:
    words = ["merge", str(labels_csv), "--report", "page.html", "--save", "r.bic"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "r.bic"]


def test_70_sigterm_in_a_program_that_uses_the_library(tmp_path: Path) -> None:
    code = "import signal\nfrom biconsensus.pool.io import atomic_path\nwith atomic_path('x.txt') as new:\n"
    code += "    new.write_text('half'); print('writing', flush=True); signal.pause()\n"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM  # a shell says 143
    assert list(tmp_path.iterdir()) == []


# -- arguments ------------------------------------------------------------------------------------------------------
X = np.random.default_rng(0).normal(size=(30, 2))
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "unhashable labels": (lambda: bc.find_consensus([[[1], [2]]] * 3), r"'source 0' holds \[1\] \(list\)"),
    "unhashable sets": (lambda: bc.find_consensus([[{1}, {2}]] * 3), r"'source 0' holds \{1\} \(set\)"),
    "labels without order": (lambda: bc.find_consensus([[1j, 2j]] * 3), "'source 0' holds labels that have no order"),
    "n_jobs": (lambda: bc.find_consensus(TABLE, n_jobs=0), "n_jobs must not be 0"),
    "n_jobs of clustering": (lambda: bc.ConsensusClustering(n_jobs=0).fit(X), "n_jobs must not be 0"),
    "n_jobs is a word": (lambda: bc.find_consensus(TABLE, n_jobs="all"), "n_jobs must be a whole number"),
    "memory_limit": (lambda: bc.find_consensus(TABLE, memory_limit="1GB"), "memory_limit must be a whole number"),
    "memory_limit is NaN": (lambda: bc.find_consensus(TABLE, memory_limit=np.nan), "memory_limit must be a whole"),
    "weights": (lambda: bc.find_consensus(TABLE, weights=["a"]), r"weights must be numbers, got \['a'\]"),
    "weights of a pool": (lambda: bc.Pool.from_labels(TABLE, weights=["a"]), "weights must be numbers"),
    "weights is a number": (lambda: bc.find_consensus(TABLE, weights=3), "weights has 1 value; give 5"),
    "together": (lambda: bc.find_consensus(TABLE, together=[0, 1]), r"together\[0\] is 0; give lists of elements"),
    "random_state": (lambda: bc.ConsensusClustering(random_state="x").fit(X), "random_state must be None"),
    "random_state below 0": (lambda: bc.ConsensusClustering(random_state=-1).fit(X), "random_state must be from 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_72_bad_arguments_are_named(case: str) -> None:
    call, message = BAD[case]
    with pytest.raises(BiconsensusError, match=message):
        call()


def test_72_no_solver_is_the_default_one() -> None:
    assert bc.find_consensus(TABLE, solver=None).labels.tolist() == bc.find_consensus(TABLE).labels.tolist()


def test_72_a_huge_cell_is_refused_with_its_line(cli: Any) -> None:
    Path("t.csv").write_text("a,b\n0,1\n" + "x" * 1_000_000 + ",1\n")
    code, _, said = cli("merge", "t.csv")
    assert code == 2
    assert "t.csv: line 3 cannot be read: a cell has more than 131072 characters" in said


def test_73_nothing_to_group_is_all_minus_one_with_a_warning() -> None:
    for call in (
        lambda: bc.ConsensusClustering().fit([[1.0, 2.0]]).labels_,
        lambda: bc.ConsensusClustering().fit_labels(np.full((10, 4), -1)).labels_,
        lambda: bc.find_consensus(np.full((10, 4), -1)).labels,
        lambda: bc.find_consensus([[-1, -1, -1]] * 3).labels,
        lambda: bc.find_consensus([["-1"] * 10] * 3).labels,
        lambda: bc.find_consensus([[None] * 10] * 3).labels,
    ):
        with pytest.warns(NoConsensusWarning, match="no group"):
            assert set(call().tolist()) == {-1}


@pytest.mark.parametrize("none", ["-1", "-1.0", b"-1", Decimal(-1), -1, -1.0, np.float32(-1)])
def test_74_minus_one_of_any_type_is_no_group(none: Any) -> None:
    other = type(none)(2) if isinstance(none, (Decimal, float, np.floating)) else b"a" if none == b"-1" else "a"
    for labels in ([none, other, other], np.array([none, other, other], dtype=object)):
        pool = bc.Pool.from_labels([labels])
        assert pool.shape[1] == 1
        assert pool.unseen is None
    if isinstance(none, str):
        assert names_of([np.array([none, "a", "a"])]) == ["a"]
        assert names_of(pd.DataFrame({"k": pd.Categorical([none, "a", "a"])})) == ["a"]


@pytest.mark.parametrize("settings", [{}, {"n_groups": 3}, {"quorum": 0.5}, {"method": "joint"}], ids=str)
def test_75_the_limit_on_memory_is_checked_before_the_work(settings: dict[str, Any]) -> None:
    with pytest.raises(MemoryError, match="above the limit"):
        bc.find_consensus(TABLE, memory_limit=10, **settings)


def test_79_a_subclass_of_a_solver_is_estimated_as_what_it_is() -> None:
    from biconsensus.solvers import get_solver

    kind = type(get_solver("vote"))
    own = type("OwnVote", (kind,), {})()
    rng = np.random.default_rng(0)
    table = np.where(rng.random((3000, 20)) < 0.3, rng.integers(50, size=(3000, 20)), np.arange(3000)[:, None] % 50)
    plain = bc.find_consensus(table, quorum=0.5, solver="vote", memory_limit=60_000_000)
    found = bc.find_consensus(table, quorum=0.5, solver=own, memory_limit=60_000_000)
    assert found.labels.tolist() == plain.labels.tolist()


def test_82_biclusters_are_as_found_and_left_overs_only_in_labels() -> None:
    table = np.vstack([TABLE, [[0, 1, 2, -1, -1]] * 3])
    placed, left = (bc.find_consensus(table, quorum=0.5, unassigned=what) for what in ("nearest", "leave"))
    assert (left.labels[60:] == -1).all()
    assert (placed.labels[60:] >= 0).all()
    assert [b.elements.tolist() for b in placed.biclusters] == [b.elements.tolist() for b in left.biclusters]


# -- more ways in ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["csv", "tsv", "npy", "npz", "parquet", "xlsx"])
def test_93_standard_input(cli: Any, form: str) -> None:
    frame, stream = pd.DataFrame(TABLE, columns=[f"run{k}" for k in range(5)]), io.BytesIO()
    writers: dict[str, Callable[[], Any]] = {
        "csv": lambda: frame.to_csv(stream, index=False),
        "tsv": lambda: frame.to_csv(stream, index=False, sep="\t"),
        "npy": lambda: np.save(stream, TABLE),
        "npz": lambda: np.savez(stream, labels=TABLE),
        "parquet": lambda: frame.to_parquet(stream),
        "xlsx": lambda: frame.to_excel(stream, index=False),
    }
    writers[form]()
    code, out, said = cli("merge", "-", "--out", "g.csv", stdin=stream.getvalue())
    assert (code, said) == (0, "")
    assert "read standard input: " in out
    assert ari_of(Path("g.csv")) > 0.9


def test_93_excel(cli: Any) -> None:
    pd.DataFrame({"name": [f"e{k}" for k in range(60)], "a": TRUTH, "b": TRUTH, "c": [None] * 5 + [1.5] * 55}).to_excel(
        "t.xlsx", index=False
    )
    code, out, _ = cli("merge", "t.xlsx", "--out", "g.csv")
    assert code == 0
    assert "3 groupings (a, b, c); ids from 'name'" in out
    assert list(groups_of(Path("g.csv")))[:2] == ["e0", "e1"]
    Path("t.xls").write_bytes(b"old")
    assert "unknown ending '.xls'; allowed are .csv" in cli("merge", "t.xls")[2]
    Path("bad.xlsx").write_bytes(b"PK nothing")
    code, _, said = cli("merge", "bad.xlsx")
    assert (code, "bad.xlsx: cannot be read as an Excel file" in said) == (2, True)


def test_93_columns_that_are_not_there_are_named(cli: Any, labels_csv: Path) -> None:
    for option in ("--columns", "--drop"):
        code, _, said = cli("merge", labels_csv, option, "rum1")
        assert (code, "unknown column 'rum1'. Did you mean 'run1'?" in said) == (2, True)


# -- networks -------------------------------------------------------------------------------------------------------
def test_50_the_first_line_of_an_edge_list_may_name_its_columns(cli: Any) -> None:
    from biconsensus.graphs import read_graph

    edges = "".join(f"{a},{b}\n" for a in range(6) for b in range(a))
    for name in ("source,target", "Source,Target", "from,to"):
        Path("net.csv").write_text(f"{name}\n{edges}")
        assert read_graph("net.csv").n_nodes == 6


def test_66_blank_lines_of_a_gml_file_cost_linear_time(tmp_path: Path) -> None:
    from biconsensus.graphs import read_graph

    path = tmp_path / "net.gml"
    nodes = 'node [ id 0 label "a" ]\nnode [ id 1 label "b" ]\nedge [ source 0 target 1 ]\n]\n'
    path.write_text("graph [\n" + "\n" * 200_000 + nodes)
    started = time.process_time()
    assert read_graph(path).n_nodes == 2
    assert time.process_time() - started < 5  # 0.1.0 takes minutes


def test_83_duplicate_edges_of_a_gml_file_leave_the_truth_readable(cli: Any) -> None:
    nodes = "".join(f'node [ id {k} label "n{k}" club "{k // 6}" ]\n' for k in range(12))
    pairs = [(a, b) for part in (range(6), range(6, 12)) for a in part for b in part if a < b] + [(0, 6)]
    edges = "".join(f"edge [ source {a} target {b} ]\n" for a, b in [*pairs, *pairs[:5]])
    Path("net.gml").write_text(f"graph [\n{nodes}{edges}]\n")
    code, out, said = cli("communities", "net.gml", "-a", "louvain", "--runs", 5, "--truth", "club", "--json")
    assert code == 0, said
    assert json.loads(out)["scores"]["ari"] == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["complete_graph", "star_graph"])
@pytest.mark.parametrize("size", [3, 8])
def test_84_networks_that_are_one_community(kind: str, size: int) -> None:
    import networkx as nx

    graph = getattr(nx, kind)(size)
    labels = bc.ConsensusCommunities(["louvain"], n_runs=5, random_state=0).fit(graph).labels_
    assert labels.tolist() == [0] * graph.number_of_nodes()
