"""Documents are held to the code: the reference is generated, and every code block runs.

How a Markdown file says what its blocks are, in a comment on the line above:

    <!-- file: NAME -->       the block is written to that file
    <!-- not run: WHY -->     the block is only shown

All other `python` and `bash` blocks of a document run one after another in one empty folder; `toml` and `yaml` blocks
must be configurations that resolve. `python tests/test_documents.py` writes docs/reference.md anew.
"""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import click
import conftest  # noqa: F401  (makes `speciate` importable in a bare clone, also when this file is run by itself)
import pytest
from speciate.core import events
from speciate.core.cli.main import speciate
from speciate.core.config import BudgetLimits, IslandsTable, RunConfig, resolve
from speciate.core.config_islands import IslandParts
from speciate.core.hooks import HOOKS, Hooks, hook_of
from speciate.core.loading import Plugins
from speciate.core.options import option_infos
from speciate.core.registry import PATH_SLOTS, SLOTS, Registry
from speciate.plugins import builtin

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference.md"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


# The reference


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its words, groups before their members."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None, f"{name} is listed and is no command"
            yield from commands(member, (*path, name))


def reference() -> str:
    """Return the text of docs/reference.md."""
    parts = [
        "# Reference\n\nGenerated from the code by `python tests/test_documents.py`; a test holds it to the code.",
        "## Commands",
        *_commands(),
        "## Configuration\n\nThe keys of a configuration file (TOML or YAML) and of `--set key=value`. "
        'The word `"none"` stands for no value where an option allows that.',
        _table(RunConfig, leave_out={"budget", "islands", "island", "operator", *SLOTS}),
        "### `[budget]`",
        _table(BudgetLimits),
        "### `[islands]`",
        _table(IslandsTable),
        "### `[[island]]`\n\nOne table for each island, for islands that are not alike. What a table leaves out is as "
        "for the whole run, and the options of a component that stays the same are laid over the run's.",
        _table(IslandParts).replace("| required |", "| as the run |"),
        "### Components\n\nOne table, or just a name, for each of "
        + ", ".join(f"`[{slot}]`" for slot in SLOTS if slot in RunConfig.model_fields and slot != "operator")
        + ": `use` names the component, the other keys are its options. `[[operator]]` is a list of such tables, each "
        "with a `weight` (a number > 0, 1.0 when it is left out).",
        "## Components",
        *_components(),
        "## Hooks\n\nA plugin marks functions of these names with `speciate.core.hooks.hookimpl`.",
        *_hooks(),
    ]
    return "\n\n".join(parts) + "\n"


def _commands() -> Iterator[str]:
    # Written out here and not by click, whose help looks different from version to version.
    for path, command in commands(speciate):
        words = [p.name.upper() for p in command.params if isinstance(p, click.Argument) and p.name]
        options = [
            f"- `{' '.join([', '.join((*option.opts, *option.secondary_opts)), *_value_of(option)])}`: "
            f"{' '.join((option.help or '').split())}"
            for option in command.params
            if isinstance(option, click.Option)
        ]
        text = inspect.cleandoc(command.help or "").replace("\b\n", "")
        yield "\n\n".join([f"### `{' '.join(('speciate', *path, *words))}`", text, "\n".join(options)]).rstrip()


def _value_of(option: click.Option) -> Iterator[str]:
    if not option.is_flag:
        yield option.metavar or option.type.name.partition(" ")[0].upper()


def _table(model: Any, leave_out: frozenset[str] | set[str] = frozenset()) -> str:
    rows = [
        f"| `{o.name}` | `{o.type}` | {'required' if o.default is None else f'`{o.default}`'} | {o.description} |"
        for o in option_infos(model)
        if o.name not in leave_out
    ]
    escaped = [re.sub(r"`[^`]*`", lambda code: code[0].replace("|", r"\|"), row) for row in rows]
    return "\n".join(["| key | type | default | |", "|---|---|---|---|", *escaped])


def _components() -> Iterator[str]:
    registry = Registry()
    builtin.register(registry)
    for slot in registry.slots():
        base = "" if slot in PATH_SLOTS else f"\n\n{inspect.cleandoc(SLOTS[slot].__doc__ or '')}"
        yield f"### `{slot}`{base}"
        for name in registry.names(slot):
            extra = registry.entry(slot, name).extra
            if extra is not None:
                # Told without its options, which only those who have the extra can load.
                yield f"#### `{slot}:{name}`\n\n{registry.summary(slot, name)} It needs the extra `{extra}`."
                continue
            info = registry.describe(slot, name)
            made = None if slot in PATH_SLOTS else registry.component(slot, name)
            table = f"\n\n{_table(made.Options)}" if made is not None and info.options else ""
            yield f"#### `{slot}:{name}`\n\n{info.doc}{table}"


def _hooks() -> Iterator[str]:
    by_hook = {hook_of(object.__new__(event)): event for event in get_args(events.Event)}
    for name in HOOKS:
        function = getattr(Hooks, name)
        argument = ", ".join(p for p in inspect.signature(function).parameters if p != "self")
        event = by_hook.get(name)
        kind = "Registry" if event is None else event.__name__
        text = f"### `{name}({argument}: {kind})`\n\n{inspect.cleandoc(function.__doc__ or '')}"
        if event is not None:
            listed = "\n".join(f"- `{field.name}: {_type_text(field.type)}`" for field in fields(event))
            text += f"\n\n{inspect.cleandoc(event.__doc__ or '')}\n\n{listed}"
        yield text


def _type_text(annotation: Any) -> str:
    text = annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def test_the_reference_is_what_the_code_says() -> None:
    written = REFERENCE.read_text("utf-8") if REFERENCE.is_file() else ""
    assert written == reference(), "docs/reference.md is out of date: run `python tests/test_documents.py`"


@pytest.mark.parametrize("path", [path for path, _ in commands(speciate)], ids=" ".join)
def test_every_command_and_option_has_help(path: tuple[str, ...]) -> None:
    command = dict(commands(speciate))[path]
    assert command.help or command.short_help, f"`speciate {' '.join(path)}` has no help"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"`speciate {' '.join(path)}`: {parameter.opts[0]} has no help"


# The code blocks


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, first line and what the comment above it says."""

    language: str
    text: str
    line: int
    mark: str


RUN = {"python": [sys.executable, "-c"], "bash": ["bash", "-euo", "pipefail", "-c"]}
CONFIGURATIONS = ("toml", "yaml")
SHOWN = ("", "text", "console")

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!--\s*(file|not run):\s*(.+?)\s*-->\s*\Z")


def blocks(document: Path) -> list[Block]:
    """Return the fenced blocks of a document, in order."""
    text = document.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        mark = _MARK.search(text[: match.start()])
        said = f"{mark[1]}:{mark[2]}" if mark else ""
        found.append(Block(match[1], match[2], text[: match.start()].count("\n") + 1, said))
    return found


def _name(document: Path) -> str:
    return str(document.relative_to(ROOT))


PRESENT = [document for document in DOCUMENTS if document.is_file()]


@pytest.mark.parametrize("document", PRESENT, ids=_name)
def test_every_code_block_runs(document: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for block in blocks(document):
        where = f"{_name(document)}, line {block.line}"
        if block.mark.startswith("file:"):
            target = tmp_path / block.mark.removeprefix("file:")
            assert target.resolve().is_relative_to(tmp_path.resolve()), f"{where}: {target} lies outside"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.mark.startswith("not run:") or block.language in SHOWN:
            continue
        elif block.language in CONFIGURATIONS:
            path = tmp_path / f"block.{block.language}"
            path.write_text(block.text, "utf-8")
            resolve(Plugins.installed(), file=path)
        else:
            command = {"python": [sys.executable, "-c"], "bash": ["bash", "-euo", "pipefail", "-c"]}.get(block.language)
            assert command, (
                f"{where}: a block in {block.language!r}; expected python, bash, toml, yaml, console or text"
            )
            done = subprocess.run(
                [*RUN[block.language], block.text],
                cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{where} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize("document", PRESENT, ids=_name)
def test_every_link_within_the_repository_leads_somewhere(document: Path) -> None:
    text = _FENCE.sub("", document.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (document.parent / target).exists(), f"{_name(document)} links to {target}, which is not there"


@pytest.mark.parametrize("document", PRESENT, ids=_name)
def test_every_command_line_that_is_shown_exists(document: Path) -> None:
    known = dict(commands(speciate))
    if document == REFERENCE:
        return
    for block in blocks(document):
        for line in re.findall(r"^\s*(?:\$ )?speciate (.+)$", block.text, re.MULTILINE):
            words = re.split(r"\s*(?:#|\||>|&&)", line)[0].split()
            path: tuple[str, ...] = ()
            while words and (*path, words[0]) in known:
                path = (*path, words.pop(0))
            options = {
                name for parameter in known[path].params for name in (*parameter.opts, *parameter.secondary_opts)
            }
            for word in words:
                flag = word.partition("=")[0]
                assert not flag.startswith("--") or flag in {*options, "--help", "--version"}, (
                    f"{_name(document)}: `speciate {line}` has {flag}, which does not exist"
                )


if __name__ == "__main__":
    REFERENCE.write_text(reference(), "utf-8")
    print(f"wrote {REFERENCE.relative_to(ROOT)}")
