"""Selectors of textbooks and papers: worked examples, and the properties that every one of them must have."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import chisquare
from speciate.core.slots import Selector
from speciate.core.testing import SelectorContract
from speciate.core.testing.samples import VIEWS, island_view
from speciate.core.view import IslandView
from speciate.islands.selectors import Novel, Shinka, Weighted
from speciate.islands.selectors_bandit import Thompson, Ucb
from speciate.islands.selectors_classic import Boltzmann, FitnessProportional, NoveltyOnly, Tournament, Truncation
from speciate.islands.selectors_lexicase import EpsilonLexicase, Lexicase
from speciate.islands.selectors_published import (
    Aflow,
    Dgm,
    FunSearch,
    Gepa,
    Hyperagents,
)
from speciate.islands.selectors_puct import Puct
from test_selectors import UGLY, view_of

WEIGHTED = [Truncation, FitnessProportional, Boltzmann, NoveltyOnly, Dgm, Hyperagents, Aflow, Gepa]
OTHERS = [Tournament, Puct, FunSearch, Ucb, Thompson, Lexicase, EpsilonLexicase]
ALL: list[type[Selector]] = [*WEIGHTED, *OTHERS]


def with_instances(view: IslandView, instances: list[list[float]]) -> IslandView:
    return dataclasses.replace(view, instances=np.array(instances, float))


def with_lengths(view: IslandView, lengths: list[int]) -> IslandView:
    return dataclasses.replace(view, length=np.array(lengths))


def shares(selector: Selector, view: IslandView, draws: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(0)
    drawn = np.array([selector.select(view, rng) for _ in range(draws)])
    return np.array([(drawn == id).mean() for id in view.ids])


def contract_of(kind: type[Selector]) -> type[SelectorContract]:
    return type(f"Test{kind.__name__}", (SelectorContract,), {"component": lambda self: kind()})


for _kind in ALL:
    globals()[f"Test{_kind.__name__}"] = contract_of(_kind)


@pytest.mark.parametrize("kind", WEIGHTED)
@pytest.mark.parametrize("fitness", UGLY, ids=str)
def test_property_03_probabilities_are_probabilities(kind: type[Weighted], fitness: list[float]) -> None:
    p = kind().probabilities(view_of(fitness))
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("fitness", UGLY, ids=str)
def test_property_16_only_members_are_drawn(kind: type[Selector], fitness: list[float]) -> None:
    view, rng = view_of(fitness), np.random.default_rng(1)
    assert {kind().select(view, rng) for _ in range(30)} <= set(view.ids.tolist())


@pytest.mark.parametrize("kind", [Dgm, Hyperagents])
def test_property_01_probability_falls_with_offspring(kind: type[Weighted]) -> None:
    assert (np.diff(kind().probabilities(view_of([1.0] * 4, offspring=[0, 1, 2, 9]))) < 0).all()


@pytest.mark.parametrize("kind", [Truncation, FitnessProportional, Boltzmann, Dgm, Hyperagents, Aflow, Gepa])
def test_property_02_probability_does_not_fall_with_fitness(kind: type[Weighted]) -> None:
    view = dataclasses.replace(view_of([0.1, 0.2, 0.3, 0.4, 0.9]), ids=np.array([5, 4, 3, 2, 1]))
    assert (np.diff(kind().probabilities(view)) >= 0).all()


@pytest.mark.parametrize("kind", [FitnessProportional, Boltzmann, Truncation])
def test_these_are_invariant_to_affine_scores(kind: type[Weighted]) -> None:
    fitness = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    plain = kind().probabilities(view_of(list(fitness)))
    assert kind().probabilities(view_of(list(0.01 * fitness - 3))) == pytest.approx(plain)


def test_property_04_the_unscaled_form_is_not_invariant() -> None:
    plain = Dgm().probabilities(view_of([0.1, 0.5, 0.9]))
    assert Dgm().probabilities(view_of([1.0, 5.0, 9.0])) != pytest.approx(plain, rel=0.1)


def test_property_04_at_its_floor_the_deviation_no_longer_scales() -> None:
    fitness = np.array([1.0, 1.0, 1.0, 2.0])
    plain = Shinka().probabilities(view_of(list(fitness)))
    assert Shinka().probabilities(view_of(list(1 + 1e-7 * (fitness - 1)))) != pytest.approx(plain, rel=1e-3)


def test_property_07_dgm_weighs_one_half_at_an_accuracy_of_one_half() -> None:
    weights = Dgm().weights(view_of([0.5, 0.5, 0.8], offspring=[0, 3, 0]))
    assert weights == pytest.approx([0.5, 0.125, 1 / (1 + math.exp(-3.0))])


def test_property_08_the_penalty_of_hyperagents_at_8_offspring_is_1_over_e() -> None:
    weights = Hyperagents().weights(view_of([0.4, 0.4, 0.4], offspring=[0, 8, 4]))
    assert weights == pytest.approx([0.5, 0.5 / math.e, 0.5 * math.exp(-0.125)])


def test_hyperagents_centres_on_the_mean_of_the_top_three() -> None:
    weights = Hyperagents(Hyperagents.Options(offspring=None)).weights(view_of([0.2, 0.4, 0.6, 0.8]))
    assert weights[2] == pytest.approx(0.5)
    assert weights[0] == pytest.approx(1 / (1 + math.exp(4.0)))


def test_property_10_every_candidate_of_aflow_has_its_share() -> None:
    p = Aflow().probabilities(view_of([0.01, 0.5, 0.6, 0.2, 0.3, 0.4, 0.1]))
    candidates = p > 0
    # The four best and the oldest, which is the worst.
    assert candidates.tolist() == [True, True, True, False, True, True, False]
    assert p[candidates].min() >= 0.3 / 5 - 1e-12
    soft = np.exp(0.2 * 100 * (np.array([0.01, 0.5, 0.6, 0.3, 0.4]) - 0.6))
    assert p[candidates] == pytest.approx(0.3 / 5 + 0.7 * soft / soft.sum())


def test_property_11_the_temperature_of_funsearch_is_a_sawtooth() -> None:
    selector = FunSearch(FunSearch.Options(period=100))
    assert [selector.temperature(n) for n in (0, 50, 75, 100, 150)] == pytest.approx([0.1, 0.05, 0.025, 0.1, 0.05])


def test_funsearch_draws_clusters_by_score_and_prefers_the_short() -> None:
    view = with_lengths(view_of([0.5, 0.5, 0.6]), [100, 300, 100])
    view = with_instances(view, [[0.4, 0.6], [0.4, 0.6], [0.6, 0.6]])
    temperature = 0.1 * (1 - 13 / 30_000)
    better = 1 / (1 + math.exp(-0.1 / temperature))
    short = 1 / (1 + math.exp(-200 / 300.000001))
    expected = [(1 - better) * short, (1 - better) * (1 - short), better]
    assert shares(FunSearch(), view) == pytest.approx(expected, abs=0.03)


def test_programs_that_behave_otherwise_are_another_cluster() -> None:
    view = with_instances(view_of([0.5, 0.5, 0.5]), [[0.2, 0.8], [0.2, 0.8], [0.8, 0.2]])
    assert shares(FunSearch(), view)[2] == pytest.approx(0.5, abs=0.03)


def test_property_14_gepa_draws_by_fronts_and_never_the_dominated() -> None:
    scores = [[0.9, 0.1, 0.5, 0.9, 0.2], [0.1, 0.8, 0.4, 0.1, 0.9], [0.5, 0.5, 0.3, 0.5, 0.5]]
    view = with_instances(view_of([0.5, 0.5, 0.46]), scores)
    assert Gepa().weights(view).tolist() == [3.0, 2.0, 0.0]
    rng = np.random.default_rng(3)
    drawn = [Gepa().select(view, rng) for _ in range(4000)]
    assert chisquare([drawn.count(10), drawn.count(11)], [2400, 1600]).pvalue > 0.001
    assert drawn.count(12) == 0


def test_gepa_removes_who_only_shares_the_fronts_of_others() -> None:
    view = with_instances(view_of([1.0, 0.5, 0.6]), [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert Gepa().weights(view).tolist() == [2.0, 0.0, 1.0]


def test_a_tournament_of_two_follows_its_formula() -> None:
    # The k-th best of n wins with (2 (n - k) + 1) / n^2.
    p = shares(Tournament(Tournament.Options(size=2)), view_of([1.0, 2.0, 3.0, 4.0]))
    assert p == pytest.approx([1 / 16, 3 / 16, 5 / 16, 7 / 16], abs=0.03)


def test_truncation_draws_the_best_share_alike() -> None:
    p = Truncation(Truncation.Options(share=0.5)).probabilities(view_of([4.0, 1.0, 3.0, 2.0]))
    assert p.tolist() == [0.5, 0.0, 0.5, 0.0]
    assert Truncation(Truncation.Options(share=0.01)).probabilities(view_of([1.0, 2.0])).tolist() == [0.0, 1.0]


def test_fitness_proportional_takes_negative_fitness() -> None:
    p = FitnessProportional(FitnessProportional.Options(floor=0.1)).probabilities(view_of([-10.0, -5.0, 3.0, 14.0]))
    weights = np.array([0.1, 5 / 24 + 0.1, 13 / 24 + 0.1, 1.1])
    assert p == pytest.approx(weights / weights.sum())


def test_boltzmann_cools_and_follows_its_formula() -> None:
    selector = Boltzmann(Boltzmann.Options(start=2.0, end=1.0, half_life=100))
    assert [selector.temperature(t) for t in (0, 100, 200)] == pytest.approx([2.0, 1.5, 1.25])
    view = view_of([1.0, 2.0, 4.0])
    weights = np.exp((view.fitness - 4.0) / selector.temperature(13))
    assert selector.probabilities(view) == pytest.approx(weights / weights.sum())


def test_novelty_only_does_not_look_at_fitness() -> None:
    p = NoveltyOnly().probabilities(view_of([1e9, 0.0, -5.0], novelty=[0.1, 0.3, 0.6]))
    assert p == pytest.approx([0.1, 0.3, 0.6])


def test_ucb_tries_who_was_tried_least_and_without_a_bonus_takes_the_best() -> None:
    view = view_of([1.0, 2.0, 3.0], offspring=[0, 5, 40], refused=[0, 5, 40])
    assert Ucb(Ucb.Options(c=0.0)).select(view, np.random.default_rng(0)) == 12
    bounds = [q + math.sqrt(2 * math.log(91) / (1 + n)) for q, n in ((0.0, 0), (0.5, 10), (1.0, 80))]
    assert Ucb(Ucb.Options(c=1.0)).select(view, np.random.default_rng(0)) == 10 + int(np.argmax(bounds))


def test_thompson_follows_its_posterior() -> None:
    p = shares(Thompson(Thompson.Options(sigma=1.0)), view_of([1.0, 2.0], offspring=[0, 3]))
    # P(N(0, 1) > N(1, 1/4)) = Phi(-1 / sqrt(1.25))
    expected = 0.5 * math.erfc(1 / math.sqrt(1.25) / math.sqrt(2))
    assert p[0] == pytest.approx(expected, abs=0.03)


def test_lexicase_takes_who_is_best_on_the_first_instance_drawn() -> None:
    view = with_instances(view_of([0.5, 0.5, 0.9]), [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.9, 0.9, 0.9]])
    assert shares(Lexicase(), view) == pytest.approx([1 / 3, 2 / 3, 0.0], abs=0.03)


def test_epsilon_lexicase_lets_the_nearly_best_stay() -> None:
    view = with_instances(view_of([0.5, 0.5, 0.9]), [[1.0, 0.0], [0.0, 1.0], [0.9, 0.9]])
    # Median 0.9, deviations 0.1, 0.9, 0: the slack is 0.1, so that the third always stays to the end.
    assert shares(EpsilonLexicase(), view)[2] > 0.9
    assert shares(Lexicase(), view)[2] == 0.0


@pytest.mark.parametrize("kind", [Puct, FunSearch, Ucb, Lexicase, EpsilonLexicase])
def test_the_order_of_the_rows_does_not_decide(kind: type[Selector]) -> None:
    view = island_view(40, 3)
    turn = np.random.default_rng(0).permutation(40)
    columns = {name: getattr(view, name) for name in IslandView.__slots__ if name not in ("island", "instances")}
    turned = IslandView(0, **{name: column[turn] for name, column in columns.items()})
    for seed in range(10):
        rngs = np.random.default_rng(seed), np.random.default_rng(seed)
        assert kind().select(view, rngs[0]) == kind().select(turned, rngs[1])


@pytest.mark.parametrize("kind", [*ALL, Novel])
def test_property_15_equal_seeds_draw_equal_parents(kind: type[Selector]) -> None:
    for view in VIEWS.values():
        drawn = [[kind().select(view, np.random.default_rng(s)) for s in range(5)] for _ in range(2)]
        assert drawn[0] == drawn[1]
