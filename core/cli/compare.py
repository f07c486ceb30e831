"""`speciate compare`: strategies against one another, under the same budgets, seeds and problems."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..config_sources import Layer, command_layer, file_layer
from ..errors import UsageError
from ..registry import Registry
from ..slots import Comparison
from .common import json_option, print_json, registry, set_option

FOLDER = Path("comparisons")


@click.command()
@click.argument("what", metavar="FILE | PROBLEM")
@click.option("--strategies", metavar="A,B,…", help="With PROBLEM: presets, or selectors under the default preset.")
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds: 0, 1, 2, …; the same for all.")
@click.option("--evaluations", type=click.IntRange(min=1), help="The budget of every run, instead of the file's.")
@click.option("--out", metavar="DIR", help="Where runs and report are kept; the default is comparisons/NAME.")
@click.option(
    "--workers", type=click.IntRange(min=1), help="Runs at a time, each on one core; the default is all cores."
)
@click.option("--method", metavar="M", help="Who compares: see `speciate plugins comparison`.")
@set_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def compare(
    what: str, out: str | None, workers: int | None, method: str | None, quiet: bool, as_json: bool, **given: Any
) -> None:
    """Compare the arms of FILE, or --strategies on PROBLEM; `--set` sets a key for all of them.

    What was finished before in the same folder is not run again, so that the same command goes on where it stopped.
    """
    known = registry()
    if given["strategies"] is None:
        tables, folder, name = _of_file(Path(what), known, given), Path(what).parent, Path(what).stem
    else:
        tables, folder, name = _of_problem(what, known, given), Path(), Path(what).name
    comparison = known.make(Comparison, method or known.names("comparison")[0])
    progress = _Progress(not quiet and sys.stderr.isatty())
    report = comparison.compare(tables, folder, Path(out) if out else FOLDER / name, workers, progress.tell)
    progress.end()
    if as_json:
        print_json(report)
    else:
        comparison.show(report)
        click.echo(f"the whole report: {report['report']}")


def _of_file(path: Path, known: Registry, given: Mapping[str, Any]) -> Layer:
    if path.suffix.lower() not in (".toml", ".yaml", ".yml") and (path.is_dir() or path.name in known.names("problem")):
        raise UsageError(f"{path} is a problem; say what to compare on it: --strategies A,B, or give a file")
    layer = file_layer(path)
    values = dict(layer.values)
    if given["seeds"] is not None:
        values["seeds"] = given["seeds"]
    if given["evaluations"] is not None:
        values["budget"] = {"evaluations": given["evaluations"]}
    if given["settings"]:
        values["common"] = {**values.get("common", {}), **command_layer(given["settings"], {}).values}
    return Layer(values, layer.place)


def _of_problem(what: str, known: Registry, given: Mapping[str, Any]) -> Layer:
    if given["evaluations"] is None:
        raise UsageError("say how much every run may spend: --evaluations N")
    settings = command_layer(given["settings"], {})
    common = {key: value for key, value in settings.values.items() if key != "problem"}
    names = [name.strip() for name in given["strategies"].split(",") if name.strip()]
    values = {
        "problems": [{"use": what, "options": settings.values.get("problem", {})}],
        "arms": [{"name": name, _slot(name, known): name} for name in names],
        "budget": {"evaluations": given["evaluations"]},
        "common": common,
        **({} if given["seeds"] is None else {"seeds": given["seeds"]}),
    }
    return Layer(values, lambda keys: "the command line")


def _slot(name: str, known: Registry) -> str:
    """Say what a strategy is: a preset, or else a selector, also one of a plugin that is yet to be loaded."""
    return "preset" if name in known.names("preset") else "selector"


class _Progress:
    """One line on standard error that is written over."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown

    def tell(self, done: int, total: int, last: str) -> None:
        if self._shown:
            click.echo(f"\r\x1b[K{done} of {total} runs  {last[:60]}", nl=False, err=True)

    def end(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
