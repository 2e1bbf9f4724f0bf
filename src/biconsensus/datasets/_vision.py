"""Trajectories, line segments and point matches from images."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from biconsensus._checks import need
from biconsensus.datasets._folder import path_of
from biconsensus.datasets._points import Labelled
from biconsensus.datasets._reading import codes, matlab
from biconsensus.datasets._sets import YORK_CAMERA, file_of, files_of
from biconsensus.errors import UnknownNameError
from biconsensus.protocols import FloatArray, IntArray


class Segments(NamedTuple):
    """Line segments of one photograph and what is known of their vanishing points."""

    segments: FloatArray
    """(m, 4) endpoints x1, y1, x2, y2 in pixels."""
    labels: IntArray | None
    """(m,) row of `vanishing_points` for hand-labelled segments; None for segments that were detected."""
    vanishing_points: FloatArray
    """(v, 3) true directions in the frame of the camera, as in the file."""
    camera: FloatArray
    """(3, 3) intrinsic matrix in pixels: from directions (y upwards) to the image (y down)."""


class Picture(NamedTuple):
    """A picture in grey, and which of its pixels belong to what."""

    image: FloatArray
    """(height, width) brightness as in the file."""
    mask: IntArray | None
    """(height, width) number of the object at each pixel, 0 for none; None where no truth is known."""


class Correspondences(NamedTuple):
    """Point matches between two images."""

    X: FloatArray
    """(m, 4) x1, y1, x2, y2 in pixels."""
    labels: IntArray
    """(m,) model of each match, -1 for outliers."""


TRUTHS = {
    "york": ("YorkUrbanDB", "GroundTruthVP_CamParams.mat", "vp"),
    "orthogonal": ("YorkUrbanDB", "GroundTruthVP_Orthogonal_CamParams.mat", "vp_orthogonal"),
    "plus": ("yud_plus/vps", "GroundTruthVP_CamParams.mat", "vp"),
}
"""Folder, end of the file name and variable of each set of true vanishing points."""


def load_hopkins155(name: str) -> Labelled:
    """Trajectories of one Hopkins 155 sequence, one motion for each label.

    Parameters
    ----------
    name : str
        Such as "1R2RC"; see ``names_of("hopkins155")``.

    Returns
    -------
    Labelled
        (points, 2 * frames) normalised coordinates x, y of frame 0, then of frame 1 and so on. The paper's data
        matrix is the transpose.

    Examples
    --------
    >>> load_hopkins155("1R2RC").X.shape  # doctest: +SKIP
    (459, 58)
    """
    variables = matlab(file_of("hopkins155", name), "x", "s")
    tracks = variables["x"][:2].transpose(1, 2, 0)
    return Labelled(tracks.reshape(len(tracks), -1).astype(np.float64), codes(variables["s"].ravel()))


def load_york_urban(name: str, segments: str = "labelled", truth: str = "york") -> Segments:
    """Segments of one York Urban photograph, with its vanishing points.

    Parameters
    ----------
    name : str
        Such as "P1080005"; see ``names_of("york_urban")`` and ``names_of("york_urban_detected")``.
    segments : {"labelled", "detected"}, default "labelled"
        By hand, all 102 images; or by a detector (LSD, from YUD+), 29 images.
    truth : {"york", "orthogonal", "plus"}, default "york"
        Vanishing points as measured, made orthogonal, or with those added by YUD+.

    Returns
    -------
    Segments

    Examples
    --------
    >>> load_york_urban("P1080005").segments.shape  # doctest: +SKIP
    (408, 4)
    """
    if segments not in ("labelled", "detected"):
        raise UnknownNameError.of("segments", segments, ["labelled", "detected"])
    if truth not in TRUTHS:
        raise UnknownNameError.of("truth", truth, TRUTHS)
    folder, ending, variable = TRUTHS[truth]
    lines, labels = _labelled(name) if segments == "labelled" else (_detected(name), None)
    points = matlab(path_of(f"york_urban/{folder}/{name}{ending}"), variable)[variable]
    return Segments(lines, labels, points.T.astype(np.float64), _camera())


def load_adelaidermf(name: str) -> Correspondences:
    """Point matches of one AdelaideRMF pair of images.

    Parameters
    ----------
    name : str
        Such as "barrsmith" (homographies) or "biscuit" (fundamental matrices); see ``names_of("adelaidermf")``.

    Returns
    -------
    Correspondences

    Examples
    --------
    >>> load_adelaidermf("barrsmith").X.shape  # doctest: +SKIP
    (241, 4)
    """
    variables = matlab(file_of("adelaidermf", name), "data", "label")
    X = variables["data"][[0, 1, 3, 4]].T.astype(np.float64)
    return Correspondences(X, variables["label"].ravel().astype(np.int64) - 1)


def load_cells(name: str) -> Picture:
    """A photograph of 24 coins, or a micrograph of 125 nuclei with its mask.

    Parameters
    ----------
    name : {"coins", "nuclei"}
        Stand-ins for the micrograph of the paper, which was not found.

    Returns
    -------
    Picture

    Examples
    --------
    >>> load_cells("coins").image.shape  # doctest: +SKIP
    (303, 384)
    """
    image, *mask = [_pixels(path_of(file)) for file in files_of("cells", name)]
    return Picture(image.astype(np.float64), mask[0].astype(np.int64) if mask else None)


def _pixels(path: Path) -> Any:
    """Values of a picture, as stored in the file."""
    cv2 = need("cv2", "vision")
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)


def _labelled(name: str) -> tuple[FloatArray, IntArray]:
    """Segments drawn by hand (two rows each in the file) and their vanishing points."""
    variables = matlab(file_of("york_urban", name), "lines", "vp_association")
    lines, association = variables["lines"], variables["vp_association"]
    return lines.reshape(-1, 4).astype(np.float64), association.ravel().astype(np.int64) - 1


def _detected(name: str) -> FloatArray:
    """Segments of the detector: both endpoints, without the homogeneous ones."""
    return np.loadtxt(file_of("york_urban_detected", name), skiprows=1)[:, [6, 7, 9, 10]]


def _camera() -> FloatArray:
    """Intrinsic matrix of the one camera of the set."""
    values = matlab(path_of(YORK_CAMERA), "focal", "pixelSize", "pp")
    focal = float(values["focal"].item()) / float(values["pixelSize"].item())
    x, y = values["pp"].ravel()
    # rows of the image count downwards, the file's directions have y upwards
    return np.array([[focal, 0.0, x], [0.0, -focal, y], [0.0, 0.0, 1.0]])
