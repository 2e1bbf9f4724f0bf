"""Results are taken up again by the same code alone, and the page is made of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import results


def page(values: results.Values) -> str:
    return f"# {values['a']}"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "PUBLISHED", tmp_path / "published")
    monkeypatch.setattr(results, "QUICK", tmp_path / "quick")
    monkeypatch.delenv("BENCH", raising=False)


def opened() -> results.Results:
    return results.Results.open("solver-pools", page)


def test_a_stopped_run_goes_on_and_other_code_begins_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # the digest itself has a test of its own, below
    monkeypatch.setattr(results, "code_digest", lambda script: "this")
    first = opened()
    assert first.values == {}
    first.values["a"] = 1
    first.save()
    again = opened()
    assert again.values == {"a": 1}
    assert len(again.measured) == 1
    monkeypatch.setattr(results, "code_digest", lambda script: "other")
    assert opened().values == {}
    assert "the code has changed" in capsys.readouterr().err
    monkeypatch.setenv("BENCH", "resume")
    resumed = opened()
    assert resumed.values == {"a": 1}
    assert [state["code"] == "other" for state in resumed.measured] == [False, True], "both states are named"


def test_quick_leaves_the_published_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH", "quick")
    monkeypatch.setattr(results, "code_digest", lambda script: "this")
    kept = opened()
    kept.values["a"] = 2
    kept.save()
    assert not (tmp_path / "published").exists()
    text = (tmp_path / "quick" / "solver-pools.md").read_text()
    assert text.startswith("# 2\n")
    assert "make bench ONLY=solver_pools" in text


def test_the_digest_follows_imports_and_ignores_prose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()
    helper, script = tmp_path / "benchmarks" / "help.py", tmp_path / "benchmarks" / "bench.py"
    script.write_text("from benchmarks import help\n")
    digests = []
    for text in ("x = 1\n", '"""Words."""\nx = 1  # more\n', "x = 2\n"):
        helper.write_text(text)
        results.code_digest.cache_clear()
        digests.append(results.code_digest(script))
    results.code_digest.cache_clear()
    assert digests[0] == digests[1] != digests[2]
