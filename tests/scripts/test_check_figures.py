"""A figure that is not what its result file says is found, and mended with as many digits as it had."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import results
from scripts import check_figures


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one page, one benchmark and its result file."""
    for module in (check_figures, results):
        monkeypatch.setattr(module, "PUBLISHED", tmp_path / "files")
    monkeypatch.setattr(check_figures, "ROOT", tmp_path)
    monkeypatch.setattr(check_figures, "FOLDERS", (tmp_path / "files",))
    monkeypatch.setattr(check_figures, "REPRODUCTION", tmp_path / "files")
    monkeypatch.setattr(check_figures, "pages", lambda: [tmp_path / "README.md"])
    benchmark = SimpleNamespace(page=lambda values: f"# Page\n\n{values['k=.5']}", summary=lambda values: {"n": 12_345})
    monkeypatch.setattr(check_figures.importlib, "import_module", lambda name: benchmark)
    kept = results.Results.open("some-name", benchmark.page, benchmark.summary)
    kept.values["k=.5"] = [0.777, "3 of 4"]
    kept.save()
    return tmp_path


GOOD = (
    "ARI .78<!--= some-name k=.5.0 -->, 3 of 4<!--= some-name k=.5.1 --> and 12,345 sets<!--= some-name n --> of 0.7."
)
DATED = "\n# Tried\n\nRecorded on 2026-11-15 at commit b3c95d73b9: .61 in 3 s.\n"


def test_pages_are_what_their_files_say(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "README.md").write_text(GOOD + DATED)
    assert check_figures.main([]) == 0
    assert "3 in the text and 1 pages" in capsys.readouterr().out


def test_other_figures_are_named_and_mended(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "README.md").write_text(GOOD.replace(".78", ".79").replace("12,345", "12,300"))
    (site / "files" / "some-name.md").write_text("old")
    assert check_figures.main([]) == 1
    said = capsys.readouterr().out
    assert "'ARI .79' must be 'ARI .78'" in said
    assert "must be ' and 12,345 sets'" in said
    assert "some-name.md is not what benchmarks/some_name.py makes" in said
    assert check_figures.main(["--write"]) == 0
    assert (site / "README.md").read_text() == GOOD
    assert "some-name.json" in (site / "files" / "some-name.md").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Good\n\nAn ARI of .61, `in .3` 4 s.", ".61, 4 s in 'Good': nothing says where this comes from"),
        ("5<!--= other n -->", "no result file other.json"),
        ("5<!--= some-name q -->", "has no 'q'"),
        ("two<!--= some-name n -->", "no number stands before the mark"),
        ("2 of 4<!--= some-name k=.5.1 -->", "must end in '3 of 4'"),
    ],
)
def test_marks_that_lead_nowhere_are_named(
    site: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (site / "README.md").write_text(text)
    assert check_figures.main(["--write"]) == 1
    assert said in capsys.readouterr().out


def test_a_summary_is_that_of_the_values(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((site / "files" / "some-name.json").read_text())
    document["summary"]["n"] = 1
    (site / "files" / "some-name.json").write_text(json.dumps(document))
    (site / "README.md").write_text("")
    assert check_figures.main([]) == 1
    assert "its summary is not that of its values" in capsys.readouterr().out
    assert check_figures.main(["--write"]) == 0
    assert check_figures.main([]) == 0
    assert json.loads((site / "files" / "some-name.json").read_text())["summary"]["n"] != 1


def test_a_page_of_the_reproduction_is_made_of_its_parts(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "README.md").write_text("")
    (site / "files" / "models.md").write_text("# Typed by hand")
    assert check_figures.main([]) == 1
    assert "models.md is not made of the files" in capsys.readouterr().out
    assert check_figures.main(["--write"]) == 0
    assert (site / "files" / "models.md").read_text().startswith("# Fitted models")


def test_a_page_of_a_benchmark_has_a_file_or_a_date(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = site / "files" / "other.md"
    page.write_text("# Typed by hand\n")
    monkeypatch.setattr(check_figures, "pages", lambda: [page])
    assert check_figures.main([]) == 1
    assert "other.md: has no result file" in capsys.readouterr().out
    page.write_text("# Old" + DATED)
    assert check_figures.main([]) == 0
