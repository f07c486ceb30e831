"""Equal budgets or no ranking, and success rates by the name they have."""

import itertools

import pytest
from speciate.islands.fairness import average_at, pass_at, unequal_budgets

EQUAL = {"evaluations": 300.0, "model_calls": 0.0}


def test_property_72_arms_that_spent_the_declared_budget_may_be_ranked() -> None:
    assert unequal_budgets({"evaluations": 300}, {"a": [EQUAL] * 3, "b": [EQUAL] * 3}) is None
    assert unequal_budgets({"seconds": 100}, {"a": [{"seconds": 99.0}], "b": [{"seconds": 103.0}]}) is None


@pytest.mark.parametrize("kind", ["evaluations", "model_calls", "tokens", "seconds"])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_property_72_an_arm_that_spent_more_or_less_is_not_ranked(kind: str, factor: float) -> None:
    said = unequal_budgets({kind: 100}, {"a": [{kind: 100.0}], "b": [{kind: 100.0 * factor}]})
    assert said == f"b, run 0: {100 * factor:g} {kind} were spent, and the budget is 100"


def test_property_72_one_evaluation_too_many_counts() -> None:
    assert unequal_budgets({"evaluations": 300}, {"a": [{"evaluations": 301.0}]}) is not None


def test_property_72_what_was_not_counted_or_declared_is_not_ranked() -> None:
    assert "tokens were not counted" in (unequal_budgets({"tokens": 9}, {"a": [EQUAL]}) or "")
    assert "no budget was declared" in (unequal_budgets({}, {"a": [EQUAL]}) or "")
    assert "3 (a), 2 (b) runs" in (unequal_budgets({"evaluations": 300}, {"a": [EQUAL] * 3, "b": [EQUAL] * 2}) or "")


def test_property_74_the_average_of_three_is_not_pass_at_three() -> None:
    assert average_at([True, False, False]) == pytest.approx(1 / 3)
    assert pass_at(3, 3, 1) == 1.0


def test_property_74_pass_at_k_is_the_share_of_draws_that_hold_a_success() -> None:
    for n, c, k in itertools.product(range(1, 7), range(7), range(1, 7)):
        if c <= n and k <= n:
            draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
            assert pass_at(k, n, c) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_property_74_pass_at_n_is_one_if_and_only_if_something_succeeded() -> None:
    assert [pass_at(5, 5, c) for c in range(6)] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_rates_of_nothing_are_errors() -> None:
    with pytest.raises(ValueError, match="no attempts"):
        average_at([])
    with pytest.raises(ValueError, match="expected 1 <= k <= n"):
        pass_at(4, 3, 1)
