"""Where settings come from: files, presets and the command line, each read into a layer that knows its places."""

import datetime
import numbers
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import UsageError

Keys = tuple[str | int, ...]
"""The way to a value from the top of a configuration."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one source. `place` says where a value stands, as an error message begins: `run.toml, line 3`."""

    values: Mapping[str, Any]
    place: Callable[[Keys], str]


def file_layer(path: Path, label: str | None = None) -> Layer:
    """Read a TOML or YAML file, in UTF-8 whatever the locale. Raises UsageError when that cannot be done."""
    label = label or str(path)
    suffix = path.suffix.lower()
    if path.is_dir():
        raise UsageError(f"{label} is a folder; expected a configuration file (.toml, .yaml or .yml)")
    if suffix not in (".toml", ".yaml", ".yml"):
        raise UsageError(f"{label} ends in {suffix!r}; expected a .toml, .yaml or .yml file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"there is no configuration file {label}") from None
    except OSError as error:
        raise UsageError(f"{label} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{label}, line {line}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    return text_layer(text, label, yaml=suffix != ".toml")


def text_layer(text: str, label: str, *, yaml: bool = False) -> Layer:
    """Read the text of a TOML or YAML file. Raises UsageError, with the line, when it does not parse."""
    values, lines = _yaml(text, label) if yaml else _toml(text, label)

    def place(keys: Keys) -> str:
        for length in range(len(keys), 0, -1):
            if keys[:length] in lines:
                return f"{label}, line {lines[keys[:length]]}"
        return label

    return Layer(values, place)


def command_layer(settings: Iterable[str], flags: Mapping[str, Any]) -> Layer:
    """Read `--set a.b=c` texts and flags (`{"budget": {"seconds": 9}}`, None where not given) into one layer.

    The value of a `--set` is read as TOML; what is not TOML is text. Raises UsageError when there is no `=`.
    """
    values: dict[str, Any] = {}
    places: dict[tuple[str, ...], str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        keys = tuple(part.strip() for part in name.split("."))
        if not equals or not all(keys):
            raise UsageError(f"--set {text}: expected a.b=c")
        overlay(values, _nested(keys, _value(value)))
        places[keys] = f"--set {' '.join(text.split())}"
    for keys, value in _leaves(flags):
        overlay(values, _nested(keys, value))
        places[keys] = f"--{keys[-1]}"

    def place(keys: Keys) -> str:
        shared = [k for k in places if keys[: len(k)] == k or k[: len(keys)] == keys]
        return places[max(shared, key=len)] if shared else "the command line"

    return Layer(values, place)


def overlay(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one table over another, in place: tables are merged, a name is a table with `use`, else the upper wins."""
    for key, value in above.items():
        old = below.get(key)
        if isinstance(old, Mapping) and isinstance(value, str):
            value = {"use": value}
        if isinstance(old, str) and isinstance(value, Mapping):
            old = {"use": old}
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        below[key] = overlay(dict(old), value) if both else value  # type: ignore[arg-type]
    return below


def _nested(keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return value  # type: ignore[no-any-return]


def _leaves(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        elif value is not None:
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            yield (*above, key), int(value) if whole else value  # a notebook's np.int64 is an integer too


def _value(text: str) -> Any:
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = table["value"]
    # A date is nobody's option, and a line break must not smuggle in a second key.
    plain = len(table) == 1 and not isinstance(value, datetime.date | datetime.time)
    return value if plain else text


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_PAIR = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def _toml(text: str, label: str) -> tuple[dict[str, Any], dict[Keys, int]]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{label} is not valid TOML: {error}") from None
    lines: dict[Keys, int] = {}
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _keys(header[2])
            if header[1] == "[[":
                table = (*table, sum(keys[:-1] == table and isinstance(keys[-1], int) for keys in lines))
            lines.setdefault(table, number)
        elif pair := _PAIR.match(line):
            lines.setdefault((*table, *_keys(pair[1])), number)
    return values, lines


def _keys(dotted: str) -> Keys:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _yaml(text: str, label: str) -> tuple[dict[str, Any], dict[Keys, int]]:
    import yaml  # only here: most configurations are TOML

    lines: dict[Keys, int] = {}

    def visit(node: yaml.Node | None, keys: Keys) -> None:
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                visit(item, (*keys, index))
        elif isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                key, line = (*keys, str(name.value)), name.start_mark.line + 1
                if key in lines:
                    raise UsageError(
                        f"{label}, line {line}: the key {name.value!r} stands twice, first in line {lines[key]}"
                    )
                lines[key] = line
                visit(value, key)

    try:
        visit(yaml.compose(text, Loader=yaml.SafeLoader), ())
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{label}, line {mark.line + 1}" if mark else label
        raise UsageError(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}") from None
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise UsageError(f"{label} holds no keys; expected lines such as `seed: 1`")
    return _with_text_keys(values), lines


def _with_text_keys(value: Any) -> Any:
    """YAML takes 1 and true for keys that are no text; here every key is the text it was written as, roughly."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value
