"""Keeps what was made for agents, up to a size: their authors choose how large each of it is."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SizedCache(Generic[Key, Value]):
    """Forgets what was not used for longest when all of it is larger than ``max_size``. Threads may share it."""

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
        """Keeps a value with its key, which together are so large, in place of an earlier one."""
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
