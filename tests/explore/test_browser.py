"""The explorer in a real Chromium: as a new user would, with the keyboard, on a phone; nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import biconsensus as bc
from biconsensus.explore import Explorer, explore
from tests.explore.conftest import groupings

READY = "body[data-status=ready][data-ready]"


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    with explore(browser=False) as one:
        yield one


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """The one page of the browser that the tests load the explorer in."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(tab: Any, explorer: Explorer) -> Iterator[Any]:
    """The page; at the end nothing may have failed or gone elsewhere."""
    errors: list[str] = []
    asked: list[str] = []
    heard = {
        "console": lambda message: errors.append(message.text),
        "pageerror": lambda error: errors.append(str(error)),
        "request": lambda request: asked.append(request.url),
        "response": lambda response: response.ok or errors.append(f"{response.status} {response.url}"),
    }
    for event, listener in heard.items():
        tab.on(event, listener)
    tab.mouse.move(0, 0)
    tab.goto(explorer.url)
    yield tab
    for event, listener in heard.items():
        tab.remove_listener(event, listener)
    tab.goto("about:blank")  # nothing asks for the next state any more
    assert explorer.url in asked
    assert errors == []
    assert {url for url in asked if not url.startswith((explorer.url, "data:", "blob:"))} == set()


def test_a_new_user_finds_removes_chooses_and_exports(page: Any, table: Path) -> None:
    page.set_input_files("#file", table)
    page.wait_for_selector(READY)
    page.wait_for_selector("#rows tr")
    first = bc.find_consensus(list(groupings().T))
    assert page.inner_text("#headline").startswith(f"{len(first)} groups of 75 elements")
    sure = [float(text) for text in page.locator("#rows td:nth-child(4)").all_inner_texts()]
    assert sure == sorted(sure)
    page.wait_for_selector("#sources tr:has-text('chance') td:nth-child(4):has-text('0.')")
    alike = [float(text) for text in page.locator("#sources td:nth-child(4)").all_inner_texts()]
    assert max(alike[5:]) < 0.2 < min(alike[:5])  # who says nothing is seen at once
    page.click("#keep")
    page.uncheck("[aria-label='chance votes']")
    page.uncheck("[aria-label='noise votes']")
    page.wait_for_selector(READY)
    page.fill("#n-groups", "2")
    page.press("#n-groups", "Tab")
    page.wait_for_selector("#command:has-text('--groups 2')")
    wanted = bc.find_consensus(list(groupings()[:, :5].T), n_groups=2).labels
    with page.expect_download() as download:
        page.click("[data-export='groups.csv']")
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split(",")[1]) for line in lines] == wanted.tolist()
    page.wait_for_selector("#both .cross")
    assert "moved" in page.inner_text("#both .headline")
    frame = page.frame_locator("#frame")
    frame.locator("body[data-ready]").wait_for()
    assert frame.locator("#headline").inner_text().startswith("2 groups in 75 elements")


def test_the_keyboard_moves_the_quorum_and_elements_are_tied(page: Any, table: Path) -> None:
    page.set_input_files("#file", table)
    page.wait_for_selector(READY)
    page.wait_for_selector("#quorum:enabled")
    page.focus("#quorum")
    page.keyboard.press("Home")
    page.wait_for_selector("#command:has-text('--quorum 0.0025 --method path')")
    page.keyboard.press("End")  # few groups on the left, many on the right, as in the report
    page.wait_for_selector("#command:has-text('--quorum 0.9')")
    page.wait_for_selector(READY)
    wanted = bc.find_consensus(list(groupings().T), quorum=0.9, method="path")
    sizes = [int(text) for text in page.locator("#groups td:nth-child(2)").all_inner_texts()]
    assert sizes == np.bincount(wanted.labels[wanted.labels >= 0], minlength=len(wanted)).tolist()
    for name in ("e0", "e40"):
        page.fill("#find", name)
        page.check(f"[aria-label='Select {name}']")
    page.click("#tie")
    page.wait_for_selector("#command:has-text('--together e0,e40')")
    assert page.inner_text("#tie-list").startswith("e0, e40")
    page.click("#tie-list button")
    page.wait_for_selector("#ties", state="hidden")


def test_changes_that_come_quickly_are_all_kept(page: Any, table: Path) -> None:
    page.set_input_files("#file", table)
    page.wait_for_selector(READY)
    page.wait_for_selector("#sources tr")
    # both in one step of the browser, so that the second is made before the server knows of the first
    page.evaluate(
        "[...document.querySelectorAll('#sources [type=checkbox]')].slice(0, 2).forEach((box) => box.click())"
    )
    page.wait_for_selector("#sources tr.off:nth-child(2)")
    page.wait_for_selector(READY)
    voting = [box.is_checked() for box in page.locator("#sources [type=checkbox]").all()]
    assert voting == [False, False, *[True] * (len(voting) - 2)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_everything_in_its_width(browser: Any, explorer: Explorer, dark: bool) -> None:
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(explorer.url)
    page.wait_for_selector(READY)
    for card in page.locator("aside details").all():
        card.evaluate("node => { node.open = true; }")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    unnamed = """() => [...document.querySelectorAll("input, select, button, a[href], iframe")].filter((node) =>
        !(node.labels && node.labels.length) && !node.getAttribute("aria-label") && !node.title
        && !node.textContent.trim()).map((node) => node.outerHTML)"""
    assert page.evaluate(unnamed) == []
    from axe_playwright_python.sync_playwright import Axe

    faults = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in faults if one["impact"] in ("serious", "critical")] == []
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(21, 24, 29)" if dark else "rgb(255, 255, 255)")
    context.close()


def test_names_are_text_whatever_they_hold(page: Any, tmp_path: Path) -> None:
    hostile = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    lines = [f'name,"{hostile}",plain', *(f'"{hostile} {k}",{k % 2},{k % 2}' for k in range(12))]
    path = tmp_path / "hostile.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    page.set_input_files("#file", path)
    page.wait_for_selector(READY)
    page.wait_for_selector("#rows tr")
    assert page.locator("#sources td:nth-child(2)").first.inner_text() == hostile
    assert hostile in page.locator("#rows td:nth-child(2)").first.inner_text()
    page.frame_locator("#frame").locator("body[data-ready]").wait_for()
    assert page.evaluate("() => window.hacked") is None
    page.uncheck("#sources input[type=checkbox] >> nth=0")
    page.wait_for_selector("#command:has-text('--drop')")


def test_a_mode_can_be_chosen_alone(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds, places = rng.integers(0, 4, 90), rng.integers(0, 3, 90)
    base = np.stack([kinds, places, kinds, places, places], axis=1)
    path = tmp_path / "camps.csv"
    np.savetxt(path, base, "%d", ",", header="k0,p0,k1,p1,p2", comments="")
    page.set_input_files("#file", path)
    page.wait_for_selector(READY)
    page.wait_for_selector(".mode")
    modes = bc.find_modes(list(base.T))
    assert page.inner_text("#modes-text") == modes.summary
    assert page.locator(".mode").count() == len(modes) == 2
    own = [f"{'kp'[s % 2]}{s // 2}" if s < 4 else "p2" for s in modes[1].sources]
    page.click("[aria-label='Let only the sources of Mode 1 vote']")
    page.wait_for_selector("#modes-text:has-text('form one camp')")
    voting = [row for row in page.locator("#sources tr").all() if row.locator("[type=checkbox]").is_checked()]
    assert [row.locator("td").nth(1).inner_text() for row in voting] == own
    assert page.inner_text("#headline").startswith(f"{len(modes[1])} groups of 90 elements")


def test_the_slider_stands_where_the_path_has_as_many_groups_as_the_answer(page: Any, tmp_path: Path) -> None:
    """The answer is a plain majority here, at quorum 0.5; the path, which gives weights, has more groups there."""
    X, species = load_iris(return_X_y=True)
    runs = np.array([KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in range(2, 9)]).T.astype(float)
    runs[np.random.default_rng(0).random(runs.shape) < 0.1] = np.nan
    table = np.c_[runs, species]
    found = bc.find_consensus(table)
    assert (found.settings["quorum"], len(found)) == (0.5, 3)
    assert len(found.at(0.5)) > 3
    path = tmp_path / "runs.csv"
    np.savetxt(path, table, fmt="%g", delimiter=",", header=",".join("abcdefgh"), comments="")
    page.set_input_files("#file", path)
    page.wait_for_selector(READY)
    page.wait_for_selector("#quorum:enabled")
    assert page.inner_text("#quorum-text").endswith(f"there would be {len(found)} groups")
