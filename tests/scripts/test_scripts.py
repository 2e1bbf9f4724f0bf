"""The small programs behind the targets of the Makefile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bench, find_chromium
from tests.conftest import not_here

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two scripts, one of which fails, and a module."""
    (tmp_path / "bench_accuracy.py").write_text("if __name__ == '__main__':\n    print('fine')\n")
    (tmp_path / "scale.py").write_text("import sys\nif __name__ == '__main__':\n    sys.exit(3)\n")
    (tmp_path / "pools.py").write_text("x = 1\n")
    return tmp_path


def test_bench_runs_scripts_and_counts_failures(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--folder", str(folder)]) == 1
    said = capfd.readouterr()
    assert "fine" in said.out
    assert "failed: scale" in said.err


LACKS = """
from benchmarks.without_data import by_name, loaded
from biconsensus.errors import MissingDataError

def load(name):
    raise MissingDataError(f"{name} is not here.", "network")

if __name__ == "__main__":
    assert by_name(load, ["a", "b"]) == {}
    print(loaded({"one": lambda: 1, "two": lambda: load("c")}))
"""


def test_bench_goes_on_without_data(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.py").write_text(LACKS + "    load('d')\n")
    assert bench.main(["--folder", str(tmp_path)]) == 1, "nothing ran to its end"
    (tmp_path / "some.py").write_text(LACKS)
    assert bench.main(["--folder", str(tmp_path), "some"]) == 0, "it ran to its end without some of its data"
    (tmp_path / "none.py").write_text("if __name__ == '__main__':\n    print('fine')\n")
    capfd.readouterr()
    assert bench.main(["--folder", str(tmp_path)]) == 0
    said = capfd.readouterr()
    assert "fine" in said.out
    assert said.out.count("{'one': 1}") == 2
    assert said.err.count("going on without: a is not here.") == 2
    assert "b is not here" not in said.err, "one line for each set"
    assert "not run to its end: d is not here." in said.err
    assert "without some or all of their data, as said above: all, some" in said.err
    assert bench.main(["--strict", "--folder", str(tmp_path)]) == 2


@pytest.mark.parametrize("name", ["accuracy", "bench_acc", "acc"])
def test_only_names_what_to_run(folder: Path, name: str) -> None:
    assert [path.stem for path in bench.runnable(folder) if bench.matches(path, [name])] == ["bench_accuracy"]


def test_unknown_benchmark_lists_what_there_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        bench.main(["--folder", str(folder), "speed"])
    assert "there are: bench_accuracy, scale" in capsys.readouterr().err


def test_a_given_chromium_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BICONSENSUS_CHROMIUM", "/somewhere/chromium")
    assert find_chromium.find_chromium() == "/somewhere/chromium"
    monkeypatch.delenv("BICONSENSUS_CHROMIUM")
    monkeypatch.setenv("PATH", "")
    assert find_chromium.find_chromium() is None


@pytest.mark.parametrize(
    "target", ["setup", "demo", "test", "check", "bench", "reproduce", "docs", "fuzz", "test-matrix", "help"]
)
def test_every_target_is_there_and_sets_itself_up(target: str, tmp_path: Path) -> None:
    command = ["make", "--dry-run", "--no-print-directory", f"VENV={tmp_path / 'none'}", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("scripts/setup" in done.stdout) == (target != "help")


@pytest.mark.parametrize("script", [".ci/run", "scripts/setup", "scripts/test-matrix"])
def test_shell_scripts_parse_and_may_run(script: str) -> None:
    subprocess.run(["sh", "-n", script], cwd=ROOT, check=True)
    assert (ROOT / script).stat().st_mode & 0o100


def test_ci_checks_and_tests_and_requires_everything() -> None:
    text = (ROOT / ".ci" / "run").read_text()
    assert "export BICONSENSUS_REQUIRE_ALL=1" in text
    assert text.rstrip().endswith("make check\nmake test")


def test_skips_become_failures_where_everything_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = tmp_path / "test_needs_data.py"
    test.write_text("def test_it(data):\n    pass\n")
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    environment = {"PATH": "/usr/bin:/bin", "BICONSENSUS_DATA": str(tmp_path / "none"), "BICONSENSUS_REQUIRE_ALL": "1"}
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, str(test)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 error" in done.stdout
    monkeypatch.delenv("BICONSENSUS_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no reason"):
        not_here("no reason")
