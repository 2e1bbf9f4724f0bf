"""Networks: shapes and sizes that the description of the data states."""

from __future__ import annotations

import numpy as np

from biconsensus import datasets
from tests.helpers.data import needs_data, sizes


@needs_data
def test_networks():
    found = {name: datasets.load_network(name) for name in datasets.names_of("network")}
    shapes = {name: (net.adjacency.shape[0], net.adjacency.nnz // 2) for name, net in found.items()}
    assert shapes == {
        "football": (115, 613),
        "footballTSEinput": (115, 613),
        "polbooks": (105, 441),
        "lesmis": (77, 254),
        "karate_club": (34, 78),
        "dolphins": (62, 159),
    }
    assert sizes(found["polbooks"].labels) == [13, 43, 49]
    assert sizes(found["karate_club"].labels) == [17, 17]
    assert found["lesmis"].labels is None
    assert found["lesmis"].adjacency.max() == 31
    assert found["football"].names[0] == "BrighamYoung"
    assert np.sum(found["football"].labels != found["footballTSEinput"].labels) > 0


@needs_data
def test_facebook100():
    whole = datasets.load_facebook100("Caltech36")
    assert whole.adjacency.shape == (769, 769)
    assert whole.adjacency.nnz // 2 == 16656
    part = datasets.load_facebook100("Duke14", year=2006)
    assert part.adjacency.shape == (1424, 1424)
    assert set(part.info[:, 5]) == {2006}
