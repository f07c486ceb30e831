"""What one island may have of its own, and how that lies over what the whole run has."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from .config_sources import overlay
from .errors import UsageError, did_you_mean
from .options import OptionError
from .registry import SLOTS, split

Part = Mapping[str, Any]
"""A component as configured: `use`, its name, and its options as TOML says them; an operator has its `weight` too."""


class IslandParts(BaseModel, extra="forbid", frozen=True, use_attribute_docstrings=True):
    """What one island is made of. In a file, each key that an `[[island]]` leaves out is as for the whole run."""

    operator: tuple[Part, ...]
    """Its operators with their weights; islands whose operators are equal share what these learn."""
    selector: Part
    """Who draws its parents."""
    inspirations: Part
    """Who draws its inspirations."""
    archive: Part
    """Who stays in reach."""


ISLAND_SLOTS = tuple(name for name in IslandParts.model_fields if name != "operator")
"""The slots of which an island may have exactly one component of its own."""


def merged_part(slot: str, old: Part | None, value: Any) -> Part:
    """Lay a choice over the one below it: options stay where the component stays. Raises UsageError."""
    if isinstance(value, Mapping) and "use" not in value and old is not None:
        return overlay(dict(old), value)
    use, options = split(slot, value)
    same = old is not None and old["use"] == use
    return overlay(dict(old) if same and old is not None else {}, {"use": use, **options})


def check_islands(tables: Any, count: int | None) -> None:
    """Raise OptionError when `tables` are no `[[island]]` tables, or not one for each of `count` islands."""
    if not isinstance(tables, Sequence) or isinstance(tables, str) or not all(isinstance(t, Mapping) for t in tables):
        raise OptionError(f"island is {tables!r}; expected a list of tables, written [[island]]", ("island",))
    for index, table in enumerate(tables):
        for key in table:
            if key not in IslandParts.model_fields:
                may = f"; it may have {', '.join(IslandParts.model_fields)}"
                hint = may if key in SLOTS else did_you_mean(str(key), IslandParts.model_fields) or may
                raise OptionError(f"an island has no key {key!r} of its own{hint}", ("island", index, key))
    if tables and count is not None and count != len(tables):
        found = f"there {'is 1 [[island]] table' if len(tables) == 1 else f'are {len(tables)} [[island]] tables'}"
        raise OptionError(
            f"{found} and `count` in [islands] is {count}; write one table for each island, or leave `count` out",
            ("island",),
        )


def island_choices(table: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of one island: its own, laid over those of the run. Raises UsageError."""
    choices: dict[str, Any] = {slot: merged_part(slot, run[slot], table.get(slot, {})) for slot in ISLAND_SLOTS}
    own = table.get("operator", list(run["operator"]))
    if isinstance(own, str | Mapping):
        own = [own]
    if not isinstance(own, Sequence):
        raise UsageError(f"operator is {own!r}; expected a name, a table or a list of tables")
    choices["operator"] = [merged_part("operator", _below(part, run["operator"]), part) for part in own]
    return choices


def _below(part: Any, operators: Sequence[Part]) -> Part | None:
    """Return the run's operator that a choice of an island lies over: its namesake, or the only one there is."""
    use = part.get("use") if isinstance(part, Mapping) else part
    if use is None and len(operators) == 1:
        return operators[0]
    return next((operator for operator in operators if operator["use"] == use), None)
