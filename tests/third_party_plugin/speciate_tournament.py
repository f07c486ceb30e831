"""Tournament selection for speciate."""

from pydantic import Field
from speciate.core.component import ComponentOptions
from speciate.core.hooks import hookimpl
from speciate.core.slots import Selector


class Tournament(Selector):
    """The fittest of a few that are drawn at random."""

    class Options(ComponentOptions):
        size: int = Field(default=3, ge=1, description="How many are drawn.")

    def select(self, view, rng):
        rows = rng.integers(len(view), size=self.options.size)
        return int(view.ids[rows[view.fitness[rows].argmax()]])


@hookimpl
def register(registry):
    registry.add("selector", "third-party-tournament", Tournament)
