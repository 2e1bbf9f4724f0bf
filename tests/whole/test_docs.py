"""The code of the pages runs, the links lead somewhere, and the runner of the experiments writes what it should."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from benchmarks import results
from biconsensus.errors import MissingDataError
from experiments import reproduce
from experiments.common import Section, Table
from scripts import check_links
from tests.helpers.strategies import paper_consensus

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str) -> list[str]:
    """Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the pages take as given."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (120, 2))
    points[:40, 0], points[40:80, 0] = 0.4, -0.6
    pool = bc.Pool.from_labels([np.repeat([0, 1, 2], 10)] * 5)
    edges = [(a, b) for part in (range(8), range(8, 16)) for a in part for b in part if a < b]
    return {
        "X": points,
        "points": points,
        "pool": pool,
        "graph": edges,
        "table": np.repeat([[0] * 5, [1] * 5], 8, axis=0),
    }


def test_extending_runs(names: dict[str, Any]) -> None:
    X = names["X"]
    for code in blocks("docs/extending.md"):
        exec(code, names)
    found = bc.MultiModelFitter(names["VerticalLine"](), threshold=0.02, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(found.params_[:, 0]), [-0.6, 0.4], atol=0.01)
    greedy = paper_consensus(names["pool"], solver=names["LargestCandidate"](), min_candidates=1)
    assert sorted(len(group.elements) for group in greedy) == [10, 10, 10]


def test_the_page_of_data_sets_names_every_set_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    from biconsensus.datasets._sets import SETS
    from biconsensus.datasets._table import table

    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    assert [name for name in SETS if f"`{name}`" not in page] == []
    sources = {f"`{file.repository}` {file.commit[:7]}" for file in table().values()}
    assert [source for source in sources if source not in page] == []
    monkeypatch.delenv("BICONSENSUS_DATA", raising=False)
    (code,) = blocks("docs/datasets.md")
    exec(code, found := {})
    assert found["X"].shape == (150, 4)


def test_links_lead_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_links.main() == 0, capsys.readouterr().out


def test_broken_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](other.md) [b](#here) [c](#there) [d](https://example.org) `[e](code.md)`\n")
    monkeypatch.setattr(check_links, "ROOT", tmp_path)
    assert list(check_links.broken_links(page)) == [
        "page.md: other.md does not exist",
        "page.md: #there has no such heading",
    ]


@pytest.fixture
def stamped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results carry some digest of the code: that it is the right one is seen in `tests/benchmarks/test_results.py`."""
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "0123456789abcdef")


@pytest.mark.usefixtures("stamped")
def test_reproduce_writes_one_page_for_each_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(out: Path, quick: bool) -> Section:
        (out / "picture.png").write_bytes(b"")
        table = Table("Scores", ["who", "NMI"], [["paper", 0.981], ["ours | best", 0.98765]])
        return Section(f"Fig. 5 (quick {quick})", "Words.", [table], [("picture.png", "A picture")])

    monkeypatch.setattr(reproduce, "scripts", lambda: ["clustering_fig05_smiley", "models_fig12_star"])
    monkeypatch.setattr(reproduce, "load", lambda script: run)
    assert reproduce.main(["--only", "clustering", "--quick", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "clustering.md").read_text()
    assert "## Fig. 5 (quick True)" in page
    assert "| paper | 0.981 |" in page
    assert "| ours \\| best | 0.9877 |" in page
    assert "![A picture](picture.png)" in page
    assert not (tmp_path / "models.md").exists()


@pytest.mark.usefixtures("stamped")
def test_reproduce_reports_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(out: Path, quick: bool) -> Section:
        raise ValueError("no data")

    monkeypatch.setattr(reproduce, "scripts", lambda: ["models_fig12_star"])
    monkeypatch.setattr(reproduce, "load", lambda script: fail)
    assert reproduce.main(["--out", str(tmp_path)]) == 1


def sections(*missing: str) -> Any:
    """Experiments that run, but for those whose data is missing."""

    def load(script: str) -> Any:
        def run(out: Path, quick: bool) -> Section:
            if script in missing:
                raise MissingDataError("hopkins155/x.mat is not here.", "hopkins155")
            return Section(script, "Words.")

        return run

    return load


@pytest.mark.usefixtures("stamped")
@pytest.mark.parametrize(
    ("missing", "options", "code"),
    [
        (["models_b"], [], 0),
        (["models_b"], ["--strict"], 1),
        (["models_a", "models_b"], [], 2),
    ],
)
def test_reproduce_names_what_is_missing_and_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    missing: list[str],
    options: list[str],
    code: int,
) -> None:
    monkeypatch.setattr(reproduce, "scripts", lambda: ["models_a", "models_b"])
    monkeypatch.setattr(reproduce, "load", sections(*missing))
    (tmp_path / "parts").mkdir()
    before = {"measured": [], "values": asdict(Section("Measured before", "Words."))}
    (tmp_path / "parts" / "models_b.json").write_text(json.dumps(before))
    assert reproduce.main([*options, "--out", str(tmp_path)]) == code
    page = (tmp_path / "models.md").read_text()
    assert ("## models_a" in page) == ("models_a" not in missing)
    assert "## Measured before" in page, "the old section stays"
    assert "models_b is left out: hopkins155/x.mat is not here." in caplog.text
    assert "  models_b: hopkins155" in caplog.text
