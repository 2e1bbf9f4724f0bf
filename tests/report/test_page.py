"""The report as text: what is in it, how large it is, and that no text can break out of it."""

from __future__ import annotations

import base64
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.errors import InputError, NoConsensusWarning
from biconsensus.report import render_report
from biconsensus.report._encode import data_uri, packed, to_json
from biconsensus.report._page import headline, page_data, remarks, tiles
from biconsensus.report._recipe import recipe
from tests.helpers.strategies import paper_consensus


def content_of(text: str) -> dict[str, Any]:
    """The data of a page."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(match.group(1))
    return found


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), lambda inner: st.lists(inner), max_leaves=8))
@settings(max_examples=200, deadline=None)
def test_json_inside_the_page_is_safe_and_exact(value: Any) -> None:
    text = to_json(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_page_names_nothing_outside(blobs: Any) -> None:
    text = render_report(blobs[0], X=blobs[1], truth=blobs[2])
    assert "default-src 'none'" in text
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert not re.search(r"<(link|script|img|iframe)[^>]+(src|href)=\"(?!data:)", text)


def test_groups_and_sources_of_the_page(blobs: Any) -> None:
    consensus, _, truth = blobs
    content = content_of(render_report(consensus, truth=truth))
    (point,) = content["path"]["points"]
    assert point["sizes"] == [int((consensus.labels == k).sum()) for k in range(3)]
    np.testing.assert_allclose(point["confidence"], consensus.confidence().groups, atol=1e-4)
    assert [source["candidates"] for source in content["sources"]] == [3] * 6
    assert content["scores"][0]["consensus"] == pytest.approx(bc.metrics.ari(truth, consensus.labels), abs=1e-4)
    by_name = {source["name"]: source["scores"][0] for source in content["sources"]}
    base = bc.plots.base_scores(consensus.pool, truth, bc.metrics.ari)
    assert by_name == pytest.approx({consensus.pool.sources[k].name: base[k] for k in range(6)}, abs=1e-4)


def test_headline_counts() -> None:
    labels = np.repeat([0, 1, -1], [10, 8, 3])
    consensus = paper_consensus([labels] * 4)
    assert headline(consensus).startswith("2 groups in 21 elements; 3 (14.3%) are in no group.")


def test_fitted_models_are_called_models() -> None:
    t = np.random.default_rng(0).random(60)
    points = np.concatenate([np.c_[t, t], np.random.default_rng(1).random((60, 2))])
    found = bc.MultiModelFitter("line", threshold=0.02, random_state=0).fit(points).consensus_
    assert headline(found).startswith("One model in 120 elements; ")
    names = [tile["name"] for tile in tiles(found, page_data(found))]
    assert names[:2] == ["Models", "Elements"]
    assert "Hypotheses" in names
    assert "Sources" not in names
    nothing = bc.MultiModelFitter("line", threshold=0.02, random_state=0)
    with pytest.warns(NoConsensusWarning):
        nothing.fit(np.random.default_rng(2).random((30, 2)))
    assert headline(nothing.consensus_) == "No model was found among 30 elements: chance explains all that were tried."


def test_remarks_flag_what_the_pool_has() -> None:
    labels = np.repeat([0, 1], 10)
    pool = bc.Pool.from_labels([labels] * 4 + [np.zeros(20, int)])
    assert "1 candidate holds 90% or more" in render_report(paper_consensus(pool))
    # what did not vote is in the summary, and is not said twice
    for found in (bc.find_consensus(pool), paper_consensus(pool.clean())):
        assert "1 input group did not vote, because it is empty or holds nearly everything" in found.summary
        assert not remarks(found, None)


def test_dissenting_source_is_named() -> None:
    labels = np.repeat([0, 1], 20)
    base = np.stack([labels] * 6 + [np.arange(40) % 2], axis=1)
    content = content_of(render_report(paper_consensus(base)))
    remarks = {source["name"]: source["remark"] for source in content["sources"]}
    assert [name for name, remark in remarks.items() if remark == "dissents from the others"] == ["source 6"]


def test_wrong_lengths_are_told(blobs: Any) -> None:
    with pytest.raises(bc.errors.InputError, match="truth must have one label for each of the 120 elements; it has 3"):
        render_report(blobs[0], truth=[0, 1, 2])
    with pytest.raises(bc.errors.InputError, match="X must have one row for each of the 120 elements"):
        render_report(blobs[0], X=np.zeros((3, 2)))
    with pytest.raises(bc.errors.InputError, match="X: column 'id' does not hold numbers"):
        render_report(blobs[0], X=pd.DataFrame({"id": ["a"] * 120, "x": 0.0}))


def test_a_page_is_not_written_under_another_ending(blobs: Any, tmp_path: Path) -> None:
    with pytest.raises(bc.errors.InputError, match=r"page\.pdf: the report is an HTML page"):
        blobs[0].write_report(tmp_path / "page.pdf")


def test_write_is_whole_or_not_at_all(blobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        blobs[0].write_report(page)
    monkeypatch.undo()
    assert page.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_missing_package_is_named(blobs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "markupsafe", None)
    with pytest.raises(bc.errors.MissingDependencyError, match=r"jinja2 is not installed; .*biconsensus\[report\]"):
        render_report(blobs[0])


def test_same_result_gives_the_same_page(blobs: Any) -> None:
    assert render_report(blobs[0], X=blobs[1]) == render_report(blobs[0], X=blobs[1])


def test_a_picture_becomes_part_of_the_page(blobs: Any, tmp_path: Path) -> None:
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    content = content_of(render_report(blobs[0], X=np.abs(blobs[1]), image=pixels))
    assert content["view"]["equal"]
    assert [axis["name"] for axis in content["view"]["axes"]] == ["x in pixels", "y in pixels"]
    raw = base64.b64decode(content["view"]["image"].removeprefix("data:image/png;base64,"))
    cv2 = pytest.importorskip("cv2")
    assert (cv2.imdecode(np.frombuffer(raw, np.uint8), cv2.IMREAD_UNCHANGED) == pixels).all()
    (tmp_path / "p.png").write_bytes(raw)
    again = content_of(render_report(blobs[0], X=np.abs(blobs[1]), image=tmp_path / "p.png"))
    assert again["view"]["image"] == content["view"]["image"]
    stretched = data_uri(pixels / 11.0), data_uri(np.stack([pixels] * 3, axis=-1))
    assert len(set(stretched)) == 2


def test_a_picture_that_cannot_be_drawn_is_told(blobs: Any, tmp_path: Path) -> None:
    (tmp_path / "p.tif").write_bytes(b"II*\0")
    wrong = [(tmp_path / "p.tif", "PNG, JPEG"), (np.zeros(3), "h, w"), (np.full((2, 2), np.nan), "finite")]
    for image, message in wrong:
        with pytest.raises(InputError, match=message):
            render_report(blobs[0], X=blobs[1], image=image)
    with pytest.raises(InputError, match="give X"):
        render_report(blobs[0], image=np.zeros((2, 2)))
    with pytest.raises(InputError, match="1 column"):
        render_report(blobs[0], X=blobs[1][:, :1], image=np.zeros((2, 2)))


def test_overlapping_and_real_valued_results_have_pages() -> None:
    groups = [range(12)] * 4 + [range(8, 20)] * 4
    pool = bc.Pool.from_groups(groups, n_elements=20)
    content = content_of(render_report(paper_consensus(pool, overlap=True)))
    assert sorted(content["path"]["points"][0]["sizes"]) == [12, 12]
    assert content["path"]["points"][0]["confidence"] is None
    soft = bc.Pool.from_matrix(np.kron(np.eye(2), np.full((10, 5), 0.7)))
    content = content_of(render_report(paper_consensus(soft)))
    assert content["path"]["points"][0]["sizes"] == [10, 10]


def nested_pool(m: int = 64) -> bc.Pool:
    """Sources of two granularities, some elements wrong, one source that says something of its own."""
    rng = np.random.default_rng(2)
    fine = np.repeat(np.arange(4), m // 4)
    base = {f"run {k}": np.where(rng.random(m) < 0.1, rng.integers(0, 4, m), fine // (1 + k % 2)) for k in range(8)}
    return bc.Pool.from_labels(base | {"copy": base["run 0"], "odd": np.arange(m) % 2})


def test_flows_count_every_element_and_colours_are_inherited() -> None:
    content = content_of(render_report(bc.find_consensus(nested_pool())))
    path = content["path"]
    assert len(path["points"]) > 1
    for k, rows in enumerate(path["flows"]):
        assert sum(count for _, _, count in rows) == 64
        for group, size in enumerate(path["points"][k]["sizes"]):
            assert sum(count for own, _, count in rows if own == group) == size
        # the largest flow keeps its colour, so that it is seen as one group
        one, other, _ = max((row for row in rows if min(row[:2]) >= 0), key=lambda row: row[2])
        assert path["points"][k]["colors"][one] == path["points"][k + 1]["colors"][other]
    for point in path["points"]:
        assert len(set(point["colors"])) == point["groups"]


def test_sources_are_told_apart_by_more_than_agreement() -> None:
    rows = {row["name"]: row for row in content_of(render_report(bc.find_consensus(nested_pool())))["sources"]}
    assert rows["odd"]["alone"] == 2
    assert rows["odd"]["others"] < 0.1
    assert rows["run 0"]["redundant"] == [8]
    assert rows["copy"]["likestAgreement"] == 1
    assert 0 <= min(row["decided"] for row in rows.values()) <= max(row["decided"] for row in rows.values()) < 1


def test_features_that_tell_a_group() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 5))
    X[truth == 1, 3] += 30
    content = content_of(render_report(bc.find_consensus([truth] * 4, quorum=0.5), X=X))
    found = content["view"]["features"]
    group = int(bc.find_consensus([truth] * 4, quorum=0.5).labels[20])
    assert found["names"][str(found["groups"][0][group][0][0])] == "column 4"
    apart = [[abs(row[1]) for row in rows] for rows in found["groups"][0]]
    assert all(rows and min(rows[1:], default=1.0) >= 0.2 for rows in apart), "hardly any difference is not listed"
    assert content["view"]["axes"][0]["name"].startswith("component 1")
    assert any(axis["name"] == "column 4" for axis in content["view"]["axes"])


def test_columns_have_the_names_of_the_user(blobs: Any) -> None:
    names = ["height", "width"]
    frame = __import__("pandas").DataFrame(blobs[1], columns=names)
    for options in ({"X": blobs[1], "features": names}, {"X": frame}):
        axes = content_of(render_report(blobs[0], **options))["view"]["axes"]
        assert [axis["name"] for axis in axes] == names
    with pytest.raises(InputError, match="features must name the 2 columns of X, got 1 name"):
        render_report(blobs[0], X=blobs[1], features=["height"])


@pytest.mark.parametrize("top", [3, 255, 256, 70_000])
def test_packed_numbers_take_as_few_bytes_as_they_need(top: int) -> None:
    assert packed(np.array([0, top]))["bytes"] == (1 if top < 256 else 2 if top < 65_536 else 4)


def test_the_line_of_python_gives_this_answer() -> None:
    pool = nested_pool()
    for asked in ({}, {"min_elements": 3, "unassigned": "leave"}, {"n_groups": 3}, {"quorum": 0.4}):
        found = bc.find_consensus(pool, **asked)
        again = eval(recipe(found)["python"], {"bc": bc, "labels": pool})
        np.testing.assert_array_equal(again.labels, found.labels)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1, (30, 2)) for place in (0, 9)])
    found = bc.ConsensusClustering(random_state=3, search=bc.Search(min_elements=5)).fit(X).consensus_
    line = recipe(found)
    np.testing.assert_array_equal(eval(line["python"], {"bc": bc, "X": X}).labels, found.labels)
    assert line["command"] == "biconsensus cluster points.csv --min-elements 5 --seed 3"
    weighed = bc.find_consensus(pool, weights=lambda pool: np.ones(pool.shape[1]))
    assert recipe(weighed)["python"] == "bc.find_consensus(labels, weights=weights)"
    assert recipe(weighed)["command"] == ""


def test_the_command_gives_this_answer(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from biconsensus.cli._app import app

    def groups_of(line: str) -> list[str]:
        out = tmp_path / "groups.csv"
        done = CliRunner().invoke(app, [*shlex.split(line)[1:], "--out", str(out), "--quiet"])
        assert done.exit_code == 0, done.output
        return [row.split(",")[1] for row in out.read_text().splitlines()[1:]]

    pool, table, page = nested_pool(), tmp_path / "labels.csv", tmp_path / "page.html"
    columns = np.stack([pool.to_matrix().toarray()[:, pool.source_of == s].argmax(axis=1) for s in range(10)], axis=1)
    rows = [",".join(["id", *(f"s{k}" for k in range(10))])]
    rows += [",".join([f"e{i}", *map(str, row)]) for i, row in enumerate(columns)]
    table.write_text("\n".join(rows) + "\n")
    options = ["merge", str(table), "--id", "id", "--min-elements", "3"]
    assert CliRunner().invoke(app, [*options, "--report", str(page), "--quiet"]).exit_code == 0
    content = content_of(page.read_text())
    found = bc.find_consensus(bc.Pool.from_labels(columns), min_elements=3)
    lines = content["recipe"]
    assert lines["command"] == shlex.join(["biconsensus", *options[:2], "--min-elements", "3", "--id", "id"])
    assert groups_of(lines["command"]) == [str(label) for label in found.labels]
    quorum = next(point["quorum"] for point in content["path"]["points"] if not point["chosen"])
    there = found.at(quorum)
    assert groups_of(lines["command_at"].replace("QUORUM", str(quorum))) == [str(label) for label in there.labels]
    again = bc.find_consensus(bc.Pool.from_labels(columns), min_elements=3, quorum=quorum, method="path")
    np.testing.assert_array_equal(again.labels, there.labels)


def test_the_line_of_python_leaves_out_what_does_not_change_the_answer() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1, (20, 2)) for place in (0, 9)])
    told: list[Any] = []

    def told_of(*step: Any) -> None:
        told.append(step)

    runs = bc.Runs(time_limit=500, progress=told_of)
    found = bc.ConsensusClustering(random_state=3, search=bc.Search(), runs=runs, n_jobs=1).fit(X).consensus_
    assert recipe(found)["python"] == "bc.ConsensusClustering(random_state=3).fit(X).consensus_"
    first = bc.ConsensusClustering(n_jobs=1, random_state=3, search=bc.Search(min_elements=5)).fit(X).consensus_
    assert recipe(first)["python"] == (
        "bc.ConsensusClustering(random_state=3, search=bc.Search(min_elements=5)).fit(X).consensus_"
    )


def test_components_are_of_columns_that_count_alike(blobs: Any) -> None:
    consensus, X, _ = blobs
    wide = np.c_[X, np.random.default_rng(0).normal(scale=500, size=(120, 1))]
    view = content_of(render_report(consensus, X=wide))["view"]
    shares = [int(re.search(r"\((\d+)%", axis["name"])[1]) for axis in view["axes"][:3]]  # type: ignore[index]
    assert max(shares) < 60, "the wide column does not hide the others"
    assert "standardised columns" in view["note"]
    assert "standardised" not in content_of(render_report(consensus, X=np.c_[X, X[:, :1]]))["view"]["note"]


def test_two_columns_of_like_ranges_are_drawn_to_one_scale(blobs: Any) -> None:
    consensus, X, _ = blobs
    assert content_of(render_report(consensus, X=X))["view"]["equal"]
    assert not content_of(render_report(consensus, X=X * [1, 50]))["view"]["equal"]


def test_planes_are_seen_from_their_edges_and_matches_in_the_first_image(blobs: Any) -> None:
    from biconsensus.models import get_model
    from biconsensus.report import FittedModels

    consensus, X, _ = blobs
    points = np.c_[X, X[:, :1]]
    planes = np.array([[1, 0, 0, 0], [0.995, 0.1, 0, 0], [0, 0, 1, -2]], dtype=float)
    view = content_of(render_report(consensus, X=points, models=FittedModels(get_model("plane"), planes, 0.1)))["view"]
    assert [axis["name"] for axis in view["axes"][:2]] == [f"signed distance to the plane of group {k}" for k in (0, 2)]
    parallel = FittedModels(get_model("plane"), planes[:2], 0.1)
    first = content_of(render_report(consensus, X=points, models=parallel))["view"]["axes"][0]["name"]
    assert first.startswith("component 1"), "parallel planes have no common edge"
    same = np.array([np.eye(3).ravel()])
    matches = FittedModels(get_model("homography"), same, 1.0)
    named = content_of(render_report(consensus, X=np.c_[X, X], features=list("abcd"), models=matches))["view"]["axes"]
    assert [axis["name"] for axis in named[:2]] == ["a (first image)", "b (first image)"]


def test_one_group_is_not_held_against_the_data() -> None:
    points = np.random.default_rng(3).normal(size=(150, 2))
    found = bc.ConsensusClustering(random_state=0).fit(points).consensus_
    assert len(found) == 1
    means = [point["means"] for point in content_of(render_report(found, X=points))["path"]["points"]]
    assert any("no border is clearer than chance" in text for text in means)
    assert not any("does not speak for this grouping (evidence 0)" in text for text in means)


def test_hypotheses_behind_models_are_counted_not_listed() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (90, 2))
    X[:40, 1], X[40:70, 0] = 0.5 * X[:40, 0], 0.3
    found = bc.MultiModelFitter("line", threshold=0.02, random_state=0).fit(X).consensus_
    page = render_report(found, X=X)
    assert content_of(page)["sources"] == []
    numbers = sorted({len(own) for own in found.candidates})
    said = " to ".join(str(n) for n in sorted({numbers[0], numbers[-1]}))
    assert f"{said} for each model here" in page
    nothing = bc.MultiModelFitter("line", threshold=0.001, random_state=0)
    with pytest.warns(NoConsensusWarning):
        page = render_report(nothing.fit(rng.uniform(-1, 1, (40, 2))).consensus_)
    assert "No hypothesis, which is a model through a few random elements, was more than chance." in page
