"""Results are taken up again by the same code alone, and the page is made of the file."""

from __future__ import annotations

import subprocess
import sys
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
    monkeypatch.setenv(results.NOTED, str(tmp_path / "modules"))


def opened() -> results.Results:
    return results.Results.open("solver-pools", page)


def test_a_stopped_run_goes_on_and_other_code_begins_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # the digest itself has a test of its own, below
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "this")
    first = opened()
    assert first.values == {}
    first.values["a"] = 1
    first.save()
    again = opened()
    assert again.values == {"a": 1}
    assert len(again.measured) == 1
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "other")
    assert opened().values == {}
    assert "the code has changed" in capsys.readouterr().err
    monkeypatch.setenv("BENCH", "resume")
    resumed = opened()
    assert resumed.values == {"a": 1}
    assert [state["code"] == "other" for state in resumed.measured] == [False, True], "both states are named"


def test_quick_leaves_the_published_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH", "quick")
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "this")
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
        digests.append(results.code_digest(script))
    assert digests[0] == digests[1] != digests[2]


def test_the_digest_ignores_what_only_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()
    script = tmp_path / "benchmarks" / "bench.py"
    text = """
def measure(): return _one() + 2
def _one(): return 1
def page(values): return _table(values)
def _table(values): return _cell(3) + _one()
def _cell(x): return x + 4
"""

    def digest(number: str) -> str:
        script.write_text(text.replace(number, "9"))
        return results.code_digest(script)

    plain = digest("none")
    assert digest("3") == digest("4") == plain, "what only the page calls does not count"
    assert len({plain, digest("1"), digest("2")}) == 3, "what is measured counts, also where the page calls it, too"


def test_only_modules_that_were_loaded_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOT", tmp_path)
    package = tmp_path / "src" / "biconsensus"
    for folder in (package, tmp_path / "benchmarks"):
        folder.mkdir(parents=True)
    script, fit, vote = tmp_path / "benchmarks" / "bench.py", package / "fit.py", package / "vote.py"
    for path in (script, fit, vote):
        path.write_text("x = 1\n")

    def digest(uses: str | None, changed: Path | None = None) -> str:
        results._digests_of_package.cache_clear()
        for path in (script, fit, vote):
            path.write_text(f"x = {path == changed}\n")
        return results.code_digest(script, uses)

    assert digest("vote.py") == digest("vote.py", changed=fit) != digest("vote.py", changed=vote)
    assert digest("vote.py") != digest("vote.py", changed=script)
    assert digest(None) != digest(None, changed=fit), "results that do not say what they use depend on everything"


def test_modules_are_known_when_results_are_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = opened()
    kept.values["a"] = 1
    monkeypatch.setattr(results, "loaded", lambda: ["find.py", "pool/_pool.py"])
    kept.save()
    state = (kept.read() or {})["measured"][-1]
    assert {"find.py", "pool/_pool.py"} <= set(state["uses"].split())
    assert results.is_current(state, results.script_of("solver-pools"))


def test_modules_of_started_processes_are_known(tmp_path: Path) -> None:
    code = "import benchmarks; from biconsensus import MultiModelFitter, plots"
    subprocess.run([sys.executable, "-c", code], cwd=results.ROOT, check=True)
    noted = (tmp_path / "modules").read_text(encoding="utf-8").split()
    assert "fitting/_estimator.py" in noted
    assert set(noted) <= set(results.loaded())
    assert not any(name.startswith(results.SURFACES) for name in noted)


def test_loaded_modules_are_those_of_the_package_without_its_surfaces() -> None:
    import biconsensus.plots
    from biconsensus.find import find_consensus

    assert callable(find_consensus)
    assert biconsensus.plots
    found = results.loaded()
    assert {"find.py", "pool/_pool.py"} <= set(found)
    assert not any(name.startswith(results.SURFACES) for name in found)


def test_pages_have_no_powers_of_ten() -> None:
    document = {"values": {"seconds": 154.1}, "measured": [{"date": "d", "commit": "c", "seconds": 0}]}
    text = results.rendered("solver-pools", document, lambda values: f"{values['seconds']:.2g} s, 10^7 rows")
    assert text.startswith("150 s, 10^7 rows\n")


def test_the_summary_is_that_of_the_values_as_the_file_has_them(tmp_path: Path) -> None:
    kept = results.Results.open("solver-pools", lambda values: "#", lambda values: {"keys": "".join(values)})
    kept.values |= {"b": 1, "a": (2, 3)}
    kept.save()
    saved = kept.read() or {}
    assert saved["summary"] == {"keys": "ab"}
    assert list(saved["values"].items()) == [("a", [2, 3]), ("b", 1)]
