"""Everything that reached a call from outside, in order, with the time that the call saw: written live, read by a replay.

Between two entries stands how often the call looked at the clock. It tells a replay which of the call's own steps came
before an entry, and which after it.
"""

import json
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from offhook.kit.json_values import JsonObject
from offhook.voice.journal.kinds import AUDIO, BEAT, TICK, WINDOW

# The format; a journal of another one cannot be replayed.
FORMAT: Final = 1
# Of one entry before compression: kind, reads, time, and a number.
ENTRY_BYTES: Final = 17
# Entries are compressed in memory block by block, a few seconds of the call each. That takes 0.1 ms.
BLOCK_ENTRIES: Final = 512
_FAST: Final = 3
_SMALL: Final = 6
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


@dataclass(slots=True)
class _Columns:
    """Entries, column by column."""

    kinds: bytearray = field(default_factory=bytearray)
    reads: "array[int]" = field(default_factory=lambda: array("I"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    sizes: "array[int]" = field(default_factory=lambda: array("I"))
    windows: "array[float]" = field(default_factory=lambda: array("f"))
    beats: "array[int]" = field(default_factory=lambda: array("i"))
    # JSON, each value with a comma behind it
    values: bytearray = field(default_factory=bytearray)

    @property
    def size(self) -> int:
        return len(self.kinds) * ENTRY_BYTES + len(self.values)


class _Block(NamedTuple):
    """Columns in memory, compressed."""

    lengths: Sequence[int]
    in_ms: bool
    packed: bytes


def _compress(columns: _Columns) -> _Block:
    times, in_ms = _encode_times(np.array(columns.times, "<f8"))
    parts = [
        bytes(columns.kinds),
        columns.reads.tobytes(),
        times,
        columns.sizes.tobytes(),
        columns.windows.tobytes(),
        columns.beats.tobytes(),
        bytes(columns.values),
    ]
    return _Block([len(part) for part in parts], in_ms, zlib.compress(b"".join(parts), _FAST))


def _extend(columns: _Columns, block: _Block) -> None:
    """Appends the entries of a block."""
    kinds, reads, times, sizes, windows, beats, values = _split(zlib.decompress(block.packed), block.lengths)
    columns.kinds += kinds
    columns.reads.frombytes(reads)
    columns.times.extend(_decode_times(times, in_ms=block.in_ms).tolist())
    columns.sizes.frombytes(sizes)
    columns.windows.frombytes(windows)
    columns.beats.frombytes(beats)
    columns.values += values


def _split(data: bytes, lengths: Sequence[int]) -> list[bytes]:
    ends = np.cumsum([0, *lengths]).tolist()
    return [data[start:end] for start, end in pairwise(ends)]


def _encode_times(times: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[bytes, bool]:
    """Returns times as bytes, and whether these are the steps between whole milliseconds."""
    ms = np.rint(times * 1000)
    if not times.size or not bool((ms / 1000 == times).all()):
        return times.tobytes(), False
    return np.diff(ms, prepend=0.0).astype("<i8").tobytes(), True


def _decode_times(part: bytes, *, in_ms: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.cumsum(np.frombuffer(part, "<i8")) / 1000 if in_ms else np.frombuffer(part, "<f8")


class CallTape:
    """Collects the entries of one call in memory; a call with more than ``max_bytes`` of them keeps none. They are compressed
    while the call goes on."""

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
        self._blocks: list[_Block] = []
        # before their compression
        self._blocks_bytes = 0
        self._newest = _Columns()

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
            self._newest.sizes.append(value)
        elif kind == WINDOW:
            self._newest.windows.append(value)
        elif kind == BEAT:
            self._newest.beats.append(round((value - now) / _US))
        else:
            text = json.dumps(value, ensure_ascii=False, default=_as_plain, separators=(",", ":"))
            self._newest.values += text.encode("utf-8", "surrogatepass") + b","

    def _append(self, kind: int, now: float) -> None:
        self._now = now
        if self.omitted:
            return
        newest = self._newest
        if len(newest.kinds) >= BLOCK_ENTRIES:
            self._blocks.append(_compress(newest))
            self._blocks_bytes += newest.size
            newest = self._newest = _Columns()
        newest.kinds.append(kind)
        newest.reads.append(self._reads_since)
        newest.times.append(now)
        self._reads_since = 0
        if self._blocks_bytes + newest.size > self._max_bytes:
            self.omit("too_long")

    def omit(self, because: str) -> None:
        """Keeps nothing of this call; the first reason counts."""
        self.omitted = self.omitted or because
        self._clear()

    def pack(self, facts: JsonObject) -> bytes:
        """Returns the journal with these facts as compressed bytes. Takes milliseconds: call it in a thread."""
        entries = _Columns()
        for block in (*self._blocks, _compress(self._newest)):
            _extend(entries, block)
        times, in_ms = _encode_times(np.array(entries.times, "<f8"))
        columns = [
            bytes(entries.kinds),
            entries.reads.tobytes(),
            times,
            entries.sizes.tobytes(),
            entries.windows.tobytes(),
            entries.beats.tobytes(),
            b"[" + entries.values.removesuffix(b",") + b"]",
        ]
        head: JsonObject = {
            "format": FORMAT,
            "facts": facts,
            "in_ms": in_ms,
            "started_at": self.started_at,
            "window_s": self.window_s,
            "columns": [len(column) for column in columns],
        }
        return zlib.compress(json.dumps(head, default=str).encode() + b"\n" + b"".join(columns), _SMALL)


def _as_plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def read_facts(packed: bytes) -> Mapping[str, Any]:
    """Returns what the call of a journal began with. Raises JournalUnreadable."""
    with _report_damage():
        facts: Mapping[str, Any] = _read_head(packed)[0]["facts"]
        return facts


def read_journal(packed: bytes) -> CallJournal:
    """Returns the journal of :meth:`CallTape.pack`. Raises JournalUnreadable."""
    with _report_damage():
        head, rest = _read_head(packed)
        entries = _read_entries(_split(rest, head["columns"]), in_ms=head["in_ms"])
        return CallJournal(head["facts"], head["started_at"], head["window_s"], head["in_ms"], entries)


def _read_head(packed: bytes) -> tuple[Any, bytes]:
    """Returns the first line, and the columns behind it."""
    head_text, _, rest = zlib.decompress(packed).partition(b"\n")
    head = json.loads(head_text)
    if head["format"] != FORMAT:
        raise JournalUnreadable(f"The journal has the format {head['format']!r:.20}, which this version cannot read.")
    return head, rest


@contextmanager
def _report_damage() -> Iterator[None]:
    try:
        yield
    except JournalUnreadable:
        raise
    except (zlib.error, KeyError, TypeError, IndexError, StopIteration, ValueError) as error:
        raise JournalUnreadable("The journal is damaged.") from error


def _read_entries(parts: Sequence[bytes], *, in_ms: bool) -> list[TapeEntry]:
    kinds, reads_part, times_part, sizes_part, windows_part, beats_part, values_part = parts
    times = _decode_times(times_part, in_ms=in_ms)
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
