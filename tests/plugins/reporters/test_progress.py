"""The progress display: right counts, plain lines without control codes, no fault on ugly input."""

import io
from pathlib import Path

import pytest
from speciate.core.evaluation import Evaluation, EvaluationName, Status, Verdict
from speciate.core.events import IndividualAdmitted, OffspringRefused, RecordBroken, RunEnded, RunStarted
from speciate.core.objective import Objective
from speciate.core.records import Individual, Reason
from speciate.plugins.reporters.curve import ASCII, curve
from speciate.plugins.reporters.progress import Progress


def started(**changes: object) -> RunStarted:
    given: dict[str, object] = {
        "directory": Path("run"), "problem": "packing [bold]", "objective": Objective("sum"), "best_known": 2.0,
        "seed": 1, "workers": 2, "lag": 4, "totals": {"evaluations": 100, "seconds": 60.0},
    }  # fmt: skip
    return RunStarted(**{**given, **changes})  # type: ignore[arg-type]


def admitted(id: int, score: float, operator: str = "genetic/guard") -> IndividualAdmitted:
    individual = Individual(id, "p", 0, None, (), None, operator, 0, "e", score, 0.5)
    name = EvaluationName("p", None, 1, 1, 0, "v")
    evaluation = Evaluation(name, Status.OK, {"sum": score}, verdict=Verdict(True, score))
    return IndividualAdmitted(individual, evaluation, True, id + 1, id + 2, 1.0)


def tell(reporter: Progress, scores: list[float]) -> None:
    best = None
    for id, score in enumerate(scores):
        event = admitted(id, score)
        reporter.individual_admitted(event)
        if best is None or score > best:
            reporter.record_broken(RecordBroken(event.individual, event.evaluation, best))
            best = score


def ended() -> RunEnded:
    return RunEnded("budget", "spent", 1, 3, 5, {Reason.DUPLICATE: 2}, 3.0)


def plain(scores: list[float], **changes: object) -> str:
    stream = io.StringIO()
    reporter = Progress(Progress.Options(style="plain"), stream)
    reporter.run_started(started(**changes))
    tell(reporter, scores)
    reporter.offspring_refused(OffspringRefused(9, 0, "toy", Reason.DUPLICATE, "seen"))
    reporter.run_ended(ended())
    return stream.getvalue()


def test_plain_lines_hold_no_control_codes_and_tell_every_record() -> None:
    text = plain([1.0, 1.5, 1.2, 1.75])
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if "best 1.5 " in line]
    assert [line for line in text.splitlines() if "best 1.75 " in line]
    assert "best 1.2 " not in text


def test_noise_is_no_record_to_tell() -> None:
    assert plain([1.0, 1.0 + 1e-13, 1.0 + 2e-13]).count(" by genetic/guard") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_live_display_shows_best_counts_and_refusals(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    reporter = Progress(Progress.Options(style="live"), stream)
    reporter.run_started(started())
    tell(reporter, [1.0, 1.5])
    reporter.offspring_refused(OffspringRefused(9, 0, "toy", Reason.DUPLICATE, "seen"))
    reporter.run_ended(ended())
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert "1.5 (valid by the exact oracle), 0.5 short of the best known" in text
    assert "2 of 100" in text
    assert "1 duplicate" in text
    assert "packing [bold]" in text


def test_closing_twice_and_closing_before_the_start_is_nothing() -> None:
    stream = io.StringIO()
    reporter = Progress(Progress.Options(style="live"), stream)
    reporter.close()
    reporter.close()
    assert stream.getvalue() == ""


def test_a_run_without_limits_or_known_value_is_shown_too() -> None:
    assert "best" in plain([1.0], totals={}, best_known=None)


def test_a_curve_fits_its_width_and_ends_at_its_highest() -> None:
    drawn = curve([float(value) for value in range(1000)], 20)
    assert len(drawn) == 20
    assert drawn[0] == "▁"
    assert drawn[-1] == "█"


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], [-1e300, 1e300], [0.0] * 5000])
def test_a_curve_of_anything_is_drawn(values: list[float]) -> None:
    assert len(curve(values, 10, marks=ASCII)) <= 10
