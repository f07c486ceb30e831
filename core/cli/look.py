"""Commands that look at a run and change nothing: best, show, rerun, ledger."""

import difflib
from pathlib import Path
from typing import Any

import click

from ..best import best_of, input_chain
from ..errors import RunFolderError, SpeciateError
from ..export import write_chain, write_output, write_picture, write_program
from ..folder import RunFolder
from ..loading import Plugins
from ..records import Material
from ..rerun import rerun as rerun_chain
from .common import json_option, print_json


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--program", metavar="FILE", help="Write the program here; one of several files becomes a folder.")
@click.option("--picture", metavar="FILE", help="Draw the output here; the format goes by the suffix (.svg, .png).")
@click.option("--output", metavar="FILE", help="Write the output here, as JSON.")
@click.option("--chain", metavar="FOLDER", help="Write every program and input that makes the result.")
@json_option
def best(
    directory: str, program: str | None, picture: str | None, output: str | None, chain: str | None, as_json: bool
) -> None:
    """Print the best program of the run in DIR: its score, its verdict, and how to run it again."""
    folder = RunFolder.open(Path(directory), write=False)
    problem = folder.load_problem()
    found = best_of(folder.store, problem.objective)
    if found is None:
        raise RunFolderError(f"the run in {directory} has no valid program yet; `speciate show {directory}` says why")
    if program is not None:
        write_program(found.program, Path(program))
    if picture is not None:
        write_picture(problem, found.output, Path(picture))
    if output is not None:
        write_output(found.output, Path(output))
    if chain is not None:
        write_chain(folder.store, found.id, Path(chain))
    if as_json:
        print_json(found.as_json())
        return
    word = {True: "valid", False: "not valid", None: "no oracle"}[found.valid]
    click.echo(f"individual {found.id}: {problem.objective.name} {found.score!r} ({word})")
    if found.verdict is not None and found.verdict.score_exact is not None:
        click.echo(f"exactly {_short(found.verdict.score_exact)}")
    if found.evaluations is not None:
        click.echo(f"found after {found.evaluations} evaluations and {found.seconds:.1f} s")
    steps = len(input_chain(folder.store, found.id))
    click.echo(f"made by a chain of {steps} programs; run it again with: speciate rerun {directory}")
    if program is None:
        click.echo("\n" + found.program.text(problem.main), nl=False)


@click.command()
@click.argument("directory", metavar="DIR")
@click.argument("id", metavar="[ID]", type=int, required=False)
@click.option("--limit", default=20, show_default=True, help="How many ancestors to list.")
@json_option
def show(directory: str, id: int | None, limit: int, as_json: bool) -> None:
    """Show the run in DIR, or its individual ID: lineage, scores, and what it changed against its parent."""
    folder = RunFolder.open(Path(directory), write=False)
    if id is None:
        content = _overview(folder)
        print_json(content) if as_json else click.echo("\n".join(f"{key}: {value}" for key, value in content.items()))
        return
    _require(folder, id)
    material = folder.store.material(id)
    lineage = _lineage(folder, material, limit)
    if as_json:
        print_json(_as_json(material, lineage, _difference(folder, material)))
        return
    evaluation = material.evaluation
    click.echo(f"individual {id} on island {material.individual.island}, made by {material.individual.operator}")
    click.echo(f"{evaluation.status.value}: {evaluation.reason or ''} {dict(evaluation.metrics)}".rstrip())
    if evaluation.feedback:
        click.echo(evaluation.feedback)
    click.echo("\nlineage")
    for step in lineage:
        click.echo(f"  {step['id']:>6}  {step['operator']:<32} {step['fitness']}")
    click.echo("\n" + (_difference(folder, material) or material.program.text(folder.load_problem().main)), nl=False)


@click.command()
@click.argument("directory", metavar="DIR")
@click.argument("id", metavar="[ID]", type=int, required=False)
@json_option
def rerun(directory: str, id: int | None, as_json: bool) -> None:
    """Run the programs that made individual ID (the best by default) again, and compare every output."""
    folder = RunFolder.open(Path(directory), write=False)
    problem = folder.load_problem()
    if id is None:
        found = best_of(folder.store, problem.objective)
        if found is None:
            raise RunFolderError(f"the run in {directory} has no valid program to run again")
        id = found.id
    _require(folder, id)
    steps = rerun_chain(folder, problem, Plugins.installed(), id)
    equal = all(step.equal for step in steps)
    if as_json:
        print_json({"id": id, "equal": equal, "steps": [step.as_json() for step in steps]})
    else:
        for step in steps:
            click.echo(f"{step.id:>6}  {step.status:<8} {'equal' if step.equal else 'DIFFERENT'}  {step.score}")
    if not equal:
        raise SpeciateError(f"running individual {id} again gave another output than the run recorded")


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--digest", is_flag=True, help="Print one hash over everything that is equal between equal runs.")
@json_option
def ledger(directory: str, digest: bool, as_json: bool) -> None:
    """Print what the run in DIR spent, by role, or its digest."""
    folder = RunFolder.open(Path(directory), write=False)
    if digest:
        found = folder.verified_digest().hex()
        print_json({"digest": found}) if as_json else click.echo(found)
        return
    costs = folder.store.costs()
    if as_json:
        print_json({"costs": costs, "possibly_paid_calls": folder.store.possibly_paid()})
        return
    if folder.store.possibly_paid():
        click.echo(f"{folder.store.possibly_paid()} calls were sent and not answered: possibly paid")
    for row in costs:
        click.echo("  ".join(f"{key} {value}" for key, value in row.items()))


def _require(folder: RunFolder, id: int) -> None:
    last = folder.store.last_ticket()
    # SQLite raises on integers that it cannot hold, so they are not asked for.
    known = 0 <= id <= last
    if known and folder.store.individual(id) is not None:
        return
    refused = folder.store.refusal(id) if known else None
    because = f"ticket {id} was refused ({refused})" if refused else f"its last ticket is {last}"
    raise RunFolderError(f"the run in {folder.path} has no individual {id}; {because}")


def _short(exact: str) -> str:
    return exact if len(exact) <= 100 else f"{exact[:60]}… ({len(exact)} characters; all of them with --json)"


def _overview(folder: RunFolder) -> dict[str, Any]:
    problem = folder.load_problem()
    found = best_of(folder.store, problem.objective)
    return {
        "problem": problem.name,
        "proposals": folder.store.last_ticket() + 1,
        **folder.store.counts(),
        "best": None if found is None else found.id,
        "score": None if found is None else found.score,
        "valid": None if found is None else found.valid,
        "suspicious": [payload for _, payload in folder.store.events("suspicious")],
    }


def _lineage(folder: RunFolder, material: Material, limit: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    current: Material | None = material
    while current is not None and len(steps) < limit:
        individual = current.individual
        steps.append({"id": individual.id, "operator": individual.operator, "fitness": individual.fitness})
        current = None if individual.parent is None else folder.store.material(individual.parent)
    return steps


def _difference(folder: RunFolder, material: Material) -> str:
    parent = material.individual.parent
    if parent is None:
        return ""
    before = dict(folder.store.material(parent).program.files)
    lines: list[str] = []
    for path, text in material.program.files:
        old = before.get(path, "").splitlines(keepends=True)
        lines += difflib.unified_diff(
            old, text.splitlines(keepends=True), f"{parent}/{path}", f"{material.individual.id}/{path}"
        )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _as_json(material: Material, lineage: list[dict[str, Any]], difference: str) -> dict[str, Any]:
    individual, evaluation = material.individual, material.evaluation
    return {
        "id": individual.id,
        "parent": individual.parent,
        "inspirations": list(individual.inspirations),
        "island": individual.island,
        "operator": individual.operator,
        "generation": individual.generation,
        "program_hash": individual.program,
        "files": dict(material.program.files),
        "status": evaluation.status.value,
        "reason": evaluation.reason,
        "metrics": dict(evaluation.metrics),
        "feedback": evaluation.feedback,
        "fitness": individual.fitness,
        "novelty": individual.novelty,
        "lineage": lineage,
        "diff": difference,
    }
