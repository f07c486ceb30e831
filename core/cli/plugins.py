"""`speciate plugins`: what there is in every slot, and one component with its options."""

import click

from ..errors import UsageError
from .common import json_option, print_json, registry


@click.command()
@click.argument("what", nargs=-1, metavar="[SLOT | show SLOT:NAME]")
@json_option
def plugins(what: tuple[str, ...], as_json: bool) -> None:
    """List components by slot; `plugins SLOT` lists one slot, `plugins show SLOT:NAME` one component."""
    if what[:1] == ("show",):
        _show(what[1:], as_json)
        return
    if len(what) > 1:
        raise UsageError(
            f"plugins takes one slot, not {len(what)}; `speciate plugins show SLOT:NAME` shows a component"
        )
    known = registry()
    slots = what or known.slots()
    rows = [
        {"slot": slot, "name": name, "summary": known.summary(slot, name), "from": str(known.entry(slot, name).owner)}
        for slot in slots
        for name in known.names(slot)
    ]
    if as_json:
        print_json({"plugins": rows})
        return
    for row in rows:
        click.echo(f"{row['slot'] + ':' + row['name']:<28} {row['summary']}")


def _show(names: tuple[str, ...], as_json: bool) -> None:
    if len(names) != 1 or ":" not in names[0]:
        raise UsageError("`speciate plugins show` takes one SLOT:NAME, as in `speciate plugins show selector:novel`")
    slot, _, name = names[0].partition(":")
    info = registry().describe(slot, name)
    options = [
        {"name": o.name, "type": o.type, "default": o.default, "description": o.description} for o in info.options
    ]
    if as_json:
        print_json(
            {
                "slot": slot, "name": name, "doc": info.doc, "options": options, "from": str(info.owner),
                "where": info.where,
            }
        )  # fmt: skip
        return
    click.echo(f"{slot}:{name}  ({info.where}, from {info.owner})\n\n{info.doc}\n")
    for option in options:
        default = "required" if option["default"] is None else f"= {option['default']}"
        click.echo(f"  {option['name']}: {option['type']} {default}\n      {option['description']}")
