"""The report as text: what is in it, how large it is, and that no text can break out of it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.report import render_report
from biconsensus.report._page import headline, to_json
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
    assert [group["size"] for group in content["groups"]] == [int((consensus.labels == k).sum()) for k in range(3)]
    assert [source["candidates"] for source in content["sources"]] == [3] * 6
    assert content["scores"][0]["consensus"] == pytest.approx(bc.metrics.ari(truth, consensus.labels), abs=1e-4)
    by_name = {source["name"]: source["scores"][0] for source in content["sources"]}
    base = bc.plots.base_scores(consensus.pool, truth, bc.metrics.ari)
    assert by_name == pytest.approx({consensus.pool.sources[k].name: base[k] for k in range(6)}, abs=1e-4)


def test_headline_counts() -> None:
    labels = np.repeat([0, 1, -1], [10, 8, 3])
    consensus = paper_consensus([labels] * 4)
    assert headline(consensus).startswith("2 groups in 21 elements; 3 (14.3%) are in no group. On average 100%")


def test_remarks_flag_what_the_pool_has() -> None:
    labels = np.repeat([0, 1], 10)
    pool = bc.Pool.from_labels([labels] * 4 + [np.zeros(20, int)])
    assert "1 candidates hold 90% or more" in render_report(paper_consensus(pool))
    assert "1 candidate was left out beforehand" in render_report(paper_consensus(pool.clean()))


def test_dissenting_source_is_named() -> None:
    labels = np.repeat([0, 1], 20)
    base = np.stack([labels] * 6 + [np.arange(40) % 2], axis=1)
    content = content_of(render_report(paper_consensus(base)))
    remarks = {source["name"]: source["remark"] for source in content["sources"]}
    assert [name for name, remark in remarks.items() if remark == "dissents from the others"] == ["source 6"]


def test_wrong_lengths_are_told(blobs: Any) -> None:
    with pytest.raises(bc.errors.InputError, match="truth has 3 labels; there are 120 elements"):
        render_report(blobs[0], truth=[0, 1, 2])
    with pytest.raises(bc.errors.InputError, match="X must have one row for each of the 120 elements"):
        render_report(blobs[0], X=np.zeros((3, 2)))


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


def test_overlapping_and_real_valued_results_have_pages() -> None:
    groups = [range(12)] * 4 + [range(8, 20)] * 4
    pool = bc.Pool.from_groups(groups, n_elements=20)
    content = content_of(render_report(paper_consensus(pool, overlap=True)))
    assert sorted(group["size"] for group in content["groups"]) == [12, 12]
    soft = bc.Pool.from_matrix(np.kron(np.eye(2), np.full((10, 5), 0.7)))
    content = content_of(render_report(paper_consensus(soft)))
    assert [group["size"] for group in content["groups"]] == [10, 10]
