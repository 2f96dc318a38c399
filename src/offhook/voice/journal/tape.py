"""Everything that reached a call from outside, in order, with the time that the call saw: written live, read by a replay.

Between two entries stands how often the call looked at the clock. It tells a replay which of the call's own steps came
before an entry, and which after it.
"""

import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from offhook.kit.json_values import JsonObject
from offhook.voice.journal.kinds import AUDIO, BEAT, TICK, WINDOW

# The format; a journal of another one cannot be replayed.
FORMAT: Final = 1
# Of one entry, in memory: kind, reads, time, and a number.
ENTRY_BYTES: Final = 17
_US: Final = 1e-6


class JournalUnreadable(ValueError):
    """A journal is damaged, or has another format."""


class TapeEntry(NamedTuple):
    """``reads``: how often the call had looked at the clock since the entry before; ``at`` is loop time."""

    kind: int
    reads: int
    at: float
    value: Any


@dataclass(frozen=True, slots=True)
class CallJournal:
    """A journal as it was kept. ``facts`` are what the call began with, ``started_at`` is loop time."""

    facts: Mapping[str, Any]
    started_at: float
    window_s: float
    # the loop's clock had milliseconds
    is_in_ms: bool
    entries: Sequence[TapeEntry]


class CallTape:
    """Collects the entries of one call in memory; a call with more than ``max_bytes`` of them keeps none."""

    def __init__(self, read_clock: Callable[[], float], *, max_bytes: int) -> None:
        self._read_clock = read_clock
        self._max_bytes = max_bytes
        # why nothing is kept; empty for a journal that is
        self.omitted = ""
        # the length of the voice detector's windows
        self.window_s = 0.032
        self.started_at = self._now = read_clock()
        self._reads_since = 0
        self._clear()

    def _clear(self) -> None:
        self._kinds = bytearray()
        self._reads = array("I")
        self._times = array("d")
        self._sizes = array("I")
        self._windows = array("f")
        self._beats = array("i")
        self._values = bytearray()

    def read_clock(self) -> float:
        """Returns the time without noting that the call looked."""
        return self._read_clock()

    def time(self) -> float:
        """Returns the time for the call, and notes that it looked."""
        now = self._read_clock()
        if now != self._now:
            self._append(TICK, now)
        self._reads_since += 1
        return now

    def note(self, kind: int, value: Any = None) -> None:
        """Adds what reaches the call now."""
        if self.omitted:
            return
        now = self._read_clock()
        self._append(kind, now)
        if kind == AUDIO:
            self._sizes.append(value)
        elif kind == WINDOW:
            self._windows.append(value)
        elif kind == BEAT:
            self._beats.append(round((value - now) / _US))
        else:
            text = json.dumps(value, ensure_ascii=False, default=_as_plain, separators=(",", ":"))
            self._values += text.encode("utf-8", "surrogatepass") + b","

    def _append(self, kind: int, now: float) -> None:
        self._now = now
        if self.omitted:
            return
        self._kinds.append(kind)
        self._reads.append(self._reads_since)
        self._times.append(now)
        self._reads_since = 0
        if len(self._kinds) * ENTRY_BYTES + len(self._values) > self._max_bytes:
            self.omit("too_long")

    def omit(self, because: str) -> None:
        """Keeps nothing of this call; the first reason counts."""
        self.omitted = self.omitted or because
        self._clear()

    def pack(self, facts: JsonObject) -> bytes:
        """Returns the journal with these facts as compressed bytes. Takes milliseconds: call it in a thread."""
        times, exact = np.array(self._times, "<f8"), None
        if times.size:
            ms = np.rint(times * 1000)
            exact = np.diff(ms, prepend=0.0).astype("<i8") if bool((ms / 1000 == times).all()) else None
        columns = [
            bytes(self._kinds),
            np.array(self._reads, "<u4").tobytes(),
            (times if exact is None else exact).tobytes(),
            np.array(self._sizes, "<u4").tobytes(),
            np.array(self._windows, "<f4").tobytes(),
            np.array(self._beats, "<i4").tobytes(),
            b"[" + self._values.removesuffix(b",") + b"]",
        ]
        head: JsonObject = {
            "format": FORMAT,
            "facts": facts,
            "in_ms": exact is not None,
            "started_at": self.started_at,
            "window_s": self.window_s,
            "columns": [len(column) for column in columns],
        }
        return zlib.compress(json.dumps(head, default=str).encode() + b"\n" + b"".join(columns), 6)


def _as_plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def read_journal(packed: bytes) -> CallJournal:
    """Returns the journal of :meth:`CallTape.pack`. Raises JournalUnreadable."""
    try:
        head_text, _, rest = zlib.decompress(packed).partition(b"\n")
        head = json.loads(head_text)
        if head["format"] != FORMAT:
            raise JournalUnreadable(
                f"The journal has the format {head['format']!r:.20}, which this version cannot read."
            )
        parts: list[bytes] = []
        for size in head["columns"]:
            parts.append(rest[:size])
            rest = rest[size:]
        entries = _read_entries(parts, in_ms=head["in_ms"])
        return CallJournal(head["facts"], head["started_at"], head["window_s"], head["in_ms"], entries)
    except (
        zlib.error,
        KeyError,
        TypeError,
        IndexError,
        StopIteration,
        UnicodeDecodeError,
        json.JSONDecodeError,
    ) as error:
        raise JournalUnreadable("The journal is damaged.") from error


def _read_entries(parts: Sequence[bytes], *, in_ms: bool) -> list[TapeEntry]:
    kinds, reads_part, times_part, sizes_part, windows_part, beats_part, values_part = parts
    times = np.cumsum(np.frombuffer(times_part, "<i8")) / 1000 if in_ms else np.frombuffer(times_part, "<f8")
    sizes = iter(np.frombuffer(sizes_part, "<u4").tolist())
    windows = iter(np.frombuffer(windows_part, "<f4").tolist())
    beats = iter(np.frombuffer(beats_part, "<i4").tolist())
    values = iter(json.loads(values_part.decode("utf-8", "surrogatepass")))
    entries = []
    for kind, reads, at in zip(kinds, np.frombuffer(reads_part, "<u4").tolist(), times.tolist(), strict=True):
        value: Any = None
        if kind == AUDIO:
            value = next(sizes)
        elif kind == WINDOW:
            value = next(windows)
        elif kind == BEAT:
            value = at + next(beats) * _US
        elif kind != TICK:
            value = next(values)
        entries.append(TapeEntry(kind, reads, at, value))
    return entries
