"""The channels that a run can use; domains above add theirs."""

from collections.abc import Iterable

from offhook.runs.artifacts.links import BROWSER
from offhook.runs.errors import UnknownMode
from offhook.runs.states import TEXT_CHAT


class RunModes:
    """Names the browser, the text chat and the added modes: the carriers."""

    def __init__(self) -> None:
        self._names = [BROWSER, TEXT_CHAT]

    def add(self, names: Iterable[str]) -> None:
        self._names += sorted(names)

    def require_known(self, mode: str) -> None:
        """Raises UnknownMode (422) for any other mode."""
        if mode not in self._names:
            raise UnknownMode(f"Unknown mode {mode!r}: use one of {', '.join(self._names)}.")
