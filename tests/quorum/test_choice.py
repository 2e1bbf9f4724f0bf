"""The choice by evidence: what may be chosen, what backs it, and a sample of the rows beside all of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.matrix import _condensed
from biconsensus.quorum import _choice
from biconsensus.quorum._choice import (
    N_ALTERNATIVES,
    Option,
    Scored,
    agreement_with,
    alternatives_of,
    base_results,
    options_of,
    score_options,
)
from biconsensus.quorum._path import N_CONFIRMED, QuorumPath
from biconsensus.quorum._score import FitMeasures
from biconsensus.significance import _points


class AllElements:
    """Evidence of the same points that does not say that it looks at a few of them only."""

    def __init__(self, evidence: _points.PointEvidence) -> None:
        self.of_grouping = evidence.of_grouping
        self.fewest_backers, self.sharpness = evidence.fewest_backers, evidence.sharpness
        self.backing_power = evidence.backing_power


@pytest.fixture(scope="module")
def sampled() -> tuple[QuorumPath, bc.Pool, _points.PointEvidence]:
    """A path of a sample, its pool, and evidence that looks at 150 of 1,500 points."""
    rng = np.random.default_rng(0)
    X = 5.0 * rng.normal(size=(5, 3))[rng.integers(0, 5, 1500)] + rng.normal(size=(1500, 3))
    runs = [KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in (3, 4, 5, 5, 6, 8, 12, 20, 40)]
    pool = bc.Pool.from_labels(runs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_condensed, "SAMPLE_ROWS", 20)
        patch.setattr(_condensed, "ROWS_OF_A_CANDIDATE", 2)
        patch.setattr(_points, "LANDMARKS", 150)
        return QuorumPath.of(pool), pool, _points.PointEvidence(X)


def test_options_of_a_sample_are_scored_at_the_elements_that_the_evidence_looks_at(sampled) -> None:
    path, pool, evidence = sampled
    assert path.condensed.sampled
    assert evidence.looked_at.size == 150
    options = options_of(path)
    few = score_options(path, options, evidence, pool.inverse)
    every = score_options(path, options, AllElements(evidence), pool.inverse)
    assert few[0].option is every[0].option
    # the best one was scored on all rows
    assert few[0].evidence == every[0].evidence
    assert len(few[0].option.point) == 5


def test_the_best_points_of_a_sample_are_confirmed_on_more_rows(sampled) -> None:
    path, _, _ = sampled
    assert 1 <= sum(point.confirmed for point in path.points) <= N_CONFIRMED
    assert path.best.confirmed
    other = next(point for point in path.points if not point.confirmed)
    again = path.confirm(other)
    assert again.confirmed
    assert again.fit == path.wide.measure(path.labels_on(path.wide.problem, other))


def test_an_option_that_all_rows_refuse_is_not_chosen(sampled, monkeypatch) -> None:
    path, pool, evidence = sampled
    options = options_of(path)[:3]
    refused = score_options(path, options, evidence, pool.inverse)[0].option
    whole = QuorumPath.labels

    def labels(self: QuorumPath, point):  # one group on all rows, whatever the sample saw
        return whole(self, point) if point is not refused.point else np.zeros(pool.rows.shape[0], np.int64)

    monkeypatch.setattr(QuorumPath, "labels", labels)
    scored = score_options(path, options, evidence, pool.inverse)
    assert scored[0].option is not refused
    assert next(one for one in scored if one.option is refused).evidence == 0.0


NAMES = ["first", "second", "second", "third", "fourth"]
TABLE = np.column_stack(
    [
        np.repeat([0, 1, 2], 20),
        np.repeat([0, 1], [20, 40]),
        np.repeat([0, 1, -1], [21, 29, 10]),
        np.repeat([0, 1, 2, 3], [10, 10, 20, 20]),
        np.repeat([0, -1], [30, 30]),
    ]
)


@pytest.fixture(scope="module")
def plain() -> tuple[QuorumPath, bc.Pool]:
    """The path of five sources, two of them with the same name; one has a single group."""
    pool = bc.Pool.from_labels(TABLE, names=NAMES)
    return QuorumPath.of(pool, min_elements=7, min_candidates=2), pool


def on_elements(path: QuorumPath, pool: bc.Pool, rows: np.ndarray) -> np.ndarray:
    """Groups of the elements from those of the rows that are searched."""
    given = np.empty(rows.size, np.int64)
    given[path.condensed.rows] = rows
    return given[pool.inverse]


def expected_agreement(labels: np.ndarray) -> np.ndarray:
    """Adjusted Rand index of each source over the elements that it grouped; 0 for a source of one group."""
    found = []
    for column in TABLE.T:
        both = (column >= 0) & (labels >= 0)
        several = np.unique(column[both]).size > 1
        found.append(adjusted_rand_score(column[both], labels[both]) if several else 0.0)
    return np.array(found)


def test_agreement_of_sources_is_the_adjusted_rand_index_over_what_they_grouped(plain) -> None:
    path, pool = plain
    rows = np.random.default_rng(0).integers(-1, 3, path.problem.shape[0])
    expected = expected_agreement(on_elements(path, pool, rows))
    assert agreement_with(path, rows) == pytest.approx(expected[path.condensed.sources])
    assert agreement_with(path, np.full(rows.size, -1)).tolist() == [0.0] * 5


def test_agreement_on_a_handful_of_elements_is_that_index_too() -> None:
    pool = bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]])
    path = QuorumPath.of(pool, min_elements=1, min_candidates=1)
    labels = np.empty(3, np.int64)
    labels[np.argsort(path.condensed.rows)[pool.inverse]] = [0, 0, 1]
    assert sorted(agreement_with(path, labels)) == pytest.approx([adjusted_rand_score([0, 0, 1], [0, 1, 1]), 1.0])


def test_base_results_are_the_groups_of_each_source_that_has_two(plain) -> None:
    path, pool = plain
    found = {option.origin: on_elements(path, pool, option.point.row_labels) for option in base_results(path)}
    assert set(found) == {"base result 'first'", "base result 'second'", "base result 'third'"}
    assert adjusted_rand_score(found["base result 'first'"], TABLE[:, 0]) == 1.0
    assert adjusted_rand_score(found["base result 'third'"], TABLE[:, 3]) == 1.0
    assert len(base_results(path)) == 4  # two of them have one name
    assert all(option.point.fit == FitMeasures() for option in base_results(path))  # the data will say how they fit
    crumbs = QuorumPath.of(pool, min_elements=11, min_candidates=2)
    kept = [option for option in base_results(crumbs) if "third" in option.origin]
    assert len(kept[0].point) == 2  # of the minimum size
    assert np.unique(on_elements(crumbs, pool, kept[0].point.row_labels)[20:]).tolist() == [0, 1]


def test_sources_whose_groups_share_elements_are_no_options() -> None:
    matrix = np.column_stack([np.arange(30) < 20, np.arange(30) >= 10, np.arange(30) < 15, np.arange(30) >= 15])
    pool = bc.Pool.from_matrix(matrix, sources=[0, 0, 1, 1])
    path = QuorumPath.of(pool, min_elements=5, min_candidates=1)
    assert len(base_results(path)) == 1


def test_options_are_distinct_groupings_of_two_groups_or_more(plain) -> None:
    path, _ = plain
    one = next(point for point in path.points if len(point) >= 2)
    options = options_of(path, [Option(one, "given first")])
    assert options[0].origin == "given first"
    assert len({option.point.row_labels.tobytes() for option in options}) == len(options)
    assert all(len(option.point) >= 2 for option in options)
    along = {point.row_labels.tobytes() for point in path.points if len(point) >= 2}
    base = {option.point.row_labels.tobytes() for option in base_results(path)}
    assert {option.point.row_labels.tobytes() for option in options} == along | base


class Told:
    """Evidence of ten for groupings into three, of five for other ones, unless it is told to say another number."""

    def __init__(self, three: float = 10.0, other: float = 5.0, **settings: object) -> None:
        self.three, self.other = three, other
        vars(self).update(settings)

    def of_grouping(self, labels: np.ndarray) -> float:
        return self.three if labels.max() == 2 else self.other


def scored_by(plain, **settings: object) -> list[Scored]:
    path, pool = plain
    return score_options(path, options_of(path), Told(**settings), pool.inverse)


def backers_of(plain, one: Scored, power: float = 4.0) -> float:
    path, pool = plain
    agreed = expected_agreement(on_elements(path, pool, one.option.point.row_labels))
    return float((np.maximum(agreed, 0.0) ** power).sum())


def test_the_score_is_the_evidence_times_a_power_of_the_backing(plain) -> None:
    for settings, sharpness, power in (({}, 8.0, 0.5), ({"sharpness": 2.0, "backing_power": 3.0}, 2.0, 3.0)):
        scored = scored_by(plain, **settings)
        assert [one.score for one in scored] == sorted((one.score for one in scored), reverse=True)
        for one in scored:
            assert one.evidence == (10.0 if len(one.option.point) == 3 else 5.0)
            assert one.score == pytest.approx(one.evidence * backers_of(plain, one, sharpness) ** power)
        assert any(one.shows_groups for one in scored)
    for one in scored_by(plain, three=-3.0, other=0.0):
        assert one.score == one.evidence == (-3.0 if len(one.option.point) == 3 else 0.0)
        assert not one.shows_groups


def test_an_option_needs_backers_as_many_as_a_small_pool_can_have(plain) -> None:
    # five sources of four names: two backers are asked for as 2.5, but 1 + 4 / 4 = 2 is all that can be asked
    for asked, fewest, some in ((0.5, 0.5 * 5 / 4, 5), (1.46, 1.46 * 5 / 4, 3), (1.8, 2.0, 0), (9.0, 2.0, 0)):
        scored = scored_by(plain, fewest_backers=asked)
        enough = [backers_of(plain, one) >= fewest for one in scored]
        assert sum(enough) == some
        assert [one.score > 0 for one in scored] == enough
        assert all(one.score == 0 and not one.shows_groups for one in scored if one.score <= 0)
    same = bc.Pool.from_labels([np.repeat([0, 1, 2], 20)] * 2 + [np.repeat([0, 1, 2], [18, 22, 20])])
    path = QuorumPath.of(same, min_candidates=1)
    for evidence in (Told(fewest_backers=9.0), Told(backers_against_one_group=lambda labels: 9.0)):
        # 1 + 2 / 4 is all that three sources can be asked for
        assert score_options(path, options_of(path), evidence, same.inverse)[0].score > 0


def test_one_source_backs_itself() -> None:
    pool = bc.Pool.from_labels([np.repeat([0, 1, 2], 20)])
    path = QuorumPath.of(pool, min_candidates=1)
    evidence = Told(fewest_backers=9.0, backers_against_one_group=lambda labels: 9.0)
    assert score_options(path, options_of(path), evidence, pool.inverse)[0].score == pytest.approx(10.0)


def test_without_backers_that_show_groups_at_all_nothing_is_chosen(plain) -> None:
    most = max(backers_of(plain, one) for one in scored_by(plain))
    for asked, shown in ((1.4, 1.4 * 5 / 4), (1.7, 2.0), (9.0, 2.0)):
        scored = scored_by(plain, backers_against_one_group=lambda labels, asked=asked: asked)
        assert any(one.shows_groups for one in scored) is (most >= shown)
        assert all(backers_of(plain, one) >= shown for one in scored if one.shows_groups)
        assert any(one.score > 0 for one in scored) is (most >= shown)


def test_after_an_option_that_shows_groups_no_other_is_asked(plain) -> None:
    asked: list[float] = []

    def never_enough_but_once(labels: np.ndarray) -> float:
        asked.append(0.0)
        return np.inf if len(asked) < 3 else 0.0

    scored = scored_by(plain, backers_against_one_group=never_enough_but_once)
    assert len(asked) == 3 < len(scored)
    assert sum(one.shows_groups for one in scored) == 1
    assert all(one.score > 0 for one in scored)


def test_in_a_small_pool_evidence_that_is_clear_needs_no_backers(plain, monkeypatch) -> None:
    def nine_for_three_groups(labels):
        return 9.0 if labels.max() == 2 else np.inf

    asked = {"fewest_backers": 9.0, "backers_against_one_group": nine_for_three_groups}
    for one in scored_by(plain, **asked):
        clear = len(one.option.point) == 3
        assert (one.score > 0) is one.shows_groups is clear
    monkeypatch.setattr(_choice, "SMALL_POOL", 3)  # the pool has sources of four names
    assert not any(one.score > 0 for one in scored_by(plain, **asked))


def test_a_small_pool_cannot_show_what_no_number_of_backers_shows() -> None:
    pool = bc.Pool.from_labels([np.repeat([0, 1, 2], 20)] * 3)
    path = QuorumPath.of(pool, min_candidates=1)
    scored = score_options(path, options_of(path), Told(backers_against_one_group=lambda labels: np.inf), pool.inverse)
    assert scored
    assert not any(one.shows_groups or one.score > 0 for one in scored)


def test_alternatives_are_the_best_of_other_numbers_of_groups(plain) -> None:
    path, _ = plain
    by_number = {len(point): point for point in path.points} | {
        len(option.point): option.point for option in base_results(path)
    }
    two, three, four = (by_number[number] for number in (2, 3, 4))
    scored = [
        Scored(Option(three, "best"), 9.0, 8.0),
        Scored(Option(three, "the same number"), 9.0, 7.0),
        Scored(Option(two, "second"), 5.0, 6.0),
        Scored(Option(two, "the same again"), 5.0, 5.0),
        Scored(Option(four, "nothing for it"), 0.0, 0.0),
    ]
    assert alternatives_of(scored) == [{"n_groups": 2, "origin": "second", "evidence": 5.0, "score": 6.0}]
    assert alternatives_of([]) == []
    points = [Scored(Option(list(range(n)), "any"), 1.0, 10.0 - n) for n in range(2, 9)]  # as long as their number
    assert [one["n_groups"] for one in alternatives_of(points)] == [3, 4, 5][:N_ALTERNATIVES]
