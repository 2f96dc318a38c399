"""Every module is read once for all rules."""

from collections.abc import Iterator

import pytest

from tests.architecture.source import modules


@pytest.fixture(scope="package", autouse=True)
def read_once() -> Iterator[None]:
    yield
    # A million nodes that the collector would look through for the rest of the run.
    modules.cache_clear()
