"""Tables in and out: CSV, TSV, Excel, Parquet, NPY, NPZ, JSON, told by the ending of the file name.

In a table of labels an empty cell means "not seen"; in a table of points it is an error with line and column.
Everything is written beside its target first and then moved there: the old file or the new one, nothing partial.
"""

from biconsensus.pool.io._tables import LabelTable, PointTable, read_labels, read_points
from biconsensus.pool.io._writing import atomic_path, write_table

__all__ = ["LabelTable", "PointTable", "atomic_path", "read_labels", "read_points", "write_table"]
__dir__ = __all__.copy  # what dir() shows
