"""One machine: label tables larger than memory in, labels out, chunk by chunk and in threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from biconsensus.engines._chunks import open_chunks
from biconsensus.engines._coder import Coder
from biconsensus.engines._compressed import Compressed
from biconsensus.pool._pool import Pool
from biconsensus.pool._rows import Numbering, Numbers, count_numbers


def compress_stream(
    chunks: Iterable[Any], *, missing: int | None = None, n_rows: int | None = None, n_jobs: int | None = None
) -> tuple[Compressed, Numbers]:
    """Distinct rows of a label table that comes in chunks, and the row of each element.

    Parameters
    ----------
    chunks : iterable of label tables
        Each is anything that `Pool.from_labels` takes, or an Arrow table or batch; all with the same groupings.
    missing : int, optional
        Code that means "not seen" in integer tables.
    n_rows : int, optional
        Number of elements in all, if it is known.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Returns
    -------
    compressed : Compressed
        Rows in the order of their first appearance, with counts.
    rows : (m,) int32 array
        The row of each element.

    Examples
    --------
    >>> import numpy as np
    >>> found, rows = compress_stream(np.array([[[0, 5]], [[1, 5]], [[0, 5]]]))
    >>> rows
    array([0, 1, 0], dtype=int32)
    """
    coder, numbering = Coder(missing), Numbering(n_rows, n_jobs)
    for chunk in chunks:
        numbering.add(coder.cells(chunk))
    cells, first, rows = numbering.finish()
    counts = count_numbers(rows, first.size)
    texts = [list(texts) for texts in coder.texts]
    return Compressed(cells, counts, coder.names, texts, missing), rows


def pool_from_stream(
    source: Any,
    weights: Any = None,
    names: Sequence[str] | None = None,
    *,
    missing: int | None = None,
    id_column: str | None = None,
    n_jobs: int | None = None,
) -> Pool:
    """Pool of a label table that need not fit into memory.

    Parameters
    ----------
    source : path of a Parquet file or folder or of an NPY file, Arrow or polars table, or iterable of chunks
        One row an element, one column a grouping.
    weights, names, missing
        As in `Pool.from_labels`.
    id_column : str, optional
        Column that holds no labels but the identifiers of the elements; it becomes ``pool.ids``. By default a first
        column named "id", or an index that pandas wrote.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> pool_from_stream(iter([np.array([[0, 1], [0, 1]]), np.array([[2, 1]])])).shape
    (3, 3)
    """
    opened = open_chunks(source, id_column)
    found, rows = compress_stream(opened, missing=missing, n_rows=opened.n_rows, n_jobs=n_jobs)
    return found.pool(rows, weights=weights, names=names or found.names, ids=opened.ids())
