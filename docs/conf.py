"""Sphinx configuration of the site."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import biconsensus

project = "biconsensus"
copyright = "the biconsensus developers"
author = "the biconsensus developers"
version = release = biconsensus.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath"]
myst_heading_anchors = 4
exclude_patterns = [
    "_build",
    "reproduction/parts",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.json",
    "gallery/*.md5",
]
suppress_warnings = ["config.cache", "toc.empty_glob"]

# the tutorials are notebooks without outputs: they run in every build, and one that fails stops it
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_output_stderr = "remove"

html_theme = "furo"
html_title = "biconsensus"
html_show_sphinx = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

os.environ.setdefault("MPLBACKEND", "Agg")

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
    "capture_repr": (),
    "matplotlib_animations": False,
    "abort_on_example_error": False,
}
warnings.filterwarnings("ignore", category=DeprecationWarning)


def escape_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Absolute values in docstrings are written |x|, which reStructuredText takes for something else."""
    for k, line in enumerate(lines):
        if "|" in line and "`" not in line and ">>>" not in line:
            lines[k] = line.replace("|", "\\|")


def drop_empty_patterns(app: Any, docname: str, source: list[str]) -> None:
    """Pages that `make reproduce` and `make bench` write may not be there yet: leave their patterns out."""
    folder = (Path(app.srcdir) / docname).parent
    lines = source[0].splitlines(keepends=True)
    kept = [line for line in lines if not re.fullmatch(r"[a-z_]*\*\n", line) or any(folder.glob(line.strip() + ".md"))]
    source[0] = "".join(kept)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", drop_empty_patterns)
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
