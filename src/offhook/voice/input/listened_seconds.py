"""How long each recognizer of a call was listening."""

from collections import defaultdict

from offhook.models.ports import ModelRef
from offhook.voice.usage_counter import UsageCounter


class ListenedSeconds:
    """The caller's audio by recognizer, those that failed afterwards included."""

    def __init__(self) -> None:
        self._by_ref: defaultdict[ModelRef, float] = defaultdict(float)

    def add(self, ref: ModelRef, seconds: float) -> None:
        self._by_ref[ref] += seconds

    def count_usage(self, usage: UsageCounter) -> None:
        for ref, seconds in self._by_ref.items():
            usage.add_units(ref, "seconds", seconds)
