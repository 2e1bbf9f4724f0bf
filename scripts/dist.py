"""Build wheel and sdist, check them, and try the wheel in empty environments: alone, with each extra, with all.

``python -m scripts.dist [EXTRA ...]``: `base` is the package alone; without names, all of them. Each environment is
new, holds nothing but the wheel and what it asks for, and runs a small example of what the extra is for. The base must
stay small and start quickly; the limits are below. With all extras the pages for beginners run as printed.
Exit code: the number of environments that failed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MOST_MEGABYTES = 350
"""Size of the base installation, NumPy, SciPy and scikit-learn included: others will depend on it."""
MOST_IMPORT_SECONDS = 0.2
"""Processor time of `import biconsensus`, beyond an interpreter that does nothing."""
MOST_HELP_SECONDS = 0.3
"""Processor time of `biconsensus --help`: below it a person does not wait."""

TRIALS = {
    "base": """
import biconsensus as bc
assert len(bc.find_consensus([[0] * 8 + [1] * 8] * 4)) == 2
from biconsensus.errors import MissingDependencyError
try:
    bc.find_consensus([[0] * 8 + [1] * 8] * 4).write_report("page.html")
except MissingDependencyError as error:
    assert "biconsensus[report]" in str(error), error
""",
    "plots": "import biconsensus as bc; bc.plots.preference_matrix(bc.find_consensus([[0] * 8 + [1] * 8] * 4))",
    "report": "import biconsensus as bc; bc.find_consensus([[0] * 8 + [1] * 8] * 4).write_report('page.html')",
    "graph": """
import networkx as nx, biconsensus as bc
assert len(bc.ConsensusCommunities(random_state=0).fit(nx.ring_of_cliques(4, 6)).communities_) == 4
""",
    "graph-fast": """
import biconsensus as bc
edges = [(a, b) for part in (range(8), range(8, 16)) for a in part for b in part if a < b] + [(0, 8)]
assert len(bc.ConsensusCommunities(["leidenalg", "infomap", "walktrap"], random_state=0).fit(edges).communities_) == 2
""",
    "vision": """
import numpy as np
from biconsensus.models import get_model
corners = np.array([[[0, 0, 0, 0], [1, 0, 2, 0], [0, 1, 0, 2], [1, 1, 2, 2]]], dtype=float)
assert np.isfinite(get_model("homography").fit(corners)).all()
""",
    "dask": """
import dask.array as da, numpy as np, biconsensus as bc
table = da.from_array(np.repeat([[0] * 4, [1] * 4], 8, axis=0), chunks=(8, 4))
assert len(bc.find_consensus(table)) == 2
""",
    "tables": """
import polars as pl, biconsensus as bc
pl.DataFrame({f"run {k}": ["a"] * 8 + ["b"] * 8 for k in range(4)}).write_parquet("runs.parquet")
from biconsensus.cli import run
assert run(["merge", "runs.parquet", "--out", "groups.parquet", "--quiet"]) == 0
""",
    "anndata": """
import anndata, numpy as np, biconsensus as bc
adata = anndata.AnnData(np.zeros((16, 2)))
for k in range(4):
    adata.obs[f"run {k}"] = ["a"] * 8 + ["b"] * 8
bc.tl.consensus(adata, keys=[f"run {k}" for k in range(4)])
assert adata.obs["consensus"].nunique() == 2
""",
    "explore": "import starlette, uvicorn; from biconsensus.explore import Explorer; assert callable(Explorer)",
    "datasets": "from biconsensus import datasets; assert datasets.load_uci('iris')[0].shape == (150, 4)",
}
"""What each extra is for, in a few lines that need nothing else."""
PAGES = ("README.md", "docs/installation.md", "docs/start/merge.md", "docs/start/cluster.md", "docs/start/fit.md")
"""Pages for beginners, whose code must run as printed where `biconsensus[all]` is installed."""


@dataclass(frozen=True)
class Trial:
    """What was measured in one environment."""

    name: str
    error: str
    megabytes: float
    import_seconds: float
    help_seconds: float

    def faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        found = [self.error] if self.error else []
        if self.name == "base" and self.megabytes > MOST_MEGABYTES:
            found.append(f"{self.megabytes:.0f} MB, more than {MOST_MEGABYTES}")
        if self.name == "base" and self.import_seconds > MOST_IMPORT_SECONDS:
            found.append(f"import takes {self.import_seconds:.2f} s, more than {MOST_IMPORT_SECONDS}")
        if self.name == "base" and self.help_seconds > MOST_HELP_SECONDS:
            found.append(f"--help takes {self.help_seconds:.2f} s, more than {MOST_HELP_SECONDS}")
        return found


def main(names: list[str]) -> int:
    """Build, check, try; the exit code is the number of environments that failed."""
    known = ["base", *extras(), "all"]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no such extra: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    call(sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    (wheel,) = DIST.glob("*.whl")
    failed = 0
    print(f"{'environment':12} {'MB':>5} {'import s':>8} {'--help s':>8}")
    for name in names or known:
        trial = tried(wheel, name)
        faults = trial.faults()
        failed += bool(faults)
        figures = f"{trial.megabytes:5.0f} {trial.import_seconds:8.2f} {trial.help_seconds:8.2f}"
        print(f"{name:12} {figures} {'; '.join(faults) or 'ok'}", flush=True)
    return failed


def extras() -> list[str]:
    """Extras of the package that can be tried alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name != "all"]


def call(*command: str) -> None:
    """Run a command; stop with what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")


def tried(wheel: Path, name: str) -> Trial:
    """Install the wheel in an empty environment and run what the extra is for."""
    with tempfile.TemporaryDirectory(prefix="biconsensus-") as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        python = place / "env" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        empty = megabytes(place / "env")
        wanted = f"biconsensus @ {wheel.as_uri()}" if name == "base" else f"biconsensus[{name}] @ {wheel.as_uri()}"
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
        error = failure(install, place) or failure([str(python), "-m", "pip", "check"], place)
        size = megabytes(place / "env") - empty
        pages = [str(ROOT / page) for page in PAGES]
        trial = [str(ROOT / "scripts" / "run_pages.py"), *pages] if name == "all" else ["-c", TRIALS[name]]
        error = error or failure([str(python), *trial], place)
        nothing = seconds([str(python), "-c", "pass"], place)
        importing = seconds([str(python), "-c", "import biconsensus"], place) - nothing
        helping = seconds([str(python), "-m", "biconsensus", "--help"], place)
        return Trial(name, error, size, importing, helping)


def failure(command: list[str], folder: Path) -> str:
    """The last lines of a command that fails; nothing if it does not."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else re.sub(r"\s+", " ", (done.stdout + done.stderr)[-400:])


def megabytes(folder: Path) -> float:
    """Size of all files of a folder, in units of 10^6 bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def seconds(command: list[str], folder: Path) -> float:
    """Processor time of a command: the least of three, because the first one fills the caches of the system."""
    program = (
        "import os, subprocess, sys\n"
        "before = os.times()\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "after = os.times()\n"
        "print(after.children_user + after.children_system - before.children_user - before.children_system)"
    )
    timed = [sys.executable, "-c", program, *command]
    return min(float(subprocess.run(timed, cwd=folder, capture_output=True, text=True).stdout) for _ in range(3))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
