"""Stereo recordings (left caller, right agent) written during the call; implements ``voice.ports.CallRecorder``.

The event loop only appends references to payloads; a thread decodes and writes them, for a few recorders at a time,
more than once a second each. A kill loses at most ``FLUSH_S + HOLD_S`` seconds of audio.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from offhook.kit.audio import Codec
from offhook.kit.crypto import DataKey, SecretUnreadable
from offhook.kit.files.sealed_file import RandomAccessFile, open_random_access
from offhook.runs.recording_files.wav import HEADER_BYTES, wav_header

log = structlog.get_logger(__name__)

FLUSH_S: Final = 0.7  # how often one recorder is written
HOLD_S: Final = 0.2  # how long a side that is behind may still deliver before silence is written for it
JITTER_S: Final = 0.12  # frames this close to their expected position are joined without a seam
OVERLAP_S: Final = 0.5  # a side that runs further ahead of its clock loses frames
MAX_S: Final = 6 * 3600.0
MAX_PENDING_BYTES: Final = 256 * 1024  # per side; reached only when a disk hangs for seconds
_BLOCK: Final = 1 << 16  # samples written at a time
_TICKS: Final = 5  # recorders are flushed in this many groups, so that no thread holds the interpreter for long

DISK_ALMOST_FULL: Final = "The server's disk is almost full."

Samples = NDArray[np.int16]
OnChange = Callable[[str | None, float], None]
_Frame = tuple[float, bytes]


class _ChannelBuffer:
    """One channel: received frames, and samples that are placed but not yet written."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._rate = codec.sample_rate
        self.arrived: list[_Frame] = []
        self.arrived_bytes = 0
        self.end = 0  # the sample after the last placed one
        self.placed: deque[tuple[int, Samples]] = deque()

    def add_frame(self, at_s: float, payload: bytes) -> None:
        if self.arrived_bytes < MAX_PENDING_BYTES and 0.0 <= at_s < MAX_S:
            self.arrived.append((at_s, payload))
            self.arrived_bytes += len(payload)

    def take_frames(self) -> list[_Frame]:
        frames, self.arrived, self.arrived_bytes = self.arrived, [], 0
        return frames

    def place_frames(self, frames: list[_Frame]) -> None:
        """Decodes all frames at once and places each by its time, joined to its neighbor when the gap is small."""
        if not frames:
            return
        sound = self._codec.decode(b"".join([payload for _, payload in frames]))
        if self._is_steady(frames, len(sound)):
            self._append_placed(self.end, sound)
            self.end += len(sound)
            return
        scale = len(sound) / max(1, sum(len(payload) for _, payload in frames))
        jitter, overlap = int(JITTER_S * self._rate), int(OVERLAP_S * self._rate)
        offset, begin, at, target = 0, 0, self.end, self._target_positions(frames, scale)
        for (_, payload), wanted in zip(frames, target, strict=True):
            length = int(len(payload) * scale)
            gap = wanted - self.end
            if gap > jitter or gap < -overlap:
                self._append_placed(at, sound[begin:offset])
                begin, at = offset, self.end
            if gap > jitter:
                self.end = at = wanted
            elif gap < -overlap:
                offset += length
                begin = offset
                continue
            offset += length
            self.end += length
        self._append_placed(at, sound[begin:offset])

    def _is_steady(self, frames: list[_Frame], samples: int) -> bool:
        """Returns whether every frame is close to its place in a seamless stream: the usual case, checked cheaply."""
        length = len(frames[0][1])
        if any(len(payload) != length for _, payload in frames):
            return False
        at_s = np.array([at for at, _ in frames])
        expected = self.end / self._rate + np.arange(len(frames)) * (samples / len(frames) / self._rate)
        return bool(np.abs(at_s - expected).max() <= JITTER_S)

    def _target_positions(self, frames: list[_Frame], scale: float) -> list[int]:
        """Returns the position of each frame. In a burst, the earlier frames are older than their arrival."""
        latest = None
        targets = [0] * len(frames)
        for index in range(len(frames) - 1, -1, -1):
            at_s, payload = frames[index]
            wanted = int(at_s * self._rate)
            if latest is not None:
                wanted = min(wanted, latest - int(len(payload) * scale))
            targets[index] = latest = wanted
        return targets

    def _append_placed(self, at: int, samples: Samples) -> None:
        if len(samples):
            self.placed.append((at, samples))

    def copy_to(self, out: Samples, start: int, stop: int) -> None:
        """Moves the samples placed in ``start..stop`` into ``out`` (one channel of that length)."""
        while self.placed and self.placed[0][0] < stop:
            at, samples = self.placed.popleft()
            fits = samples[: stop - at]
            out[at - start : at - start + len(fits)] = fits
            if len(fits) < len(samples):
                self.placed.appendleft((stop, samples[len(fits) :]))
                break


class WavWriter:
    """Writes one call to a file. Adding audio costs well under a microsecond; :meth:`flush` decodes and writes it."""

    def __init__(self, path: Path, codec: Codec, key: DataKey | None = None, *, continues: bool = False) -> None:
        """``continues``: the file has the beginning of this call; what comes is written behind it."""
        self.path = path
        self.key = key
        self._codec = codec
        self._caller = _ChannelBuffer(codec)
        self._agent = _ChannelBuffer(codec)
        self._written = 0
        self._is_discarded = False
        self._file: RandomAccessFile | None = open_random_access(path, key, creates=not continues)
        if continues:
            self._written = (self._file.size - HEADER_BYTES) // 4
            self._caller.end = self._agent.end = self._written
            return
        try:
            self._file.write_at(0, wav_header(codec.sample_rate, 2, 0))
        except OSError:  # no file is better than one without a header
            self._close_file()
            path.unlink(missing_ok=True)
            raise

    def record_caller(self, at_s: float, payload: bytes) -> None:
        """Records the caller's audio received ``at_s`` seconds after the media connected."""
        self._caller.add_frame(at_s, payload)

    def record_agent(self, at_s: float, payload: bytes) -> None:
        """Records the agent's audio sent at ``at_s``."""
        self._agent.add_frame(at_s, payload)

    def discard(self) -> None:
        """Deletes what was recorded with the next flush, and records nothing more."""
        self._is_discarded = True

    @property
    def end_s(self) -> float:
        """Returns up to where there is sound, written or not."""
        return max(self._caller.end, self._agent.end) / self._codec.sample_rate

    def leave_out(self) -> None:
        """Drops what was received since the last flush: what follows is written in its place, after silence."""
        self._caller.take_frames()
        self._agent.take_frames()

    def flush(self, *, everything: bool = False) -> None:
        """Writes what both sides have; never twice at a time. Raises OSError when the disk fails: that sound is lost, and
        silent if the file goes on."""
        if self._file is None:
            return
        try:
            if self._is_discarded:
                self._delete_sound()
            else:
                self._write_sound(everything)
        except OSError:
            self._caller.placed.clear()  # memory is no place for the hours until the disk has room
            self._agent.placed.clear()
            raise
        finally:
            if everything:
                self._close_file()

    def _write_sound(self, everything: bool) -> None:
        self._caller.place_frames(self._caller.take_frames())
        self._agent.place_frames(self._agent.take_frames())
        ends = (self._caller.end, self._agent.end)
        held = max(ends) - int(HOLD_S * self._codec.sample_rate)
        until = max(ends) if everything else max(min(ends), held)
        if until > self._written:
            self._write_until(until)

    def _delete_sound(self) -> None:
        assert self._file is not None
        self._file.truncate(0)
        self._file.write_at(0, wav_header(self._codec.sample_rate, 2, 0))
        self._caller, self._agent = _ChannelBuffer(self._codec), _ChannelBuffer(self._codec)
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write_until(self, until: int) -> None:
        """Writes ``written..until`` block by block; a silent block of a plain file stays a hole, which reads as zeros."""
        assert self._file is not None
        sides = (self._caller, self._agent)
        is_silent = True
        for start in range(self._written, until, _BLOCK):
            stop = min(until, start + _BLOCK)
            is_silent = not any(side.placed and side.placed[0][0] < stop for side in sides)
            if is_silent:
                continue
            stereo = np.zeros((stop - start, 2), np.int16)
            for channel, side in enumerate(sides):
                side.copy_to(stereo[:, channel], start, stop)
            self._file.write_at(HEADER_BYTES + start * 4, stereo.tobytes())
        for side in sides:
            side.end = max(side.end, until)
        if is_silent:
            self._file.truncate(HEADER_BYTES + until * 4)
        self._file.write_at(0, wav_header(self._codec.sample_rate, 2, until * 4))
        self._written = until


class WavRecorder(WavWriter):
    """Records one call in the background; ``close`` writes the rest."""

    def __init__(
        self,
        path: Path,
        codec: Codec,
        recordings: "CallRecordings",
        group: int,
        key: DataKey | None = None,
        *,
        on_change: OnChange | None = None,
        continues: bool = False,
    ) -> None:
        super().__init__(path, codec, key, continues=continues)
        self.group = group
        self._recordings = recordings
        self._on_change = on_change
        self._is_failing = False

    def note_flush(self, problem: str | None) -> None:
        """Reports the first flush that failed, and the first one that did not."""
        if self._is_failing == (problem is not None):
            return
        self._is_failing = problem is not None
        if problem is None:
            log.info("recording_written_again", path=str(self.path))
        else:
            log.error("recording_not_written", path=str(self.path), error=problem)
        if self._on_change is not None:
            self._on_change(problem, self.end_s)

    async def close(self) -> None:
        """Writes everything left and closes the file; idempotent."""
        await self._recordings.finish_recorder(self)


class CallRecordings:
    """All recorders of a process and the task that writes them. ``has_room``: whether they may take more of the disk, asked
    in a thread; while they may not, what is said is left out."""

    def __init__(self, has_room: Callable[[], bool] = lambda: True) -> None:
        self._has_room = has_room
        self._open: set[WavRecorder] = set()
        self._groups = itertools.cycle(range(_TICKS))
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def open_recorder(
        self,
        path: Path,
        codec: Codec,
        key: DataKey | None = None,
        *,
        on_change: OnChange | None = None,
        continues: bool = False,
    ) -> WavRecorder:
        """Creates a file with its header, encrypted with ``key``, or ``continues`` that of a call which was cut off.
        Raises OSError when the disk refuses it. ``on_change`` gets why its sound is lost from here on, or None when it is
        written again, and the second of the call."""
        group = next(self._groups)
        recorder = await asyncio.to_thread(
            WavRecorder, path, codec, self, group, key, on_change=on_change, continues=continues
        )
        self._open.add(recorder)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush_forever(), name="recordings")
        return recorder

    async def finish_recorder(self, recorder: WavRecorder) -> None:
        async with self._lock:
            if recorder in self._open:
                self._open.discard(recorder)
                await self._flush([recorder], everything=True)

    async def _flush_forever(self) -> None:
        turn = 0
        while self._open:
            started = time.monotonic()
            async with self._lock:
                group = [recorder for recorder in self._open if recorder.group == turn]
                if group:
                    await self._flush(group)
            turn = (turn + 1) % _TICKS
            await asyncio.sleep(max(0.01, FLUSH_S / _TICKS - (time.monotonic() - started)))

    async def _flush(self, recorders: list[WavRecorder], *, everything: bool = False) -> None:
        problems = await asyncio.to_thread(self._flush_all, recorders, everything)
        for recorder, problem in zip(recorders, problems, strict=True):
            recorder.note_flush(problem)

    def _flush_all(self, recorders: list[WavRecorder], everything: bool) -> list[str | None]:
        problem = None if self._has_room() else DISK_ALMOST_FULL
        problems: list[str | None] = []
        for recorder in recorders:
            if problem is not None:
                recorder.leave_out()
            try:
                recorder.flush(everything=everything)
                problems.append(problem)
            except (OSError, SecretUnreadable) as error:  # of a part that was damaged on the disk
                problems.append(str(error))
        return problems
