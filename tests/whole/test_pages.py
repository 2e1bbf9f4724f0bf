"""The pages: code that runs as printed, words that are explained, releases that agree with themselves."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import biconsensus
from biconsensus.cli import run
from scripts import dist, run_pages

ROOT = Path(__file__).resolve().parents[2]
PROSE = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("[hs]*/*.md"))]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/start/merge.md", "docs/start/cluster.md", "docs/start/fit.md", "docs/quorum.md"],
)
def test_code_runs_as_printed_and_gives_what_the_page_says(page: str) -> None:
    assert run_pages.run_page(ROOT / page) >= 1


def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="line 1: the page says"):
        run_pages.run_page(page)
    page.write_text("```sh\nbiconsensus merge nothing.csv\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="failed"):
        run_pages.run_page(page)


def test_ten_lines_of_the_readme_are_ten_lines() -> None:
    first = next(block for block in run_pages.blocks_of(PROSE[0].read_text(encoding="utf-8")) if block.kind == "python")
    assert len([line for line in first.code.splitlines() if line.strip()]) <= 11


def words_of(page: Path) -> str:
    """Text of a page without code, formulas and addresses."""
    return re.sub(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)", " ", page.read_text("utf-8"), flags=re.DOTALL)


KNOWN = """
API BOM BSD BY CC CHANGELOG CI CITATION CONTRIBUTING CPU CR CRLF CSV CVPR DOI ECCV FAQ FIFO GB GEXF GML HTML
ICCV ID IEEE ISO JSON KB LF MB METIS MICCAI MS NEL NIPS NPY NPZ OK OS PDF PNAS PNG RGB RGBA SHA SIGTERM SPEC
SVG TCP TLS TOML TSV URL UTF UUID YAML MF VS IS SPF
"""
"""File formats, licences, journals and units that nobody needs explained."""


def test_every_abbreviation_is_in_the_glossary() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"\b[A-Z][A-Za-z]*[A-Z]\b|\b[A-Z]{2,}\b", glossary.partition("## Abbreviations")[2]))
    missing = {
        f"{page.name}: {word}"
        for page in PROSE
        for word in re.findall(r"\b[A-Z]{2,}\b", words_of(page))
        if word not in explained | set(KNOWN.split())
    }
    assert missing == set(), "explain them at the end of docs/glossary.md"


TERMS = """
adjusted Rand index|backing|base result|belief propagation|bi-cluster|block model|candidate|co-occurrence
community|conductance|confidence|consensus|contingency table|element|entry point|estimator|evidence
false alarm|gain|grouping|homography|hypothesis|inlier|Jaccard index|mask|minimal sample|modularity
mutual information|noise|number of false alarms|outlier|partition|pool|preference matrix|quorum|residual
resolution|seed|significance|solver|source|threshold|trivial candidate|valley|weight
"""
"""Words that mean something of their own here, or that only specialists know."""


def test_every_technical_term_is_in_the_glossary() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = {
        term.strip().lower()
        for line in re.findall(r"^(\w[^|\n]*)\n  \w", glossary, re.MULTILINE)
        for term in line.split(",")
    }
    text = " ".join(words_of(page).lower() for page in PROSE if page.name != "glossary.md")
    used = [term.lower() for term in re.split(r"[|\n]", TERMS.strip()) if term.lower() in text]
    assert len(used) > 30
    assert [term for term in used if term not in entries] == [], "explain them in docs/glossary.md"


def test_the_version_is_the_same_everywhere() -> None:
    for file in ("CITATION.cff", "conda/recipe.yaml"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(r"^ *version: (\S+)$", text, re.MULTILINE)[1] == biconsensus.__version__, file  # type: ignore[index]


def test_the_conda_recipe_and_the_release_check_follow_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("run_constraints")[0]
    assert [item for item in project["dependencies"] if item.replace(">=", " >=") not in run] == []
    assert set(dist.TRIALS) == {"base", *dist.extras()}


def test_workflows_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    workflows = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    assert set(re.findall(r"run: make ([\w-]+)", workflows)) <= targets
    assert {"3.11", "3.12", "3.13"} <= set(re.findall(r'"(3\.\d+)"', workflows))
    assert {"macos-latest", "windows-latest"} <= set(re.findall(r"\w+-latest", workflows))


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"
    )


def test_the_page_for_r_names_columns_that_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table as `write.csv` of R writes it: row names first, without a header, everything in quotes."""
    monkeypatch.chdir(tmp_path)
    lines = [f'"AAAC{i}-1","{i // 20}","{i // 20}","{i // 10}"' for i in range(40)]
    Path("labels.csv").write_text("\n".join(['"","res.0.2","res.0.6","res.1"', *lines]) + "\n", encoding="utf-8")
    page = (ROOT / "docs" / "howto" / "r_and_seurat.md").read_text(encoding="utf-8")
    arguments = re.findall(r'"([^"]+)"', re.search(r'system2\("biconsensus", c\((.*?)\)', page)[1])  # type: ignore[index]
    assert run(arguments) == 0
    head, first = Path("groups.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert first.startswith("AAAC0-1,"), "row.names = 1 finds the cells"
    used = re.findall(r'groups\[colnames\(object\), "(\w+)"\]', page)
    assert len(used) == 2
    assert set(used) <= set(head.split(","))
