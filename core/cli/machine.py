"""Commands about this machine: run one file contained, and what containment can be had here."""

import json

import click

from ..errors import SpeciateError
from ..evaluation import Status
from ..program import Program
from ..sandbox import Job, Limits, Sandbox, Workspace
from .common import existing_file, json_option, print_json, registry

DEFAULTS = Limits()


@click.command()
@click.argument("file")
@click.option("--entry", default="main", show_default=True, help="The function that is called.")
@click.option("--sandbox", "kind", metavar="S", help="How it is contained: see `speciate plugins sandbox`.")
@click.option(
    "--wall",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULTS.wall_s,
    show_default=True,
    help="Wall time, seconds.",
)
@click.option(
    "--cpu",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULTS.cpu_s,
    show_default=True,
    help="CPU time, seconds.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(min=16),
    default=DEFAULTS.memory_bytes >> 20,
    show_default=True,
    help="Memory, MB.",
)
@click.option("--seed", default=0, show_default=True, help="Seeds the global generators of the program.")
@json_option
def sandbox(
    file: str, entry: str, kind: str | None, wall: float, cpu: float, memory_mb: int, seed: int, as_json: bool
) -> None:
    """Run FILE contained and print status, value and cost."""
    path = existing_file(file)
    known = registry()
    box = known.make(Sandbox, kind or default_sandbox())
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpeciateError(f"{file} cannot be read as UTF-8 text: {error}") from None
    limits = Limits(wall_s=wall, cpu_s=cpu, memory_bytes=memory_mb << 20)
    try:
        box.open(Workspace(limits=limits))
        result = box.run(Job(Program.of({path.name: text}), path.name, (entry,), seed=seed))
    finally:
        box.close()
    cost = {
        "wall_s": result.cost.wall_s, "cpu_s": result.cost.cpu_s, "max_rss_bytes": result.cost.max_rss_bytes,
    }  # fmt: skip
    content = {
        "status": result.status.value,
        "value": strict_value(result.value),
        "reason": result.reason,
        "cost": cost,
        "stdout": result.stdout,
    }
    if as_json:
        print_json(content)
        return
    for key, value in content.items():
        click.echo(f"{key}: {value}")
    if result.status is Status.INFRA:
        raise SpeciateError(f"the sandbox failed: {result.reason}")


def strict_value(text: str | None) -> object:
    """Return an output as data for strict JSON: what is not finite becomes its name as text."""
    if text is None:
        return None
    return json.loads(text, parse_constant=lambda name: name)


def default_sandbox() -> str:
    """Return the sandbox that the default settings name."""
    from ..config import resolve
    from ..loading import Plugins

    return str(resolve(Plugins.installed()).sandbox["use"])


@click.command()
@click.option(
    "--sandbox", "kind", metavar="S", help="Test this kind of containment; the default is the configured one."
)
@json_option
def doctor(kind: str | None, as_json: bool) -> None:
    """Attack this machine's containment from inside, and say what holds and what each missing layer would stop."""
    known = registry()
    box = known.make(Sandbox, kind or default_sandbox())
    try:
        box.open(Workspace())
        report = box.self_test()
    finally:
        box.close()
    if as_json:
        print_json(
            {
                "level": report.level,
                "layers": dict(report.layers),
                "missing": [{"layer": m.layer, "stops": m.stops} for m in report.missing],
            }
        )
        return
    click.echo(f"containment: {report.level}")
    for name, holds in report.layers.items():
        click.echo(f"  {'yes' if holds else 'NO ':<4} {name}")
    for missing in report.missing:
        click.echo(f"without {missing.layer}, nothing stops {missing.stops}")
