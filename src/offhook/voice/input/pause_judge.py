"""Asks the turn detector about the pauses of one call, and reports each judgment with its outcome."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from offhook.kit.audio import Samples
from offhook.kit.json_values import JsonObject
from offhook.voice import events
from offhook.voice.config import CallConfig
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.input.interruption_rules import TurnTaking
from offhook.voice.input.speech_detector import SpeechDetector
from offhook.voice.input.turn_rules import AskedValue, CallerTurnState, EndSays, TurnRules
from offhook.voice.ports import EndJudgment, TurnDetector

# Detectors are trained on turns that end in such a silence, and pauses within words are shorter.
ASK_AFTER_S: Final = 0.2
# The detector hears this much before the speech, and of long turns the end.
LEAD_S: Final = 0.5
HEARD_S: Final = 8.0
# From which probability on a turn counts as complete, and below which as incomplete; in between, the rules decide alone.
COMPLETE_FROM: Final[dict[TurnTaking, float]] = {"eager": 0.6, "balanced": 0.7, "patient": 0.8}
INCOMPLETE_BELOW: Final[dict[TurnTaking, float]] = {"eager": 0.3, "balanced": 0.4, "patient": 0.5}
# JSON: the number of the pause, the probability, milliseconds of CPU, and why there is no probability.
NotedJudgment = list[Any]


class PauseJudge:
    """Asks the detector, if there is one, once in each pause of a turn. ``report`` gets what it says, for
    :meth:`take_judgment`: in a replay, that is all there is."""

    def __init__(
        self, config: CallConfig, sample_rate: int, emit: Emit, report: Callable[[NotedJudgment], None]
    ) -> None:
        self.detector: TurnDetector | None = None
        self._is_wanted = config.has_turn_detector
        self._rate = sample_rate
        self._complete_from = COMPLETE_FROM[config.turn_taking]
        self._incomplete_below = INCOMPLETE_BELOW[config.turn_taking]
        self._emit = emit
        self._report = report
        self._sound = bytearray()
        self._pauses = 0
        # "over": its turn has ended, and the silence goes on
        self._pause: Literal["", "open", "over"] = ""
        self._silence_s = 0.0
        self._is_asked = self._is_awaited = False
        self._probability: float | None = None
        self._cpu_ms = 0
        self._changed = ""

    def push_audio(self, samples: Samples) -> None:
        if self.detector is None or not self._is_wanted:
            return
        self._sound += samples.tobytes()
        if (excess := len(self._sound) - _bytes_of(HEARD_S, self._rate)) > 0:
            del self._sound[:excess]

    def watch_pause(
        self, speech: SpeechDetector, turn_started_at: float | None, now: float, rules: TurnRules
    ) -> EndSays:
        """Returns the judgment of the caller's current pause. Called with every window."""
        if not self._is_wanted:
            return ""
        if speech.silence_s < ASK_AFTER_S:
            self._finish_pause("caller_went_on")
            self._pause = ""
            return ""
        if not self._pause and turn_started_at is not None:
            self._pause = "open"
            self._pauses += 1
            self._is_asked, self._probability, self._changed = False, None, ""
        if self._pause != "open":
            return ""
        self._silence_s = speech.silence_s
        # of one call, one at a time: a detector that is stuck has no more of its sound
        may_ask = rules.complete_s is not None and not self._is_asked and not self._is_awaited
        # of words that were too quiet for the detection of speech, it would hear the silence behind them
        if may_ask and turn_started_at is not None and turn_started_at <= speech.stopped_at:
            self._ask_detector(now - turn_started_at)
        return self._says

    def _ask_detector(self, turn_s: float) -> None:
        if self.detector is None:
            return
        self._is_asked = self._is_awaited = True
        size = _bytes_of(min(turn_s + LEAD_S, HEARD_S), self._rate)
        samples = np.frombuffer(bytes(self._sound[-size:]), np.int16)
        self.detector.judge_turn(samples, self._rate, partial(self._receive_judgment, self._pauses))

    def _receive_judgment(self, pause: int, judged: EndJudgment) -> None:
        self._is_awaited = False
        probability = None if judged.probability is None else round(judged.probability, 3)
        self._report([pause, probability, judged.cpu_ms, judged.failure])

    def take_judgment(self, pause: int, probability: float | None, cpu_ms: int, failure: str | None) -> None:
        if not self._is_wanted:
            return
        is_late = self._pause != "open" or pause != self._pauses
        if probability is None or is_late:
            self._emit(events.PAUSE_JUDGED, {"says": failure or "late"})
            return
        self._probability, self._cpu_ms = probability, cpu_ms

    def is_over(self, rules: TurnRules, state: CallerTurnState, asked: AskedValue) -> bool:
        """Returns whether the turn is over by the rules, and notes whether the detector has changed that."""
        is_over = rules.is_over(state, asked)
        if state.end_says and is_over != rules.is_over(replace(state, end_says=""), asked):
            self._changed = "sooner" if is_over else "later"
        return is_over

    def turn_ended(self) -> None:
        self._finish_pause("turn_ended")
        if self._pause:
            self._pause = "over"

    @property
    def _says(self) -> EndSays:
        if self._probability is None:
            return ""
        if self._probability >= self._complete_from:
            return "complete"
        return "incomplete" if self._probability < self._incomplete_below else ""

    def _finish_pause(self, then: str) -> None:
        if self._pause != "open" or self._probability is None:
            return
        data: JsonObject = {
            "says": self._says or "unsure",
            "probability": self._probability,
            "cpu_ms": self._cpu_ms,
            "then": then,
            "after_ms": round(self._silence_s * 1000),
        }
        self._emit(events.PAUSE_JUDGED, {**data, "changed": self._changed} if self._changed else data)
        self._probability = None


def _bytes_of(seconds: float, rate: int) -> int:
    return 2 * round(seconds * rate)
