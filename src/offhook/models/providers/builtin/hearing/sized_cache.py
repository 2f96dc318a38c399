"""A cache limited by size, because authors of agents decide how large each entry is."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SizedCache(Generic[Key, Value]):
    """Evicts the least recently used entries when the total size exceeds ``max_size``. Safe for threads."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def find(self, key: Key) -> Value | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Key, value: Value, size: int) -> None:
        """Stores a value in place of an earlier one. ``size``: of the value and its key together."""
        with self._lock:
            before = self._kept.pop(key, None)
            self.size -= before[1] if before is not None else 0
            self._kept[key] = (value, size)
            self.size += size
            while self.size > self._max_size:
                self.size -= self._kept.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.size = 0
