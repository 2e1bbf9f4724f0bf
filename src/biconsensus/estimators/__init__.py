"""scikit-learn style estimators: clustering, communities, fitted models, bi-clustering of a matrix."""

from __future__ import annotations
