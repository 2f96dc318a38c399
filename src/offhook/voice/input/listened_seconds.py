"""How long each recognizer of a call was listening."""

from collections import defaultdict

from offhook.models.ports import ModelRef
from offhook.voice.usage_counter import UsageCounter


class ListenedSeconds:
    """The caller's audio by recognizer, those that failed afterwards included."""

    def __init__(self) -> None:
        self._by_ref: defaultdict[ModelRef, float] = defaultdict(float)
        self._ref: ModelRef | None = None
        self._seconds = 0.0

    def add(self, ref: ModelRef, seconds: float) -> None:
        # for every frame: the hash of a reference takes longer than the rest
        if ref is not self._ref:
            self._note_seconds()
            self._ref = ref
        self._seconds += seconds

    def _note_seconds(self) -> None:
        if self._ref is not None:
            self._by_ref[self._ref] += self._seconds
        self._seconds = 0.0

    def count_usage(self, usage: UsageCounter) -> None:
        self._note_seconds()
        for ref, seconds in self._by_ref.items():
            usage.add_units(ref, "seconds", seconds)
