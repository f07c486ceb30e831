"""What can go wrong, as types: everything a user can mend shares one base and is printed as one line."""

import contextlib
import difflib
from collections.abc import Iterable, Iterator


class SpeciateError(Exception):
    """A fault the user can mend: the message says what was found, what was expected and what to do.

    The command line prints it as one line and exits with `exit_code`; anything else that reaches the command line
    is a bug of ours.
    """

    exit_code = 1


class UsageError(SpeciateError):
    """The words of a call or of a configuration file are off: an unknown name, key or value."""

    exit_code = 2


class ProblemError(SpeciateError):
    """A problem does not keep what it promises: a missing file, an evaluator that raises, no declared metric."""


class RunFolderError(SpeciateError):
    """A run folder cannot be used: missing, of another version, cut short, read-only or in use."""


class ComponentError(SpeciateError):
    """A selector, operator or other component raised or returned what it must not; it is named."""


@contextlib.contextmanager
def blamed(slot: str, name: str) -> Iterator[None]:
    """Turn whatever a component raises into a ComponentError that names it: its fault ends the run, with its name."""
    try:
        yield
    except ComponentError as error:
        raise ComponentError(f"the {slot} {name}: {error}") from error
    except SpeciateError:
        raise
    except Exception as error:  # a component's own fault is told, not passed on as ours
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise ComponentError(f"the {slot} {name} raised {text}") from error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest of `known`, or the list of what there is."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there is {', '.join(names)}" if names else "; there is none"
