"""Which cases of a matrix run every time, and which among the slow tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_quick(cases: Iterable[Any], *, count: int = 1) -> list[Any]:
    """The parameters of a test whose cases differ little: the first ``count`` of them are quick, the others slow."""
    every = list(cases)
    return [*every[:count], *(_slow(case) for case in every[count:])]


def _slow(case: Any) -> Any:
    # A named tuple is one value.
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
