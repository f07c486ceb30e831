"""What every component keeps to, whatever its slot."""

import tomllib

import tomli_w

from ..component import Component, ComponentOptions
from ..options import check, plain


class ComponentContract:
    """What holds for every component."""

    def component(self) -> Component:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("a contract's subclass says what it tests: define `component`")

    def test_it_says_what_it_is(self) -> None:
        doc = type(self.component()).__doc__
        assert doc, "the class needs a docstring; its first sentence is what `speciate plugins` prints"

    def test_its_options_are_declared_beside_it(self) -> None:
        component = self.component()
        options = type(component).Options
        assert isinstance(options, type) and issubclass(options, ComponentOptions), (  # noqa: PT018
            "`Options` must be a subclass of ComponentOptions"
        )
        assert isinstance(component.options, options), "an instance keeps its options in `self.options`"

    def test_its_options_survive_being_written_and_read(self) -> None:
        options = self.component().options
        read = check(type(options), tomllib.loads(tomli_w.dumps(plain(options))), "the component")
        assert read == options, f"{options!r} is read back as {read!r}; options must be plain data"
