"""Collects the keys that a caller presses until they select an edge or complete an entry."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from offhook.workflows.graph import Edge

# Callers take up to 2 s between the keys of an entry; a menu with a longer option waits less for the next key.
ENTRY_TIMEOUT_S: Final = 2.0
PREFIX_TIMEOUT_S: Final = 1.0
MAX_DIGITS: Final = 32


class DigitCollector:
    """``on_edge`` gets the edge of the pressed digits, ``on_entry`` any other entry, without its final ``#``."""

    def __init__(self, on_edge: Callable[[Edge, str], None], on_entry: Callable[[str], None]) -> None:
        self._on_edge = on_edge
        self._on_entry = on_entry
        self._digits = ""
        self._edges: Sequence[Edge] = ()
        self._timer: asyncio.TimerHandle | None = None

    def press_key(self, digit: str, edges: Sequence[Edge]) -> None:
        if digit not in "0123456789*#ABCD" or len(digit) != 1:
            return
        self._edges = edges
        self._digits = (self._digits + digit)[-MAX_DIGITS:]
        self.cancel()
        is_prefix = any(e.digits and e.digits != self._digits and e.digits.startswith(self._digits) for e in edges)
        if not is_prefix and (digit == "#" or self._matching_edge() is not None):
            self._finish_entry()
        else:
            wait = PREFIX_TIMEOUT_S if self._matching_edge() is not None else ENTRY_TIMEOUT_S
            self._timer = asyncio.get_running_loop().call_later(wait, self._finish_entry)

    def _matching_edge(self) -> Edge | None:
        return next((edge for edge in self._edges if edge.digits == self._digits), None)

    def _finish_entry(self) -> None:
        edge, digits = self._matching_edge(), self._digits
        self._digits = ""
        self.cancel()
        if edge is not None:
            self._on_edge(edge, digits)
        elif digits := digits.removesuffix("#"):
            self._on_entry(digits)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
