"""What every component has in common: a name in a slot and options checked before anything runs."""

from abc import ABC
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class ComponentOptions(BaseModel):
    """Base of all options: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Component(ABC):
    """Something that is chosen by name from a slot.

    A component declares its options as a nested class `Options`, next to the code that reads them; an instance is made
    with exactly one argument, those options. The first sentence of its docstring is what `speciate plugins` prints.
    """

    Options: ClassVar[type[ComponentOptions]] = ComponentOptions
    reads_total: ClassVar[bool] = False
    """True for a component that reads the run's total budget: extending such a run makes another run."""

    def __init__(self, options: ComponentOptions | None = None) -> None:
        self.options = options if options is not None else self.Options()
