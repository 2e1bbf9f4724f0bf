"""Arrays as short text that the page turns back into arrays."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import InputError

TYPES = (np.uint8, np.uint16, np.uint32)
PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
"""First bytes of the pictures that every browser shows, and their kinds."""


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


def data_uri(image: Any) -> str:
    """A picture as text that a page can hold: the bytes of a file as they are, an array as PNG.

    Parameters
    ----------
    image : str, Path, or array of shape (h, w), (h, w, 3) or (h, w, 4)
        PNG, JPEG, GIF or WebP; or grey, RGB or RGBA. Bytes are used unchanged; other numbers are stretched from their
        least to their greatest value.

    Examples
    --------
    >>> data_uri(np.zeros((2, 2), np.uint8))[:22]
    'data:image/png;base64,'
    """
    if isinstance(image, str | Path):
        if not Path(image).exists():
            raise FileNotFoundError(f"there is no file {image}; check the path.")
        raw = Path(image).read_bytes()
        kind = next((kind for start, kind in PICTURES.items() if raw.startswith(start)), None)
        if kind is None:
            raise InputError(f"image: {image} is no PNG, JPEG, GIF or WebP file; convert it, or give its pixels.")
    else:
        raw, kind = _png(np.asarray(image)), "png"
    return f"data:image/{kind};base64,{base64.b64encode(raw).decode('ascii')}"


def _png(pixels: NDArray[Any]) -> bytes:
    """Pixels as the bytes of a PNG file: header, rows with filter 0, end."""
    colours = {1: 0, 3: 2, 4: 6}
    depth = pixels[..., None] if pixels.ndim == 2 else pixels
    if depth.ndim != 3 or depth.shape[2] not in colours or not depth.size or not np.isfinite(depth).all():
        raise InputError(
            f"image must be a file or finite pixels (h, w), (h, w, 3) or (h, w, 4), got shape {pixels.shape}."
        )
    if depth.dtype != np.uint8:
        values = depth.astype(np.float64)
        low, high = values.min(), values.max()
        depth = np.round(255 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
    height, width, channels = depth.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), depth.reshape(height, -1)])
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, colours[channels], 0, 0, 0),
        b"IDAT": zlib.compress(rows.tobytes(), 9),
        b"IEND": b"",
    }
    chunks = [
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
