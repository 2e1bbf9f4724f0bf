"""Make the pictures of the README and the docs: ``python -m scripts.pictures [docs/pictures]``."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import biconsensus as bc
from biconsensus import plots
from biconsensus.cli._demo import FRONTS
from biconsensus.explore import explore
from biconsensus.plots._domain import draw_points
from biconsensus.plots._matrix import element_order
from scripts.find_chromium import find_chromium

OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "pictures"


def main() -> None:
    """Make every picture."""
    OUT.mkdir(parents=True, exist_ok=True)
    X, base = groupings()
    consensus = bc.find_consensus(base)
    draw_overview(X, base, consensus)
    draw_before_and_after(consensus)
    draw_votes()
    if find_chromium() is not None:
        take_screenshots()
        visit_explorer()


def groupings() -> tuple[Any, dict[str, Any]]:
    """Points in four clouds with stray ones, and k-means results with the wrong numbers of clusters."""
    X, _ = make_blobs(300, centers=4, cluster_std=0.9, random_state=7)
    rng = np.random.default_rng(0)
    X = np.concatenate([X, rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, (20, 2))])
    X = X[rng.permutation(len(X))]
    return X, {
        f"k = {k}": KMeans(k, n_init=1, random_state=3 * k + 1).fit_predict(X) for k in (3, 4, 4, 5, 5, 6, 6, 7, 8)
    }


def draw_overview(X: Any, base: dict[str, Any], consensus: bc.Consensus) -> None:
    """Inputs, their matrix before and after, the answer."""
    figure = plt.figure(figsize=(11.5, 3.0), layout="constrained")
    inputs, before, after, answer = figure.subfigures(1, 4, width_ratios=[1, 0.8, 0.8, 1])
    for ax, (name, labels) in zip(inputs.subplots(2, 2).ravel(), list(base.items())[:4]):
        draw_points(X, np.unique(labels, return_inverse=True)[1], ax, size=3)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=8, pad=2)
    inputs.suptitle("many groupings", fontsize=11)
    for panel, reorder, title in ((before, False, "their candidates"), (after, True, "what they agree on")):
        plots.preference_matrix(consensus, reorder=reorder, ax=panel.subplots())
        panel.suptitle(title, fontsize=11)
    ax = draw_points(X, consensus.labels, answer.subplots(), size=12)
    ax.set(xticks=[], yticks=[])
    left = int((consensus.labels < 0).sum())
    outside = f"{left} points in none" if left else "every point in one"
    answer.suptitle(f"{len(consensus)} groups, {outside}", fontsize=11)
    figure.savefig(OUT / "overview.png", dpi=110)
    plt.close(figure)


def draw_before_and_after(consensus: bc.Consensus) -> None:
    """The preference matrix in the order of the input and ordered by bi-cluster."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for ax, reorder, title in zip(axes, (False, True), ("in the order of the input", "ordered by bi-cluster")):
        plots.preference_matrix(consensus, reorder=reorder, ax=ax)
        ax.set_title(title)
    figure.savefig(OUT / "before_and_after.png", dpi=110)
    plt.close(figure)


def draw_votes() -> None:
    """How a start grows into a block by votes, on a small matrix."""
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], [9, 8, 7])
    labels = [np.where(rng.random(24) < 0.12, rng.integers(0, 3, 24), truth) for _ in range(5)]
    consensus = bc.find_consensus(labels, min_elements=4, min_candidates=3)
    B = consensus.pool.to_matrix().toarray()[element_order(consensus)].astype(bool)
    states = vote_states(B, start=int(consensus.biclusters[0].candidates[0]))
    figure, axes = plt.subplots(1, len(states), figsize=(2.4 * len(states), 3.6), layout="constrained")
    for ax, (title, rows, columns) in zip(axes, states):
        block = np.outer(rows, columns)
        picture = np.where(B[:, :, None], 0.62, 1.0) * np.ones(3)
        picture[block & B] = (0.0, 0.447, 0.698)
        picture[block & ~B] = (0.75, 0.87, 0.95)
        ax.imshow(picture, aspect="auto", interpolation="nearest")
        ax.set(xticks=[], yticks=[], xlabel="candidates")
        ax.set_title(title, fontsize=9)
    axes[0].set_ylabel("elements")
    figure.savefig(OUT / "votes.png", dpi=110)
    plt.close(figure)


def vote_states(B: Any, start: int) -> list[tuple[str, Any, Any]]:
    """Rows and columns after each half-step of the vote at quorum 1/2, until nothing moves."""
    columns = np.arange(B.shape[1]) == start
    rows = np.zeros(B.shape[0], bool)
    states = []
    while True:
        new_rows = B[:, columns].sum(axis=1) > columns.sum() / 2
        states.append(("start: the elements\nof one candidate" if not states else "elements vote", new_rows, columns))
        new_columns = B[new_rows].sum(axis=0) > new_rows.sum() / 2
        states.append(("candidates vote", new_rows, new_columns))
        if (new_rows == rows).all() and (new_columns == columns).all():
            return [*states[:-3], ("nothing moves:\nthe bi-cluster", rows, columns)]
        rows, columns = new_rows, new_columns


SHOTS: dict[str, tuple[str, str, str]] = {
    # name: (front, what is done on the page, what is photographed)
    "report_merge": ("merge", "", ""),
    "report_clustering": ("clustering", "document.getElementById('theme').click()", ""),
    "report_communities": ("communities", "", ""),
    "report_models": ("models", "", ""),
    "report_slider": ("clustering", "goTo(points.findIndex((point) => point.groups === 5))", "#controls"),
    "report_tree": ("clustering", "goTo(points.findIndex((point) => point.groups === 5), 2)", "#tree"),
    "report_element": ("clustering", "openElement(confidenceAt().indexOf(Math.min(...confidenceAt())))", "#element"),
    "report_source": ("merge", "openSource(data.sources[data.sources.length - 1])", "#source"),
    "report_together": ("clustering", "", "#cooccurrence"),
    "report_phone": ("clustering", "", "phone"),
    "report_image": ("coins", "", "#view"),
}
"""Pictures of the pages of the demo and of coins: the first screen, one section, or a telephone."""


def write_coins(path: Path) -> None:
    """Report of the circles through the edges of coins, drawn on their picture."""
    from benchmarks.fitting_scenes import edges_of_coins
    from biconsensus import MultiModelFitter
    from biconsensus.datasets import load_cells
    from biconsensus.models import get_model
    from biconsensus.report import FittedModels

    X = edges_of_coins(3.0)
    fitter = MultiModelFitter("circle", 2.0, bounds={"coverage": (0.5, 1.0)}, random_state=0).fit(X)
    models = FittedModels(get_model("circle"), fitter.params_, 2.0)
    fitter.consensus_.write_report(path, X=X, models=models, image=load_cells("coins").image)


def take_screenshots() -> None:
    """The reports of the demo in a browser."""
    from playwright.sync_api import sync_playwright

    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        for name, front in FRONTS.items():
            result = front(0)
            result.consensus.write_report(Path(folder) / f"{name}.html", truth=result.truth, **result.page)
        fronts = {*FRONTS, "coins"} if find_spec("skimage") else set(FRONTS)  # which finds the edges of the coins
        if "coins" in fronts:
            write_coins(Path(folder) / "coins.html")
        else:
            print("scikit-image is not installed: the picture of the coins is not made again", file=sys.stderr)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        for name, (front, act, part) in SHOTS.items():
            if front not in fronts:
                continue
            size = {"width": 390, "height": 844} if part == "phone" else {"width": 1100, "height": 1400}
            page = browser.new_page(viewport=size, color_scheme="light")
            page.goto((Path(folder) / f"{front}.html").as_uri())
            page.wait_for_selector("body[data-ready]")
            if front == "coins":
                page.wait_for_selector("#view-canvas[data-picture]")
            page.evaluate(f"() => {{ {act}; settle(); }}")
            if part.startswith("#") and part != "#controls":  # the sticky bar would lie over a section
                page.add_style_tag(content="#controls { position: static !important; }")
            shot = page.locator(part) if part.startswith("#") else page
            shot.screenshot(path=OUT / f"{name}.jpg", type="jpeg", quality=72)
            page.close()
        browser.close()


def write_wines(path: Path) -> None:
    """Eight clusterings of the wines, one column that was filled in at random, and the growers."""
    X, growers = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    made = {f"kmeans_{k}": KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in (2, 3, 4)}
    made |= {f"ward_{k}": AgglomerativeClustering(k).fit_predict(X) for k in (3, 5)}
    made["average_4"] = AgglomerativeClustering(4, linkage="average").fit_predict(X)
    made |= {f"mixture_{k}": GaussianMixture(k, random_state=k).fit(X).predict(X) for k in (3, 5)}
    made["intern"] = np.random.default_rng(0).integers(0, 3, len(X))
    names = [f"wine {k:03d}" for k in range(len(X))]
    rows = zip(names, *made.values(), growers, strict=True)
    lines = [",".join(["name", *made, "truth"]), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


VISIT: dict[str, tuple[str, str]] = {
    # name: (what is scrolled to, the step that the function of the visit takes before)
    "explore_0_open": ("body", ""),
    "explore_1_answer": ("body", "open"),
    "explore_2_doubtful": ("#elements", ""),
    "explore_3_sources": ("#card-groups", "sources"),
    "explore_4_three": ("body", "three"),
    "explore_5_compare": ("#compare", ""),
    "explore_6_report": ("#report", ""),
    "explore_7_export": ("#card-save", ""),
    "explore_9_question": ("#question", "reply"),
    "explore_8_phone": ("#answer", "phone"),
}
"""Pictures of the explorer, in the order of a visit: a section, and what is done before."""


def visit_explorer() -> None:
    """The explorer in a browser, step by step as the page on it says."""
    from playwright.sync_api import sync_playwright

    ready = "body[data-status=ready][data-ready]"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with (
        tempfile.TemporaryDirectory() as folder,
        explore(browser=False) as explorer,
        sync_playwright() as playwright,
    ):
        write_wines(Path(folder) / "wine_labels.csv")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto(explorer.url)
        for name, (part, step) in VISIT.items():
            if step == "open":
                page.set_input_files("#file", Path(folder) / "wine_labels.csv")
            elif step == "sources":
                page.click("#keep")
                for source in ("average_4", "intern"):
                    page.locator("#sources tr", has_text=source).locator("[type=checkbox]").uncheck()
            elif step == "three":
                page.fill("#n-groups", "3")
                page.keyboard.press("Enter")
            elif step == "reply":
                page.get_by_role("button", name="They do not").click()
                page.wait_for_selector("#reply-list >> text=do not belong")
            elif step == "phone":
                page.set_viewport_size({"width": 390, "height": 844})
                page.emulate_media(color_scheme="dark")
            if name != "explore_0_open":
                page.wait_for_timeout(500)  # a change is sent a moment after it was made
                page.wait_for_selector(ready)
                page.wait_for_selector("#question-text:not(:empty)")
            page.evaluate("(part) => document.querySelector(part).scrollIntoView()", part)
            page.evaluate("scrollBy(0, -60)")  # the bar at the top lies over what is scrolled to
            if part == "#report":
                page.frame_locator("#frame").locator("body[data-ready]").wait_for()
            page.screenshot(path=OUT / f"{name}.jpg", type="jpeg", quality=72)
        browser.close()


if __name__ == "__main__":
    main()
