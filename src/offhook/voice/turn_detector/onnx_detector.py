"""Runs a turn detector from the operator's ONNX file, in one thread for all calls of a process.

It has the interface of Smart Turn v3 (pipecat-ai, BSD-2-Clause): Whisper's features of the last 8 s in, the probability
that the turn is complete out. The library gives up Python's lock while the model runs.
"""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import LifoQueue
from threading import Thread
from typing import Any, Final, Literal

import numpy as np
import structlog

from offhook.kit.audio import Samples
from offhook.kit.audio_cleaner import RateDoubler
from offhook.kit.onnx_sessions import onnx_session
from offhook.settings import Settings, SettingsError
from offhook.voice.ports import EndJudgment
from offhook.voice.turn_detector.whisper_features import FRAMES, MELS, RATE, FloatArray, whisper_features

# After this, the rules have decided or soon will; a caller who waits notices it.
LIMIT_S: Final = 1.0
# With 8 s of sound each, at most 256 KB.
MAX_WAITING: Final = 32
MAX_FILE_MB: Final = 512
_TENSOR: Final = "tensor(float)"
_WANTED: Final = f"one input of floats (batch, {MELS}, {FRAMES}) and one output with a probability, like Smart Turn v3"

log = structlog.get_logger(__name__)


class TurnDetectorRefused(SettingsError):
    """The turn detector cannot be used; the message is one sentence that says why."""


class _Question:
    """One turn of one call. Its methods, but for ``samples``, belong to the call's event loop."""

    def __init__(self, samples: Samples, sample_rate: int, on_judged: Callable[[EndJudgment], None]) -> None:
        self.samples = samples
        self.sample_rate = sample_rate
        self.is_answered = False
        self.loop = asyncio.get_running_loop()
        self._on_judged = on_judged
        self._timer = self.loop.call_later(LIMIT_S, self.give_up)

    def give_up(self) -> None:
        self.take_answer(EndJudgment(None, failure="late"))

    def take_answer(self, judged: EndJudgment) -> None:
        if not self.is_answered:
            self.is_answered = True
            self._timer.cancel()
            self._on_judged(judged)


class OnnxTurnDetector:
    """Implements :class:`offhook.voice.ports.TurnDetector`. ``run_model`` turns features into a probability."""

    def __init__(self, run_model: Callable[[FloatArray], float]) -> None:
        self._run_model = run_model
        # the newest first: with more than can be judged, the oldest answer would always come too late
        self._questions: LifoQueue[_Question] = LifoQueue()
        self._thread: Thread | None = None
        self._has_failed = False

    def judge_turn(self, samples: Samples, sample_rate: int, on_judged: Callable[[EndJudgment], None]) -> None:
        question = _Question(samples, sample_rate, on_judged)
        if self._questions.qsize() >= MAX_WAITING:
            question.loop.call_soon(question.give_up)
            return
        if self._thread is None:
            # a daemon: a model that never comes back must not keep the process
            self._thread = Thread(target=self._answer_questions, name="turn-detector", daemon=True)
            self._thread.start()
        self._questions.put(question)

    def _answer_questions(self) -> None:
        while True:
            question = self._questions.get()
            if question.is_answered:
                continue
            judged = self._judge_now(question)
            # otherwise the loop is over, and so are its calls
            with suppress(RuntimeError):
                question.loop.call_soon_threadsafe(question.take_answer, judged)

    def _judge_now(self, question: _Question) -> EndJudgment:
        began = time.thread_time()
        try:
            probability = self._run_model(features_of(question.samples, question.sample_rate))
            if not is_probability(probability):
                raise ValueError(f"The model returned {probability}.")
        except Exception as error:  # noqa: BLE001 - of a model that users bring; the call goes on by its rules
            if not self._has_failed:
                self._has_failed = True
                log.warning("turn_detector_failed", error=f"{type(error).__name__}: {error}")
            return EndJudgment(None, failure="failed")
        return EndJudgment(probability, round((time.thread_time() - began) * 1000))


def features_of(samples: Samples, sample_rate: int) -> FloatArray:
    """Returns the features of a caller's sound at 8 or 16 kHz."""
    wide = samples if sample_rate == RATE else RateDoubler().double_rate(samples)
    return whisper_features(wide.astype(np.float32) * np.float32(1 / 32768))


def is_probability(value: float) -> bool:
    return math.isfinite(value) and 0 <= value <= 1


def load_runner(file: Path, sha256: str) -> Callable[[FloatArray], float]:
    """Loads a model and returns what turns features into a probability. Raises :class:`TurnDetectorRefused` unless the
    file has this hash and the expected interface."""
    try:
        size_mb = file.stat().st_size / 2**20
        content = file.read_bytes() if size_mb <= MAX_FILE_MB else b""
    except OSError as error:
        raise TurnDetectorRefused(f"The turn detector {file} cannot be read: {error.strerror}.") from None
    if not content:
        raise TurnDetectorRefused(
            f"The turn detector {file} has {size_mb:.0f} MB; it must have between 1 byte and {MAX_FILE_MB} MB."
        )
    found = hashlib.sha256(content).hexdigest()
    if found != sha256.lower():
        raise TurnDetectorRefused(
            f"The turn detector {file} has the SHA-256 {found}, and OFFHOOK_TURN_DETECTOR_SHA256 is {sha256}. Check "
            "where the file came from."
        )
    try:
        session = onnx_session(content, log_level=3)
    except Exception as error:  # noqa: BLE001 - the library has an exception of its own for each kind of damage
        raise TurnDetectorRefused(f"The turn detector {file} is not an ONNX model: {_first_line(error)}.") from None
    return _checked_runner(file, session)


def _checked_runner(file: Path, session: Any) -> Callable[[FloatArray], float]:
    """Returns what runs the model, after it has judged silence."""
    inputs, outputs = session.get_inputs(), session.get_outputs()
    shape = list(inputs[0].shape) if len(inputs) == 1 else []
    is_known = shape[1:] == [MELS, FRAMES] and (not isinstance(shape[0], int) or shape[0] == 1)
    if not is_known or len(outputs) != 1 or {inputs[0].type, outputs[0].type} != {_TENSOR}:
        described = ", ".join(f"{one.name} {one.type} {one.shape}" for one in (*inputs, *outputs))
        raise TurnDetectorRefused(f"The turn detector {file} has {described}; it needs {_WANTED}.")
    name = inputs[0].name

    def run_model(features: FloatArray) -> float:
        return float(np.asarray(session.run(None, {name: features[None]})[0]).item())

    try:
        probability = run_model(features_of(np.zeros(RATE, np.int16), RATE))
    except Exception as error:  # noqa: BLE001 - see above
        raise TurnDetectorRefused(f"The turn detector {file} does not run: {_first_line(error)}.") from None
    if not is_probability(probability):
        raise TurnDetectorRefused(f"The turn detector {file} returned {probability} for silence; it needs {_WANTED}.")
    return run_model


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")[:300]


def installed_detector(settings: Settings) -> OnnxTurnDetector | None:
    """Returns the installation's detector; None without one. Raises :class:`TurnDetectorRefused`."""
    file, sha256 = settings.turn_detector_file, settings.turn_detector_sha256
    if file is None and sha256 is None:
        return None
    if file is None or sha256 is None:
        missing = "FILE" if file is None else "SHA256"
        raise TurnDetectorRefused(
            f"OFFHOOK_TURN_DETECTOR_{missing} is missing: a turn detector needs both a file and its SHA-256."
        )
    return OnnxTurnDetector(load_runner(file, sha256))


def describe_detector(settings: Settings) -> tuple[Literal["ok", "failed"], str]:
    """Checks the detector; returns the result and a sentence about it."""
    try:
        is_there = installed_detector(settings) is not None
    except TurnDetectorRefused as error:
        return "failed", str(error)
    return "ok", f"{settings.turn_detector_file}, for agents that use it" if is_there else "none; rules alone decide"
