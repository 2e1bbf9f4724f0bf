"""The page on the architecture names files, functions and constants that exist, and the layers of the contracts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "biconsensus"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text below one heading."""
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> list[list[str]]:
    """Cells of the table in a section, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def paths() -> list[str]:
    """Every path on the page."""
    return sorted({name for name in re.findall(r"`([\w/]+(?:\.py|/))`", PAGE) if "/" in name or name.endswith(".py")})


@pytest.mark.parametrize("path", paths())
def test_every_path_exists(path: str) -> None:
    assert (ROOT if path.startswith(("src/", "tests/")) else SOURCE).joinpath(path).exists()


def test_every_folder_of_the_package_has_its_line() -> None:
    top = {path.name for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    named = {name.rstrip("/") for row in rows("Layers") for name in re.findall(r"`([\w/.]+)`", row[0])}
    assert named == top - {"__init__.py"}


def test_layers_stand_in_the_order_of_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"][::-1]
    place = {name: k for k, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    lines = [re.findall(r"`(\w+)(?:\.py|/)`", row[0]) for row in rows("Layers")]
    highest = [max(place[name] for name in line) for line in lines]
    lowest = [min(place[name] for name in line) for line in lines]
    assert all(before < after for before, after in zip(highest, lowest[1:], strict=False))


@pytest.mark.parametrize("row", rows("Twenty questions"), ids=lambda row: row[1].strip("`"))
def test_the_answers_are_where_the_page_says(row: list[str]) -> None:
    name, path = row[1].strip("`"), row[2].strip("`")
    text = (SOURCE / path).read_text(encoding="utf-8")
    assert re.search(rf"^(?:def|class) {name}\b", text, re.MULTILINE)


def test_twenty_questions_of_which_sixteen_are_found_at_once() -> None:
    answers = [row[3] for row in rows("Twenty questions")]
    assert len(answers) == 20
    at_once = sum(answer == "yes" for answer in answers)
    assert at_once >= 16
    assert f"{at_once} of 20" in PAGE


@pytest.mark.parametrize("row", rows("Which constant lives where"), ids=lambda row: row[1].strip("`"))
def test_constants_are_where_the_page_says(row: list[str]) -> None:
    text = (SOURCE / row[2].strip("`")).read_text(encoding="utf-8")
    for name in re.findall(r"`(\w+)`", row[1]):
        assert re.search(rf"^(?:\w+, )*{name}\b.*=", text, re.MULTILINE), name


@pytest.mark.parametrize("row", rows("Where to add what"), ids=lambda row: row[0])
def test_tables_to_add_to_are_where_the_page_says(row: list[str]) -> None:
    for name, path in re.findall(r"`([A-Z]+)` of `([\w/.]+)`", row[2]):
        assert re.search(rf"^{name}\b", (SOURCE / path).read_text(encoding="utf-8"), re.MULTILINE)
