"""`speciate run` and `speciate resume`: start a search or go on with one, show it, and say what was found."""

from pathlib import Path
from typing import Any

import click

from ..best import BestProgram
from ..export import write_picture, write_program
from ..run import Result, Run, Totals
from ..search import Prepared, prepare, prepare_resume, reporting
from .common import json_option, print_json, set_option

NO_VALID_PROGRAM = 3
INTERRUPTED = 130


@click.command()
@click.argument("problem")
@click.option("--config", "config", metavar="FILE", help="A TOML or YAML file with settings.")
@click.option("--out", metavar="DIR", help="The run folder; the default is runs/PROBLEM-001, -002, ….")
@click.option("--seed", type=click.IntRange(min=0), help="The seed of every random choice.")
@click.option("--evaluations", type=click.IntRange(min=1), help="Stop after this many evaluations, seeds included.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after this much wall time.")
@click.option("--target", type=float, help="Stop when the (oracle's) score is at least this good.")
@click.option("--workers", type=click.IntRange(min=1), help="Evaluations at a time; the default is one a core.")
@click.option("--preset", metavar="P", help="Settings by name: see `speciate plugins preset`.")
@click.option("--policy", metavar="P", help="Who writes programs: see `speciate plugins policy`.")
@click.option("--executor", metavar="E", help="Where evaluations run: see `speciate plugins executor`.")
@click.option("--sandbox", metavar="S", help="How candidates are contained: see `speciate plugins sandbox`.")
@set_option
@click.option("--print-config", is_flag=True, help="Print the resolved configuration and stop.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def run(problem: str, print_config: bool, quiet: bool, as_json: bool, settings: tuple[str, ...], **given: Any) -> None:
    """Evolve programs for PROBLEM, a registered name or the path of a problem's folder."""
    prepared = prepare(problem, settings=settings, dry=print_config, **given)
    if isinstance(prepared, str):
        click.echo(prepared, nl=False)
        return
    _execute(prepared, quiet, as_json)


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--evaluations", type=click.IntRange(min=1), help="A new total of evaluations.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="A new total of wall time.")
@click.option("--proposals", type=click.IntRange(min=1), help="A new cap on proposals.")
@click.option("--target", type=float, help="A new target score.")
@click.option("--workers", type=click.IntRange(min=1), help="Evaluations at a time; it changes no result.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def resume(directory: str, workers: int | None, quiet: bool, as_json: bool, **totals: Any) -> None:
    """Go on with the run in DIR exactly where it stopped. Budgets are totals over the whole run."""
    prepared = prepare_resume(Path(directory), Totals(**totals), workers)
    _execute(prepared, quiet, as_json)


def _execute(prepared: Prepared, quiet: bool, as_json: bool) -> None:
    for remark in prepared.run.remarks():
        click.echo(remark, err=True)
    with reporting(prepared, quiet=quiet) as sink:
        result = prepared.run.execute(sink.emit, signals=True)
    if as_json:
        print_json(result.as_json())
    else:
        click.echo("\n".join(closing_words(prepared.run, result)))
    if result.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if result.best is None:
        raise click.exceptions.Exit(NO_VALID_PROGRAM)


def closing_words(run: Run, result: Result) -> list[str]:
    """Return what is printed at the end: what was found, how it compares, and how to go on."""
    lines = [f"{result.reason}; {result.evaluations} evaluations, {result.proposals} proposals, {result.seconds:.0f} s"]
    best, problem = result.best, run.problem
    if best is None:
        lines.append("no valid program was found")
    else:
        word = {True: "valid by the exact oracle", False: "not valid", None: "not checked by an oracle"}[best.valid]
        lines.append(f"best {problem.objective.name} {best.score!r} ({word}), individual {best.id}")
        lines += compared(best.score, problem)
        lines += keep_best(run, result, best)
    more = int(result.seconds * 2) if run.budget.seconds is not None else None
    total = f"--seconds {more}" if more is not None else f"--evaluations {2 * result.evaluations}"
    lines.append(f"to go on from here: speciate resume {result.dir} {total}")
    return lines


def keep_best(run: Run, result: Result, best: BestProgram) -> list[str]:
    """Write the best program and its picture into the run folder, and say where they lie."""
    problem = run.problem
    program = result.dir / ("best" + Path(problem.main).suffix if len(best.program.files) == 1 else "best")
    write_program(best.program, program)
    lines = [f"its program: {program}"]
    if problem.draws and best.output is not None:
        picture = result.dir / "best.svg"
        write_picture(problem, best.output, picture)
        lines.append(f"its picture: {picture}")
    return lines


def compared(score: float, problem: Any) -> list[str]:
    """Return how a score compares with the best known value, if the problem names one."""
    known = problem.best_known
    if known is None:
        return []
    value, source = known
    short = value - score if problem.objective.direction == "maximise" else score - value
    words = f"{short:.3g} short of" if short > 0 else "equal to" if short == 0 else f"{-short:.3g} better than"
    return [f"that is {words} the best known value {value!r}" + (f" ({source})" if source else "")]
