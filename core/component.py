"""What every component has in common: a name in a slot and options checked before anything runs."""

from abc import ABC
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Base of all options: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Component(ABC):
    """Something that is chosen by name from a slot.

    A component declares its options as a nested class `Options`, next to the code that reads them; an instance is made
    with exactly one argument, those options.
    """

    Options: ClassVar[type[Options]] = Options
    reads_total: ClassVar[bool] = False
    """True for a component that reads the run's total budget: extending such a run makes another run."""

    def __init__(self, options: Options) -> None:
        self.options = options
