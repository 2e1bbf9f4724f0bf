"""A real cluster of two workers gives what one machine gives, even if a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans

import biconsensus as bc
from biconsensus import metrics
from biconsensus.engines._counted import counted_pool
from biconsensus.engines._dask import find_distributed, is_dask, partitions
from biconsensus.engines._features import cluster_distributed
from biconsensus.engines._local import compress_stream
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.pool._pool import Pool
from biconsensus.sources._clusterers import as_sources
from tests.helpers.ready_workers import START_METHOD, import_before_forks
from tests.helpers.strategies import paper_consensus

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client():
    """Two worker processes, forked from one that has done the imports: what is tested is the work, not the start."""
    with dask.config.set({"distributed.worker.multiprocessing-method": START_METHOD}):
        distributed.utils.get_mp_context()  # Dask names what it wants imported, once; all of it comes with the first
        import_before_forks("distributed", "pandas", "biconsensus.engines._features")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
            ) as cluster,
            distributed.Client(cluster) as found,
        ):
            yield found


def noisy(m=4000, c=8, k=5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, m)
    table = np.where(rng.random((m, c)) < 0.1, rng.integers(-1, k, (m, c)), truth[:, None])
    return table.astype(np.int16), truth


def assert_same(lazy, local):
    """Everything that was found is equal bit for bit."""
    assert (lazy.labels.compute() == local.labels).all()
    assert lazy.backing.compute().tobytes() == local.backing.tobytes()
    if not local.settings.get("overlap"):
        assert lazy.confidence().elements.compute().tobytes() == local.confidence().elements.tobytes()
        assert lazy.confidence().groups == pytest.approx(local.confidence().groups)
    assert lazy.gains.tobytes() == local.gains.tobytes()
    assert lazy.objective == local.objective
    assert lazy.pool.names == local.pool.names
    assert [list(a) for a in lazy.candidates] == [list(b) for b in local.candidates]


@pytest.mark.parametrize("chunks", [(4000, 8), (250, 8), (1111, 3)])
def test_array_on_a_cluster(client, chunks):
    table, truth = noisy()
    lazy = find_distributed(da.from_array(table, chunks=chunks), paper_consensus, client)
    local = paper_consensus(table)
    assert_same(lazy, local)
    assert metrics.ari(truth, lazy.labels.compute()) > 0.95


@pytest.mark.parametrize("options", [{"unassigned": "nearest"}, {"overlap": True}, {"quorum": 0.6}])
def test_options_reach_the_solver(options):
    table, _ = noisy(800)
    assert_same(
        find_distributed(da.from_array(table, chunks=(100, 8)), lambda pool: paper_consensus(pool, **options)),
        paper_consensus(table, **options),
    )


def test_parquet_partitions_with_text_gaps_and_an_index(client, tmp_path):
    import pandas as pd

    table, _ = noisy(1600)
    frame = pd.DataFrame({f"c{k}": table[:, k] for k in range(8)}, index=pd.Index(np.arange(1600) * 3, name="key"))
    frame["c1"] = np.where(table[:, 1] == -1, None, np.array(list("abcdef"))[table[:, 1]])
    frame["c2"] = frame["c2"].astype("float64").where(np.arange(1600) % 7 > 0)
    for part in range(16):
        frame[part * 100 : (part + 1) * 100].to_parquet(tmp_path / f"part-{part:02}.parquet")
    read = dd.read_parquet(tmp_path)
    assert read.npartitions == 16
    lazy, local = find_distributed(read, paper_consensus, client), paper_consensus(frame)
    assert_same(lazy, local)
    back = lazy.to_frame().compute()
    assert (back.index == frame.index).all()
    assert (back.to_numpy() == local.to_frame().to_numpy()).all()


def test_empty_partitions(client):
    import pandas as pd

    table, _ = noisy(600)
    frame = dd.from_pandas(pd.DataFrame(table, columns=list("abcdefgh")), npartitions=6)
    some = frame[frame["a"] != 2].repartition(npartitions=6)
    hollow = dd.concat([frame[frame["a"] > 100], some])
    lazy = find_distributed(hollow, paper_consensus, client)
    assert_same(lazy, paper_consensus(pd.DataFrame(table[table[:, 0] != 2], columns=list("abcdefgh"))))
    with pytest.raises(InputError, match="0 elements"):
        find_distributed(frame[frame["a"] > 100], paper_consensus, client)


def slowly(block):
    time.sleep(0.25)
    return block


def test_a_killed_worker_does_not_lose_the_job(client):
    table, _ = noisy(1000)
    blocks = da.from_array(table, chunks=(170, 8)).map_blocks(
        slowly, dtype=table.dtype, meta=np.empty((0, 0), np.int16)
    )
    before = {info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()}

    def kill_one():
        time.sleep(0.4)
        os.kill(min(before), signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    lazy = find_distributed(blocks, paper_consensus, client)
    labels = lazy.labels.compute()
    killer.join()
    client.wait_for_workers(2)
    after = {info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()}
    assert min(before) not in after
    assert (labels == paper_consensus(table).labels).all()


def test_a_worker_killed_between_search_and_labels(client):
    table, _ = noisy(800)
    lazy = find_distributed(da.from_array(table, chunks=(100, 8)), paper_consensus, client)
    client.wait_for_workers(2)
    os.kill(min(info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()), signal.SIGKILL)
    assert (lazy.labels.compute() == paper_consensus(table).labels).all()


def test_gathered_consensus_is_the_local_one(tmp_path):
    from biconsensus.result._consensus import Consensus

    table, _ = noisy(500)
    lazy = find_distributed(da.from_array(table, chunks=(60, 8)), paper_consensus)
    local = paper_consensus(table)
    assert isinstance(lazy, Consensus)
    assert (lazy.gather().labels == local.labels).all()
    assert (lazy.membership != local.membership).nnz == 0
    for mine, theirs in zip(lazy.biclusters, local.biclusters):
        assert (mine.elements == theirs.elements).all()
    assert lazy.compare(local)["ari"] == 1.0
    assert repr(lazy) == "Dask" + repr(local)
    assert (lazy.predict(table) == local.predict(table)).all()
    lazy.save(tmp_path / "c.bic")
    assert (Consensus.load(tmp_path / "c.bic").labels == local.labels).all()
    assert lazy.to_frame().compute().index.tolist() == list(range(500))


def test_cleaning_and_selection_keep_the_counts():
    table, _ = noisy(700)
    table = np.hstack([table, np.zeros((700, 1), np.int16)])
    counted, plain = counted_pool(compress_stream([table])[0]), Pool.from_labels(table)
    assert counted.shape == plain.shape
    cleaned = counted.clean()
    assert cleaned.shape == plain.clean().shape
    assert (cleaned.counts == plain.clean().counts).all()
    part = counted.select(sources=[0, 2])
    assert part.counts.sum() == 700
    assert (part.counts == plain.select(sources=[0, 2]).counts).all()
    assert (part.sizes == plain.select(sources=[0, 2]).sizes).all()
    for action in (lambda: counted + counted, lambda: counted.select(elements=[0]), lambda: counted.join([[0, 1]])):
        with pytest.raises(InputError):
            action()


# -- features -------------------------------------------------------------------------------------------------------


def blobs(m=900, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, m)
    return rng.normal(0, 0.6, (m, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[truth], truth


@pytest.mark.parametrize("strategy", ["sample", "chunks"])
def test_features_are_clustered_and_stitched(client, strategy):
    X, truth = blobs()
    runs = as_sources([(KMeans(n_init=3), {"n_clusters": [3, 3, 3, 4]}), DBSCAN(eps=1.0)])
    found, results = cluster_distributed(
        da.from_array(X, chunks=(150, 2)),
        runs,
        lambda pool: bc.find_consensus(pool, quorum=0.3),
        client,
        strategy=strategy,
        n_sample=300,
        random_state=0,
    )
    assert metrics.ari(truth, found.labels.compute()) > 0.98
    assert len(found) == 3
    assert len(results) == (5 if strategy == "sample" else 25)
    assert found.pool.shape[0] == 900


def test_sample_does_not_depend_on_the_partitions():
    X, _ = blobs()
    runs = as_sources([(KMeans(n_init=3), {"n_clusters": [3, 4, 5, 6]})])
    answers = [
        cluster_distributed(da.from_array(X, chunks=(n, 2)), runs, paper_consensus, n_sample=200, random_state=3)[0]
        for n in (900, 128)
    ]
    assert (answers[0].labels.compute() == answers[1].labels.compute()).all()


def test_public_names_take_dask_collections(client):
    table, truth = noisy(800)
    lazy = paper_consensus(da.from_array(table, chunks=(100, 8)), client=client)
    assert (lazy.labels.compute() == paper_consensus(table).labels).all()
    labelled = bc.ConsensusClustering(quorum=0.5).fit_labels(da.from_array(table, chunks=(100, 8)))
    assert metrics.ari(truth, labelled.labels_.compute()) > 0.95
    X, groups = blobs(600)
    model = bc.ConsensusClustering([(KMeans(n_init=2), {"n_clusters": [2, 3, 3, 3, 4]})], quorum=0.5, random_state=0)
    model.fit(da.from_array(X, chunks=(150, 2)))
    assert metrics.ari(groups, model.labels_.compute()) > 0.98
    assert metrics.ari(groups, model.predict(X)) > 0.98


def test_bad_input_is_named():
    with pytest.raises(InputTypeError, match="received ndarray"):
        partitions(np.zeros((3, 2)))
    with pytest.raises(InputError, match="2 dimensions"):
        partitions(da.zeros(3))
    with pytest.raises(UnknownNameError, match="Valid names: chunks, sample"):
        cluster_distributed(da.zeros((3, 2)), [], paper_consensus, strategy="samples")
    with pytest.raises(InputError, match="NaN"):
        cluster_distributed(da.from_array(np.array([[0.0], [np.nan]])), [], paper_consensus)
    with pytest.raises(InputError, match="together names elements"):
        bc.find_consensus(da.zeros((20, 4), dtype=int), together=[[0, 1]])
    assert not is_dask([[0]])
    assert is_dask(da.zeros(3))


def test_a_sampled_choice_is_the_same_mapped_in_chunks_and_in_partitions(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 14_000)
    table = np.where(rng.random((14_000, 12)) < 0.3, rng.integers(0, 6, (14_000, 12)), truth[:, None]).astype(np.int8)
    here = bc.find_consensus(table)
    assert here.extraction["rows_searched"] < here.pool.rows.shape[0] / 2
    np.save(tmp_path / "labels.npy", table)
    for found in (bc.find_consensus(tmp_path / "labels.npy"), bc.find_consensus(iter(np.array_split(table, 5)))):
        assert (found.labels == here.labels).all()
        assert found.extraction == here.extraction
    assert_same(bc.find_consensus(da.from_array(table, chunks=(4001, 12))), here)


TRUTH = np.repeat([0, 1, 2], 40)
AS_ON_ONE_MACHINE = {
    "at": lambda c: np.asarray(c.at(n_groups=2).labels).tolist(),
    "answer": lambda c: c.answer(0, 50, together=True).labels.tolist(),
    "answers": lambda c: c.answers,
    "asked": lambda c: c.asked,
    "backing": lambda c: np.asarray(c.backing).tolist(),
    "behind": lambda c: c.behind.toarray().tolist(),
    "biclusters": lambda c: [(one.elements.tolist(), one.candidates.tolist(), one.gain) for one in c.biclusters],
    "candidates": lambda c: [own.tolist() for own in c.candidates],
    "compare": lambda c: c.compare(c),
    "confidence": lambda c: np.asarray(c.confidence().elements).tolist(),
    "converged": lambda c: c.converged.summary,
    "evidence": lambda c: c.evidence,
    "explore": lambda c: c.explore(browser=False).close(),
    "extend": lambda c: c.extend([[1, 2]] * 8).labels.tolist(),
    "gains": lambda c: c.gains.tolist(),
    "group_names": lambda c: c.group_names,
    "indicators": lambda c: [part.tolist() for part in c.indicators],
    "labels": lambda c: np.asarray(c.labels).tolist(),
    "membership": lambda c: c.membership.toarray().tolist(),
    "modes": lambda c: c.modes().summary,
    "named": lambda c: c.named,
    "next_question": lambda c: str(c.next_question()),
    "objective": lambda c: c.objective,
    "path": lambda c: [(point.quorum, len(point)) for point in c.path.points],
    "placed": lambda c: c.placed,
    "predict": lambda c: c.predict([[1, 2]] * 8).tolist(),
    "settings": lambda c: c.settings,
    "significance": lambda c: c.significance.tolist(),
    "soft_membership": lambda c: c.soft_membership().tolist(),
    "summary": lambda c: c.summary,
    "to_arrow": lambda c: c.to_arrow().to_pydict(),
    "unanswered": lambda c: c.unanswered,
    "update": lambda c: c.update([TRUTH.tolist()]).labels.tolist(),
    "withdraw": lambda c: c.answer(0, 50, together=True).withdraw(50, 0).labels.tolist(),
}
"""What a result is asked for; the answer must not depend on where the table lies."""
DIFFERENT = {"extraction", "load", "members", "pool", "row_labels", "row_of", "save", "to_frame", "trace", "weights"}
DIFFERENT |= {"write_report"}
"""Parts that are about rows instead of elements, and what other tests compare."""


@pytest.fixture(scope="module")
def both():
    rng = np.random.default_rng(0)
    table = np.stack([np.where(rng.random(120) < 0.1, rng.integers(0, 3, 120), TRUTH) for _ in range(8)], axis=1)
    return bc.find_consensus(da.from_array(table, chunks=(30, 8))), bc.find_consensus(table)


@pytest.mark.parametrize("name", AS_ON_ONE_MACHINE)
def test_every_member_answers_as_on_one_machine(both, name):
    ask = AS_ON_ONE_MACHINE[name]
    lazy, local = both
    assert ask(lazy) == ask(local)


def test_no_member_is_left_out():
    fields = set(bc.Consensus.__dataclass_fields__)
    members = {name for name in vars(bc.Consensus) if not name.startswith("_")} | fields
    assert members == AS_ON_ONE_MACHINE.keys() | DIFFERENT
