"""Collects the keys that a caller presses until they select an edge or complete an entry."""

from collections.abc import Callable, Sequence
from typing import Final

from offhook.voice.call_inputs import CallTimer, current_inputs
from offhook.workflows.graph import Edge

# Callers take up to 2 s between the keys of an entry; a menu with a longer option waits less for the next key.
ENTRY_TIMEOUT_S: Final = 2.0
PREFIX_TIMEOUT_S: Final = 1.0
MAX_DIGITS: Final = 32
# Stands before an entry in the conversation's history.
KEYPAD_NOTE: Final = "(entered on the keypad)"


class DigitCollector:
    """``on_digits`` gets the pressed digits and their edge; without an edge, an entry without its final ``#``.

    ``pressed_at`` is the loop time of the last key, 0 before the first one.
    """

    def __init__(self, on_digits: Callable[[str, Edge | None], None]) -> None:
        self._on_digits = on_digits
        self._inputs = current_inputs()
        self.pressed_at = 0.0
        self._digits = ""
        self._edges: Sequence[Edge] = ()
        self._timer: CallTimer | None = None

    def press_key(self, digit: str, edges: Sequence[Edge]) -> None:
        self.pressed_at = self._inputs.time()
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
            self._timer = self._inputs.call_later("entry", wait, self._finish_entry)

    def _matching_edge(self) -> Edge | None:
        return next((edge for edge in self._edges if edge.digits == self._digits), None)

    def _finish_entry(self) -> None:
        edge, digits = self._matching_edge(), self._digits
        self._digits = ""
        self.cancel()
        if edge is not None or (digits := digits.removesuffix("#")):
            self._on_digits(digits, edge)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
