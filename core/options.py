"""Checks options against the model that declares them, and turns what is wrong into one sentence."""

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from .errors import UsageError, did_you_mean

NONE = "none"
"""How `None` is written where a format has no word for it; it means None wherever an option may be None."""

M = TypeVar("M", bound=BaseModel)


class OptionError(UsageError):
    """An option is unknown or has a wrong value. `path` leads to it from the checked table."""

    def __init__(self, message: str, path: tuple[str | int, ...]) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """What is told of one option. `default` is its text as in TOML, or None when it must be given."""

    name: str
    type: str
    default: str | None
    description: str


def check(
    model: type[M],
    values: Mapping[str, Any],
    subject: str,
    *,
    noun: str = "option",
    owner: Callable[[str], str | None] = lambda name: None,
) -> M:
    """Return `values` as an instance of `model`.

    `subject` is who has the options (`selector 'shinka'`), `noun` what they are called, and `owner` says who else has
    an option of an unknown name. Raises OptionError, about the first thing that is wrong.
    """
    for name, value in values.items():
        field = model.model_fields.get(name)
        # pydantic takes true for 1, and a person who writes it means something else.
        if isinstance(value, bool) and field is not None and _numeric(field.annotation):
            raise OptionError(f"{subject}: {noun} {name!r} is {_came(value)}; expected a number", (name,))
    try:
        return model.model_validate(_with_none(model, values))
    except ValidationError as error:
        raise _explained(model, error, subject, noun, owner) from None


def option_infos(model: type[BaseModel]) -> tuple[OptionInfo, ...]:
    """Return what there is to say of each option of `model`, in the order of declaration."""
    return tuple(
        OptionInfo(name, _type_text(field), _default_text(field), (field.description or "").strip())
        for name, field in model.model_fields.items()
    )


def plain(value: Any) -> Any:
    """Return a value as TOML can hold it: paths and enumerations as text, models as tables, None as `"none"`."""
    # Dumped first: a model left to `to_jsonable_python` loses an infinity inside an untyped field.
    dumped = value.model_dump() if isinstance(value, BaseModel) else value
    return _none_as_word(to_jsonable_python(dumped, inf_nan_mode="constants"))


def _none_as_word(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _none_as_word(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_none_as_word(item) for item in value]
    return NONE if value is None else value


def value_text(value: Any) -> str:
    """Return a value the way a TOML file would say it, roughly."""
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, BaseModel):
        return value_text(dict(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {value_text(v)}" for name, v in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return repr(value) if isinstance(value, int | float) else f'"{value}"'


def _with_none(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Read the word `none` as None wherever it can mean that."""
    result = dict(values)
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None:
            continue
        if value == NONE and _admits(field.annotation, None) and not _admits(field.annotation, NONE):
            result[name] = None
        elif isinstance(value, Mapping) and _is_model(field.annotation):
            result[name] = _with_none(field.annotation, value)  # type: ignore[arg-type]
    return result


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _admits(annotation: Any, value: str | None) -> bool:
    """Say whether an annotation lists None, or a text as one of its literals."""
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_admits(part, value) for part in get_args(annotation))
    if value is None:
        return annotation is types.NoneType
    return get_origin(annotation) is Literal and value in get_args(annotation)


def _numeric(annotation: Any) -> bool:
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return bool({int, float} & set(parts)) and bool not in parts


def _explained(
    model: type[BaseModel],
    error: ValidationError,
    subject: str,
    noun: str,
    owner: Callable[[str], str | None],
) -> OptionError:
    details = error.errors(include_url=False)
    # An unknown name is told first: a missing or odd value is often the same slip.
    first = next((d for d in details if d["type"] == "extra_forbidden"), details[0])
    table, path = _walk(model, first["loc"])
    name = ".".join(map(str, path))
    if first["type"] == "extra_forbidden":
        leaf = str(path[-1])
        other = owner(leaf) if len(path) == 1 else None
        hint = f"; that is an {noun} of {other}" if other else did_you_mean(leaf, table.model_fields)
        return OptionError(f"{subject} has no {noun} {name!r}{hint}", path)
    wanted = " or ".join(dict.fromkeys(_wanted(d["msg"]) for d in details if _walk(model, d["loc"])[1] == path))
    if first["type"] == "missing":
        return OptionError(f"{subject} needs the {noun} {name!r}, which was not given", path)
    if not path:
        return OptionError(f"{subject}: {wanted}", path)
    return OptionError(f"{subject}: {noun} {name!r} is {_came(first['input'])}; {wanted}", path)


def _walk(model: type[BaseModel], loc: tuple[str | int, ...]) -> tuple[type[BaseModel], tuple[str | int, ...]]:
    """Return the innermost model on the way `loc` and the way without the names of union members."""
    path: list[str | int] = []
    for step in loc:
        path.append(step)
        annotation = model.model_fields[step].annotation if step in model.model_fields else None
        if not _is_model(annotation):
            break
        model = annotation  # type: ignore[assignment]
    return model, tuple(path)


def _wanted(message: str) -> str:
    """Turn pydantic's sentence into the end of ours."""
    for start in ("Value error, ", "Assertion failed, "):
        if message.startswith(start):
            return message.removeprefix(start)
    for start in ("Input should be ", "String should "):
        if message.startswith(start):
            wanted = re.split(", unable to|, got a number| or instance of", message.removeprefix(start))[0]
            wanted = wanted.removeprefix("a valid ").removeprefix("a ")
            return "expected " + _WORDS.get(wanted, wanted)
    return message[:1].lower() + message[1:]


def _came(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({_KINDS.get(type(value), type(value).__name__)})"


_KINDS = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "a list",
    tuple: "a list",
    dict: "a table",
    types.NoneType: "nothing",
}

_WORDS = {
    "string": "text",
    "integer": "an integer",
    "valid integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "list": "a list",
    "tuple": "a list",
    "dictionary": "a table",
}
"""What pydantic calls a thing, and what a person who writes TOML calls it."""

_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def _type_text(field: FieldInfo) -> str:
    bounds = [f"{sign} {getattr(m, name)}" for m in field.metadata for name, sign in _SIGNS.items() if hasattr(m, name)]
    text = _annotation_text(field.annotation)
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _annotation_text(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(map(value_text, parts))
    if origin in (Union, types.UnionType):
        return " | ".join(map(_annotation_text, parts))
    if annotation in (None, types.NoneType):
        return value_text(None)
    if origin is tuple and parts[1:] == (Ellipsis,):
        return f"list[{_annotation_text(parts[0])}]"
    if isinstance(origin or annotation, type) and issubclass(origin or annotation, Mapping):
        return "table"
    name = getattr(origin or annotation, "__name__", str(annotation))
    return f"{name}[{', '.join(map(_annotation_text, parts))}]" if parts else name


def _default_text(field: FieldInfo) -> str | None:
    return None if field.is_required() else value_text(field.get_default(call_default_factory=True))
