"""What several commands share: the registry, problems by name or path, and JSON on standard output."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ..config import resolve
from ..loading import Plugins
from ..problem import Problem, load_problem
from ..registry import Registry

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def set_option(command: F) -> F:
    """Add `--set a.b=c`."""
    return click.option(
        "--set", "settings", multiple=True, metavar="A.B=C", help="Set one key of the configuration; may be repeated."
    )(command)


def print_json(content: Any) -> None:
    """Print one JSON object: strict, so never NaN or Infinity."""
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2))


def registry() -> Registry:
    """Return the registry with every installed plugin."""
    return Plugins.installed().registry


def find_problem(where: str, settings: Sequence[str]) -> tuple[Problem, Plugins]:
    """Load a problem by registered name or path, with the options that `settings` give it, and the plugins."""
    plugins = Plugins.installed()
    options = resolve(plugins, settings=settings).problem
    known = plugins.registry
    return load_problem(where, {name: known.path("problem", name) for name in known.names("problem")}, options), plugins


def existing_file(path: str) -> Path:
    """Return a path that is a readable file, or say what is wrong with it."""
    found = Path(path)
    if not found.is_file():
        kind = "a folder" if found.is_dir() else "not there"
        raise click.UsageError(f"{path} is {kind}; expected a file")
    return found
