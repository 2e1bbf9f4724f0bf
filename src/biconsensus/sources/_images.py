"""Line segments of images, by the detector LSD with its own number of false alarms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biconsensus._checks import need
from biconsensus.errors import InputError, InputTypeError, TooLargeError
from biconsensus.protocols import FloatArray

GREY = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue in grey (Rec. 601)."""


class LineSegments(NamedTuple):
    """Segments of an image, as elements for models of segments."""

    endpoints: FloatArray
    """(m, 4) x1, y1, x2, y2 in pixels."""
    widths: FloatArray
    """(m,) widths in pixels."""
    log_nfa: FloatArray
    """(m,) base-10 logarithm of the number of false alarms; negative means that chance does not explain the segment."""


def line_segments(
    image: ArrayLike, *, max_log_nfa: float = 0.0, min_length: float = 0.0, max_pixels: int = 100_000_000
) -> LineSegments:
    """Detect line segments with OpenCV's LSD.

    Parameters
    ----------
    image : (h, w), (h, w, 3) or (h, w, 4) array
        Grey, RGB or RGBA (the last channel is ignored). Bytes are used unchanged; floats within [0, 1] and booleans
        are stretched to bytes from there, every other number type from its least to its greatest value.
    max_log_nfa : float
        Segments with a larger log10 NFA are left out.
    min_length : float
        Shorter segments are left out.
    max_pixels : int
        Larger images are refused.

    Returns
    -------
    LineSegments

    Examples
    --------
    >>> picture = np.zeros((60, 60))
    >>> picture[20:40, 10:50] = 1.0
    >>> len(line_segments(picture).endpoints)
    4
    """
    grey = as_grey_bytes(image, max_pixels=max_pixels)
    # 2: advanced refinement, the mode that reports the number of false alarms
    detector = need("cv2", "vision").createLineSegmentDetector(2)
    lines, widths, _, nfa = detector.detect(grey)
    if lines is None:
        return LineSegments(np.empty((0, 4)), np.empty(0), np.empty(0))
    ends = np.asarray(lines, dtype=float).reshape(-1, 4)
    # OpenCV reports minus the logarithm
    log_nfa = -np.asarray(nfa, dtype=float).ravel()
    length = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])
    kept = (log_nfa <= max_log_nfa) & (length >= min_length)
    return LineSegments(ends[kept], np.asarray(widths, dtype=float).ravel()[kept], log_nfa[kept])


def as_grey_bytes(image: ArrayLike, *, max_pixels: int = 100_000_000) -> NDArray[np.uint8]:
    """Convert an image of any usual kind to grey bytes (h, w), or say why it cannot be.

    Parameters
    ----------
    image : (h, w), (h, w, 3) or (h, w, 4) array
        See `line_segments`.
    max_pixels : int
        Larger images are refused.

    Returns
    -------
    (h, w) array of uint8

    Examples
    --------
    >>> as_grey_bytes([[0.0, 0.5], [1.0, 0.25]])
    array([[  0, 128],
           [255,  64]], dtype=uint8)
    """
    array = _checked(np.asarray(image), max_pixels)
    if array.dtype == np.uint8 and array.ndim == 2:
        return np.ascontiguousarray(array)
    if array.dtype == np.uint8:
        return np.asarray(np.rint(array[..., :3] @ GREY), dtype=np.uint8)
    low, high = _range(array[..., :3] if array.ndim == 3 else array)
    grey = array[..., :3].astype(float) @ GREY if array.ndim == 3 else array.astype(float)
    scaled = (grey - low) * (255.0 / (high - low) if high > low else 0.0)
    return np.asarray(np.rint(np.clip(scaled, 0.0, 255.0)), dtype=np.uint8)


def _range(array: NDArray[Any]) -> tuple[float, float]:
    """What becomes black and what becomes white."""
    low, high = float(array.min()), float(array.max())
    unit = array.dtype.kind in "bf" and low >= 0.0 and high <= 1.0
    return (0.0, 1.0) if unit else (low, high)


def _checked(array: NDArray[Any], max_pixels: int) -> NDArray[Any]:
    """Refuse what is no image, with the reason."""
    if array.dtype.kind not in "buif":
        raise InputTypeError(f"image has dtype {array.dtype}; numbers are needed (bytes, integers or floats).")
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise InputError(f"image has shape {array.shape}; allowed are (h, w), (h, w, 3) and (h, w, 4).")
    if array.size == 0:
        raise InputError(f"image is empty (shape {array.shape}); it needs at least one pixel.")
    if array.shape[0] * array.shape[1] > max_pixels:
        raise TooLargeError(
            f"image has {array.shape[0]} x {array.shape[1]} pixels, more than max_pixels={max_pixels}; "
            "shrink or tile it, or raise max_pixels."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        raise InputError(f"image has {len(bad)} NaN or infinite values, the first at {tuple(map(int, bad[0]))}.")
    return array
