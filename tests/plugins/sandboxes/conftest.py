"""A fork server that many tests use, one after another, as an engine does."""

from collections.abc import Iterator

import pytest
from boxes import WORKSPACE
from speciate.plugins.sandboxes.forkserver import ForkServer


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ForkServer]:
    """A fork server that many tests use, one after another, as an engine does."""
    made = ForkServer()
    made.open(WORKSPACE)
    yield made
    made.close()
