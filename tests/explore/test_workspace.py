"""The state behind the page: every answer is the library's own, work can be cancelled, sessions come back."""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import biconsensus as bc
from biconsensus.cli import run
from biconsensus.errors import BiconsensusError, InputError
from biconsensus.explore import _views as views
from biconsensus.explore._choices import Choices
from biconsensus.explore._session import save_session
from biconsensus.explore._subject import GROUPINGS, Subject, of_result, open_file
from biconsensus.explore._workspace import FAILED, PREVIEW, READY, NotSettledError, Workspace
from biconsensus.pool.io import read_labels
from biconsensus.pool.io._roles import Reading
from tests.explore.conftest import SOURCES, TRUTH, groupings


@pytest.fixture(scope="module")
def space(table: Path) -> Iterator[Workspace]:
    one = Workspace()
    one.open(table, str(table))
    one.wait(None)
    yield one
    one.close()


def settle(space: Workspace, **patch: Any) -> bc.Consensus:
    """Change something and wait for the exact answer."""
    space.change(patch)
    space.wait(None)
    assert (space.status, space.error) == (READY, "")
    assert space.answer is not None
    return space.answer


START: dict[str, Any] = {"mode": "auto", "off": [], "weights": [], "together": [], "min_elements": None}
START |= {"min_candidates": None, "unassigned": "nearest", "answers": [], "skipped": []}


def test_the_first_answer_says_what_was_read(space: Workspace) -> None:
    state = views.state(space)
    assert state["input"]["kind"] == GROUPINGS
    assert [column["role"] for column in state["input"]["columns"]] == ["id", *["used"] * 7, "truth"]
    assert [source["name"] for source in state["sources"]] == SOURCES
    wanted = bc.find_consensus(list(groupings().T))
    assert np.array_equal(space.answer.labels, wanted.labels)
    assert state["answer"]["sizes"] == np.bincount(wanted.labels).tolist()
    assert state["answer"]["scores"]["ARI"] == round(bc.metrics.ari(TRUTH, wanted.labels), 4)
    json.dumps(state)


def test_waiting_outlasts_the_step_from_reading_to_solving(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def slowly(self: threading.Thread) -> None:
        time.sleep(0.3)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", slowly)
    space = Workspace()
    try:
        space.open(table, str(table))
        space.wait(None)
        assert (space.status, space.error) == (READY, "")
        assert space.answer is not None
    finally:
        space.close()


def test_a_change_does_not_end_the_reading_of_another_file(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(table.read_text(encoding="utf-8").replace("chance", "third"), encoding="utf-8")
    space = Workspace()
    try:
        space.open(table, str(table))
        space.wait(None)
        space.keep()
        space.open(other, str(other))
        with pytest.raises(NotSettledError, match=r"other\.csv is being read; change something when it is there"):
            space.change({"n_groups": 2, "mode": "n_groups"})
        with pytest.raises(NotSettledError, match="is being read"):
            space.go_back("A")
        space.wait(None)
        assert (space.status, space.subject.name) == (READY, str(other))
        assert len(settle(space, n_groups=2, mode="n_groups")) == 2
        space.open(tmp_path / "nothing.csv", "nothing.csv")
        space.wait(None)
        assert space.status == FAILED
        assert len(settle(space, n_groups=3)) == 3  # what was there can be changed again
    finally:
        space.close()


CASES: list[tuple[str, dict[str, Any]]] = [
    ("as it is", {}),
    ("a quorum of the path", {"mode": "quorum", "quorum": 0.3}),
    ("a quorum between its points", {"mode": "quorum", "quorum": 0.37}),
    ("a number of groups", {"mode": "n_groups", "n_groups": 4}),
    ("sources off", {"off": [5, 6]}),
    ("sources off and a quorum", {"off": [5], "mode": "quorum", "quorum": 0.65}),
    ("weights", {"weights": [[0, 0.25], [2, 3], [6, 0]]}),
    ("kept together", {"together": [[0, 40], [1, 2, 70]], "mode": "quorum", "quorum": 0.5}),
    ("sizes", {"min_elements": 12, "min_candidates": 3, "unassigned": "leave", "mode": "quorum", "quorum": 0.8}),
]


@pytest.mark.parametrize("patch", [patch for _, patch in CASES], ids=[name for name, _ in CASES])
def test_the_command_and_the_lines_give_exactly_the_answer_on_the_page(
    space: Workspace, patch: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = settle(space, **START | patch)
    lines = views.state(space)["lines"]
    monkeypatch.chdir(tmp_path)
    import shlex

    assert run(shlex.split(lines["command"])[1:]) == 0
    found = read_labels(tmp_path / "groups.csv", columns=["group"])
    assert np.array_equal(np.ma.filled(found.columns["group"].astype(int), -9), answer.labels)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(lines["python"], names)
    assert np.array_equal(names["consensus"].labels, answer.labels)
    assert np.allclose(names["consensus"].backing, answer.backing)


def test_moving_along_the_path_and_back_searches_nothing(space: Workspace) -> None:
    settle(space, **START)
    for quorum, groups, _ in space.path():
        space.change({"mode": "quorum", "quorum": quorum})
        assert space.status == READY
        assert not space.working
        assert len(space.answer) == groups
    space.change({"off": [6]})
    assert space.status == PREVIEW
    assert len(space.answer.labels) == 75
    with pytest.raises(InputError, match="still being worked out"):
        space.settled()
    space.wait(None)
    space.change({"off": []})
    assert (space.status, space.working) == (READY, False)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"quorum": 2}, "quorum must lie strictly between"),
        ({"n_groups": "3"}, "n_groups must be a whole number"),
        ({"off": list(range(7))}, "no source is left"),
        ({"off": [7]}, "none of 0 to 6"),
        ({"weights": [[0, -1]]}, "from 0 to 1000"),
        ({"weights": [0]}, "pairs"),
        ({"together": [[0, 75]]}, "none of 0 to 74"),
        ({"together": "ab"}, "must be a list"),
        ({"path": "/etc/passwd"}, "unknown settings: path"),
    ],
)
def test_choices_that_cannot_be_are_refused_and_change_nothing(space: Workspace, patch: Any, message: str) -> None:
    before = space.choices
    with pytest.raises(BiconsensusError, match=message):
        space.change(patch)
    assert space.choices is before


def test_answers_are_kept_and_compared(space: Workspace) -> None:
    settle(space, **START)
    first = space.answer.labels
    space.keep()
    second = settle(space, mode="n_groups", n_groups=2).labels
    told = views.compare(space, "A")
    assert told["scores"]["ari"] == round(bc.metrics.ari(first, second), 4)
    assert np.array(told["table"]).sum() == 75
    assert told["moved"] == sum(k for k in np.bincount(first)) - sum(
        max((second[first == g] == h).sum() for g in set(first)) for h in set(second)
    )
    space.go_back("A")
    assert np.array_equal(space.answer.labels, first)
    space.drop("A")
    with pytest.raises(InputError, match="no answer is kept"):
        views.compare(space, "A")


def test_the_doubtful_come_first_and_can_be_found(space: Workspace) -> None:
    answer = settle(space, **START | {"unassigned": "leave", "mode": "quorum", "quorum": 0.9})
    sheet = views.elements(space, None, "", 0)
    assert sheet["total"] == 75
    groups = [row["group"] for row in sheet["rows"]]
    outside = int((answer.labels < 0).sum())
    assert 0 < outside < 75
    assert groups[:outside] == [-1] * outside
    sure = [row["confidence"] for row in sheet["rows"][outside:]]
    assert sure == sorted(sure)
    assert [row["name"] for row in views.elements(space, None, "E74", 0)["rows"]] == ["e74"]
    assert {row["group"] for row in views.elements(space, 0, "", 0)["rows"]} == {0}
    told = views.details(settled_again(space))
    assert {one["source"] for one in told["sources"] if one["dissents"]} <= {5, 6}


def settled_again(space: Workspace) -> Workspace:
    """With the defaults again."""
    settle(space, **START)
    return space


def test_a_session_comes_back_with_everything(space: Workspace, tmp_path: Path) -> None:
    patch = {"off": [5, 6], "weights": [[0, 2.0]], "together": [[3, 50]], "mode": "quorum", "quorum": 0.22}
    answer = settle(space, **START | patch)
    save_session(tmp_path / "mine.bic", *space.whole())
    kept = bc.Consensus.load(tmp_path / "mine.bic")
    assert np.array_equal(kept.labels, answer.labels)
    assert np.allclose(kept.backing, answer.backing)
    assert np.array_equal(kept.at(0.5).labels, space._paths[space.choices.key].traced.at(0.5).labels)
    again = Workspace()
    try:
        again.open(tmp_path / "mine.bic", "mine.bic")
        again.wait(None)
        assert again.error == ""
        assert again.choices.to_json() == space.choices.to_json()
        assert np.array_equal(again.answer.labels, answer.labels)
        assert np.array_equal(again.subject.truth, TRUTH)
        assert [source.name for source in again.subject.pool.sources] == SOURCES
        again.change({"off": []})
        again.wait(None)
        assert np.array_equal(again.answer.labels, settle(space, off=[]).labels)
    finally:
        again.close()


def test_questions_are_asked_answered_and_undone(space: Workspace) -> None:
    settle(space, **START | {"answers": [], "skipped": []})
    first = views.question(space)["question"]
    assert first["elements"] == list(space.answer.next_question().elements)
    i, j = first["elements"]
    answered = settle(space, answers=[[i, j, False]])
    assert answered.labels[i] != answered.labels[j]
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(views.state(space)["lines"]["python"], names)
    assert np.array_equal(names["consensus"].labels, answered.labels)
    assert views.state(space)["answers"] == [{"names": [f"e{i}", f"e{j}"], "together": False}]
    second = views.question(space)["question"]["elements"]
    settle(space, skipped=[second])
    assert views.question(space)["question"] is None or views.question(space)["question"]["elements"] != second
    with pytest.raises(InputError, match="true or false"):
        space.change({"answers": [[0, 1]]})
    settle(space, answers=[], skipped=[])
    assert np.array_equal(space.answer.labels, bc.find_consensus(list(groupings().T)).labels)


def test_work_is_cancelled_and_goes_on_after_a_change(space: Workspace) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 20_000)
    base = [np.where(rng.random(20_000) < 0.3, rng.integers(0, 12, 20_000), truth) for _ in range(12)]
    space.take(Subject("large", GROUPINGS, bc.Pool.from_labels(base)))
    until = time.monotonic() + 60
    while space.progress[0] < 2 and time.monotonic() < until:
        time.sleep(0.01)
    space.cancel()
    assert not space.working
    assert (space.status, space.error) == (FAILED, "cancelled; change something to go on.")
    space.take(Subject("small", GROUPINGS, bc.Pool.from_labels(list(groupings().T))))
    space.wait(None)
    assert space.status == READY


def test_a_consensus_stays_as_it_was_given_until_something_is_moved(space: Workspace) -> None:
    given = bc.find_consensus(list(groupings().T), quorum=0.6)
    space.take(of_result(given, "given", truth=TRUTH))
    assert (space.status, space.answer is given) == (READY, True)
    space.wait(None)
    assert space.answer is given
    space.change({"mode": "quorum", "quorum": 0.3})
    sizes = {name: given.settings[name] for name in ("min_elements", "min_candidates")}
    wanted = bc.find_consensus(given.pool, quorum=0.3, method="path", **sizes)
    assert np.array_equal(space.answer.labels, wanted.labels)
    space.change({"mode": "given"})
    assert space.answer is given
    assert "save the session" in views.state(space)["lines"]["note"]


def test_points_and_networks_have_the_answer_of_their_estimator(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 9, axis=0) + rng.normal(size=(27, 2))
    lines = ["x,y", *(f"{x:.4f},{y:.4f}" for x, y in X)]
    (tmp_path / "points.csv").write_text("\n".join(lines), encoding="utf-8")
    subject = open_file(tmp_path / "points.csv", "points.csv", None, Reading())
    assert subject.kind == "points"
    assert "fractions" in subject.notes[-1]
    wanted = bc.ConsensusClustering(random_state=0).fit(np.round(X, 4))
    nx.write_gml(nx.karate_club_graph(), tmp_path / "karate.gml")
    network = open_file(tmp_path / "karate.gml", "karate.gml", None, Reading())
    wanted_too = bc.ConsensusCommunities(random_state=0).fit(tmp_path / "karate.gml")
    for one, labels in ((subject, wanted.labels_), (network, wanted_too.labels_)):
        found = bc.find.solve(one.pool, bc.Search(**one.settings), one.evidence)
        assert np.array_equal(found.labels, labels)
        save_session(tmp_path / "kept.bic", one, Choices(), found)
        again = open_file(tmp_path / "kept.bic", "kept.bic", None, Reading())
        once_more = bc.find.solve(again.pool, bc.Search(**again.settings), again.evidence)
        assert np.array_equal(once_more.labels, labels)


def test_what_cannot_be_read_is_said(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n1\n", encoding="utf-8")
    space.open(tmp_path / "bad.csv", "bad.csv")
    space.wait(None)
    assert space.status == FAILED
    assert "line 3" in space.error


def test_a_table_of_measurements_is_clustered_although_every_row_has_its_own(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(40, 2)) + 9 * (np.arange(40) % 2)[:, None]
    rows = "".join(f"p{k},{a:.6f},{b:.6f},c{k % 2}\n" for k, (a, b) in enumerate(points))
    (tmp_path / "x.csv").write_text("name,a,b,class\n" + rows)
    subject = open_file(tmp_path / "x.csv", "x.csv", None, Reading())
    assert (subject.kind, subject.X.shape) == ("points", (40, 2))


def test_columns_of_text_beside_numbers_are_left_out(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "measured.csv"
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(9, 1, (30, 2))])
    rows = [f"n{k},{x:.3f},{y:.3f},{('red', 'blue')[k % 2]}" for k, (x, y) in enumerate(X)]
    path.write_text("\n".join(["name,x,y,colour", *rows]) + "\n", encoding="utf-8")
    subject = open_file(path, "measured.csv", None, Reading())
    assert subject.X is not None
    assert subject.X.shape == (60, 2)
    assert "left out because they hold text: 'colour'" in subject.notes
    assert subject.columns["colour"] == "left out"
    with pytest.raises(BiconsensusError, match="'red' is no finite number"):
        open_file(path, "measured.csv", "points", Reading(columns=["x", "colour"]))
