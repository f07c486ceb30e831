"""The slot `sandbox`: runs one candidate contained and returns plain data."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .component import Component
from .evaluation import RunResult
from .program import Program

Level = Literal["none", "basic", "strong"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one candidate may use. Times in seconds, sizes in bytes."""

    wall_s: float = 10.0
    cpu_s: float = 10.0
    memory_bytes: int = 2 << 30
    output_bytes: int = 8 << 20
    stdout_bytes: int = 64 << 10
    scratch_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Workspace:
    """What all candidates of one problem share.

    `preload` are modules imported before a candidate starts; `modules` are source texts by module name that a
    candidate may import (a problem's building blocks). Neither may hold anything a candidate must not read.
    """

    preload: tuple[str, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Job:
    """One execution. The first of `entries` that the program defines is called.

    It gets those of `arguments` (plain data) that its signature names; all of them when it takes `**kwargs`.
    The global generators of `random` and `numpy.random` are seeded with `seed` first.
    """

    program: Program
    main: str
    entries: tuple[str, ...] = ("main",)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MissingLayer:
    """A layer of containment that this machine does not give, and what it would stop."""

    layer: str
    stops: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What attacks from inside a sandbox found: the level reached, which layers hold, which are missing."""

    level: Level
    layers: Mapping[str, bool]
    missing: tuple[MissingLayer, ...] = ()


class Sandbox(Component):
    """Contains candidates, one at a time. The order of calls is `open`, any number of `run`, `close`.

    A sandbox never raises for what a candidate does: that becomes a status. An executor makes one sandbox for each of
    its workers and calls `run` from that worker's thread; `close` may come from any thread, at any time, and ends a run
    in progress within a second, with every process of it.
    """

    level: Level = "none"
    """How strong the containment is; `doctor` and the option `require` read it after `open`."""

    @abstractmethod
    def open(self, workspace: Workspace) -> None:
        """Start what runs the candidates. Raises SpeciateError when this machine cannot do it."""

    @abstractmethod
    def run(self, job: Job) -> RunResult:
        """Run one candidate to its end or to a limit, and leave no process of it behind."""

    def self_test(self) -> SelfTest:
        """Attack this sandbox from inside, between `open` and `close`, and say what held."""
        return SelfTest(self.level, {})

    @abstractmethod
    def close(self) -> None:
        """End everything that was started. May be called twice."""
