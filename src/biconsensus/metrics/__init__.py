"""How well groups agree with a reference: partitions, overlapping groups, and partitions of a graph.

Every score lies in [0, 1] or [-1, 1] (the paper prints percentages) and is computed from counts of label pairs,
so that ten million labels cost one pass. In the partition scores (`nmi`, `ari`, `ami`) the label -1 is a label like
any other: leaving elements out is neither rewarded nor hidden.
"""

from biconsensus.metrics._covers import overlapping_nmi, recall_precision
from biconsensus.metrics._partitions import (
    ami,
    ari,
    f_measure,
    misclassification_error,
    modularity,
    nmi,
    noise_as_singletons,
)

__all__ = [
    "ami",
    "ari",
    "f_measure",
    "misclassification_error",
    "modularity",
    "nmi",
    "noise_as_singletons",
    "overlapping_nmi",
    "recall_precision",
]
__dir__ = __all__.copy  # what dir() shows
