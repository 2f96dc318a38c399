"""Words to someone else on a silent line: they wait, and are answered only if nothing follows them."""

from collections.abc import Callable
from typing import Final

from offhook.voice.call_inputs import CallTimer, current_inputs

# People who asked something come back within this time; an agent that answers later does not talk over the aside.
ANSWER_AFTER_S: Final = 2.6
# Noise that passes for speech puts the answer off for no longer than this.
MAX_WAIT_S: Final = 6.0


class AsideTimer:
    """Keeps one turn that sounded turned away. ``on_due`` gets its text if the caller says nothing more."""

    def __init__(self, on_due: Callable[[str], None]) -> None:
        self._on_due = on_due
        self._inputs = current_inputs()
        self._text = ""
        self._wait_until = 0.0
        self._timer: CallTimer | None = None

    def hold(self, text: str) -> None:
        """Lets a turn wait, together with the one before it that still does."""
        self._text = f"{self._text} {text}".strip()
        self._wait_until = self._inputs.time() + MAX_WAIT_S
        self._restart()

    def _restart(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        wait_s = min(ANSWER_AFTER_S, self._wait_until - self._inputs.time())
        self._timer = self._inputs.call_later("aside", wait_s, self._answer)

    def postpone(self) -> None:
        """Waits for longer: the caller is speaking."""
        if self._timer is not None:
            self._restart()

    def _answer(self) -> None:
        text, self._text, self._timer = self._text, "", None
        self._on_due(text)

    def forget(self) -> None:
        """Drops the words: the caller has turned to the agent, or the call is over."""
        self._text = ""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
