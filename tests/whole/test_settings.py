"""One table of settings for the function, the estimators and the commands: same defaults, same answers, same errors."""

from __future__ import annotations

import itertools
import json
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biconsensus as bc
from biconsensus import find
from biconsensus.cli import run
from biconsensus.cli._output import with_options
from biconsensus.errors import BiconsensusError, BiconsensusWarning, PoolWarning
from biconsensus.find import Search, solve

QUORUMS = (None, "auto", 0.5, 0.3)
N_GROUPS = (None, 3)
METHODS = (None, "greedy", "joint")
OVERLAPS = (False, True)
SIZES = ((None, None), (3, 2))
TABLE = list(itertools.product(QUORUMS, N_GROUPS, METHODS, OVERLAPS, SIZES))
FRONTS_TABLE = list(itertools.product((None, 0.5), N_GROUPS, METHODS, OVERLAPS, SIZES[1:]))
"""The same for data, where a search takes longer."""


def settings_of(quorum: Any, n_groups: Any, method: Any, overlap: bool, sizes: Any) -> dict[str, Any]:
    """One line of the table, without what was not given."""
    names = ("quorum", "n_groups", "method", "overlap", "min_elements", "min_candidates")
    values = (quorum, n_groups, method, overlap or None, *sizes)
    return {name: value for name, value in zip(names, values) if value is not None}


def once(search: Callable[..., Any], content: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which runs once for the same content; what it gave is kept, and so are its arguments."""
    kept: dict[bytes, Any] = {}

    def remembered(*arguments: Any, **options: Any) -> Any:
        key = pickle.dumps(content(*arguments, **options))
        if key not in kept:
            kept[key] = search(*arguments, **options), arguments
        return kept[key][0]

    return remembered


@pytest.fixture(scope="module", autouse=True)
def searches() -> Iterator[None]:
    """Every front runs in full, but the search of the same matrix with the same settings and evidence runs once.

    A front that hands on anything else has a search of its own, and so an answer of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        traced = once(find.QuorumPath.of_problem, lambda *given, progress, **how: (given, how))
        patch.setattr(find.QuorumPath, "of_problem", traced)
        chosen = once(
            find._choice_on_path,
            lambda path, joined, settings, evidence, progress: (id(path), joined.inverse, settings, evidence),
        )
        patch.setattr(find, "_choice_on_path", chosen)
        given = once(find._answer_as_it_is, lambda asked: (asked.problem, asked.settings))
        patch.setattr(find, "_answer_as_it_is", given)
        yield


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    """(27, 6) noisy groupings: three groups, coarse and fine, and one source that sees everything as one.

    Small and noisy, so that the lines of the table have many different answers.
    """
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1, 2], [12, 9, 6])
    columns = [np.where(rng.random(27) < 0.2, rng.integers(3, size=27), truth) for _ in range(3)]
    return np.stack([*columns, truth // 2, 2 * truth + rng.integers(2, size=27), np.zeros(27, int)], axis=1)


@pytest.fixture(scope="module")
def csv(labels: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    path = tmp_path_factory.mktemp("settings") / "labels.csv"
    head = ",".join(f"run{k}" for k in range(labels.shape[1]))
    np.savetxt(path, labels, fmt="%d", delimiter=",", header=head, comments="")
    return path


def outcome(call: Any) -> Any:
    """Labels of an answer, or the words of the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BiconsensusWarning)
            return np.asarray(call()).tolist()
    except BiconsensusError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("line", TABLE, ids=lambda line: "-".join(str(part) for part in line))
def test_the_same_settings_give_the_same_answer_everywhere(
    line: Any, labels: np.ndarray, csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(*line)
    pool = bc.Pool.from_labels(labels, names=[f"run{k}" for k in range(6)])
    found: list[bc.Consensus] = []

    def function() -> np.ndarray:
        found.append(bc.find_consensus(pool, **settings))
        return found[0].labels

    wanted = outcome(function)
    assert outcome(lambda: solve(pool, Search(**settings)).labels) == wanted
    search = Search(**settings)
    assert outcome(lambda: bc.ConsensusClustering(search=search).fit_labels(pool).labels_) == wanted
    own = {name: settings[name] for name in settings.keys() & {"quorum", "n_groups", "min_elements"}}
    rest = Search(**{name: value for name, value in settings.items() if name not in own})
    assert outcome(lambda: bc.ConsensusClustering(search=rest, **own).fit_labels(pool).labels_) == wanted
    assert outcome(lambda: bc.BiclusterConsensus(**settings).fit(pool.to_matrix()).labels_) == outcome(
        lambda: bc.find_consensus(bc.Pool.from_matrix(pool.to_matrix()), **settings).labels
    )
    out = tmp_path / "groups.csv"
    code = run(["merge", str(csv), *words_of(settings), "--out", str(out), "--json"])
    said = capsys.readouterr()
    if isinstance(wanted, str):
        assert code == 2
        assert with_options(wanted.partition(": ")[2]) in said.err.replace("\n", " ")
    else:
        assert code == 0, said.err
        assert np.loadtxt(out, delimiter=",", skiprows=1)[:, 1].astype(int).tolist() == wanted
        assert json.loads(said.out)["settings"]["min_elements"] == found[0].settings["min_elements"]


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    """(30, 2) three clouds that touch, so that settings have different answers."""
    rng = np.random.default_rng(2)
    return np.repeat([(0.0, 0.0), (6.0, 1.0), (2.0, 7.0)], [13, 10, 7], axis=0) + 1.8 * rng.normal(size=(30, 2))


@pytest.fixture(scope="module")
def network() -> list[tuple[int, int]]:
    """Edges of three groups of 8 nodes with links between them, so that settings have different answers."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 8)
    first, second = np.triu_indices(24, 1)
    linked = rng.random(len(first)) < np.where(truth[first] == truth[second], 0.6, 0.12)
    return list(zip(first[linked].tolist(), second[linked].tolist()))


@pytest.fixture(scope="module")
def kept_runs(
    points: np.ndarray, network: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Files of the points and the network, and the finished base runs of both, so that only the search is repeated."""
    folder = tmp_path_factory.mktemp("fronts")
    np.savetxt(folder / "points.csv", points, delimiter=",", header="x,y", comments="")
    (folder / "network.txt").write_text("".join(f"{a} {b}\n" for a, b in network))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiconsensusWarning)
        bc.ConsensusClustering(runs=bc.Runs(checkpoint=folder / "clusters"), random_state=0).fit(points)
        bc.ConsensusCommunities(runs=bc.Runs(checkpoint=folder / "communities"), random_state=0).fit(
            folder / "network.txt"
        )
    return {name: folder / name for name in ("points.csv", "network.txt", "clusters", "communities")}


@pytest.mark.parametrize("line", FRONTS_TABLE, ids=lambda line: "-".join(str(part) for part in line))
@pytest.mark.parametrize("front", ["cluster", "communities"])
def test_estimator_and_command_of_a_front_take_the_one_road(
    front: str,
    line: Any,
    points: np.ndarray,
    kept_runs: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = settings_of(*line)
    fitted: Any
    if front == "cluster":
        how = bc.Runs(checkpoint=kept_runs["clusters"])
        data, file, resume = points, kept_runs["points.csv"], kept_runs["clusters"]
        fitted = bc.ConsensusClustering(search=Search(**settings), runs=how, random_state=0)
    else:
        how = bc.Runs(checkpoint=kept_runs["communities"])
        data, file, resume = kept_runs["network.txt"], kept_runs["network.txt"], kept_runs["communities"]
        fitted = bc.ConsensusCommunities(search=Search(**settings), runs=how, random_state=0)
    wanted = outcome(lambda: fitted.fit(data).labels_)
    out = tmp_path / "groups.csv"
    code = run([front, str(file), *words_of(settings), "--resume", str(resume), "--seed", "0", "--out", str(out)])
    said = capsys.readouterr()
    if isinstance(wanted, str):
        assert wanted == outcome(lambda: bc.find_consensus([[0, 0, 1, 1]] * 2, **settings).labels)
        assert code == 2
        assert with_options(wanted.partition(": ")[2]) in said.err.replace("\n", " ")
    else:
        assert code == 0, said.err
        assert np.loadtxt(out, delimiter=",", skiprows=1)[:, 1].astype(int).tolist() == wanted
        if isinstance(settings.get("quorum", "auto"), float):
            assert outcome(lambda: solve(fitted.pool_, Search(**settings)).labels) == wanted


def words_of(settings: dict[str, Any]) -> list[str]:
    """The same settings as options of a command."""
    names = {"n_groups": "--groups", "min_elements": "--min-elements", "min_candidates": "--min-candidates"}
    return [
        word
        for name, value in settings.items()
        for word in (["--overlap"] if name == "overlap" else [names.get(name, f"--{name}"), str(value)])
    ]


@pytest.mark.parametrize("command", ["merge", "cluster", "communities"])
def test_every_command_refuses_what_the_function_refuses(
    command: str, csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(csv), "--groups", "3", "--quorum", "0.3"]) == 2
    with pytest.raises(ValueError, match="n_groups=3 picks its own quorum") as caught:
        bc.find_consensus([[0, 0, 1, 1]], n_groups=3, quorum=0.3)
    assert with_options(str(caught.value)) in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("estimator", [bc.ConsensusClustering, bc.ConsensusCommunities, bc.BiclusterConsensus])
def test_every_estimator_refuses_what_the_function_refuses(estimator: Any) -> None:
    data = [(0, 1), (1, 2)] if estimator is bc.ConsensusCommunities else np.ones((6, 2))
    with pytest.raises(ValueError, match=r"n_groups=3 picks its own quorum; drop quorum=0\.9 or n_groups"):
        estimator(quorum=0.9, n_groups=3).fit(data)


def test_contradictions_are_the_errors_of_the_table() -> None:
    refused = [settings_of(*line) for line in TABLE if isinstance(outcome(Search(**settings_of(*line)).checked), str)]
    assert all(
        ("n_groups" in settings and not isinstance(settings.get("quorum", "auto"), str))
        or (settings.get("overlap") and settings.get("method") == "joint")
        for settings in refused
    )
    assert len(refused) == 36  # of 96: a quarter, a sixth, and not twice what is both


@pytest.mark.parametrize(
    ("groupings", "size", "sources"),
    [
        ([[0] * 4 + [1] * 4] * 3, 4, 2),
        ([[0] * 4 + [1] * 4] * 2, 4, 2),
        ([[0] * 4 + [1] * 4], 4, 1),
        ([[0] * 40 + [1] * 40] * 20, 7, 4),
        ([list(range(80))] + [[0] * 40 + [1] * 40] * 2, 7, 2),
        ([[0, 0, 1, 1]] * 6, 2, 3),
    ],
)
def test_minimum_sizes_follow_the_input(groupings: Any, size: int, sources: int) -> None:
    pool = bc.Pool.from_labels(groupings)
    found = Search().resolved(pool)
    assert (found.min_elements, found.min_candidates) == (size, sources)


@pytest.mark.parametrize("groups", [[0] * 5 + [1] * 5, [0] * 4 + [1] * 3 + [2] * 3])
@pytest.mark.parametrize("n_lumps", [1, 3, 8])
def test_groupings_that_put_everything_together_do_not_hide_the_groups_of_the_others(
    groups: list[int], n_lumps: int
) -> None:
    """They do not vote where the quorum is chosen, so the minimum sizes do not follow them either."""
    plain = bc.Pool.from_labels([[0] * 10] * n_lumps + [groups] * 3)
    found, cleaned = bc.find_consensus(plain), bc.find_consensus(plain.clean())
    assert bc.metrics.ari(groups, found.labels) == 1.0
    assert found.settings == cleaned.settings
    # with a number as quorum they vote, and so they count
    assert Search(quorum=0.5).resolved(plain).min_candidates == min(4, (n_lumps + 4) // 2)


def test_a_setting_given_twice_with_two_values_is_refused() -> None:
    with pytest.raises(ValueError, match=r"quorum: received 0\.9 as a parameter and 0\.5 in search; give it once"):
        bc.ConsensusClustering(quorum=0.9, search=Search(quorum=0.5)).fit_labels([[0, 0, 1, 1]])
    same = bc.ConsensusClustering(quorum=0.5, search=Search(quorum=0.5)).fit_labels([[0, 0, 1, 1]] * 2)
    assert same.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("estimator", [bc.ConsensusClustering, bc.ConsensusCommunities, bc.MultiModelFitter])
def test_no_estimator_has_more_than_ten_parameters(estimator: type) -> None:
    assert len(estimator().get_params()) <= 10


def test_weights_of_sources_may_be_given_to_the_search() -> None:
    base = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]
    assert bc.find_consensus(base, weights=[1, 1, 1]).labels.tolist() == bc.find_consensus(base).labels.tolist()
    with pytest.raises(ValueError, match="weights has 2 values; give 3, one for each source, or 6, one for each"):
        bc.find_consensus(base, weights=[1, 2])


def test_the_summary_names_no_number_of_sources_that_a_group_does_not_have() -> None:
    coarse, fine = [0] * 20 + [1] * 20, [0] * 10 + [1] * 10 + [2] * 10 + [3] * 10
    base = [coarse] * 4 + [fine]
    assert "and 3 of 5 sources" in bc.find_consensus(base, n_groups=2).summary
    split = bc.find_consensus(base, n_groups=4)
    assert len(split) == 4
    assert "a group needs 7 elements;" in split.summary
    with pytest.warns(PoolWarning, match="some of them smaller"):
        small = bc.find_consensus([[0] * 20 + [1] * 17 + [2] * 3] * 4, n_groups=3, min_elements=5)
    assert "elements and" not in small.summary
