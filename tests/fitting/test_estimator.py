"""MultiModelFitter: the paper's sets, overlap, every option, faults, and scikit-learn's conventions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csc_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from biconsensus import MultiModelFitter
from biconsensus.datasets import load_jlinkage
from biconsensus.errors import InputError, InputTypeError, NoConsensusWarning, ThresholdWarning, UnknownNameError
from biconsensus.fitting import Nfa, Sampling, propose_threshold
from biconsensus.fitting._groups import Fit, Found, ModelHits, Unexplained
from biconsensus.fitting._hypotheses import Screened, propose, screen, subsample
from biconsensus.fitting._search import ModelSearch
from biconsensus.fitting._settings import Family, Settings, families_of
from biconsensus.models import CircleModel, LineModel, get_model
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.significance._models import Background, NfaTest, log_tightness
from biconsensus.sources._sampling import SamplingLaw, draw_samples

PAPER = {"A": ("line", 5, 9.4), "B": ("line", 5, 10.9), "C": ("line", 11, 17.9), "D": ("circle", 5, 12.6)}
"""Model, number of models, and per cent that the true models themselves misclassify."""
SETTINGS = Settings("auto", 1.0, Sampling(), Nfa(), None, None)


def recall(fitter: MultiModelFitter, truth: IntArray) -> float:
    """Per cent of the true inliers that are members of the model matched to theirs."""
    members = fitter.membership_.toarray()
    share = np.array([members[truth == t].mean(0) for t in range(truth.max() + 1)])
    rows, columns = linear_sum_assignment(-share)
    return float(100 * share[rows, columns].sum() / len(share))


def misclassified(labels: IntArray, truth: IntArray) -> float:
    """Per cent of the elements with a wrong label, after the best matching; outliers match outliers."""
    found, true = np.arange(labels.max() + 1), np.arange(truth.max() + 1)
    table = np.array([[((truth == t) & (labels == k)).sum() for k in found] for t in true])
    rows, columns = linear_sum_assignment(-table)
    right = table[rows, columns].sum() + ((truth == -1) & (labels == -1)).sum()
    return float(100 * (1 - right / len(truth)))


def cross(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Two crossing lines of 40 points each, and 60 outliers."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (140, 2))
    x[:40, 1] = 0.5 * x[:40, 0] + rng.normal(0, 0.005, 40)
    x[40:80, 0] = 0.2 + rng.normal(0, 0.005, 40)
    return x, np.repeat([0, 1, -1], [40, 40, 60])


@pytest.fixture(scope="module")
def both_lines() -> MultiModelFitter:
    """Default settings on the cross; tests only read it."""
    return MultiModelFitter("line", 0.02, random_state=0).fit(cross()[0])


@pytest.mark.parametrize("name", PAPER)
def test_sets_of_the_paper(data: Path, name: str) -> None:
    model, n_models, best = PAPER[name]
    x, truth = load_jlinkage(name)
    fitter = MultiModelFitter(model, 0.03, random_state=1).fit(x)
    assert len(fitter.params_) == n_models
    assert recall(fitter, truth) >= 99.5
    assert misclassified(fitter.labels_, truth) <= best + 1
    assert (fitter.nfa_ < 0).all()


@pytest.mark.parametrize(
    ("name", "model", "threshold", "n_models"),
    [
        ("Stairs4_S00075_O60", "segment", 0.03, 4),
        ("Stairs_S0015_060", "segment", 0.045, 4),
        ("Stairs4_S00075_O60", "line", 0.02, 4),
        ("Star5_S0015_O50", "line", 0.045, 5),
    ],
)
def test_other_sets_of_the_file(data: Path, name: str, model: str, threshold: float, n_models: int) -> None:
    x, truth = load_jlinkage(name)
    sampling = Sampling("local", sigma=0.1 if "Stairs" in name else 0.5)
    fitter = MultiModelFitter(model, threshold, n_samples=500, sampling=sampling, random_state=0)
    fitter.fit(x)
    assert len(fitter.params_) == n_models
    assert recall(fitter, truth) >= 98.5


def test_members_overlap_and_labels_are_the_nearest(both_lines: MultiModelFitter) -> None:
    (x, truth), fitter = cross(), both_lines
    residuals = LineModel().residuals(fitter.params_, x)
    assert (fitter.membership_.toarray() == (residuals <= 0.02)).all()
    assert fitter.membership_.sum(1).max() == 2
    assert (fitter.labels_ == np.where(residuals.min(1) <= 0.02, residuals.argmin(1), -1)).all()
    assert recall(fitter, truth) == 100


def test_label_width_widens_labels_and_predictions_but_no_members() -> None:
    x, _ = cross()
    settings = {"n_samples": 500, "random_state": 0}
    narrow, wide = (MultiModelFitter("line", 0.012, label_width=w, **settings).fit(x) for w in (1.0, 3.0))
    distance = LineModel().residuals(wide.params_, x)
    assert (narrow.params_ == wide.params_).all()
    assert (narrow.membership_ != wide.membership_).nnz == 0
    assert (wide.labels_ == np.where(distance.min(1) <= 0.036, distance.argmin(1), -1)).all()
    assert (wide.predict(x) == wide.labels_).all()
    assert (wide.labels_ >= 0).sum() > (narrow.labels_ >= 0).sum()
    for fitter in (narrow, wide):
        np.testing.assert_array_equal(fitter.consensus_.labels, fitter.labels_)
        inside = np.flatnonzero(fitter.labels_ >= 0)
        assert fitter.consensus_.membership[inside, fitter.labels_[inside]].all()


def test_support_is_what_stands_behind_each_model(both_lines: MultiModelFitter) -> None:
    fitter = both_lines
    matrix, members = fitter.pool_.to_matrix().toarray(), fitter.membership_.toarray()
    for t, columns in enumerate(fitter.support_):
        assert len(columns) >= 4
        agreement = (matrix[:, columns] == members[:, [t]]).mean()
        assert agreement > 0.9
    assert [b.candidates.tolist() for b in fitter.consensus_.biclusters] == [s.tolist() for s in fitter.support_]
    gains = [(matrix[np.ix_(members[:, t], s)] - 0.5).sum() for t, s in enumerate(fitter.support_)]
    assert fitter.consensus_.gains == pytest.approx(gains)
    assert fitter.consensus_.objective == pytest.approx(matrix.sum() - 2 * sum(gains))
    assert 0 < fitter.n_kept_ < fitter.n_tested_ <= 5000


def five_lines() -> tuple[FloatArray, IntArray]:
    """Lines of 80, 70, 60, 50 and 40 points, the larger ones first, and 150 outliers; the line of each point."""
    rng, sizes, parts = np.random.default_rng(1), [80, 70, 60, 50, 40], list[FloatArray]()
    for size in sizes:
        angle, centre = rng.uniform(0, np.pi), rng.uniform(-0.4, 0.4, 2)
        along, across = rng.uniform(-1, 1, size), rng.normal(0, 0.005, size)
        direction, normal = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        parts.append(centre + np.outer(along, direction) + np.outer(across, normal))
    return np.concatenate([*parts, rng.uniform(-1, 1, (150, 2))]), np.repeat(np.arange(5), sizes)


@pytest.mark.parametrize("model", ["line", ["line", "circle"]])
def test_the_order_of_models_does_not_depend_on_the_hypotheses(model: str | list[str]) -> None:
    x, truth = five_lines()
    for seed in (1, 2):  # the best hypotheses of the two largest lines come in the wrong order with seed 2
        fitter = MultiModelFitter(model, 0.02, random_state=seed).fit(x)
        own = fitter.membership_.toarray()[: len(truth)]
        assert [np.bincount(truth[column]).argmax() for column in own.T] == [0, 1, 2, 3, 4]


def test_closed_forms_keep_the_order_of_the_numbers_of_false_alarms() -> None:
    fitter = MultiModelFitter("line", 0.02, random_state=1, test=Nfa(hits="paper")).fit(five_lines()[0])
    assert (np.diff(fitter.nfa_) >= 0).all()


def test_nfa_is_that_of_a_sampled_hypothesis_without_its_own_points() -> None:
    x, _ = cross()
    fitter = MultiModelFitter("line", 0.02, test=Nfa(density="uniform"), random_state=0).fit(x)
    residuals = LineModel().residuals(fitter.params_, x) <= 0.02
    from scipy.stats import binom

    chance = 2 * 0.02 * np.array([2.2, 2.0]) / 4
    log_nfa = np.log10(3 * 2 * 5000) + binom.logsf(residuals.sum(0)[:2] - 3, 138, chance) / np.log(10)
    assert sorted(fitter.nfa_)[0] == pytest.approx(min(log_nfa), rel=0.2)


@pytest.mark.parametrize("seed", [0, 3])
def test_same_seed_same_answer_for_any_number_of_threads(seed: int) -> None:
    x, _ = cross(seed)
    runs = [MultiModelFitter("line", 0.02, n_samples=500, random_state=seed, n_jobs=n).fit(x) for n in (1, 2)]
    assert (runs[0].params_ == runs[1].params_).all()
    assert (runs[0].labels_ == runs[1].labels_).all()


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": "exhaustive"},
        {"n_samples": "auto"},
        {"sampling": Sampling(preference="soft"), "n_samples": 200},
        {"threshold": "auto"},
        {"test": Nfa(tests="combinatorial")},
        {"test": Nfa(hits="paper")},
        {"test": Nfa(hits="empirical")},
        {"test": Nfa(density="uniform")},
        {"test": Nfa(dispersion=0)},
        {"sampling": Sampling(max_elements=100)},
        {"sampling": "uniform"},
        {"bounds": None},
    ],
)
def test_every_option_finds_both_lines(options: dict[str, object]) -> None:
    x, truth = cross()
    settings = {"threshold": 0.02, "n_samples": 400, "random_state": 0, **options}
    fitter = MultiModelFitter("line", **settings).fit(x)
    assert len(fitter.params_) == 2
    assert recall(fitter, truth) > (90 if options == {"threshold": "auto"} else 97)
    slopes = np.sort(np.abs(fitter.params_[:, 1] / np.linalg.norm(fitter.params_[:, :2], axis=1)))
    assert slopes == pytest.approx([0.0, 2 / np.sqrt(5)], abs=0.02)


def test_paper_mode_takes_the_rows_of_its_biclusters() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (150, 2))
    x[:60, 1] = x[:60, 0] + rng.normal(0, 0.005, 60)
    fitter = MultiModelFitter("line", 0.02, n_samples=5000, test="paper", sampling="uniform", random_state=0).fit(x)
    assert len(fitter.params_) == 1
    assert fitter.membership_.toarray()[:60, 0].mean() > 0.95
    assert fitter.n_rounds_ == 1


def test_literal_exclusion_rejects_lines_that_cross_many(data: Path) -> None:
    x, _ = load_jlinkage("C")
    literal = MultiModelFitter(
        "line", 0.03, n_samples=5000, test=Nfa.paper(), sampling=Sampling("local", 0.5), random_state=0
    ).fit(x)
    assert len(literal.params_) <= 4


def dot(seed: int = 0) -> FloatArray:
    """Uniform points and a small cluster in the centre (the paper's Fig. 17)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(-1, 1, (200, 2)), rng.normal(0, 0.02, (60, 2))])


def test_a_dense_spot_is_a_line_without_the_dispersion_test_and_none_with_it() -> None:
    lax = Nfa(dispersion=0, density="uniform")
    assert len(MultiModelFitter("line", 0.03, test=lax, random_state=0).fit(dot()).params_) >= 1
    with pytest.warns(NoConsensusWarning):
        strict = MultiModelFitter("line", 0.03, random_state=0).fit(dot())
    assert len(strict.params_) == 0
    assert (strict.labels_ == -1).all()
    assert len(strict.consensus_) == 0


def test_two_straight_edges_are_no_circle() -> None:
    rng, along = np.random.default_rng(3), np.arange(60.0)
    edges = np.concatenate([np.c_[along, 0 * along], along[:, None] * [0.5, 0.866]]) + 50
    x = np.concatenate([edges.round(), rng.uniform(0, 160, (60, 2))])
    lax = MultiModelFitter("circle", 2.0, test=Nfa(dispersion=0), random_state=0).fit(x)
    assert len(lax.params_) >= 1
    with pytest.warns(NoConsensusWarning):
        assert len(MultiModelFitter("circle", 2.0, random_state=0).fit(x).params_) == 0


def test_an_arc_of_a_circle_is_found() -> None:
    rng = np.random.default_rng(4)
    turn, radius = rng.uniform(0, 1.2 * np.pi, 80), 0.5 + rng.normal(0, 0.006, 80)
    arc = radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    fitter = MultiModelFitter("circle", 0.02, random_state=0).fit(np.concatenate([arc, rng.uniform(-1, 1, (80, 2))]))
    np.testing.assert_allclose(fitter.params_, [[0, 0, 0.5]], atol=0.02)


def test_long_segments_count_more_than_short_ones() -> None:
    rng = np.random.default_rng(0)
    middle, angle = rng.uniform(0, 400, (32, 2)), rng.uniform(0, np.pi, 32)
    half = np.full(32, 8.0)
    toward = np.arctan2(*(np.array([900.0, 150.0]) - middle[:16]).T[::-1])
    angle[:16], half[:16] = toward, 30.0
    step = half[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    x = np.hstack([middle - step, middle + step])
    scores = {}
    for lengths in (False, True):
        settings = {"sampling": "exhaustive", "test": Nfa(lengths=lengths), "random_state": 0}
        fitter = MultiModelFitter("vanishing_point", 2.0, **settings).fit(x)
        scores[lengths] = fitter.nfa_.min()
        best = fitter.params_[fitter.nfa_.argmin()]
        assert best[:2] / best[2] == pytest.approx([900, 150], abs=30)
    assert scores[True] < scores[False]


def test_the_share_of_screened_hypotheses_matches_brute_force() -> None:
    x, _ = cross()
    rng, model = np.random.default_rng(0), LineModel()
    chance = Background.of(model, x, 2000, rng, "background")
    hypotheses = propose(Family("line", model, SamplingLaw(), 0, 400), x, 400, rng)
    test = NfaTest(model, len(x), np.array([0.02]), chance, np.log10(400), 2)
    screened = screen(x, hypotheses, test, 1.0)
    near = model.residuals(hypotheses.params, x) <= 0.02
    from scipy.stats import hypergeom

    beside = (model.residuals(hypotheses.params, chance.points) <= 0.02).sum(0)
    held = near.sum(0) - 2
    tail = hypergeom.sf(held - 1, 138 + 2000, held + beside, 138)
    above = held * 2000 > beside * 138
    kept = np.flatnonzero(above & (400 * tail < 1))
    assert (screened.params == hypotheses.params[kept]).all()
    assert screened.log_nfa == pytest.approx(np.log10(400 * tail[kept]), abs=1e-6)
    assert (screened.matrix.toarray().astype(bool) == near[:, kept]).all()


def test_blocks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = cross()
    whole = MultiModelFitter("line", 0.02, n_samples=300, random_state=0).fit(x)
    monkeypatch.setattr("biconsensus.fitting._hypotheses._BLOCK", 1000)
    monkeypatch.setattr("biconsensus.fitting._search._BLOCK", 37)
    monkeypatch.setattr("biconsensus.significance._models._BLOCK", 5000)
    parts = MultiModelFitter("line", 0.02, n_samples=300, random_state=0).fit(x)
    assert (whole.params_ == parts.params_).all()
    assert (whole.membership_ != parts.membership_).nnz == 0


@pytest.mark.parametrize(
    ("n_columns", "density", "looked_at"), [(900, 0.05, 900), (3000, 0.05, 1024), (3000, 0.9, 145)]
)
def test_a_round_looks_at_a_bounded_part_of_very_many_hypotheses(
    n_columns: int, density: float, looked_at: int
) -> None:
    matrix = csc_array((np.random.default_rng(0).random((1000, n_columns)) < density).astype(np.uint8))
    blank = np.zeros(n_columns)
    screened = Screened(blank[:, None], blank[:, None], matrix, blank, blank, blank[:, None], n_columns)
    chosen = subsample(screened, np.random.default_rng(1), soft=False)
    assert len(np.unique(chosen)) == pytest.approx(looked_at, abs=1)
    assert len(subsample(screened, None, soft=False)) == n_columns


@pytest.mark.parametrize(("model", "codimension"), [("line", 1.0), ("plane", 1.0), ("homography", 2.0)])
def test_codimension_is_that_of_the_model(model: str, codimension: float) -> None:
    chosen, rng = get_model(model), np.random.default_rng(0)
    data = rng.random((300, chosen.n_features)) * 100
    test = NfaTest(chosen, 300, np.array([5.0, 10.0]), Background.of(chosen, data, 8192, rng, "background"), 0.0, 0)
    params = chosen.fit(data[draw_samples(data, chosen.sample_size, 30, rng)])
    fits = [Fit(theta, 10.0, 10.0) for theta in params[np.isfinite(params).all(1)]]
    assert ModelHits.of(data, test, fits).codimension == codimension


def test_near_elements_count_more_than_as_many_at_the_edge() -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (240, 2))
    along = np.linspace(-1, 1, 40)
    x[:40], x[40:80] = np.stack([along, 0.5 + 0.0 * along], 1), np.stack([along, -0.5 + 0.0 * along], 1)
    x[:40, 1] += np.tile([-0.004, 0.004], 20)
    x[40:80, 1] += np.tile([-0.0095, 0.0095], 20)
    test = NfaTest(
        LineModel(),
        240,
        np.array([0.01]),
        Background.of(LineModel(), x, 4096, np.random.default_rng(0), "paper"),
        0.0,
        2,
    )
    hits = ModelHits.of(x, test, [Fit(np.array([0.0, 1.0, y]), 0.01, 0.01) for y in (-0.5, 0.5)])
    tight, loose = Unexplained([hits], np.ones(240), 4096).scores
    held = hits.hits.sum(0)
    assert (held >= 40).all()
    assert tight < loose - 0.8 * 38 * (log_tightness([0.16])[0] - log_tightness([0.9])[0])


@pytest.mark.filterwarnings("ignore::biconsensus.errors.ThresholdWarning")  # clouds are no planes, and the data say so
def test_clouds_end_in_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # a quarter of the hypotheses of a round, and of those that there are
    monkeypatch.setattr("biconsensus.fitting._hypotheses._COLUMNS", (32, 256))
    rng = np.random.default_rng(0)
    centres = rng.uniform(-3, 3, (4, 3))
    x = np.concatenate([rng.normal(centre, 0.5, (100, 3)) for centre in centres])
    test = Nfa(density="uniform", dispersion=0)
    fitter = MultiModelFitter("plane", 0.1, n_samples=800, test=test, sampling="uniform", random_state=0).fit(x)
    assert fitter.n_kept_ > 512
    assert fitter.n_rounds_ <= 8
    assert max(map(len, fitter.support_), default=0) <= 256


def test_large_data_is_searched_on_a_subset_and_verified_on_all() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20_000, 3))
    x[:3000, 2] = 0.3 * x[:3000, 0] + rng.normal(0, 0.004, 3000)
    x[3000:6000, 1] = -0.2 + rng.normal(0, 0.004, 3000)
    sampling = Sampling(max_elements=1500)
    fitter = MultiModelFitter("plane", 0.012, n_samples=1500, sampling=sampling, random_state=0).fit(x)
    normals = np.abs(fitter.params_[:, :3] / np.linalg.norm(fitter.params_[:, :3], axis=1, keepdims=True))
    assert len(normals) == 2
    wanted = np.array([[0.3, 0, -1], [0, 1, 0]]) / np.array([[np.sqrt(1.09)], [1]])
    assert (np.abs(wanted) @ normals.T).max(1) == pytest.approx([1, 1], abs=1e-5)
    assert recall(fitter, np.repeat([0, 1, -1], [3000, 3000, 14_000])) > 99


def test_missing_threshold_says_how_to_choose_it() -> None:
    x, _ = cross()
    with pytest.raises(InputError, match=r"threshold is required.*noise.*propose_threshold.*'auto'"):
        MultiModelFitter("line").fit(x)


def test_proposed_threshold_fits_the_noise() -> None:
    for noise in (0.004, 0.02):
        rng = np.random.default_rng(0)
        x = rng.uniform(-1, 1, (300, 2))
        x[:150, 1] = 0.4 * x[:150, 0] + rng.normal(0, noise, 150)
        assert 1.2 * noise < propose_threshold(x, "line", random_state=0) < 5 * noise
    with pytest.raises(InputError, match="no hypothesis is meaningful"):
        propose_threshold(np.random.default_rng(0).random((60, 2)), "line", n_samples=200, random_state=0)


def test_fewer_points_than_a_minimal_sample_names_both_numbers() -> None:
    with pytest.raises(InputError, match=r"2 elements.*CircleModel needs 3"):
        MultiModelFitter("circle", 0.1).fit(np.zeros((2, 2)))


def test_wrong_number_of_columns_names_both_numbers() -> None:
    with pytest.raises(InputError, match=r"3 columns.*takes 2"):
        MultiModelFitter("line", 0.1).fit(np.zeros((9, 3)))


@pytest.mark.parametrize("points", [np.zeros((30, 2)), np.column_stack([np.arange(30.0), np.arange(30.0)])])
def test_coincident_or_collinear_samples_end_in_no_circle(points: FloatArray) -> None:
    with pytest.warns(NoConsensusWarning, match="0 of 0"):
        fitter = MultiModelFitter("circle", 0.1, n_samples=500, random_state=0).fit(points)
    assert fitter.labels_.tolist() == [-1] * 30
    assert fitter.membership_.shape == (30, 0)
    assert fitter.predict(points[:3]).tolist() == [-1] * 3


def test_degenerate_samples_are_replaced_with_bounded_tries() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([np.zeros((60, 2)), rng.random((40, 2))])
    hypotheses = propose(Family("circle", CircleModel(), SamplingLaw(), 0, 800), x, 800, rng)
    assert len(hypotheses.params) == 800
    assert np.isfinite(hypotheses.params).all()
    assert ((hypotheses.samples < 60).sum(1) <= 1).all()
    assert len({tuple(row) for row in hypotheses.samples.tolist()}) == 800


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": -1.0}, "positive number or 'auto'"),
        ({"threshold": "otto"}, "auto"),
        ({"epsilon": 0.0}, "epsilon must be a positive"),
        ({"label_width": 0.0}, "label_width must be a positive"),
        ({"sampling": "lokal"}, "local"),
        ({"n_samples": 0}, "n_samples must be at least 1"),
        ({"test": Nfa(lengths=True)}, "segments"),
        ({"test": Nfa(dispersion=-1.0)}, "dispersion"),
        ({"test": Nfa(hits="closed")}, "paper"),
        ({"test": "papier"}, "paper"),
        ({"sampling": Sampling(detection=1.0)}, "detection"),
        ({"bounds": {"radius": (1.0, 2.0)}}, "none of the models has"),
        ({"model": []}, "empty list"),
    ],
)
def test_settings_that_cannot_be_used(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiModelFitter(**{"model": "line", "threshold": 0.1, **options}).fit(cross()[0])


def test_unknown_model_lists_the_names() -> None:
    with pytest.raises(UnknownNameError, match="circle"):
        MultiModelFitter("cirle", 0.1).fit(cross()[0])


def test_an_own_model_without_refit_serves() -> None:
    class Level:
        """Horizontal lines."""

        sample_size = 1

        def fit(self, samples: FloatArray) -> FloatArray:
            return samples[:, 0, 1:]

        def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
            return np.abs(data[:, 1:] - params[:, 0])

    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (200, 2))
    x[:60, 1], x[60:120, 1] = 0.3, 0.8
    fitter = MultiModelFitter(Level(), 0.01, random_state=0).fit(x)
    assert np.sort(fitter.params_[:, 0]) == pytest.approx([0.3, 0.8], abs=0.011)


def test_a_constant_column_is_a_line() -> None:
    x = np.column_stack([np.random.default_rng(0).uniform(0, 10, 80), np.full(80, 2.0)])
    fitter = MultiModelFitter("line", 0.1, n_samples=500, random_state=0).fit(x)
    assert (fitter.labels_ == 0).all()
    assert fitter.params_ / fitter.params_[:, [1]] == pytest.approx(np.array([[0.0, 1.0, -2.0]]), abs=1e-9)


def test_scikit_learn_conventions() -> None:
    fitter = MultiModelFitter("line", 0.02, n_samples=300, random_state=0)
    assert set(fitter.get_params()) == set(inspect.signature(MultiModelFitter).parameters)
    assert all(getattr(fitter, name) is value for name, value in clone(fitter).get_params().items() if value is None)
    x, _ = cross()
    assert (clone(fitter).fit_predict(x) == fitter.fit(x).labels_).all()
    assert (fitter.predict(x) == fitter.labels_).all()
    assert fitter.n_features_in_ == 2


@pytest.mark.parametrize(
    ("model", "threshold", "make"),
    [
        ("circle", 0.02, lambda t: np.column_stack([np.cos(t), np.sin(t)])),
        ("ellipse", 0.02, lambda t: np.column_stack([np.cos(t), 0.6 * np.sin(t)])),
        (
            "sphere",
            0.02,
            lambda t: np.column_stack([np.cos(t) * np.cos(7 * t), np.sin(t) * np.cos(7 * t), np.sin(7 * t)]),
        ),
    ],
)
def test_other_models(model: str, threshold: float, make: object) -> None:
    rng = np.random.default_rng(0)
    inliers = make(rng.uniform(0, 2 * np.pi, 70))  # type: ignore[operator]
    x = np.concatenate([inliers, rng.uniform(-1.2, 1.2, (50, inliers.shape[1]))])
    fitter = MultiModelFitter(model, threshold, n_samples=150, random_state=0).fit(x)
    assert len(fitter.params_) == 1
    assert fitter.membership_.toarray()[:70].all()
    assert get_model(model).residuals(fitter.params_, inliers).max() < threshold / 4


def test_improved_hypotheses_vote_but_do_not_testify() -> None:
    class Improving(LineModel):
        """Lines that are refitted to what is near them."""

        def improve(self, params: FloatArray, data: FloatArray, threshold: float, steps: int) -> FloatArray:
            for _ in range(steps):
                near = self.residuals(params, data) <= threshold
                params = np.array([self.refit(data[inside], np.ones(inside.sum())) for inside in near.T])
            return params

    x, truth = cross()
    plain = MultiModelFitter("line", 0.02, n_samples=1000, random_state=0).fit(x)
    better = MultiModelFitter(Improving(), 0.02, n_samples=1000, sampling=Sampling(improve=2), random_state=0).fit(x)
    assert recall(better, truth) == 100
    # the best sampled hypothesis is the same, so is the number of false alarms of the first model
    assert better.nfa_[0] == pytest.approx(plain.nfa_[0], rel=1e-3)


@dataclass(frozen=True)
class Ball:
    """Points, as models of what lies around them; any number of columns."""

    sample_size: int = 1

    def fit(self, samples: FloatArray) -> FloatArray:
        """Centres (k, d)."""
        return samples[:, 0]

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k)."""
        return np.sqrt(((data[:, None] - params) ** 2).sum(2))


@pytest.mark.filterwarnings("ignore::biconsensus.errors.NoConsensusWarning")
@pytest.mark.filterwarnings("ignore::biconsensus.errors.ThresholdWarning")
@parametrize_with_checks(
    [MultiModelFitter(Ball(), threshold=1.0, n_samples=20, test=Nfa(n_background=512), random_state=0)]
)
def test_checks_of_scikit_learn(estimator: MultiModelFitter, check: Callable[[MultiModelFitter], None]) -> None:
    check(estimator)


def test_no_more_than_ten_parameters() -> None:
    assert len(inspect.signature(MultiModelFitter).parameters) <= 10


def mixed(seed: int = 0) -> FloatArray:
    """A circle and a segment of 80 points each, and 160 outliers."""
    rng = np.random.default_rng(seed)
    angle, along = rng.uniform(0, 2 * np.pi, 80), rng.uniform(-0.8, 0.9, 80)
    circle = np.column_stack([0.4 * np.cos(angle) - 0.3, 0.4 * np.sin(angle) + 0.2])
    segment = np.column_stack([along, 0.5 * along - 0.3])
    inliers = np.concatenate([circle, segment]) + rng.normal(0, 0.005, (160, 2))
    return np.concatenate([inliers, rng.uniform(-1, 1, (160, 2))])


def test_several_families_compete_for_the_elements() -> None:
    fitter = MultiModelFitter(["segment", "circle"], 0.015, n_samples=800, random_state=0).fit(mixed())
    assert sorted(fitter.families_) == ["circle", "segment"]
    circle = fitter.params_[fitter.families_.index("circle")]
    assert circle == pytest.approx([-0.3, 0.2, 0.4], abs=0.01)
    assert (fitter.labels_[:80] == fitter.families_.index("circle")).mean() > 0.9
    assert (fitter.predict(mixed()) == fitter.labels_).all()


def test_bounds_keep_models_out() -> None:
    settings = {"n_samples": 1000, "random_state": 0}
    within = MultiModelFitter("circle", 0.015, bounds={"radius": (0.3, 0.5)}, **settings).fit(mixed())
    assert within.params_[0, 2] == pytest.approx(0.4, abs=0.01)
    assert ((within.params_[:, 2] >= 0.3) & (within.params_[:, 2] <= 0.5)).all()
    low = {"radius": (0.05, 0.1)}
    with pytest.warns(NoConsensusWarning):
        MultiModelFitter("circle", 0.015, bounds=low, **settings).fit(mixed())


def test_an_arc_is_no_circle_where_coverage_is_asked() -> None:
    rng = np.random.default_rng(3)
    turns = np.concatenate([rng.uniform(0, 2 * np.pi, 80), rng.uniform(0, 1.5, 80)])
    places = np.column_stack([np.cos(turns), np.sin(turns)]) * 0.4
    places += np.repeat([[-0.5, -0.5], [0.4, 0.4]], 80, axis=0) + rng.normal(0, 0.005, (160, 2))
    points = np.concatenate([places, rng.uniform(-1, 1, (80, 2))])
    found = [
        MultiModelFitter("circle", 0.02, n_samples=250, bounds=bounds, random_state=0).fit(points)
        for bounds in (None, {"coverage": (0.6, 1.0)}, {"coverage": (0.0, 0.6)})
    ]
    assert [len(one.params_) for one in found] == [2, 1, 1]
    assert found[1].params_[0] == pytest.approx([-0.5, -0.5, 0.4], abs=0.01)
    assert found[2].params_[0, :2] == pytest.approx([0.4, 0.4], abs=0.03)


def test_pixels_of_edges_are_no_independent_elements() -> None:
    """Runs of pixels in all directions: by chance many of them lie along a line, but not many runs."""
    rng = np.random.default_rng(0)
    turn, start = rng.uniform(0, np.pi, 150), rng.uniform(0, 200, (150, 2))
    steps = np.arange(12)[:, None, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    edges = np.rint(start + steps).reshape(-1, 2)
    line = np.column_stack([np.arange(200.0), np.rint(20 + 0.6 * np.arange(200))])
    fitter = MultiModelFitter("line", 1.5, n_samples=1000, random_state=0).fit(np.concatenate([edges, line]))
    assert (fitter.labels_[-200:] == 0).mean() > 0.9
    assert len(fitter.params_) <= 15  # as independent elements they make more than forty


def test_two_models_whose_elements_one_model_holds_are_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (600, 3))
    x[:, 2] = 0.4 + rng.normal(0, 0.005, 600)
    apart = np.where(np.arange(600)[:, None] % 2, [0, 0, 0.06], 0)
    for data, gap, n_models in ((x, 0.008, 1), (x + apart, 0.06, 2)):
        families = families_of("plane", data, Sampling(), Nfa())
        settings = Settings(100, 1.0, Sampling(), Nfa(), None, None)
        search = ModelSearch(families, data, 0.01, settings, rng)
        middle = data[:, 2].mean()
        planes = [np.array([0.0, 0.0, 1.0, side - middle]) for side in (-gap / 2, gap / 2)]
        search.found = [
            Found(families[0], Fit(params, 0.01, 0.01), -9.0, -9.0, params[None], np.array([0.01])) for params in planes
        ]
        joined = search._joined(search.structures())
        assert len(joined or search.found) == n_models
        if joined:
            (distance,) = families[0].residuals(joined[0].fit.params[None], np.array([[0.5, 0.5, 0.4]]))
            assert distance < 0.001


@pytest.mark.parametrize("kind", ["blobs", "square", "halves"])
@pytest.mark.filterwarnings("ignore::biconsensus.errors.NoConsensusWarning")
def test_crowds_are_no_lines(kind: str) -> None:
    found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, (600, 2))
        if kind == "blobs":
            x[:500] = rng.choice(rng.uniform(-0.8, 0.8, (3, 2)), 500) + rng.normal(0, 0.12, (500, 2))
        elif kind == "square":
            x[:300] = 0.2 * x[:300] + 0.3
        else:
            x[:500, 0] = -np.abs(x[:500, 0])
        found += len(MultiModelFitter("line", 0.03, random_state=seed).fit(x).params_)
    assert found <= 3


def test_a_repeated_element_is_no_second_witness() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat(rng.uniform(-1, 1, (30, 2)), 20, axis=0)
    with pytest.warns(NoConsensusWarning):
        assert len(MultiModelFitter("line", 0.01, random_state=0).fit(x).params_) == 0


@pytest.mark.filterwarnings("ignore::biconsensus.errors.NoConsensusWarning")
def test_a_threshold_far_too_large_gets_a_proposal() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((300, 2))
    x[:150, 1] = 0.4 * x[:150, 0] + rng.normal(0, 0.005, 150)
    with pytest.warns(ThresholdWarning, match=r"threshold=0.3 is 2\d% .* suggest about 0.0[01]"):
        MultiModelFitter("line", 0.3, random_state=0).fit(x)


@dataclass(frozen=True)
class Odd:
    """Horizontal lines with residuals as they should not be."""

    fault: str
    sample_size: int = 1

    def fit(self, samples: FloatArray) -> FloatArray:
        """Heights (k, 1)."""
        return samples[:, 0, 1] if self.fault == "flat" else samples[:, 0, 1:]

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances, with a fault."""
        signed = data[:, 1:] - params[:, 0]
        return signed if self.fault == "signed" else np.abs(signed).T


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("signed", InputError, "negative distances.*absolute"),
        ("transposed", InputTypeError, r"rows are elements.*transposed"),
        ("flat", InputTypeError, r"shape \(k, p\)"),
    ],
)
def test_own_models_are_checked_on_arrival(fault: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        MultiModelFitter(Odd(fault), 0.1).fit(cross()[0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"random_state": "one"}, InputTypeError, "random_state must be None, a whole number"),
        ({"random_state": -1}, InputError, "random_state must be from 0"),
        ({"n_jobs": 0}, InputError, "n_jobs must not be 0"),
        ({"n_jobs": 1.5}, InputTypeError, "n_jobs must be a whole number"),
    ],
)
def test_seed_and_threads_are_checked_on_arrival(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        MultiModelFitter("line", 0.02, **options).fit(cross()[0])


def test_covariances_are_those_of_repeated_draws() -> None:
    """The jackknife of one draw against the spread of the offset over many draws of the same line."""
    rng = np.random.default_rng(3)
    draws = [np.column_stack([rng.uniform(-1, 1, 120), rng.normal(0, 0.01, 120)]) for _ in range(40)]
    line = LineModel()
    fits = np.array([line.refit(x, np.ones(len(x))) for x in draws])
    fits *= np.sign(fits[:, 1:2])
    fitter = MultiModelFitter("line", 0.04, random_state=0).fit(draws[0])
    (covariance,) = fitter.covariances(draws[0])
    assert covariance.shape == (3, 3)
    for entry in (0, 2):
        assert 0.5 < np.sqrt(covariance[entry, entry]) / fits[:, entry].std() < 2
    normal = fitter.params_[0, :2]
    assert normal @ covariance[:2, :2] @ normal < 1e-3 * covariance[0, 0]  # a unit normal cannot change its length


def test_extents_are_connected_parts() -> None:
    rng = np.random.default_rng(0)
    flat = np.column_stack([rng.uniform(0, [2, 1], (300, 2)), rng.normal(0, 0.002, 300)])
    far = flat[:100] + [10, 0, 0]
    x = np.concatenate([flat, far, rng.uniform(-1, 11, (100, 3))])
    fitter = MultiModelFitter("plane", 0.01, n_samples=600, random_state=0).fit(x)
    extent = fitter.extents(x, gap=1.0)[0]
    assert [set(part) & set(range(400)) for part in extent.parts[:2]] == [set(range(300)), set(range(300, 400))]
    assert extent.lengths == pytest.approx([2, 1, 0], abs=0.15)
    with pytest.raises(InputError, match="gap must be a positive distance"):
        fitter.extents(x, gap=0)


def test_a_plane_is_no_cylinder_of_a_hundred_metres() -> None:
    rng = np.random.default_rng(2)
    flat = np.hstack([rng.uniform(-1, 1, (120, 2)), rng.normal(0, 0.005, (120, 1)), np.tile([0.0, 0, 1], (120, 1))])
    turn = rng.uniform(0, 2 * np.pi, 120)
    out = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    round_ = np.hstack([0.2 * out + rng.uniform(-1, 1, (120, 1)) * [0, 0, 1] + rng.normal(0, 0.005, (120, 3)), out])
    x = np.concatenate([flat, round_])
    x[:, 3:] += rng.normal(0, 0.02, (240, 3))
    x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
    fitter = MultiModelFitter(["plane", "cylinder"], 0.015, n_samples=150, random_state=0).fit(x)
    assert sorted(fitter.families_) == ["cylinder", "plane"]


def test_a_plane_without_hypotheses_of_its_own_is_told_from_a_wide_cylinder(monkeypatch: pytest.MonkeyPatch) -> None:
    from biconsensus.fitting import _search

    rng = np.random.default_rng(0)
    flat = np.hstack([rng.uniform(-1, 1, (60, 2)), rng.normal(0, 0.005, (60, 1)), np.tile([0.0, 0, 1], (60, 1))])
    x = np.concatenate([flat, rng.normal(0, 0.5, (40, 6))])
    x[:, 3:] += rng.normal(0, 0.02, (100, 3))
    grouped = _search.group
    no_planes = lambda screened, *rest: [] if screened.params.shape[1] == 4 else grouped(screened, *rest)  # noqa: E731
    monkeypatch.setattr(_search, "group", no_planes)
    fitter = MultiModelFitter(["plane", "cylinder"], 0.015, n_samples=150, random_state=0).fit(x)
    assert fitter.families_ == ["plane"]
    assert abs(fitter.params_[0][2]) == pytest.approx(1, abs=0.01)


def test_labels_end_where_clutter_is_as_likely_as_the_model() -> None:
    rng = np.random.default_rng(0)
    line = np.column_stack([rng.uniform(-1, 1, 100), rng.normal(0, 0.005, 100)])
    x = np.concatenate([line, rng.uniform(-1, 1, (1500, 2))])
    fitter = MultiModelFitter("line", 0.03, n_samples=1000, random_state=0).fit(x)
    # 100 times the normal density is as high as that of 1500 points in a square of side 2 at 2.2 standard deviations
    assert fitter.bands_[0] == pytest.approx(0.011, abs=0.004)
    assert fitter.thresholds_[0] == 0.03


def test_samples_are_planned_for_the_own_elements_of_a_model() -> None:
    """A band of 0.06 holds some 30 of 1000 points by chance; a model needs 25 more, and samples of these alone."""
    x = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
    with pytest.warns(NoConsensusWarning):
        fitter = MultiModelFitter("line", 0.03, random_state=0).fit(x)
    assert fitter.n_tested_ > 10_000


def test_every_round_pays_the_same() -> None:
    """Lines of a later round are accepted at the same level as those of the first."""
    x, _ = cross()
    search = ModelSearch(families_of("line", x, Sampling(), Nfa()), x, 0.02, SETTINGS, np.random.default_rng(0))
    search.n_rounds = 7
    assert {one.log_penalty for one in search._round()} == {np.log10(2)}


@pytest.mark.parametrize(
    "call", [lambda X: MultiModelFitter("line", 0.1).fit(X), lambda X: propose_threshold(X, "line")]
)
def test_masked_cells_and_dates_are_refused(call: Callable[[object], object]) -> None:
    X = np.random.default_rng(0).random((30, 2))
    with pytest.raises(InputError, match=r"X has \d+ masked values"):
        call(np.ma.masked_less(X, 0.5))
    with pytest.raises(InputError, match="dates or durations"):
        call((1e9 * X).astype("datetime64[s]"))


def test_repeated_points_suggest_no_threshold() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 1.0]], 30, axis=0)
    with pytest.warns(NoConsensusWarning, match="no model is meaningful"):  # and of the threshold nothing is said
        MultiModelFitter("line", threshold=0.3, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("name", "instead"), [("n_groups", r"params_\[:n\] after the fit"), ("max_trials", "n_samples")]
)
def test_names_of_other_libraries_are_pointed_to(name: str, instead: str) -> None:
    with pytest.raises(InputTypeError, match=f"no parameter '{name}'; use {instead}"):
        MultiModelFitter("line", **{name: 3})


def test_values_whose_squares_overflow_are_refused() -> None:
    X = np.random.default_rng(0).random((30, 2))
    for scale in (1e200, 1e-200):
        with pytest.raises(
            InputError, match=r"X has values up to .*, whose squared distances overflow or vanish; mult"
        ):
            MultiModelFitter("line", threshold=scale / 100).fit(X * scale)
    X[:, 1] = X[:, 0]
    assert len(MultiModelFitter("line", threshold=1e58, random_state=0).fit(X * 1e60).params_) == 1


def test_a_threshold_that_is_text_is_refused_as_other_values_are() -> None:
    with pytest.raises(InputError, match="threshold must be a positive number or 'auto', got '2'"):
        MultiModelFitter("line", threshold="2").fit(np.random.default_rng(0).random((30, 2)))
