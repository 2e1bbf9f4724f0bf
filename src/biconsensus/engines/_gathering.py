"""DaskConsensus: the consensus of a table in partitions, its labels still there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, wraps
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._words import counted
from biconsensus.engines._counted import CountedPool
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray
from biconsensus.quorum._confidence import Confidence, check_disjoint, confidence_of
from biconsensus.result._consensus import Consensus
from biconsensus.result._notebook import element_columns


def _gathered(name: str) -> Any:
    """A member of `Consensus` that needs all elements at once: that of the gathered consensus."""
    member = getattr(Consensus, name)
    if not callable(member):
        return property(lambda self: getattr(self.gather(), name), doc=member.__doc__)

    @wraps(member)
    def call(self: DaskConsensus, *args: Any, **options: Any) -> Any:
        return getattr(self.gather(), name)(*args, **options)

    return call


@dataclass(frozen=True, repr=False)
class DaskConsensus(Consensus):
    """Groups of the elements of a distributed table.

    `labels`, `backing` and the confidences of elements are Dask arrays and `to_frame()` a Dask data frame, made when
    they are asked for. Everything else that is about elements (`membership`, `biclusters`, `summary`, `save`, the
    report, more sources, questions) gathers them first, once: four bytes an element.

    Examples
    --------
    >>> import dask.array as da
    >>> import biconsensus as bc
    >>> table = da.from_array(np.array([[0] * 4, [0] * 4, [1] * 4, [1] * 4]), chunks=(2, 4))
    >>> found = bc.find_consensus(table)
    >>> found.labels.compute(), type(found.gather()).__name__
    (array([0, 0, 1, 1]), 'Consensus')
    """

    rows: Any = None
    """(m,) Dask array: the distinct row of each element."""
    parts: tuple[Any, ...] = ()
    """The partitions of the table."""
    sizes: tuple[int, ...] = ()
    """Elements in each of them."""

    membership = _gathered("membership")
    biclusters = _gathered("biclusters")
    indicators = _gathered("indicators")
    soft_membership = _gathered("soft_membership")
    summary = _gathered("summary")
    significance = _gathered("significance")
    converged = _gathered("converged")
    modes = _gathered("modes")
    update = _gathered("update")
    extend = _gathered("extend")
    next_question = _gathered("next_question")
    answer = _gathered("answer")
    withdraw = _gathered("withdraw")
    to_arrow = _gathered("to_arrow")
    save = _gathered("save")
    write_report = _gathered("write_report")
    explore = _gathered("explore")
    _repr_html_ = _gathered("_repr_html_")

    @cached_property
    def of_rows(self) -> Consensus:
        """The same groups over the distinct rows, one element for each."""
        return Consensus(**{f.name: getattr(self, f.name) for f in fields(Consensus)})

    @property
    def labels(self) -> Any:
        """(m,) Dask array of int: the group of each element, -1 for none."""
        return self._spread(self.of_rows.labels)

    @property
    def backing(self) -> Any:
        """(m,) Dask array in [0, 1]: share of the candidates behind its group that hold the element."""
        return self._spread(self.of_rows.backing)

    @cached_property
    def _confidence(self) -> Confidence:
        """Confidence with a Dask array (m,) of the elements; only distinct rows are looked at."""
        check_disjoint(self)
        found = confidence_of(self.pool, self.of_rows.labels, len(self), self._sizes_of_rows)
        return Confidence(self._spread(found.elements), found.groups)

    def _spread(self, values: NDArray[Any]) -> Any:
        """Values of distinct rows given to their elements, lazily."""
        return self.rows.map_blocks(_values_at, values, dtype=values.dtype)

    @property
    def _sizes_of_rows(self) -> IntArray:
        """(k,) elements of each distinct row of the table."""
        assert isinstance(self.pool, CountedPool)
        return self.pool.elements

    def gather(self) -> Consensus:
        """The consensus as on one machine, with the row of every element in memory."""
        return self._whole

    @cached_property
    def _whole(self) -> Consensus:
        """The gathered consensus, kept for all that needs it."""
        rows = np.asarray(self.rows.compute())
        pool = Pool(**{f.name: getattr(self.pool, f.name) for f in fields(Pool)} | {"inverse": self.pool.inverse[rows]})
        same = self.row_of is self.pool.inverse
        own = {f.name: getattr(self, f.name) for f in fields(Consensus)}
        return Consensus(**own | {"pool": pool, "row_of": pool.inverse if same else self.row_of[rows]})

    def to_frame(self) -> Any:
        """Dask data frame of label, confidence and backing, with the index of the table where it has one."""
        import pandas as pd
        from dask import dataframe
        from dask.delayed import delayed

        columns, starts = element_columns(self), np.cumsum([0, *self.sizes])
        meta = pd.DataFrame({name: np.zeros(0, values.dtype) for name, values in columns.items()})
        values = zip(*(column.to_delayed().ravel() for column in columns.values()))
        pieces = [delayed(_frame)(*piece) for piece in zip(self.parts, starts, map(list, values), repeat([*columns]))]
        return dataframe.from_delayed(pieces, meta=meta, verify_meta=False)

    def compare(self, other: Consensus) -> dict[str, float]:
        """Agreement of two results on the same elements, gathered."""
        return self.gather().compare(other.gather() if isinstance(other, DaskConsensus) else other)

    def __repr__(self) -> str:
        """One line: how many groups, of how many elements."""
        m, n = self.pool.shape
        left = m - int(self._sizes_of_rows[self.of_rows.labels >= 0].sum())
        return (
            f"DaskConsensus({counted(len(self), 'group')} of {counted(m, 'element')} from "
            f"{counted(n, 'candidate')}, {left} left over)"
        )


def _values_at(rows: NDArray[np.int32], values: NDArray[Any]) -> NDArray[Any]:
    """Value of the row of each element."""
    return np.take(values, rows)


def _frame(part: Any, start: int, values: list[NDArray[Any]], names: list[str]) -> Any:
    """Columns of one partition as a data frame."""
    import pandas as pd

    index = part.index if hasattr(part, "index") else pd.RangeIndex(start, start + len(part))
    return pd.DataFrame(dict(zip(names, values)), index=index)
