"""Small files, and cells with gaps."""

from __future__ import annotations


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def values(column):
    return [None if v is None or v != v else v for v in column.tolist()]
