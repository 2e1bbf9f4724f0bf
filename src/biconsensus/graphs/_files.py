"""Network files, their form told by the suffix: GML, GraphML, GEXF, Pajek, METIS, matrices, lists."""

from __future__ import annotations

import ast
import gzip
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import mminfo, mmread
from scipy.sparse import coo_array, load_npz

from biconsensus._checks import available_memory, need
from biconsensus._words import counted
from biconsensus.errors import FileFormatError, MissingDependencyError, UnknownNameError
from biconsensus.pool.io._arrays import check_archive
from biconsensus.pool.io._text import is_number

HEADERS = {
    *("source", "from", "src", "u", "node1", "node_1", "start", "id1", "fromnodeid"),
    *("target", "to", "dst", "v", "node2", "node_2", "end", "id2", "tonodeid"),
}
"""Names that the columns of the two ends of an edge have."""
KINDS = r"(node|vertex|name|id)+$"
"""What may follow such a name in the first line of a file: "Source node", "from_id"."""
UNPACKED_AT_ONCE = 2**24
"""Bytes of a packed file that are unpacked before its size is looked at again: small beside any memory."""
FEWEST_OF_A_MATRIX = 6
"""Columns from which on a square table of numbers is an adjacency: edge lists have two ends and a few attributes."""
BYTES_OF_A_NODE = 100
"""Memory that a node without an edge takes at least: its name, a number, with its places in the list and the index."""


@dataclass(frozen=True)
class FileContent:
    """A network as it was found in a file, in a form that `read_graph` takes."""

    network: Any
    """A networkx graph, an (m, m) adjacency or a list of edges."""
    weight: str | None = "weight"
    """Edge attribute of a networkx graph that has the weights; None: every edge weighs 1."""
    nodes: Sequence[Hashable] | None = None
    """All nodes, where a list of edges does not tell them."""


def read_graph_file(path: Path, weight: str | None = "weight") -> FileContent:
    """Read a network from a file whose suffix tells its form.

    Parameters
    ----------
    path : Path
        A file that ends in .gml, .graphml, .gexf, .net or .pajek, .mtx (Matrix Market), .npz (a sparse array of SciPy),
        .metis or .graph, .adjlist, or .edges, .edgelist, .txt, .csv or .tsv (an edge list); .gz may follow any. The
        ends of an edge are the columns that the first line calls source and target (or from and to, and the like), or
        else the first two.
    weight : str or None
        Edge attribute with the weights (GML, GraphML, GEXF, and the edge lists of networkx). Other edge lists have
        them in the column of that name, if their first line names the columns, or else in the column after the ends;
        further columns are passed over. A text table with the same names above and at the left of its numbers, as
        pandas writes an adjacency, is one.

    Returns
    -------
    FileContent

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from biconsensus.graphs._files import read_graph_file
    >>> file = Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = file.write_text("ann,bob,2\\nbob,cy,1\\n")
    >>> read_graph_file(file).network
    [('ann', 'bob', 2.0), ('bob', 'cy', 1.0)]
    """
    reader = READERS.get(_suffix(path))
    if reader is None:
        raise FileFormatError(
            f"{path.name}: unknown suffix {path.suffix!r}; allowed are {', '.join(sorted(READERS))}, each also with .gz"
        )
    return reader(_content(path), path.name, weight)


def node_attributes(path: Path) -> dict[Hashable, dict[str, Any]]:
    """What a GML, GraphML or GEXF file says of each node, by the names that `read_graph_file` gives them.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        Attributes of each node.
    """
    parse = PARSERS.get(_suffix(path))
    if parse is None:
        raise FileFormatError(f"{path}: only GML, GraphML and GEXF files have node attributes for --truth.")
    return dict(_parsed(parse, _content(path), path.name).nodes(data=True))


def _suffix(path: Path) -> str:
    """The suffix that tells the form: the last, or that before .gz."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _content(path: Path) -> bytes:
    """The bytes of a file, unpacked."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    parts, unpacked, limit = [], 0, available_memory()
    try:
        with gzip.open(path) as stream:
            while part := stream.read(UNPACKED_AT_ONCE):
                parts.append(part)
                unpacked += len(part)
                if limit is not None and 2 * unpacked > limit:  # the parts, and what they are put together to
                    raise FileFormatError(f"{path.name}: unpacks to more than half of the {limit} bytes of free memory")
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path.name}: cannot be unpacked: {error}") from error
    return b"".join(parts)


def _text(data: bytes) -> str:
    """Text in UTF-8, or in Latin-1 where it is not that."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _parse_gml(data: bytes) -> Any:
    """GML; parallel edges are allowed even where the file does not announce them."""
    lines = [line for line in _text(data).splitlines() if line.strip()]
    text = "\n".join(lines)
    if not re.search(r"^[ \t]*multigraph[ \t]+1", text, flags=re.MULTILINE):
        text = re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1", text, count=1)
    label = "label" if re.search(r"^[ \t]*label[ \t]", text, flags=re.MULTILINE) else "id"
    return need("networkx", "graph").parse_gml(text, label=label)


def _parse_graphml(data: bytes) -> Any:
    """GraphML."""
    return need("networkx", "graph").parse_graphml(data)


def _parse_gexf(data: bytes) -> Any:
    """GEXF."""
    return need("networkx", "graph").read_gexf(io.BytesIO(data))


def _parse_adjacency_list(data: bytes) -> Any:
    """A node and its neighbours on each line."""
    return need("networkx", "graph").parse_adjlist(_text(data).splitlines())


def _parsed(parse: Callable[[bytes], Any], data: bytes, name: str) -> Any:
    """A networkx graph; what its parser cannot read becomes one kind of error."""
    try:
        return parse(data)
    except MissingDependencyError:
        raise
    except Exception as error:
        # networkx raises many kinds here, from IndexError to XML's ParseError
        raise FileFormatError(f"{name}: cannot be read as {FORMS[parse]}: {error}") from error


def _by_networkx(parse: Callable[[bytes], Any]) -> Callable[[bytes, str, str | None], FileContent]:
    """A reader from a parser of networkx."""
    return lambda data, name, weight: FileContent(_parsed(parse, data, name), weight)


def _pajek(data: bytes, name: str, weight: str | None) -> FileContent:
    """Pajek; its weights are always called weight."""
    text = _text(data)
    if "*vertices" not in text.lower():
        raise FileFormatError(f"{name}: cannot be read as Pajek: no line starts with *Vertices")
    graph = _parsed(_parse_pajek, data, name)
    return FileContent(graph, None if weight is None else "weight")


def _parse_pajek(data: bytes) -> Any:
    """Pajek."""
    return need("networkx", "graph").parse_pajek(_text(data))


def _matrix_market(data: bytes, name: str, weight: str | None) -> FileContent:
    """Matrix Market: an adjacency."""

    def read() -> Any:
        n_rows, n_columns, n_entries, form, *_ = mminfo(io.BytesIO(data))
        declared = n_rows * n_columns // 2 if form == "array" else n_entries  # of a symmetric array one half is listed
        if declared > len(data):
            raise ValueError(f"{declared} entries are announced in a file of {len(data)} bytes")
        # SciPy reads "1x5" as 1, and some versions crash on zero bytes
        strange = re.sub(rb"\A(?:%.*\n)*", b"", data).translate(None, b"0123456789+-.eE \t\r\n")
        if strange:
            raise ValueError(f"its numbers hold {chr(strange[0])!r}")
        with warnings.catch_warnings():
            # SciPy tells that the class of the answer will change; an older one cannot be asked for the new class
            warnings.simplefilter("ignore", DeprecationWarning)
            return mmread(io.BytesIO(data))

    return _adjacency(read, "Matrix Market", name, weight)


def _sparse_array(data: bytes, name: str, weight: str | None) -> FileContent:
    """A sparse array as `scipy.sparse.save_npz` writes it; nothing in it is executed."""

    def read() -> Any:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, name)
        matrix = load_npz(io.BytesIO(data))
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # an index outside the matrix would reach memory that is not its own
        return matrix

    return _adjacency(read, "a sparse array of SciPy", name, weight)


def _adjacency(read: Callable[[], Any], form: str, name: str, weight: str | None) -> FileContent:
    """The network of a matrix that `read` gives; whatever a damaged file makes it raise becomes our own error."""
    try:
        matrix = coo_array(read())
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"its entries are of type {matrix.dtype}; weights are numbers")
        needed, limit = BYTES_OF_A_NODE * max(matrix.shape), available_memory()
        if limit is not None and needed > limit:
            raise ValueError(f"{max(matrix.shape)} nodes need {needed} bytes, but only {limit} are free")
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(f"{name}: cannot be read as {form}: {error}") from error
    return FileContent(matrix if weight is not None else matrix != 0)


def _metis(data: bytes, name: str, weight: str | None) -> FileContent:
    """METIS: nodes and edges on the first line, then the neighbours of each node, counted from 1."""
    lines = [line.split() for line in _text(data).splitlines() if not line.lstrip().startswith("%")]
    try:
        first, rows = [int(cell) for cell in lines[0]], lines[1:]
        form = f"{first[2] if len(first) > 2 else 0:03d}"
        skipped = int(form[-3]) + (first[3] if len(first) > 3 else 1) * int(form[-2])
        step = 2 if form[-1] == "1" else 1
        if len(rows) < first[0]:
            raise ValueError(f"{counted(len(rows), 'line')} for {counted(first[0], 'node')}")
        edges = []
        for node, cells in enumerate(rows[: first[0]]):
            for k in range(skipped, len(cells), step):
                value = float(cells[k + 1]) if step == 2 and weight is not None else 1.0
                neighbour = int(cells[k])
                if not 1 <= neighbour <= first[0]:
                    raise ValueError(
                        f"node {node + 1} has the neighbour {neighbour}, and the file announces "
                        f"{counted(first[0], 'node')}"
                    )
                if node < neighbour:
                    edges.append((node + 1, neighbour, value))
        return FileContent(edges, nodes=list(range(1, first[0] + 1)))
    except (ValueError, IndexError) as error:
        raise FileFormatError(f"{name}: cannot be read as METIS: {error}") from error


def _edge_list(data: bytes, name: str, weight: str | None) -> FileContent:
    """Two or more columns, split by comma, semicolon, tab or blanks; lines that start with # or % are comments.

    A square table of numbers is an adjacency.
    """
    lines = list(_rows(_text(data)))
    if lines and lines[0][1][0] == "":  # pandas writes an index, which has no name, in front of the columns
        nodes = lines[0][1][1:]
        if nodes == [cells[0] for _, cells in lines[1:]]:
            return FileContent(_named_adjacency(lines[1:], name), weight, nodes)
    square = _square_table([cells for _, cells in lines])
    if square is not None:
        return FileContent(square[0], weight, square[1])
    one, other = places_of_ends(lines[0][1] if lines else [])
    column = other + 1
    for number, cells in lines:
        if len(cells) <= other or not (cells[one] and cells[other]):
            line = ",".join(cells)
            raise FileFormatError(f"{name}, line {number}: {line!r:.80} is no edge; an edge is: node node [weight]")
    if lines and _is_header(lines[0][1], lines[1:]):
        column = _weight_column(lines[0][1], weight, column)
        lines = lines[1:]
    edges = [(cells[one], cells[other], _weight(cells, name, number, weight, column)) for number, cells in lines]
    if not edges:
        raise FileFormatError(f"{name}: no edges in the file; an edge is: node node [weight]")
    return FileContent(edges)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line that is no comment; a mapping, which networkx writes, is one cell."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        plain, brace, rest = line.partition("{")
        split = re.split(r"[,;\t]", plain) if re.search(r"[,;\t]", plain) else plain.split()
        cells = [cell.strip() for cell in split] + ([brace + rest.strip()] if brace else [])
        if brace and len(cells) > 3:
            cells = [cell for cell in cells if cell]
        yield number, cells


def _square_table(rows: list[list[str]]) -> tuple[NDArray[np.float64], list[str] | None] | None:
    """(m, m) weights of a table of numbers with as many rows as columns, and the names of a first line with names.

    Few columns are those of an edge list.
    """
    m = len(rows[0]) if rows else 0
    if m < FEWEST_OF_A_MATRIX or not m <= len(rows) <= m + 1 or any(len(cells) != m for cells in rows):
        return None
    names = rows[0] if len(rows) > m else None
    numbers = rows if names is None else rows[1:]
    if not all(is_number(cell) for cells in numbers for cell in cells):
        return None
    return np.array(numbers, dtype=np.float64), names


def _named_adjacency(lines: Sequence[tuple[int, list[str]]], name: str) -> NDArray[np.float64]:
    """(m, m) weights of lines that begin with the name of their node."""
    for number, cells in lines:
        if len(cells) != len(lines) + 1 or not all(map(is_number, cells[1:])):
            raise FileFormatError(
                f"{name}, line {number}: an adjacency needs {counted(len(lines), 'number')} after the name of the node"
            )
    return np.array([[float(cell) for cell in cells[1:]] for _, cells in lines])


def places_of_ends(first: list[str]) -> tuple[int, int]:
    """The columns of the two ends: those that a first line calls so, or else the first two."""
    named = [place for place, cell in enumerate(first) if names_an_end(cell)]
    return (named[0], named[1]) if len(named) > 1 else (0, 1)


def _weight_column(header: list[str], weight: str | None, usual: int) -> int:
    """The place of the weights: the column of that name, or the usual one where nobody named one."""
    names = [cell.strip("\"'").lower() for cell in header]
    if weight is not None and weight.lower() in names:
        return names.index(weight.lower())
    if weight not in (None, "weight"):
        raise UnknownNameError.of("column for the weights of the edges", str(weight), header)
    return usual


def _is_header(cells: list[str], below: list[tuple[int, list[str]]]) -> bool:
    """Whether a first line names columns: by known names, or by words above numbers and names of no node below."""
    if all(names_an_end(cells[place]) for place in places_of_ends(cells)):
        return True
    further = cells[2:3]
    if further and (further[0] == "" or further[0].startswith("{") or is_number(further[0])):
        return False
    ends, above = [cell for _, row in below for cell in row[:2]], cells[:2]
    weights = [row[2] for _, row in below if len(row) > 2 and row[2]] if further else []
    above_nodes = not any(map(is_number, above)) and _all_numbers(ends)
    return (above_nodes or _all_numbers(weights)) and not any(cell in above for cell in ends)


def names_an_end(cell: str) -> bool:
    """Whether a word is a usual name of a column of ends."""
    word = re.sub(r"[\W_]", "", cell.lower())
    return word in HEADERS or re.sub(KINDS, "", word) in HEADERS


def _all_numbers(cells: list[str]) -> bool:
    """Whether there are cells, and all are numbers."""
    return bool(cells) and all(map(is_number, cells))


def _weight(cells: list[str], name: str, line: int, weight: str | None, column: int) -> float:
    """The cell of the weight as a number, 1 where there is none; of a mapping, the attribute of that name."""
    if weight is None or len(cells) <= column or cells[column] == "":
        return 1.0
    try:
        if cells[column].startswith("{"):
            return float(ast.literal_eval(cells[column]).get(weight, 1.0))
        return float(cells[column])
    except (ValueError, SyntaxError, AttributeError, TypeError):
        raise FileFormatError(
            f"{name}, line {line}, column {column + 1}: {cells[column]!r} is no number; an edge is: node node "
            "[weight]. Remove the column, or name the columns in the first line (source, target, ..., weight), or pass "
            "weight=None (--weight none) to read no weights."
        ) from None


PARSERS: dict[str, Callable[[bytes], Any]] = {".gml": _parse_gml, ".graphml": _parse_graphml, ".gexf": _parse_gexf}
"""Forms whose nodes have attributes."""
FORMS: dict[Callable[[bytes], Any], str] = {
    _parse_gml: "GML",
    _parse_graphml: "GraphML",
    _parse_gexf: "GEXF",
    _parse_pajek: "Pajek",
    _parse_adjacency_list: "an adjacency list",
}
READERS: dict[str, Callable[[bytes, str, str | None], FileContent]] = {
    **{suffix: _by_networkx(parse) for suffix, parse in PARSERS.items()},
    ".adjlist": _by_networkx(_parse_adjacency_list),
    ".net": _pajek,
    ".pajek": _pajek,
    ".mtx": _matrix_market,
    ".npz": _sparse_array,
    ".metis": _metis,
    ".graph": _metis,
    ".edges": _edge_list,
    ".edgelist": _edge_list,
    ".txt": _edge_list,
    ".csv": _edge_list,
    ".tsv": _edge_list,
}
