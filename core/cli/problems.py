"""Commands about problems: list, check, scaffold, evaluate one program, judge one output."""

from pathlib import Path

import click

from ..check import check as check_problem
from ..errors import SpeciateError
from ..evaluate import evaluate_once, read_program
from ..scaffold import new_problem
from ..verdict import verdict as verdict_of
from .common import existing_file, find_problem, json_option, print_json, registry, set_option


@click.command()
@json_option
def problems(as_json: bool) -> None:
    """List the problems that can be run by name."""
    known = registry()
    rows = [{"name": name, "summary": known.summary("problem", name)} for name in known.names("problem")]
    if as_json:
        print_json({"problems": rows})
        return
    for row in rows:
        click.echo(f"{row['name']:<24} {row['summary']}")


@click.command()
@click.argument("problem")
@set_option
@json_option
def check(problem: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Test every promise that PROBLEM makes: that its seed scores, that a change reaches the evaluator, and more."""
    loaded, plugins = find_problem(problem, settings)
    results = check_problem(loaded, plugins)
    passed = all(result.passed for result in results)
    if as_json:
        checks = [{"name": r.name, "passed": r.passed, "detail": r.detail} for r in results]
        print_json({"problem": loaded.name, "passed": passed, "checks": checks})
    else:
        for result in results:
            click.echo(f"{'pass' if result.passed else 'FAIL'}  {result.name}: {result.detail}")
    if not passed:
        failed = ", ".join(result.name for result in results if not result.passed)
        raise SpeciateError(f"{loaded.name} does not keep what it promises: {failed}")


@click.group()
def new() -> None:
    """Write the scaffold of something new."""


@new.command("problem")
@click.argument("name")
@click.option("--in", "folder", default=".", show_default=True, metavar="DIR", help="Where to make its folder.")
def new_problem_command(name: str, folder: str) -> None:
    """Write a small problem called NAME that runs at once: three files to change."""
    path = new_problem(name, Path(folder))
    click.echo(f"wrote {path}; check it with `speciate check {path}`, run it with `speciate run {path}`")


@click.command()
@click.argument("problem")
@click.argument("program")
@click.option("--sandbox", metavar="S", help="How the program is contained: see `speciate plugins sandbox`.")
@click.option("--seed", default=0, show_default=True, help="The seed handed to the program.")
@set_option
@json_option
def evaluate(
    problem: str, program: str, sandbox: str | None, seed: int, settings: tuple[str, ...], as_json: bool
) -> None:
    """Take one PROGRAM through screen, run, score and oracle of PROBLEM, and print what came of it."""
    loaded, plugins = find_problem(problem, settings)
    content = evaluate_once(loaded, read_program(loaded, Path(program)), plugins, sandbox=sandbox, seed=seed)
    if as_json:
        print_json(content)
        return
    for key, value in content.items():
        click.echo(f"{key}: {value}")


@click.command()
@click.argument("problem")
@click.argument("output")
@set_option
@json_option
def verdict(problem: str, output: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Print what oracle and local evaluator of PROBLEM say of the output in the file OUTPUT."""
    loaded, _ = find_problem(problem, settings)
    content = verdict_of(loaded, existing_file(output))
    if as_json:
        print_json(content)
        return
    for key, value in content.items():
        click.echo(f"{key}: {value}")
