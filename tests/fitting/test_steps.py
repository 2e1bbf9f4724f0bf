"""Single steps of the fitting, which the answer of a whole fit hardly shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array
from sklearn.exceptions import NotFittedError

from biconsensus import MultiModelFitter
from biconsensus.errors import InputError
from biconsensus.fitting import Nfa, Sampling, _search
from biconsensus.fitting._groups import Candidates, Fit, Found, ModelHits, Unexplained, in_simpler_family
from biconsensus.fitting._hypotheses import Hypotheses, Screened
from biconsensus.fitting._search import ModelSearch
from biconsensus.fitting._settings import Family, Settings, diagonal, families_of
from biconsensus.models import LineModel
from biconsensus.protocols import FloatArray
from biconsensus.significance._models import Background, NfaTest
from tests.helpers.crossing_lines import lines

NOTHING = Screened(
    np.empty((0, 0)), np.empty((0, 0), np.int64), csc_array((0, 0)), np.empty(0), np.empty(0), np.empty((0, 0)), 0
)


def plain_test(family: Family, x: FloatArray, threshold: float) -> NfaTest:
    """A plain test of one family."""
    chance = Background.of(family.model, x, 4096, np.random.default_rng(0), "background")
    return NfaTest(family.model, len(x), np.array([threshold]), chance, 3.0, family.model.sample_size)


def found(family: Family, params: list[float], threshold: float) -> Found:
    """A model that was found."""
    theta = np.array(params)
    return Found(family, Fit(theta, threshold, threshold), -9.0, -9.0, theta[None], np.array([threshold]))


def test_a_fit_that_failed_is_no_fit() -> None:
    x, fitter = lines(20, 0.003), MultiModelFitter("line")
    with pytest.raises(InputError, match="threshold is required"):
        fitter.fit(x)
    for ask in (fitter.predict, fitter.covariances, fitter.extents):
        with pytest.raises(NotFittedError):
            ask(x)


def test_false_alarms_of_one_model_are_its_own() -> None:
    x = lines(20, 0.003)
    (family,) = families_of("line", x, Sampling(), Nfa())
    test = NfaTest(
        LineModel(),
        len(x),
        np.array([0.005, 0.01]),
        Background.of(LineModel(), x, 4096, np.random.default_rng(0), "background"),
        3.0,
        2,
    )
    fits = [found(family, params, 0.01).fit for params in ([0.0, 1.0, 0.0], [1.0, 0.0, -0.2])]
    together = Unexplained([ModelHits.of(x, test, fits)], np.ones(len(x)), 4096)
    alone = [Unexplained([ModelHits.of(x, test, [fit])], np.ones(len(x)), 4096).log_nfa(0, 0) for fit in fits]
    assert [together.log_nfa(0, number) for number in (0, 1)] == alone
    assert alone[0] < alone[1] - 10


@pytest.mark.parametrize(("sagitta", "kept"), [(0.009, "circle"), (0.0, "line")])
def test_an_arc_stays_a_circle_where_a_line_holds_its_elements_less_tightly(sagitta: float, kept: str) -> None:
    """Both models hold all elements; only where they are equally near is the one with fewer parameters enough."""
    rng, threshold = np.random.default_rng(0), 0.01
    x = rng.uniform(-1, 1, (200, 2))
    x[:100, 1] = sagitta * (x[:100, 0] ** 2 - 0.5) + rng.normal(0, 0.0005, 100)
    radius = 1 / (2 * max(sagitta, 1e-4))
    line, circle = families_of(["line", "circle"], x, Sampling(), Nfa())
    middle = radius - sagitta / 2
    one = found(circle, [0.0, middle, radius], threshold)
    both = [Candidates(family, plain_test(family, x, threshold), NOTHING, [], []) for family in (line, circle)]
    chosen = in_simpler_family(one, x, both, 0.0)
    assert chosen.family.name == kept
    inside = chosen.family.residuals(chosen.fit.params[None], x[:100])[:, 0] <= threshold
    assert inside.all()


def test_of_two_models_the_one_without_elements_of_its_own_means_nothing() -> None:
    x = lines(20, 0.003)
    families = families_of("line", x, Sampling(), Nfa())
    settings = Settings(400, 1.0, Sampling(), Nfa(), 2.0, None)  # labels reach beyond members, so that it is asked
    search = ModelSearch(families, x, 0.02, settings, np.random.default_rng(0))
    assert len(search._round()) == 2
    level, upright, empty = ([0.0, 1.0, 0.0], [1.0, 0.0, -0.2], [0.0, 1.0, -0.95])
    for pair, weakest in (([level, upright], None), ([level, empty], 1), ([empty, level], 0)):
        search.found = [found(families[0], params, 0.02) for params in pair]
        assert search._meaningless(search.structures()) == weakest


@pytest.mark.parametrize(("density", "clumps"), [("data", True), ("uniform", False)])
def test_clumps_are_measured_only_where_chance_follows_the_data(density: str, clumps: bool) -> None:
    """Runs of twelve pixels: elements that come together, unless chance is said to be independent."""
    rng = np.random.default_rng(0)
    turn, start = rng.uniform(0, np.pi, 60), rng.uniform(0, 200, (60, 2))
    steps = np.arange(12)[:, None, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    x = np.unique(np.rint(start + steps).reshape(-1, 2), axis=0)
    test = Nfa(density=density)
    families = families_of("line", x, Sampling(), test)
    settings = Settings(200, 1.0, Sampling(), test, None, None)
    search = ModelSearch(families, x, 1.5, settings, np.random.default_rng(0))
    search._round()
    assert (search._clumping(families[0], x, 1.5) == 1).all()  # nothing is found yet
    search.found = [found(families[0], [0.0, 1.0, 300.0], 1.5)]
    assert (search._clumping(families[0], x, 1.5) > 1.2).any() == clumps


@pytest.mark.parametrize(("model", "n_columns", "each"), [("line", 2, 16), ("plane", 3, 16), ("homography", 4, 4)])
def test_chance_is_measured_on_many_background_points_for_each_element(model: str, n_columns: int, each: int) -> None:
    x = np.random.default_rng(0).uniform(size=(1100, n_columns))
    for given, wanted in ((None, each * len(x)), (500, 500)):
        test = Nfa(n_background=given)
        settings = Settings(100, 1.0, Sampling(), test, None, None)
        search = ModelSearch(families_of(model, x, Sampling(), test), x, 0.01, settings, np.random.default_rng(0))
        assert len(search._background(x, 0.01).points) == wanted


def test_elements_in_one_place_have_an_extent_of_one() -> None:
    assert diagonal(LineModel(), np.full((5, 2), 3.0)) == 1
    assert diagonal(LineModel(), np.array([[0.0, 0.0], [3.0, 4.0]])) == 5


def test_samples_of_a_round_are_bounded_where_most_are_degenerate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight samples that are drawn for each that is wanted one in forty is good: the round ends all the same."""
    drawn, proposed = list[int](), _search.propose

    def wasteful(family: Family, data: FloatArray, n_samples: int, *rest: object) -> Hypotheses:
        hypotheses = proposed(family, data, n_samples, *rest)  # type: ignore[arg-type]
        if len(rest) < 2:  # a look at the data, not a round
            return hypotheses
        few = max(1, n_samples // 5)
        drawn.append(8 * n_samples)
        return replace(hypotheses, params=hypotheses.params[:few], samples=hypotheses.samples[:few], n_drawn=drawn[-1])

    monkeypatch.setattr(_search, "propose", wasteful)
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    settings = Settings("auto", 1.0, Sampling(), Nfa(), None, None)
    search = ModelSearch(families_of("line", x, Sampling(), Nfa()), x, 0.02, settings, np.random.default_rng(0))
    search._round()
    planned = search._planned["line"]
    assert 4 * planned <= sum(drawn) < 4 * planned + drawn[0]


@pytest.mark.parametrize(
    ("model", "columns", "improve", "steps"),
    [("line", 2, None, 0), ("segment", 2, None, 3), ("homography", 4, None, 3), ("homography", 4, 1, 1)],
)
def test_hypotheses_are_improved_as_the_model_says_unless_the_user_does(
    model: str, columns: int, improve: int | None, steps: int
) -> None:
    x = np.random.default_rng(0).random((20, columns))
    assert families_of(model, x, Sampling(improve=improve), Nfa())[0].steps == steps


@pytest.mark.parametrize("dispersion", [np.inf, np.nan, -1.0, "wide"])
def test_the_densest_spot_has_a_finite_radius(dispersion: object) -> None:
    with pytest.raises(InputError, match="dispersion must be a number of thresholds"):
        MultiModelFitter("line", 0.02, test=Nfa(dispersion=dispersion)).fit(lines(20, 0.003))  # type: ignore[arg-type]


def test_new_elements_that_are_not_finite_are_named() -> None:
    x = lines(20, 0.003)
    fitter = MultiModelFitter("line", 0.02, n_samples=400, random_state=0).fit(x)
    x[3, 1] = np.nan
    for ask in (fitter.predict, fitter.covariances, fitter.extents):
        with pytest.raises(InputError):
            ask(x)
