"""The command `speciate`: finds a subcommand without importing the others, and turns our errors into one line."""

import importlib
import sys
from typing import Any

import click

from ..errors import SpeciateError

COMMANDS = {
    "run": ("run:run", "Evolve programs for a problem."),
    "resume": ("run:resume", "Go on with a run where it stopped."),
    "best": ("look:best", "Print the best program of a run; write it or its picture to a file."),
    "show": ("look:show", "Show a run, or one individual with its lineage and what it changed."),
    "rerun": ("look:rerun", "Run a result again from its stored programs and compare."),
    "ledger": ("look:ledger", "Print the digest of a run, or what it cost by role."),
    "problems": ("problems:problems", "List the problems that can be run by name."),
    "check": ("problems:check", "Test every promise that a problem makes."),
    "new": ("problems:new", "Write the scaffold of something new."),
    "evaluate": ("problems:evaluate", "Run and score one program."),
    "verdict": ("problems:verdict", "Print what oracle and local evaluator say of an output."),
    "compare": ("compare:compare", "Compare strategies under equal budgets; say what is shown and what is not."),
    "plugins": ("plugins:plugins", "List components, or show one with its options."),
    "sandbox": ("machine:sandbox", "Run one file contained and print what came of it."),
    "doctor": ("machine:doctor", "Say what this machine can do and what it cannot."),
}
"""Subcommand → where it is defined and its line in the help, so that `--help` imports nothing else."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="speciate", prog_name="speciate")
def speciate() -> None:
    """Grow programs: an evolutionary search engine for solutions, harnesses and policies."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line. Exits with 0 done, 1 could not be done, 2 usage, 3 no valid program, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # Whatever the locale says, a program's text may hold any character.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        # Not in its own mode, click returns the code of an Exit that a command raises.
        code = speciate.main(args=arguments, prog_name="speciate", standalone_mode=False)
        if isinstance(code, int) and code:
            sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except SpeciateError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of a pipe has gone: not an error of ours, and nothing more can be said.
        sys.stderr.close()
        sys.exit(1)


if __name__ == "__main__":
    main()
