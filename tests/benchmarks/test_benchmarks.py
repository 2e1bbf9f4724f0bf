"""The benchmarks themselves, on tiny data: their pages take minutes, but what they call must be there."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

import biconsensus as bc
from biconsensus.communities import _estimator


def load(name):
    """A benchmark by name, when it is needed: some load optional packages."""
    return importlib.import_module(f"benchmarks.{name}")


def test_accuracy_judges_every_method_by_the_truth():
    X, truth = make_blobs(150, centers=3, cluster_std=0.5, random_state=4)
    case = load("accuracy_pools")._k_means(X, truth, "k in 2..12", "blobs", 0)
    accuracy = load("accuracy")
    found = accuracy.judge(case)
    assert set(found) == {*accuracy.UNKNOWN, *accuracy.KNOWN}
    assert found["biconsensus, auto"][:4] == [1.0, 1.0, 1.0, 3]
    assert found["biconsensus, n_groups"][3] == found["LWGP"][3] == 3
    record = {f"k in 2..12: blobs #{k}": found for k in range(2)}
    assert accuracy.mean(record, "k in 2..12", "biconsensus, auto", 0) == 1.0
    assert np.isnan(accuracy.mean(record, "ensemble_pools", "biconsensus, auto", 0))
    assert accuracy.summary(record)["ARI"]["k in 2..12"]["LWGP"] == found["LWGP"][0]
    assert "| biconsensus, auto | 1.000 / 1.000 / 1.000 |" in accuracy.page(record)


def test_clustering_compares_with_the_median_of_the_base_results():
    clustering = load("clustering")
    found = clustering.measure(*(part[::2] for part in load_iris(return_X_y=True)), seed=0)
    assert found["groups"] >= 2
    assert found["best NMI"] >= found["median NMI"]
    assert found["NMI"] > found["median NMI"], "what the page claims"
    assert "0 of 1 answers are below" in clustering.page({"iris: #0": found})


def test_communities_measures_a_network_of_any_size(monkeypatch):
    pytest.importorskip("igraph")
    communities, own = load("communities"), bc.ConsensusCommunities
    # the base runs stay in this process: starting others costs far more than the runs of so small a network
    monkeypatch.setattr(bc, "ConsensusCommunities", lambda *given, n_jobs, **named: own(*given, **named))
    found = communities.scale(1000)
    assert found["nodes"] == 1000
    assert found["edges"] > 9000
    assert found["ari"] > 0.9
    assert f"| 1,000 | {found['edges']:,} | {found['mixing']:.3f} |" in communities.page({"scale: 1000": found})


@pytest.mark.parametrize("name", ["biconsensus", "numpy", "usenc"])
def test_scale_measures_contenders_on_one_table(tmp_path, name):
    contenders = load("scale_contenders")
    contenders.write_table(tmp_path / "table.npy", 3000, "int16")
    found = contenders.measure(name, tmp_path / "table.npy")
    assert found["seconds"] > 0
    assert name == "numpy" or found["ari"] > 0.95


@pytest.mark.parametrize("kind", ["clusterings", "communities", "small groups", "models"])
def test_pools_of_the_solver_benchmark_have_a_consensus(kind):
    assert len(bc.find_consensus(load("scale_solver").CASES[kind](200))) > 1


def test_solvers_reach_the_optimum_of_small_matrices():
    reached = dict(load("solvers").small_optimum(20).rows)
    assert set(reached) == {"vote", "quantile", "admm", "exact"}
    assert reached["exact"] == reached["vote"] == "100.0%"


def test_fitting_benchmark_has_planes_in_its_clouds():
    points, labels, planes = load("fitting").planes(2000)
    assert len(points) == len(labels) == 2000
    assert len(planes) == 10


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Neither data nor a connection."""
    pytest.importorskip("pooch")
    monkeypatch.delenv("BICONSENSUS_DATA", raising=False)
    monkeypatch.setenv("BICONSENSUS_CACHE", str(tmp_path))
    monkeypatch.setenv("BICONSENSUS_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setattr("benchmarks.without_data._LACKED", {})


def test_accuracy_goes_on_without_data(no_data, capsys):
    pools = load("accuracy_pools")
    assert pools.ensembles() == []
    names = [name for name, *_ in pools.points()]
    assert set(names) - {f"mixture {k}" for k in range(10)} <= {"iris", "wine", "breast 569", "digits", "breast 699"}
    assert list(pools._perturbed()) == list(pools._motions()) == []
    assert len(list(pools._uci())) == 6, "glass alone is missing"
    said = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in said] == ["ensemble_pool", "benchmark", "network", "hopkins155", "uci"]
    assert list(load("without_data").lacked()) == ["ensemble_pool", "benchmark", "network", "hopkins155", "uci"]


def test_solver_pools_go_on_without_data(no_data, monkeypatch):
    pools = load("solver_pools")
    monkeypatch.setattr(pools, "clusterings", lambda X, k: [np.arange(len(X)) % 2] * 3)
    assert [case.name for case in pools.paper_cases()] == ["iris", "wine", "breast"]


def test_fitting_keeps_the_parts_that_need_no_data(no_data, tmp_path, monkeypatch):
    fitting, results = load("fitting"), load("results")
    monkeypatch.setattr(results, "PUBLISHED", tmp_path)
    monkeypatch.setattr(results, "code_digest", lambda script, uses=None: "this code")
    made = iter([("case|0", lambda: [1.0])])
    parts = {
        "sets": fitting.PARTS["sets"],
        "noise": (lambda: made, lambda values: [f"{fitting.table(values, 'noise|case')}"]),
    }
    monkeypatch.setattr(fitting, "PARTS", parts)
    fitting.main([])
    assert "[[1.]]\n" in (tmp_path / "fitting.md").read_text()
    # what is kept is not made again
    monkeypatch.setitem(parts, "noise", (lambda: iter([("case|0", lambda: [2.0])]), parts["noise"][1]))
    fitting.main(["noise"])
    assert "[[1.]]\n" in (tmp_path / "fitting.md").read_text()


def test_fitting_scenes_know_their_models():
    scenes = load("fitting_scenes")
    points, truth = scenes.lines(4, 0.5, 0)
    assert points.shape == (400, 2)
    assert scenes.n_lines_found(truth[:3], truth) == (3, 0)
    assert scenes.n_lines_found([*truth[:1], np.array([1.0, 0.0, 9.0])], truth) == (1, 1)
    scan, planes = scenes.room(2000)
    normals = np.array([[*np.eye(3)[axis], -place] for axis, place in planes])
    assert len(scan) == 2000
    assert scenes.planes_found(np.concatenate([normals, normals[:1]]), planes) == (7, 1)


def test_scale_networks_measures_every_stage_and_goes_on_with_kept_runs(tmp_path, monkeypatch):
    networks = load("scale_networks")
    monkeypatch.setattr(_estimator, "usual_runs", lambda n_edges: 2)
    found = networks.measure(400, tmp_path)
    assert found["ari"] == 1.0
    assert found["stages"]["base runs"] > 0
    again = networks.measure(400, tmp_path)
    assert again["stages"]["base runs"] == found["stages"]["base runs"], "taken from the first time"
    page = networks.page({"400": found, "800": found})
    assert f"| 400 | {found['edges']:,} |" in page
    assert "| base runs |" in page
    assert networks.summary({"400": found})["400"]["found"] == found["found"]
