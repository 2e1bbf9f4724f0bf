"""A stranger's run: an empty cache, with and without a server in place of the public repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import results
from experiments import clustering_fig1_preference_matrices as fig1
from experiments import clustering_fig4_active_sets as fig4
from experiments import reproduce
from tests.helpers.web import Repositories

NEEDS_DATA, NEEDS_NONE = (module.__name__.rsplit(".", 1)[1] for module in (fig1, fig4))


@pytest.fixture
def cache(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and two experiments without their pictures, one of which needs a data set."""
    monkeypatch.setattr(fig1, "draw", lambda path, parts: None)
    monkeypatch.setattr(fig4, "draw", lambda path, factors, truth: None)
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "this code")
    monkeypatch.delenv("BICONSENSUS_DATA")
    monkeypatch.setenv("BICONSENSUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BICONSENSUS_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(reproduce, "scripts", lambda: [NEEDS_DATA, NEEDS_NONE])
    return tmp_path / "cache"


def test_what_is_needed_is_fetched(
    cache: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Repositories.of_folder(data) as server:
        monkeypatch.setenv("BICONSENSUS_DATA_URL", server.address)
        assert reproduce.main(["--only", "clustering", "--quick", "--out", str(tmp_path)]) == 0
    assert (cache / "jlinkage" / "JLinkageExamples.mat").exists()
    assert "left out" not in caplog.text
    assert {path.stem for path in (tmp_path / "parts").iterdir()} == {NEEDS_DATA, NEEDS_NONE}


def test_without_a_connection_the_missing_set_is_named_and_the_rest_finished(
    cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert reproduce.main(["--only", "clustering", "--quick", "--out", str(tmp_path)]) == 0
    assert f"  {NEEDS_DATA}: jlinkage" in caplog.text
    assert {path.stem for path in (tmp_path / "parts").iterdir()} == {NEEDS_NONE}
