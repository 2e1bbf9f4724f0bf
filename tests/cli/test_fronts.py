"""The commands: what they print, write and score. Real processes are in `test_process.py`."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.cli import run
from biconsensus.pool.io import write_table
from biconsensus.report._encode import data_uri
from tests.helpers.ready_workers import ready_workers


def test_merge_writes_ids_groups_confidence_and_backing(
    here: Callable[..., Any], labels_csv: Path, tmp_path: Path
) -> None:
    done = here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--out", "groups.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "groups.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == [f"e{i}" for i in range(60)]
    groups = np.array([int(row["group"]) for row in rows])
    assert bc.metrics.ari(np.repeat([0, 1, 2], 20), groups) == pytest.approx(1.0)
    assert list(rows[0]) == ["id", "group", "confidence", "backing"]
    assert all(0.5 < float(row[name]) <= 1 for row in rows for name in ("confidence", "backing"))
    assert "3 groups at quorum 0.5" in done.stdout
    assert done.stdout.count("group.") == 1, "what is left over is said once"
    assert "ari with the truth: 1.0000" in done.stdout


def test_json_summary_is_for_scripts(here: Callable[..., Any], labels_csv: Path) -> None:
    done = here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--json", "--seed", "5")
    summary = json.loads(done.stdout)
    assert summary["groups"] == 3
    assert sorted(summary["sizes"]) == [20, 20, 20]
    assert summary["seed"] == 5
    assert summary["version"] == bc.__version__
    assert summary["input"]["sha256"] == hashlib.sha256(labels_csv.read_bytes()).hexdigest()
    assert summary["scores"]["ari"] == pytest.approx(1.0)
    assert len(summary["backing"]) == len(summary["gains"]) == 3


def test_default_merge_finds_the_groups(here: Callable[..., Any], labels_csv: Path) -> None:
    summary = json.loads(here("merge", labels_csv, "--truth", "kind", "--json").stdout)
    assert summary["scores"]["ari"] == pytest.approx(1.0)


@pytest.mark.parametrize("ending", ["json", "tsv", "parquet"])
def test_out_by_ending(here: Callable[..., Any], labels_csv: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"groups.{ending}"
    done = here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--out", out, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if ending == "json":
        rows = json.loads(out.read_text())
    elif ending == "parquet":
        rows = __import__("polars").read_parquet(out).to_dicts()
    else:
        rows = list(csv.DictReader(out.read_text().splitlines(), delimiter="\t"))
    assert [row["id"] for row in rows[:2]] == ["e0", "e1"]
    assert len({int(row["group"]) for row in rows}) == 3


def test_save_and_inspect_agree(here: Callable[..., Any], labels_csv: Path, tmp_path: Path) -> None:
    first = json.loads(
        here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--save", "r.bic", "--json").stdout
    )
    done = here("inspect", "r.bic", "--json", "--report", "page.html")
    second = json.loads(done.stdout)
    assert [second[key] for key in ("groups", "sizes", "gains", "backing")] == [
        first[key] for key in ("groups", "sizes", "gains", "backing")
    ]
    assert "3 groups in 60 elements" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("known", [[], ["--groups", "3"]], ids=["number found", "number given"])
def test_cluster_finds_far_groups(here: Callable[..., Any], points_csv: Path, tmp_path: Path, known: list[str]) -> None:
    done = here("cluster", points_csv, "--truth", "kind", *known, "--json", "--report", "page.html")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["groups"] == 3
    assert summary["scores"]["ari"] > 0.95
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 groups in 45 elements" in page
    assert '"name":"x"' in page, "columns are called as in the file"
    assert "column 1" not in page


def test_communities_of_two_cliques(here: Callable[..., Any], tmp_path: Path) -> None:
    edges = [(a, b) for part in ("abcdefgh", "ijklmnop") for a in part for b in part if a < b] + [("a", "i")]
    (tmp_path / "net.edges").write_text("".join(f"{a} {b}\n" for a, b in edges))
    done = here(
        "communities", "net.edges", "-a", "louvain", "-a", "label_propagation", "--runs", 5, "--json", "--out", "c.csv"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout)["sizes"]) == [8, 8]
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    by_group = {frozenset(row["id"] for row in rows if row["group"] == group) for group in ("0", "1")}
    assert by_group == {frozenset("abcdefgh"), frozenset("ijklmnop")}


def test_communities_with_truth_from_the_file(here: Callable[..., Any], tmp_path: Path) -> None:
    import networkx as nx

    graph = nx.connected_caveman_graph(3, 10)
    nx.set_node_attributes(graph, {node: node // 10 for node in graph}, "cave")
    nx.write_gml(graph, tmp_path / "caves.gml")
    done = here(
        "communities", "caves.gml", "-a", "louvain", "--runs", 5, "--truth", "cave", "--json", "--report", "page.html"
    )
    assert json.loads(done.stdout)["scores"]["ari"] == pytest.approx(1.0)
    wrong = here("communities", "caves.gml", "-a", "louvain", "--truth", "cav")
    assert wrong.returncode == 2
    assert "Did you mean 'cave'?" in wrong.stderr


def test_fit_finds_two_lines(here: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (120, 2))
    X[:40, 1] = 0.5 * X[:40, 0]
    X[40:80, 0] = 0.7
    np.savetxt(tmp_path / "points.tsv", X, delimiter="\t")
    done = here(
        "fit", "points.tsv", "--model", "line", "--threshold", "0.01", "--samples", "1500", "--json", "--out", "m.csv"
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert len(summary["models"]) == len(summary["log10_nfa"]) == 2
    assert all(value < 0 for value in summary["log10_nfa"])
    rows = list(csv.DictReader((tmp_path / "m.csv").read_text().splitlines()))
    assert len({row["group"] for row in rows[:30]} - {"-1"}) <= 2
    assert {row["group"] for row in rows} == {"0", "1", "-1"}


def test_label_width_reaches_elements_beyond_the_threshold(here: Callable[..., Any], tmp_path: Path) -> None:
    x = np.linspace(0, 1, 60)
    y = np.where(np.arange(60) % 6 == 0, 0.015, 0.0)  # every sixth point is 1.5 thresholds off the line
    np.savetxt(tmp_path / "points.csv", np.stack([x, y], axis=1), delimiter=",")
    labelled = {}
    for width in ("1", "2"):
        options = ("--threshold", "0.01", "--samples", "500", "--label-width", width, "--quiet", "--out", "m.csv")
        assert here("fit", "points.csv", *options).returncode == 0
        rows = list(csv.DictReader((tmp_path / "m.csv").read_text().splitlines()))
        labelled[width] = np.array([row["group"] == "0" for row in rows])
    assert np.array_equal(labelled["1"], y == 0)
    assert labelled["2"].all()
    wrong = here("fit", "points.csv", "--threshold", "0.01", "--label-width", "0")
    assert wrong.returncode == 2
    assert "label_width" in wrong.stderr


def test_fit_takes_bounds_and_a_picture(here: Callable[..., Any], tmp_path: Path) -> None:
    turns = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rng = np.random.default_rng(0)
    X = np.vstack([20 + 9 * np.column_stack([np.cos(turns), np.sin(turns)]), rng.uniform(0, 40, (60, 2))])
    np.savetxt(tmp_path / "p.csv", X, delimiter=",")
    (tmp_path / "p.png").write_bytes(base64.b64decode(data_uri(np.eye(40)).partition(",")[2]))
    options = ("fit", "p.csv", "-m", "circle", "-t", "0.2", "--samples", "500")
    done = here(*options, "--bound", "radius=5:", "--bound", "coverage=0.5:1", "--image", "p.png", "--report", "r.html")
    assert done.returncode == 0, done.stderr
    assert "20, 20, 9" in done.stdout
    shown = [line for line in done.stdout.splitlines() if line.strip()]
    assert shown[0].startswith("read p.csv"), "what was read comes before what was found"
    assert shown[1].split()[-2:] == ["threshold", "parameters"]
    assert shown[3].split()[4] == "0.2"
    assert "candidates" not in done.stdout, "one table, of the models"
    assert "1 model, " in done.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "Each group is a model that was fitted to its elements" in page
    for wrong, message in ((("--bound", "radius"), "NAME=LOW:HIGH"), (("--image", "p.png"), "--report")):
        refused = here(*options, *wrong)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_fit_without_threshold_explains(here: Callable[..., Any], tmp_path: Path) -> None:
    np.savetxt(tmp_path / "p.csv", np.random.default_rng(0).random((50, 2)), delimiter=",")
    done = here("fit", "p.csv")
    assert done.returncode == 2
    assert "--threshold auto" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_same_seed_gives_the_same_file(here: Callable[..., Any], points_csv: Path, tmp_path: Path) -> None:
    for name, jobs in (("one.csv", 1), ("two.csv", 2)):
        options = ("--truth", "kind", "-q", "--seed", 9, "--jobs", jobs, "-o", name)
        with ready_workers():
            assert here("cluster", points_csv, *options).returncode == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_large_tables_are_read_piece_by_piece(
    here: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    truth = np.repeat([0, 1, 2], 40)
    path = tmp_path / f"labels.{ending}"
    if ending == "npy":
        np.save(path, np.stack([truth] * 5, axis=1))
    else:
        write_table(path, {f"run{k}": truth for k in range(5)}, ids=[f"e{i}" for i in range(120)])
    whole = json.loads(here("merge", path, "--quorum", "0.5", "--json", "--out", "whole.csv").stdout)
    monkeypatch.setattr("biconsensus.cli._tables.STREAMED", 100)
    monkeypatch.setattr("biconsensus.cli._tables.label_table", None)
    pieces = json.loads(here("merge", path, "--quorum", "0.5", "--json", "--out", "pieces.csv").stdout)
    assert pieces["sizes"] == whole["sizes"] == [40, 40, 40]
    assert (tmp_path / "pieces.csv").read_text() == (tmp_path / "whole.csv").read_text()


@pytest.mark.parametrize("large", [False, True])
def test_what_was_written_is_read_as_one_grouping(
    here: Callable[..., Any], labels_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    written = tmp_path / "groups.parquet"
    here("merge", labels_csv, "--truth", "kind", "--quorum", "0.5", "--out", written, "--quiet")
    if large:
        monkeypatch.setattr("biconsensus.cli._tables.STREAMED", 100)
        monkeypatch.setattr("biconsensus.cli._tables.label_table", None)
    again = json.loads(here("merge", written, "--quorum", "0.5", "--min-candidates", "1", "--json").stdout)
    assert (again["sources"], again["sizes"]) == (1, [20, 20, 20])
    assert sum("how sure a grouping is, and group nothing: 'confidence', 'backing'" in n for n in again["notes"]) == 1
    assert "left out: confidence, backing" in again["read"]


def test_the_truth_of_a_large_table_does_not_vote(
    here: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = np.repeat([0, 1, 2], 40)
    write_table(tmp_path / "t.parquet", {"a": truth, "b": truth, "c": truth, "truth": truth})
    monkeypatch.setattr("biconsensus.cli._tables.STREAMED", 100)
    found = json.loads(here("merge", tmp_path / "t.parquet", "--quorum", "0.5", "--json").stdout)
    assert (found["sources"], found["scores"]["ari"]) == (3, 1.0)


def test_modes_are_listed_and_written(here: Callable[..., Any], tmp_path: Path) -> None:
    species, place = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    write_table(tmp_path / "two.csv", {"a": species, "b": place, "c": species, "d": place})
    done = here("modes", tmp_path / "two.csv", "--out", tmp_path / "modes.csv")
    assert "The sources form 2 camps." in done.stdout
    rows = list(csv.DictReader((tmp_path / "modes.csv").read_text().splitlines()))
    assert bc.metrics.ari(species, [int(row["mode 0"]) for row in rows]) == 1.0
    found = json.loads(here("modes", tmp_path / "two.csv", "--json").stdout)
    assert [mode["sources"] for mode in found["modes"]] == [["a", "c"], ["b", "d"]]


def test_inspect_cuts_the_path_elsewhere(here: Callable[..., Any], labels_csv: Path, tmp_path: Path) -> None:
    here("merge", labels_csv, "--truth", "kind", "--save", "r.bic", "--quiet")
    kept = bc.Consensus.load(tmp_path / "r.bic")
    two = json.loads(here("inspect", "r.bic", "--groups", 2, "--json", "--out", "two.csv").stdout)
    assert two["groups"] == 2
    assert two["sizes"] == np.bincount(bc.find_consensus(kept.pool, n_groups=2).labels).tolist()
    low = json.loads(here("inspect", "r.bic", "--quorum", 0.1, "--json", "--save", "low.bic").stdout)
    same = bc.find_consensus(kept.pool, quorum=0.1, method="path")
    assert low["sizes"] == np.bincount(same.labels).tolist()
    assert np.array_equal(bc.Consensus.load(tmp_path / "low.bic").labels, same.labels)
    done = here("inspect", "r.bic", "--quorum", 0.1, "--groups", 2)
    assert done.returncode == 2
    assert "--groups 2 picks its own quorum; drop --quorum 0.1 or --groups." in done.stderr.replace("\n", " ")


def test_verbose_says_what_is_done_and_leaves_the_answer_alone(
    here: Callable[..., Any], labels_csv: Path, points_csv: Path
) -> None:
    plain, full = (here("merge", labels_csv, "--truth", "kind", *more) for more in ([], ["--verbose"]))
    assert full.stdout == plain.stdout
    assert "quorum 0.5: 3 groups, score" in full.stderr
    assert "settings: min_elements=" in full.stderr
    assert "quorum 0.5" not in plain.stderr
    done = here("cluster", points_csv, "--truth", "kind", "-v")
    assert "base result" in done.stderr


def test_groupings_that_say_nearly_the_same_are_told_and_can_share_one_vote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Row 92 of the faults, on the command line."""
    rng = np.random.default_rng(0)
    copied, truth = rng.integers(4, size=60), np.repeat([0, 1, 2], 20)
    others = [np.where(rng.random(60) < 0.1, rng.integers(3, size=60), truth) for _ in range(3)]
    path = tmp_path / "labels.csv"
    head = ",".join(f"run{k}" for k in range(9))
    np.savetxt(path, np.column_stack([copied] * 6 + others), fmt="%d", delimiter=",", header=head, comments="")
    found = {}
    for words in ((), ("--weights", "shared")):
        assert run(["merge", str(path), "--json", *words]) == 0
        found[words] = json.loads(capsys.readouterr().out)
    assert "6 of 9 groupings say nearly the same (run0, run1, run2, ...)" in found[()]["notes"][0]
    assert found[()]["groups"] == 4
    assert found[("--weights", "shared")]["notes"] == []
    assert found[("--weights", "shared")]["groups"] == 3


def test_what_a_network_file_holds_is_said(here: Callable[..., Any], tmp_path: Path) -> None:
    edges = [(a, b) for part in ("abcdefgh", "ijklmnop") for a in part for b in part if a < b] + [("a", "i")]
    (tmp_path / "net.csv").write_text("boss,worker\n" + "".join(f"{a},{b}\n" for a, b in edges))
    done = here("communities", "net.csv", "-a", "louvain", "--runs", 3)
    assert done.stdout.startswith("read net.csv: 18 nodes, 58 links.")
    assert "note: line 1 (boss, worker) was read as a link" in done.stderr


def test_no_group_and_one_group_are_sentences(here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b,c\n" + "x,y,z\n" * 12)
    done = here("merge", "one.csv", "--header", "--quorum", "0.5")
    assert "1 group at quorum 0.5" in done.stdout
    assert "every element is in a group." in done.stdout
    (tmp_path / "none.csv").write_text("a,b\n" + "".join(f"{k},{11 - k}\n" for k in range(12)))
    done = here("merge", "none.csv")
    assert "12 elements are in no group." in done.stdout
    assert "backing" not in done.stdout, "no table of groups where there are none"


def test_standardised_columns_count_equally(here: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    answers = np.eye(3)[truth][:, [0, 1, 2, 0]] * 4 + rng.normal(scale=0.4, size=(60, 4))
    table = np.c_[answers, rng.integers(18, 80, 60), truth]
    np.savetxt(tmp_path / "survey.csv", table, delimiter=",", header="q1,q2,q3,q4,age,truth", comments="")
    plain = here("cluster", "survey.csv", "--json")
    assert "'age'" in plain.stderr
    assert "--standardise" in plain.stderr
    done = here("cluster", "survey.csv", "--json", "--standardise", "--report", "page.html")
    assert "age" not in done.stderr
    before, after = (json.loads(one.stdout)["scores"]["ari"] for one in (plain, done))
    assert after > 0.95 > before
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "biconsensus cluster survey.csv --standardise" in page
    assert "divided by its standard deviation" in page


def test_a_table_of_another_kind_is_pointed_out(here: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    runs = rng.integers(0, [3, 4, 5], (60, 3))
    runs[:40] = np.repeat([0, 1], 20)[:, None]
    np.savetxt(tmp_path / "runs.csv", runs, fmt="%d", delimiter=",", header="a,b,c", comments="")
    assert "`biconsensus merge` finds the groups" in here("cluster", "runs.csv").stderr
    lengths = rng.integers(40, 80, (60, 3)) / 10
    np.savetxt(tmp_path / "lengths.csv", lengths, fmt="%.1f", delimiter=",", header="a,b,c", comments="")
    assert "look like measurements" in here("merge", "lengths.csv").stderr
    assert "numbers with decimals" in here("communities", "lengths.csv", "-a", "louvain", "--runs", 2).stderr
    answers = [f"{item},{person},{runs[item, person]}" for person in range(3) for item in range(60)]
    (tmp_path / "long.csv").write_text("\n".join(["id,person,label", *answers]))
    assert "the id '0' comes more than once" in here("merge", "long.csv").stderr


def test_many_sets_of_nearly_equal_groupings_do_not_hide_the_other_notes(
    here: Callable[..., Any], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    table = np.repeat(rng.integers(0, 3, (40, 6)), 3, axis=1)
    head = ",".join(f"run{k}" for k in range(18))
    np.savetxt(tmp_path / "runs.csv", table, fmt="%d", delimiter=",", header=head, comments="")
    notes = here("merge", "runs.csv").stderr
    assert notes.count("groupings say nearly the same (") == 3
    assert "3 more sets of groupings say nearly the same." in notes


def test_a_fit_is_told_in_points_and_models(here: Callable[..., Any], tmp_path: Path) -> None:
    t = np.random.default_rng(0).random(60)
    points = np.concatenate([np.c_[t, t], np.random.default_rng(1).random((60, 2))])
    np.savetxt(tmp_path / "line.csv", points, delimiter=",", header="x,y", comments="")
    done = here("fit", "line.csv", "--threshold", 0.02, "--json")
    said = json.loads(done.stdout)["summary"]
    assert said.startswith("1 model; the number of false alarms decided how many; ")
    assert "sources" not in here("fit", "line.csv", "--threshold", 0.02).stdout


def test_the_lines_of_a_report_can_be_typed_again(here: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{'ab'[k % 2]}" for k, (x, y) in enumerate(rng.normal(size=(40, 2)))]
    (tmp_path / "points.csv").write_text("\n".join(["x,y,kind", *rows]))
    for command, words in (("cluster", []), ("fit", ["--threshold", "0.2"])):
        done = here(command, "points.csv", "--truth", "kind", *words, "--report", "page.html", "--quiet")
        assert done.returncode == 0, done.stderr
        page = (tmp_path / "page.html").read_text()
        assert f"biconsensus {command} points.csv" in page
        assert "--truth kind" in page, "without it the column of text is refused"
    assert "Sampling(" not in page, "what was not asked for is not in the line of Python"


def test_the_weights_of_a_network_may_have_any_name(here: Callable[..., Any], tmp_path: Path) -> None:
    edges = [(a, b) for part in ("abcdef", "ghijkl") for a in part for b in part if a < b] + [("a", "g")]
    rows = "".join(f"edge [ source {ord(a)} target {ord(b)} value {2 + (a == 'a')} ] " for a, b in edges)
    nodes = "".join(f'node [ id {ord(name)} label "{name}" ] ' for name in "abcdefghijkl")
    (tmp_path / "net.gml").write_text(f"graph [ {nodes}{rows}]")
    words = ("communities", "net.gml", "-a", "louvain", "--runs", 3)
    assert here(*words).stdout.startswith("read net.gml: 12 nodes, 31 links.\n")
    assert "31 links, weights from 2 to 3." in here(*words, "--weight", "value").stdout
    assert here(*words, "--weight", "none").stdout == here(*words).stdout
    done = here(*words, "--weight", "valeu")
    assert done.returncode == 2
    assert "unknown edge attribute 'valeu'. Did you mean 'value'?" in done.stderr


def test_a_narrow_terminal_shows_fewer_columns_with_whole_headings(
    here: Callable[..., Any], labels_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headings = {}
    for width in (60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        headings[width] = next(line for line in here("merge", labels_csv).stdout.splitlines() if "elements" in line)
    assert headings[60].split() == ["group", "elements", "confidence", "chance", "backing"]
    assert headings[80].split() == ["group", "elements", "confidence", "chance", "sources", "candidates", "backing"]
    assert len(headings[60]) <= 60


def test_kinds_of_models_and_algorithms_may_be_given_in_one_word(here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "line.csv").write_text("x,y\n" + "".join(f"{k / 40},{k / 40}\n" for k in range(40)))
    options = ("fit", "line.csv", "-t", "0.01", "--samples", "200", "--json")
    together, apart = here(*options, "-m", "line,circle"), here(*options, "-m", "line", "-m", "circle")
    assert json.loads(together.stdout)["settings"] == json.loads(apart.stdout)["settings"]
    assert json.loads(together.stdout)["sizes"] == [40]
    (tmp_path / "net.edges").write_text("a b\nb c\nc a\nd e\ne f\nf d\n")
    options = ("communities", "net.edges", "--runs", "2", "--json")
    together = here(*options, "-a", "louvain, walktrap")
    apart = here(*options, "-a", "louvain", "-a", "walktrap")
    assert json.loads(together.stdout)["sources"] == json.loads(apart.stdout)["sources"] > 2


def test_the_terminal_says_what_chances_near_one_mean(here: Callable[..., Any], tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    note = "No group is beyond chance by itself (below 0.05): the links speak for the groups together."
    nx.write_gml(nx.karate_club_graph(), tmp_path / "karate.gml")
    assert note in here("communities", "karate.gml", "-a", "louvain", "--runs", 3).stdout
    nx.write_gml(nx.ring_of_cliques(6, 6), tmp_path / "ring.gml")
    assert "by itself" not in here("communities", "ring.gml", "-a", "louvain", "--runs", 3).stdout


def test_the_demo_says_how_to_find_its_groups_again(here: Callable[..., Any], tmp_path: Path) -> None:
    said = here("demo").stdout
    lines = [line.split()[1:] for line in said.partition("Find the groups")[2].splitlines() if "biconsensus" in line]
    assert [line[0] for line in lines] == ["merge", "cluster", "communities", "fit", "explore"]
    summary = json.loads((tmp_path / "demo-output" / "summary.json").read_text())
    for line, front in zip(lines, ("merge", "clustering", "communities", "models")):
        found = json.loads(here(*line, "--json").stdout)
        assert len(found["sizes"]) == summary[front]["groups"], front
        if front != "communities":  # a list of links has no place for what is known about nodes
            assert found["scores"]["ari"] == pytest.approx(summary[front]["ari"]), front
