"""Silero VAD for all calls of a process: the windows of many calls go through the model as one batch.

The weights come from the pinned ``silero-vad`` wheel (MIT), which is never imported: its code needs PyTorch.
One window is 256 samples at 8 kHz (32 ms) preceded by 32 samples of context; the recurrent state is (2, calls,
128). Measured: 1.5 ms per second of one caller's speech alone, 0.35 in batches of 16.
"""

import asyncio
import importlib.util
from collections import deque
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.onnx_sessions import onnx_session
from offhook.voice.input.silero_graph import build_graph
from offhook.voice.ports import OnWindow

WINDOW: Final = 256
_WINDOW_BYTES: Final = 2 * WINDOW
CONTEXT: Final = 32
RATE: Final = 8000
WINDOW_S: Final = WINDOW / RATE
# Windows wait this long for those of other calls: one frame interval of the telephone network.
BATCH_S: Final = 0.02
# Each may end or begin a turn, up to a millisecond of work: frames that are due go out in between.
MAX_TOLD_TOGETHER: Final = 8
# About -62 dBFS: below it a line is silent and the model is skipped. Source: mu-law idle noise is within ±8.
SILENCE_PEAK: Final = 26


class VadModelMissing(Exception):
    """The Silero model file is not installed."""


def model_path() -> Path:
    """Returns the path of the ONNX file. Raises :class:`VadModelMissing` with instructions."""
    spec = importlib.util.find_spec("silero_vad")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "data" / "silero_vad.onnx"
        if path.is_file():
            return path
    raise VadModelMissing("The voice activity model is missing: run `make setup` (it installs requirements-data.lock).")


class _SileroStream:
    def __init__(self, engine: "SileroVad", slot: int, on_window: OnWindow) -> None:
        self._engine = engine
        self.slot = slot
        self.on_window = on_window
        self.pending = bytearray()
        self.is_closed = False

    def push(self, samples_8k: NDArray[np.int16]) -> None:
        if self.is_closed:
            return
        self.pending += samples_8k.tobytes()
        if len(self.pending) >= _WINDOW_BYTES:
            self._engine.enqueue_stream(self)

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._engine.release_slot(self)


class SileroVad:
    """Implements :class:`offhook.voice.ports.VadEngine`. The model is loaded when the first call opens a stream."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._session: Any = None
        self._state = np.zeros((2, 0, 128), np.float32)
        self._context = np.zeros((0, CONTEXT), np.float32)
        self._free: list[int] = []
        self._ready: dict[_SileroStream, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        # what was found in windows, to be told in their order
        self._found: deque[tuple[_SileroStream, float]] = deque()

    def load_model(self) -> None:
        """Loads the model now (150 ms) instead of during the first call."""
        if self._session is None:
            self._session = onnx_session(build_graph(self._path or model_path()), log_level=3)

    def for_another_loop(self) -> "SileroVad":
        """Returns an engine with this model for calls of another event loop."""
        self.load_model()
        other = SileroVad(self._path)
        other._session = self._session
        return other

    def open_stream(self, on_window: OnWindow) -> _SileroStream:
        self.load_model()
        if not self._free:
            size = self._context.shape[0]
            grow = max(8, size)
            self._state = np.concatenate((self._state, np.zeros((2, grow, 128), np.float32)), axis=1)
            self._context = np.concatenate((self._context, np.zeros((grow, CONTEXT), np.float32)))
            self._free = list(range(size + grow - 1, size - 1, -1))
        slot = self._free.pop()
        self._state[:, slot] = 0
        self._context[slot] = 0
        return _SileroStream(self, slot, on_window)

    def release_slot(self, stream: _SileroStream) -> None:
        self._ready.pop(stream, None)
        self._free.append(stream.slot)

    def enqueue_stream(self, stream: _SileroStream) -> None:
        self._ready[stream] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_S, self._process_ready)

    def _process_ready(self) -> None:
        self._timer = None
        while self._ready:
            streams = list(self._ready)
            sound = b"".join([stream.pending[:_WINDOW_BYTES] for stream in streams])
            windows = np.frombuffer(sound, np.int16).reshape(-1, WINDOW)
            for stream in streams:
                del stream.pending[:_WINDOW_BYTES]
                if len(stream.pending) < _WINDOW_BYTES:
                    del self._ready[stream]
            # For all at once: of one window it would take as long as of twenty.
            is_sound = (windows.max(axis=1) >= SILENCE_PEAK) | (windows.min(axis=1) <= -SILENCE_PEAK)
            sounding: list[_SileroStream] = []
            for stream, sounds in zip(streams, is_sound.tolist(), strict=True):
                if sounds:
                    sounding.append(stream)
                else:
                    self._found.append((stream, 0.0))
            if sounding:
                self._run_model(sounding, windows[is_sound])
        self._tell_found()

    def _run_model(self, streams: list[_SileroStream], samples: NDArray[np.int16]) -> None:
        slots = [stream.slot for stream in streams]
        windows = samples.astype(np.float32)
        windows *= 1 / 32768
        inputs = np.concatenate((self._context[slots], windows), axis=1)
        out, state = self._session.run(None, {"input": inputs, "state": np.ascontiguousarray(self._state[:, slots])})
        self._state[:, slots] = state
        self._context[slots] = windows[:, -CONTEXT:]
        self._found.extend(zip(streams, out[:, 0].tolist(), strict=True))

    def _tell_found(self) -> None:
        for _ in range(min(MAX_TOLD_TOGETHER, len(self._found))):
            stream, probability = self._found.popleft()
            if not stream.is_closed:
                stream.on_window(probability, WINDOW_S)
        if self._found:
            asyncio.get_running_loop().call_soon(self._tell_found)
