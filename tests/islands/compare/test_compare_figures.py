"""What a comparison's figures may say: on runs that are written down here, so that every answer is known."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from speciate.core.objective import Objective
from speciate.islands.compare.analyse import analyse
from speciate.islands.compare.execute import Executed
from speciate.islands.compare.outcome import Outcome, Point, Spent
from speciate.islands.compare.plan import Cell, Plan
from speciate.islands.compare.report import print_report, write_report
from speciate.islands.compare.spec import Allowance, Arm, Design, ProblemTable
from speciate.islands.compare.words import conclusions, flip_words

HUNDRED = Allowance("evaluations", 100.0)
SHORT = Allowance("evaluations", 50.0)


def outcome(fitness: float | None, budgets: Sequence[Allowance], earlier: float | None = None) -> Outcome:
    """Return a run that has 0 at first and `fitness` from its 60th evaluation on; `earlier` from the 20th."""
    points = [Point(1, 1, 0.1, 0.0, 0)]
    if earlier is not None and earlier > 0.0:
        points.append(Point(20, 25, 2.0, earlier, 25))
    if fitness is not None and fitness > points[-1].fitness:
        points.append(Point(60, 70, 6.0, fitness, 70))
    if fitness is None:
        points = []
    at = {}
    for budget in budgets:
        best = max((p.fitness for p in points if p.evaluations <= budget.total), default=None)
        count = int(budget.total)
        at[str(budget)] = Spent(best, count, 2 * count, 9.0, 3.0, 0, 0, 0.0, {"duplicate": count}, 0.9, 0.5, 0.1)
    return Outcome(tuple(points), at)


def report_of(
    scores: Mapping[str, Sequence[Sequence[float | None]]],
    *,
    budgets: Sequence[Allowance] = (HUNDRED,),
    earlier: Mapping[str, Sequence[float]] | None = None,
    failed: Mapping[str, str] | None = None,
    objective: Objective | None = None,
    overspent: str | None = None,
) -> dict[str, Any]:
    """Return the report on arms with these final scores, (problems, seeds)."""
    rows, seeds = len(next(iter(scores.values()))), len(next(iter(scores.values()))[0])
    problems = tuple(ProblemTable(use=f"p{k}", name=f"p{k}") for k in range(rows))
    arms = tuple(Arm(name, {}, ()) for name in scores)
    design = Design(problems, arms, tuple(range(seeds)), tuple(budgets), 1, 60.0, Path())
    outcomes: dict[Cell, Outcome] = {}
    failures: dict[Cell, str] = {}
    for name, table in scores.items():
        for problem, row in zip(problems, table, strict=True):
            for seed, fitness in enumerate(row):
                folder = Path("runs") / f"{name}-{problem.name}-{seed}"
                cell = Cell(name, str(problem.name), seed, tuple(budgets), problem.use, Path(), (), folder)
                early = earlier[name][seed] if earlier else None
                if failed and name in failed:
                    failures[cell] = failed[name]
                    continue
                run = outcome(fitness, budgets, early)
                if overspent == name and seed == 0:
                    run = replace(run, at={b: replace(s, evaluations=s.evaluations + 1) for b, s in run.at.items()})
                outcomes[cell] = run
    plan = Plan(design, (*outcomes, *failures), {str(p.name): objective or Objective("score") for p in problems})
    return analyse(plan, Executed(outcomes, failures))


def noisy(mean: float, seeds: int, spread: float = 0.1, stream: int = 0) -> list[float]:
    return [float(x) for x in np.random.default_rng(stream).normal(mean, spread, seeds)]


def test_a_clear_difference_names_its_winner() -> None:
    report = report_of({"weak": [noisy(1.0, 20)], "strong": [noisy(2.0, 20, stream=1)]})
    (pair,) = report["pairs"]
    assert pair["winner"] == "strong"
    assert pair["difference"] == pytest.approx(-1.0, abs=0.1)
    assert pair["interval"][0] < pair["difference"] < pair["interval"][1] < 0
    assert pair["improvement"]["estimate"] == 0.0
    assert (pair["wins"], pair["losses"]) == (0, 20)
    assert report["arms"]["strong"]["rank"]["estimate"] == 1.0
    assert report["arms"]["strong"]["behind_best"] is None
    assert any("strong is better than weak" in line for line in conclusions(report))


def test_no_winner_is_named_when_the_interval_covers_zero() -> None:
    report = report_of({"a": [noisy(1.0, 20)], "b": [noisy(1.02, 20, stream=3)]})
    (pair,) = report["pairs"]
    assert pair["interval"][0] <= 0 <= pair["interval"][1]
    assert pair["winner"] is None
    said = "\n".join(conclusions(report))
    assert "no winner is named" in said
    assert f"takes about {pair['needed']} pairs" in said
    assert pair["needed"] > 20


def test_many_comparisons_are_corrected_so_that_a_lucky_pair_is_no_winner() -> None:
    alike = {f"arm{k}": [noisy(1.0, 12, stream=k + 40)] for k in range(8)}
    report = report_of(alike)
    smallest = min(report["pairs"], key=lambda pair: pair["p"])
    assert smallest["p"] < 0.05, "among 28 pairs of equals one looks like a difference"
    assert smallest["p_holm"] == pytest.approx(min(1.0, 28 * smallest["p"]))
    assert [pair["winner"] for pair in report["pairs"]] == [None] * 28


def test_property_72_every_arm_spends_the_same_declared_budget_or_the_report_refuses_to_rank() -> None:
    scores = {"a": [noisy(1.0, 12)], "b": [noisy(9.0, 12, stream=1)]}
    assert report_of(scores)["ranked"]
    report = report_of(scores, overspent="b")
    assert not report["ranked"]
    assert report["pairs"] == []
    assert report["arms"]["b"]["rank"] is None
    assert report["reasons"] == ["no ranking is made: b, run 0: 101 evaluations were spent, and the budget is 100"]


def test_an_arm_that_failed_is_not_ranked_and_the_others_are() -> None:
    scores = {"a": [noisy(1.0, 12)], "ill": [noisy(9.0, 12)], "b": [noisy(2.0, 12, stream=1)]}
    report = report_of(scores, failed={"ill": "the selector ill raised ValueError: no"})
    assert report["ranked"]
    assert set(report["arms"]) == {"a", "b"}
    assert report["failures"][0]["reason"] == "the selector ill raised ValueError: no"
    assert "ill is not ranked: a run of it failed" in report["reasons"]


def test_an_arm_that_found_nothing_valid_somewhere_is_not_ranked() -> None:
    report = report_of({"a": [noisy(1.0, 12)], "b": [noisy(1.0, 12)], "none": [[None, *noisy(5.0, 11)]]})
    assert set(report["arms"]) == {"a", "b"}
    assert "none is not ranked: it found nothing valid in 1 runs (p0, seed 0)" in report["reasons"]


def test_small_samples_are_said_to_be_small_and_how_many_are_needed_is_said() -> None:
    report = report_of({f"arm{k}": [noisy(k, 4, 0.01)] for k in range(3)})
    assert any("only 4 pairs" in caution for caution in report["cautions"])
    (asked,) = [caution for caution in report["cautions"] if "too few for the statistics asked" in caution]
    assert "no winner can be named below 7 pairs" in asked
    assert all(pair["winner"] is None for pair in report["pairs"])


def test_one_seed_gives_no_interval_and_no_ranking() -> None:
    report = report_of({"a": [[1.0]], "b": [[2.0]]})
    assert not report["ranked"]
    assert report["arms"]["a"]["interval"] is None
    assert report["arms"]["a"]["median"] == 1.0
    assert any("1 seed has no spread" in reason for reason in report["reasons"])


def test_one_arm_alone_is_told_so() -> None:
    report = report_of({"a": [noisy(1.0, 12)]})
    assert report["reasons"] == ["there is no second arm to compare with"]


def test_the_area_is_the_mean_of_the_best_so_far_over_the_budget() -> None:
    report = report_of({"a": [[1.0, 1.0]], "b": [[2.0, 2.0]]})
    # 0 up to the 60th of 100 evaluations, and the final score from there on.
    assert report["arms"]["a"]["auc"] == pytest.approx(0.4)
    assert report["arms"]["b"]["auc"] == pytest.approx(0.8)


def test_problems_of_unlike_scale_are_pooled_from_worst_to_best() -> None:
    report = report_of({"a": [[1.0, 2.0], [100.0, 100.0]], "b": [[2.0, 2.0], [50.0, 100.0]]})
    budget = report["budgets"][0]
    assert budget["by_problem"]["p1"]["b"]["median"] == 75.0
    assert report["arms"]["a"]["median"] == 1.0
    assert "0 is the worst best-so-far" in report["scale"]
    (pair,) = report["pairs"]
    assert pair["difference"] == pytest.approx((-0.5 + 0.0 + 0.5 + 0.0) / 4)


def test_a_metric_that_is_minimised_is_shown_as_it_is_and_smaller_wins() -> None:
    worse, better = [-x for x in noisy(5.0, 20)], [-x for x in noisy(3.0, 20, stream=1)]
    table = {"long": [worse], "short": [better]}
    report = report_of(table, objective=Objective("length", "minimise"), earlier=None)
    # Fitness is the metric negated; the curve's first point, 0, is better than all that follows.
    assert report["arms"]["long"]["iqm"] == pytest.approx(0.0)
    shifted = {name: [[x + 10.0 for x in row] for row in rows] for name, rows in table.items()}
    report = report_of(shifted, objective=Objective("length", "minimise"))
    assert report["arms"]["short"]["median"] == pytest.approx(-7.0, abs=0.1)
    assert report["pairs"][0]["winner"] == "short"
    low, high = report["arms"]["short"]["interval"]
    assert low < report["arms"]["short"]["iqm"] < high


def test_a_ranking_that_flips_with_the_budget_is_told() -> None:
    early = {"sprinter": noisy(2.0, 20), "stayer": noisy(1.0, 20, stream=1)}
    late = {"sprinter": [noisy(3.0, 20, stream=2)], "stayer": [noisy(5.0, 20, stream=3)]}
    report = report_of(late, budgets=(SHORT, HUNDRED), earlier=early)
    assert [budget["pairs"][0]["winner"] for budget in report["budgets"]] == ["sprinter", "stayer"]
    assert report["budget"] == "100 evaluations"
    (line,) = flip_words(report["flips"])
    assert line.startswith("the ranking flips with the budget: sprinter is ahead of stayer at 50 evaluations")


def test_profiles_fall_and_curves_rise() -> None:
    report = report_of({"a": [noisy(1.0, 12)], "b": [noisy(2.0, 12, stream=1)]})
    budget = report["budgets"][0]
    for shares in budget["profile"]["arms"].values():
        assert shares == sorted(shares, reverse=True)
    for curve in budget["curves"]["p0"]["arms"].values():
        assert curve["median"] == sorted(curve["median"])
        assert all(
            low <= mid <= high for low, mid, high in zip(curve["low"], curve["median"], curve["high"], strict=True)
        )


def test_costs_refusals_and_diversity_stand_beside_the_scores() -> None:
    arm = report_of({"a": [[1.0, 1.0]], "b": [[2.0, 2.0]]})["arms"]["a"]
    assert arm["cost"] == {
        "evaluations": 100.0, "proposals": 200.0, "model_calls": 0.0, "tokens": 0.0, "seconds": 9.0, "cpu_s": 3.0,
        "money": 0.0,
    }  # fmt: skip
    assert arm["refused"] == {"duplicate": 200}
    assert arm["diversity"] == {"unique": 0.9, "distance": 0.5, "cycles": pytest.approx(0.1)}


def test_the_report_is_written_as_strict_json_csv_and_a_page_that_loads_nothing(tmp_path: Path) -> None:
    report = report_of(
        {"<a>": [noisy(1.0, 12)], "b": [noisy(2.0, 12, stream=1)], "ill": [noisy(0.0, 12)]},
        budgets=(SHORT, HUNDRED), failed={"ill": "it raised </script>"},
    )  # fmt: skip
    page = write_report(report, tmp_path).read_text("utf-8")
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["pairs"] == report["pairs"]
    rows = list(csv.DictReader((tmp_path / "report.csv").open(encoding="utf-8")))
    means = {
        row["arm"]: float(row["value"])
        for row in rows
        if row["quantity"] == "iqm" and row["budget"] == "100 evaluations"
    }
    assert means == {name: arm["iqm"] for name, arm in report["arms"].items()}
    assert page.count("<svg") == 2 * 4
    assert "&lt;a&gt;" in page
    assert "<a>" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    embedded = re.search(r"<script type='application/json' id='report'>(.*?)</script>", page, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded[1]) == json.loads(json.dumps(report))
    assert not re.search(r"\b(?:src|href)=|@import|url\(", page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_the_terminal_says_who_wins_and_who_failed() -> None:
    report = report_of(
        {"a": [noisy(1.0, 12)], "b": [noisy(2.0, 12, stream=1)], "ill": [noisy(0.0, 12)]}, failed={"ill": "it raised"}
    )
    console = Console(file=StringIO(), width=100)
    print_report(report, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "b is better than a" in text
    assert "failed: ill on p0, seed 0: it raised" in text
