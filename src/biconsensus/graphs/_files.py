"""Network files: GML, GraphML, Pajek and edge lists, told by the suffix."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biconsensus.errors import FileFormatError, InputError, MissingDependencyError
from biconsensus.graphs._graph import Graph, from_edge_list
from biconsensus.graphs._objects import from_networkx


def read_graph_file(path: Path, weight: str | None = "weight") -> Graph:
    """Read a network from a file whose suffix tells its form.

    Parameters
    ----------
    path : Path
        A file that ends in .gml, .graphml, .net, .pajek, .edges, .edgelist, .txt, .csv or .tsv.
    weight : str or None
        Edge attribute with the weights (GML, GraphML); an edge list has them in its third column.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from biconsensus.graphs._files import read_graph_file
    >>> file = Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = file.write_text("ann,bob,2\\nbob,cy,1\\n")
    >>> read_graph_file(file).names
    ['ann', 'bob', 'cy']
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise FileFormatError(f"{path.name}: unknown suffix {path.suffix!r}; allowed are {', '.join(sorted(READERS))}")
    if not path.is_file():
        raise InputError(f"graph: there is no file {str(path)!r}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="latin-1")
    return reader(text, path.name, weight)


def _networkx() -> Any:
    """The networkx module, or an error that says how to get it."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingDependencyError.of("networkx", "graph") from None
    return nx


def _read(parse: Callable[[], Any], name: str, form: str, weight: str | None) -> Graph:
    """Run a parser; what it cannot read becomes one kind of error."""
    try:
        graph = parse()
    except Exception as error:
        # networkx raises many kinds here, from IndexError to XML's ParseError
        raise FileFormatError(f"{name}: cannot be read as {form}: {error}") from error
    return from_networkx(graph, weight)


def _gml(text: str, name: str, weight: str | None) -> Graph:
    """GML; parallel edges are allowed even where the file does not announce them."""
    nx = _networkx()
    if not re.search(r"^\s*multigraph\s+1", text, flags=re.MULTILINE):
        text = re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1", text, count=1)
    label = "label" if re.search(r"^\s*label\s", text, flags=re.MULTILINE) else "id"
    return _read(lambda: nx.parse_gml(text, label=label), name, "GML", weight)


def _graphml(text: str, name: str, weight: str | None) -> Graph:
    """GraphML."""
    nx = _networkx()
    return _read(lambda: nx.parse_graphml(text.encode()), name, "GraphML", weight)


def _pajek(text: str, name: str, weight: str | None) -> Graph:
    """Pajek; its weights are always called weight."""
    nx = _networkx()
    if "*vertices" not in text.lower():
        raise FileFormatError(f"{name}: cannot be read as Pajek: no line starts with *Vertices")
    return _read(lambda: nx.parse_pajek(text), name, "Pajek", None if weight is None else "weight")


def _edge_list(text: str, name: str, weight: str | None) -> Graph:
    """Two or three columns, split by comma, semicolon, tab or blanks; lines that start with # or % are comments."""
    edges: list[tuple[Any, ...]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        cells = [cell.strip() for cell in re.split(r"[,;\t]", line)] if re.search(r"[,;\t]", line) else line.split()
        if len(cells) not in (2, 3) or not all(cells[:2]):
            raise FileFormatError(f"{name}, line {number}: {line.strip()!r} is no edge; an edge is: node node [weight]")
        edges.append((cells[0], cells[1], _weight(cells, name, number, weight)))
    if not edges:
        raise FileFormatError(f"{name}: no edges in the file; an edge is: node node [weight]")
    return from_edge_list(edges)


def _weight(cells: list[str], name: str, line: int, weight: str | None) -> float:
    """The third cell as a number, 1 where there is none."""
    if weight is None or len(cells) < 3:
        return 1.0
    try:
        return float(cells[2])
    except ValueError:
        raise FileFormatError(f"{name}, line {line}, column 3: {cells[2]!r} is no number") from None


READERS: dict[str, Callable[[str, str, str | None], Graph]] = {
    ".gml": _gml,
    ".graphml": _graphml,
    ".net": _pajek,
    ".pajek": _pajek,
    ".edges": _edge_list,
    ".edgelist": _edge_list,
    ".txt": _edge_list,
    ".csv": _edge_list,
    ".tsv": _edge_list,
}
