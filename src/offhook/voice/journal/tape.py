"""Everything that reached a call from outside, in order, with the time that the call saw: written live, read by a replay.

Between two entries stands how often the call looked at the clock. It tells a replay which of the call's own steps came
before an entry, and which after it.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticSerializationError, to_json

from offhook.kit.json_values import JsonObject
from offhook.voice.journal.kinds import AUDIO, BEAT, TICK, WINDOW

# The format; a journal of another one cannot be replayed.
FORMAT: Final = 1
# One entry before compression: kind, reads, time, and a number.
_ENTRY: Final = struct.Struct("<BIdd")
_ROW: Final = np.dtype([("kind", "u1"), ("reads", "<u4"), ("at", "<f8"), ("number", "<f8")])
ENTRY_BYTES: Final = _ENTRY.size
_pack_entry: Final = _ENTRY.pack_into
# Entries are compressed in memory block by block, a few seconds of the call each. That takes 0.1 ms.
BLOCK_ENTRIES: Final = 512
_BLOCK_BYTES: Final = BLOCK_ENTRIES * ENTRY_BYTES
_FAST: Final = 3
_SMALL: Final = 6
_US: Final = 1e-6
# kinds whose values are not in the JSON column
_WITHOUT_JSON: Final = (AUDIO, WINDOW, BEAT, TICK)
Column = NDArray[Any]


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
    """A journal as it was kept. ``facts`` are what the call began with, ``started_at`` is loop time. ``kinds``,
    ``reads``, ``times`` and ``values`` have one item per entry (see :class:`TapeEntry`)."""

    facts: Mapping[str, Any]
    started_at: float
    window_s: float
    # the loop's clock had milliseconds
    is_in_ms: bool
    kinds: Sequence[int]
    reads: Sequence[int]
    times: Sequence[float]
    values: Sequence[Any]

    @property
    def entries(self) -> list[TapeEntry]:
        return list(map(TapeEntry, self.kinds, self.reads, self.times, self.values))


class _Columns(NamedTuple):
    """Entries, column by column; ``sizes``, ``windows`` and ``beats`` are the numbers of entries of these kinds."""

    kinds: Column
    reads: Column
    times: Column
    sizes: Column
    windows: Column
    beats: Column
    # JSON, each value with a comma behind it
    values: bytes


class _Block(NamedTuple):
    """Columns in memory, compressed."""

    lengths: Sequence[int]
    in_ms: bool
    packed: bytes


def _read_columns(entries: bytes, values: bytes) -> _Columns:
    rows = np.frombuffer(entries, _ROW)
    kinds, numbers = rows["kind"], rows["number"]
    return _Columns(
        kinds,
        rows["reads"],
        rows["at"],
        numbers[kinds == AUDIO].astype("<u4"),
        numbers[kinds == WINDOW].astype("<f4"),
        numbers[kinds == BEAT].astype("<i4"),
        values,
    )


def _encode(columns: _Columns) -> tuple[list[bytes], bool]:
    """Returns the bytes of each column, and whether times are whole milliseconds."""
    times, in_ms = _encode_times(columns.times)
    parts = [column.tobytes() for column in columns[:-1]]
    parts[2] = times
    return [*parts, columns.values], in_ms


def _decompress(block: _Block) -> _Columns:
    kinds, reads, times, sizes, windows, beats, values = _split(zlib.decompress(block.packed), block.lengths)
    return _Columns(
        np.frombuffer(kinds, "u1"),
        np.frombuffer(reads, "<u4"),
        _decode_times(times, in_ms=block.in_ms),
        np.frombuffer(sizes, "<u4"),
        np.frombuffer(windows, "<f4"),
        np.frombuffer(beats, "<i4"),
        values,
    )


def _split(data: bytes, lengths: Sequence[int]) -> list[bytes]:
    ends = np.cumsum([0, *lengths]).tolist()
    return [data[start:end] for start, end in pairwise(ends)]


def _encode_times(times: Column) -> tuple[bytes, bool]:
    """Returns times as bytes, and whether these are the steps between whole milliseconds."""
    ms = np.rint(times * 1000)
    if not times.size or not bool((ms / 1000 == times).all()):
        return times.tobytes(), False
    return np.diff(ms, prepend=0.0).astype("<i8").tobytes(), True


def _decode_times(part: bytes, *, in_ms: bool) -> Column:
    return np.cumsum(np.frombuffer(part, "<i8")) / 1000 if in_ms else np.frombuffer(part, "<f8")


class CallTape:
    """Collects the entries of one call in memory, which are compressed while the call goes on.

    A call with more than ``max_bytes`` of them keeps none; they are counted before compression, block by block.
    """

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
        self._entries = bytearray(_BLOCK_BYTES)
        self._end = 0
        self._values = bytearray()

    def read_clock(self) -> float:
        """Returns the time without noting that the call looked."""
        return self._read_clock()

    def time(self) -> float:
        """Returns the time for the call, and notes that it looked."""
        now = self._read_clock()
        if now != self._now:
            self._now = now
            if not self.omitted:
                self._append(TICK, now, 0)
        self._reads_since += 1
        return now

    def note(self, kind: int, value: Any = None) -> None:
        """Adds what reaches the call now."""
        if self.omitted:
            return
        self._now = now = self._read_clock()
        if kind in (AUDIO, WINDOW):
            self._append(kind, now, value)
        elif kind == BEAT:
            self._append(kind, now, round((value - now) / _US))
        else:
            self._values += _encode_value(value) + b","
            self._append(kind, now, 0)

    def _append(self, kind: int, now: float, number: float) -> None:
        # for every frame: one record in one place, which is still in the processor's cache
        end = self._end
        _pack_entry(self._entries, end, kind, self._reads_since, now, number)
        self._reads_since = 0
        self._end = end + ENTRY_BYTES
        if self._end == _BLOCK_BYTES:
            self._close_block()

    def _close_block(self) -> None:
        self._blocks_bytes += self._end + len(self._values)
        if self._blocks_bytes > self._max_bytes:
            self.omit("too_long")
            return
        parts, in_ms = _encode(self._newest_columns())
        packed = zlib.compress(b"".join(parts), _FAST)
        self._blocks.append(_Block([len(part) for part in parts], in_ms, packed))
        self._end, self._values = 0, bytearray()

    def _newest_columns(self) -> _Columns:
        return _read_columns(bytes(self._entries[: self._end]), bytes(self._values))

    def omit(self, because: str) -> None:
        """Keeps nothing of this call; the first reason counts."""
        self.omitted = self.omitted or because
        self._clear()

    def pack(self, facts: JsonObject) -> bytes:
        """Returns the journal with these facts as compressed bytes. Takes milliseconds: call it in a thread."""
        blocks = [*map(_decompress, self._blocks), self._newest_columns()]
        *arrays, texts = zip(*blocks, strict=True)
        columns = _Columns._make([*map(np.concatenate, arrays), b"".join(texts)])
        parts, in_ms = _encode(columns._replace(values=b"[" + columns.values.removesuffix(b",") + b"]"))
        head: JsonObject = {
            "format": FORMAT,
            "facts": facts,
            "in_ms": in_ms,
            "started_at": self.started_at,
            "window_s": self.window_s,
            "columns": [len(part) for part in parts],
        }
        return zlib.compress(json.dumps(head, default=str).encode() + b"\n" + b"".join(parts), _SMALL)


def _encode_value(value: Any) -> bytes:
    try:
        return to_json(value, inf_nan_mode="constants", fallback=_as_plain)
    except PydanticSerializationError:  # half of a surrogate pair
        text = json.dumps(value, ensure_ascii=False, default=_as_plain, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")


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
        columns = _unpack_entries(_split(rest, head["columns"]), in_ms=head["in_ms"])
        return CallJournal(head["facts"], head["started_at"], head["window_s"], head["in_ms"], *columns)


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


def _unpack_entries(parts: Sequence[bytes], *, in_ms: bool) -> tuple[list[int], list[int], list[float], list[Any]]:
    """Returns the kinds, reads, times and values of the entries. Raises ValueError when their numbers differ."""
    kinds_part, reads_part, times_part, sizes_part, windows_part, beats_part, values_part = parts
    kinds = np.frombuffer(kinds_part, np.uint8)
    times = _decode_times(times_part, in_ms=in_ms)
    beats = times[kinds == BEAT] + np.frombuffer(beats_part, "<i4") * _US
    values: list[Any] = [None] * kinds.size
    for places, found in (
        (kinds == AUDIO, np.frombuffer(sizes_part, "<u4").tolist()),
        (kinds == WINDOW, np.frombuffer(windows_part, "<f4").tolist()),
        (kinds == BEAT, beats.tolist()),
        (~np.isin(kinds, _WITHOUT_JSON), json.loads(values_part.decode("utf-8", "surrogatepass"))),
    ):
        for place, value in zip(np.flatnonzero(places).tolist(), found, strict=True):
            values[place] = value
    reads = np.frombuffer(reads_part, "<u4")
    if not kinds.size == reads.size == times.size:
        raise ValueError("The columns of a journal have different lengths.")
    return kinds.tolist(), reads.tolist(), times.tolist(), values
