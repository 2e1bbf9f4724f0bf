"""Parametric models, stateless and batched; a new one is a class in a file of this folder and a line in `MODELS`.

Beside `sample_size`, `fit` and `residuals` (the protocol) a model may offer, and the library uses where present:

* ``refit(data (m, d), weights (m,)) -> (p,)``: least squares on many elements;
* ``close(params (k, p), data (m, d), reach) -> (rows, models, distances)``: the pairs within a reach, where that is
  quicker than all residuals;
* ``improve(params (k, p), data (m, d), threshold, steps) -> (k, p)``: hypotheses drawn to what lies near them;
* ``hit_probability(params (k, p), threshold, box (2, d)) -> (k,)``: the paper's closed form, corrected;
* ``background(box (2, d), n, rng) -> (n, d)``: random elements (default: uniform in the box);
* ``background_like(data (m, d), n, rng) -> (n, d)``: random elements that keep what is not tested, such as lengths of
  segments;
* ``project(params (k, p), data (m, d)) -> (m, k)``: positions along a curve;
* ``draw(params (p,), box (2, d)) -> (n, 2)``: a polyline;
* ``positions(data (m, d)) -> (m, q)``: where elements lie, for localised sampling (default: the data);
* ``n_features`` (d) and ``degrees_of_freedom``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from biconsensus.errors import InputTypeError, UnknownNameError
from biconsensus.models._background import uniform_background
from biconsensus.models._cylinder import CylinderModel, with_normals
from biconsensus.models._ellipse import EllipseFromSegments, EllipseModel
from biconsensus.models._flat import LineModel, PlaneModel, SubspaceModel
from biconsensus.models._fundamental import FundamentalModel
from biconsensus.models._homography import HomographyModel
from biconsensus.models._least_squares import refit
from biconsensus.models._round import CircleModel, SphereModel
from biconsensus.models._segment import SegmentModel
from biconsensus.models._vanishing_point import VanishingPointModel, segment_hit_probability
from biconsensus.protocols import Model

__all__ = [
    "MODELS",
    "CircleModel",
    "CylinderModel",
    "EllipseFromSegments",
    "EllipseModel",
    "FundamentalModel",
    "HomographyModel",
    "LineModel",
    "PlaneModel",
    "SegmentModel",
    "SphereModel",
    "SubspaceModel",
    "VanishingPointModel",
    "get_model",
    "refit",
    "segment_hit_probability",
    "uniform_background",
    "with_normals",
]
__dir__ = __all__.copy  # what dir() shows

MODELS: dict[str, Callable[[], Any]] = {
    "line": LineModel,
    "segment": SegmentModel,
    "circle": CircleModel,
    "ellipse": EllipseModel,
    "ellipse_from_segments": EllipseFromSegments,
    "plane": PlaneModel,
    "sphere": SphereModel,
    "cylinder": CylinderModel,
    "vanishing_point": VanishingPointModel,
    "homography": HomographyModel,
    "fundamental": FundamentalModel,
    "subspace": SubspaceModel,
}


def get_model(model: str | Model) -> Model:
    """Give the model of a name, or the object itself if it is a model.

    Parameters
    ----------
    model : str or Model
        A name in `MODELS` or of an entry point of the group ``biconsensus.models``, or an object with `sample_size`,
        `fit` and `residuals`.

    Returns
    -------
    Model

    Examples
    --------
    >>> get_model("line").sample_size
    2
    """
    if isinstance(model, str):
        named: Model = _by_name(model)()
        return named
    if isinstance(model, type) or not isinstance(model, Model):
        raise InputTypeError(
            f"model must be a name ({', '.join(MODELS)}) or an object with sample_size, fit and residuals; "
            f"received {model!r}. A class must be called first, as in SubspaceModel(dimension=2)."
        )
    return model


def _by_name(name: str) -> Callable[[], Any]:
    """Registered class of a name; outside packages are asked only for names that are not our own."""
    if name in MODELS:
        return MODELS[name]
    outside = {point.name: point for point in entry_points(group="biconsensus.models")}
    if name not in outside:
        raise UnknownNameError.of("model", name, [*MODELS, *outside])
    loaded: Callable[[], Any] = outside[name].load()
    return loaded
