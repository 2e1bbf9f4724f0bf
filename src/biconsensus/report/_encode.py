"""Arrays as short text that the page turns back into arrays."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = (np.uint8, np.uint16, np.uint32)


def packed(values: NDArray[Any]) -> dict[str, Any]:
    """Whole numbers from 0 in as few bytes as they need, little-endian, in base 64.

    Examples
    --------
    >>> packed(np.array([0, 1, 255]))
    {'bytes': 1, 'text': 'AAH/'}
    """
    top = int(values.max(initial=0))
    kind = next(kind for kind in TYPES if top <= np.iinfo(kind).max)
    raw = np.ascontiguousarray(values, np.dtype(kind).newbyteorder("<")).tobytes()
    return {"bytes": np.dtype(kind).itemsize, "text": base64.b64encode(raw).decode("ascii")}


def packed_shares(values: NDArray[Any]) -> dict[str, Any]:
    """Numbers between 0 and 1, to 1/250."""
    return packed(np.round(250 * np.clip(np.nan_to_num(values), 0.0, 1.0)))


def packed_range(values: NDArray[Any]) -> dict[str, Any]:
    """Any finite numbers, to 1/65,535 of their range."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not (math.isfinite(low) and math.isfinite(high)):
        low = high = 0.0
    scale = (high - low) or 1.0
    return {"low": low, "high": high, **packed(np.round(65_535 * ((values - low) / scale)))}


def round_off(value: Any, digits: int = 4) -> float | None:
    """A short number for the page; None where there is none."""
    return round(float(value), digits) if math.isfinite(value) else None


def rounded(values: Any, digits: int = 4) -> list[float | None]:
    """Short numbers for the page."""
    return [round_off(value, digits) for value in values]


def plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, bool | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return round_off(value, 6)
    return str(value)


def to_json(content: Any) -> str:
    """JSON that can stand inside a script element: no character of it can end the element."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
