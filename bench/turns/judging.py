"""Judges calls of the panel by what was played at the far end: the eight figures of τ-voice's panel, and three more.

An agent is silent where nothing loud was played for 200 ms, the tick of that panel. Its definitions are in
``bench/README.md``.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bench.turns.breakdown import EventRow, describe_event
from bench.turns.call import LOUD_RMS, PanelCall, Stimulus
from bench.turns.clips import FRAME, MAX_AGENT_GAP_S, find_audio
from bench.turns.phrases import REAL
from offhook.kit.audio import FRAME_S, MULAW_8K, Samples
from offhook.scenarios.sound.clips import RATE
from offhook.voice import events

SILENT_FRAMES: Final = 10
YIELD_S: Final = 2.0
IGNORE_S: Final = 1.0
ANSWER_S: Final = 2.0
# A word's length: speech that goes on from the start of the word at which it stopped repeats no more.
WORD_S: Final = 0.7
# The agent may have stopped in a gap of its own, up to which nothing was loud, and go on behind it.
SLACK_S: Final = MAX_AGENT_GAP_S + 0.06
# The sound that is looked for in what the voice said: before a stop and after it.
NEEDLE_FRAMES: Final = 20
MIN_NEEDLE_FRAMES: Final = 5


@dataclass
class Tally:
    """Successes of a count, and the values behind a mean."""

    hits: int = 0
    total: int = 0
    values: list[float] = field(default_factory=list)

    def add(self, is_hit: bool, value: float | None = None) -> None:
        self.total += 1
        self.hits += is_hit
        if value is not None:
            self.values.append(value)

    def rate(self) -> dict[str, Any]:
        """Returns the share with its 95 % interval by Wilson's formula."""
        if not self.total:
            return {"value": None, "n": 0}
        n, share, z = self.total, self.hits / self.total, 1.96
        center = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        low, high = max(0.0, center - half), min(1.0, center + half)
        return {"value": round(share, 3), "n": n, "interval": [round(low, 3), round(high, 3)]}

    def mean(self) -> dict[str, Any]:
        if not self.values:
            return {"value": None, "n": 0}
        values = np.array(self.values)
        half = 1.96 * float(values.std()) / math.sqrt(values.size)
        center = float(values.mean())
        return {
            "value": round(center, 3),
            "n": values.size,
            "interval": [round(center - half, 3), round(center + half, 3)],
            "p50": round(float(np.percentile(values, 50)), 3),
            "p95": round(float(np.percentile(values, 95)), 3),
        }


class CallJudge:
    """What the far end heard of one call, frame by frame."""

    def __init__(self, call: PanelCall) -> None:
        self.call = call
        audio: Samples = np.concatenate([MULAW_8K.decode(frame) for frame in call.far.played])
        self.audio = audio.astype(np.float64)
        levels = np.sqrt(np.mean(self.audio.reshape(-1, FRAME) ** 2, axis=1))
        self.segments = list(find_segments(levels > LOUD_RMS))
        spoken = call.voice.script or [np.zeros(FRAME, np.int16)]
        self.script: Samples = np.concatenate(spoken)

    def silent_from(self, frame: int) -> int:
        """Returns the first frame from ``frame`` on in which the agent is silent."""
        return next((end for start, end in self.segments if start <= frame < end), frame)

    def starts_from(self, frame: int) -> int | None:
        """Returns the frame at which the agent begins to speak at or after ``frame``."""
        return next((start for start, _ in self.segments if start >= frame), None)

    def goes_on_at_the_word(self, stopped: int, resumed: int) -> bool:
        """Returns whether the agent's audio after a stop continues what it was saying, at most a word earlier."""
        until = next((end for start, end in self.segments if start <= resumed < end), resumed)
        needle = self.audio[resumed * FRAME : min(until, resumed + NEEDLE_FRAMES) * FRAME]
        before = self.audio[max(0, stopped - NEEDLE_FRAMES) * FRAME : stopped * FRAME]
        if before.size == 0 or needle.size < MIN_NEEDLE_FRAMES * FRAME:
            return False
        return any(self._is_continued(at + before.size, needle) for at in find_audio(self.script, before))

    def _is_continued(self, stopped_at: int, needle: "np.ndarray[Any, Any]") -> bool:
        """Returns whether a sound follows this position of the script, or the word before it."""
        start = max(0, stopped_at - int(WORD_S * RATE))
        return bool(find_audio(self.script[start : stopped_at + int(SLACK_S * RATE) + needle.size], needle))


def find_segments(loud: "np.ndarray[Any, np.dtype[np.bool_]]") -> Iterator[tuple[int, int]]:
    start, last = None, 0
    for index in np.flatnonzero(loud).tolist():
        if start is None:
            start = index
        elif index - last > SILENT_FRAMES:
            yield start, last + 1
            start = index
        last = index
    if start is not None:
        yield start, last + 1


class Panel:
    """The figures over all calls."""

    def __init__(self) -> None:
        self.tallies = {
            name: Tally()
            for name in ("L_R", "R_R", "L_Y", "R_Y", "I_A", "S_BC", "S_VT", "S_ND", "cut_off", "resumed", "end_delay")
        }
        self.by_kind: dict[str, Tally] = {}
        self.rows: list[EventRow] = []
        self.wasted_requests = 0
        self.early = Tally()
        self.early_tokens: Counter[str] = Counter()

    def add_call(self, call: PanelCall) -> None:
        judge = CallJudge(call)
        self._is_right = True
        for index, stimulus in enumerate(call.stimuli):
            following = call.stimuli[index + 1].start if index + 1 < len(call.stimuli) else len(call.far.played)
            if stimulus.over and stimulus.kind in REAL:
                self._judge_interruption(judge, stimulus)
            elif stimulus.kind in ("backchannel", "tic", "side"):
                self._judge_ignorable(judge, stimulus, following)
            if stimulus.kind in REAL or stimulus.kind in ("turn", "pause"):
                self._judge_turn(judge, stimulus, following)
            silent = judge.silent_from(stimulus.start)
            begun = judge.starts_from(silent)
            self.rows.append(describe_event(call, stimulus, is_right=self._is_right, silent=silent, begun=begun))
        turns = sum(s.kind not in ("backchannel", "tic", "side") for s in call.stimuli)
        self.wasted_requests += max(0, call.llm.requests - turns)
        self._add_decisions(call)
        self._add_early_answers(call)

    def _add_early_answers(self, call: PanelCall) -> None:
        """Counts what came of requests that were made before the turn was over, and what they cost."""
        for data in call.sink.of(events.EARLY_ANSWER):
            self.early.add(data["used"], data["ahead_ms"] / 1000 if data["used"] else None)
        for counted in call.sink.of(events.USAGE_COUNTED):
            for entry in counted["llm"]:
                self.early_tokens.update({name: value for name, value in entry.items() if "_tokens" in name})

    def _note(self, stimulus: Stimulus, is_right: bool, value: float | None = None) -> None:
        name = f"{stimulus.kind}{'' if stimulus.over or stimulus.kind in ('turn', 'pause') else ' (silent line)'}"
        self._is_right = is_right
        self.by_kind.setdefault(name, Tally()).add(is_right, value)

    def _judge_interruption(self, judge: CallJudge, stimulus: Stimulus) -> None:
        delay = (judge.silent_from(stimulus.start) - stimulus.start) * FRAME_S
        is_yielded = delay <= YIELD_S
        self.tallies["R_Y"].add(is_yielded)
        if is_yielded:
            self.tallies["L_Y"].add(True, delay)
        self._note(stimulus, is_yielded, delay)

    def _judge_ignorable(self, judge: CallJudge, stimulus: Stimulus, following: int) -> None:
        name = {"backchannel": "S_BC", "tic": "S_VT", "side": "S_ND"}[stimulus.kind]
        if stimulus.over:
            stopped = judge.silent_from(stimulus.start)
            is_right = (stopped - stimulus.start) * FRAME_S > IGNORE_S
            resumed = judge.starts_from(stopped)
            has_track = judge.call.voice.position(0)[0] != "" or resumed is not None
            if not is_right and has_track:
                is_on = resumed is not None and resumed < following and judge.goes_on_at_the_word(stopped, resumed)
                self.tallies["resumed"].add(is_on)
        else:
            begun = judge.starts_from(stimulus.start)
            is_right = begun is None or (begun - stimulus.end) * FRAME_S > ANSWER_S
        self.tallies[name].add(is_right)
        self._note(stimulus, is_right)

    def _judge_turn(self, judge: CallJudge, stimulus: Stimulus, following: int) -> None:
        begun = judge.starts_from(stimulus.start)
        while begun is not None and begun < stimulus.end:
            is_in_pause = any(a <= begun < b for a, b in stimulus.pauses)
            self.tallies["I_A"].hits += not is_in_pause
            begun = judge.starts_from(begun + 1)
        self.tallies["I_A"].total += 1
        if stimulus.kind == "pause":
            said = [event.at_s for event in judge.call.sink.events if event.type == events.CALLER_SAID]
            is_cut = any(stimulus.pauses[0][0] * FRAME_S < at < stimulus.end * FRAME_S for at in said)
            self.tallies["cut_off"].add(is_cut)
            self._note(stimulus, not is_cut)
        if judge.silent_from(stimulus.end) != stimulus.end:
            return
        is_answered = begun is not None and begun < following
        self.tallies["R_R"].add(is_answered)
        if begun is not None and is_answered:
            self.tallies["L_R"].add(True, (begun - stimulus.end) * FRAME_S)
            if stimulus.kind == "turn":
                self._note(stimulus, True, (begun - stimulus.end) * FRAME_S)

    def _add_decisions(self, call: PanelCall) -> None:
        for event in call.sink.events:
            if event.type == events.CALLER_SAID:
                self.tallies["end_delay"].add(True, event.at_s - float(str(event.data["end_s"])))

    def figures(self) -> dict[str, Any]:
        """Returns every figure; rates over fewer than 10 events are None, as in τ-voice's panel."""
        found: dict[str, Any] = {}
        for name, tally in self.tallies.items():
            if name == "I_A":
                share = tally.hits / tally.total if tally.total else None
                found[name] = {"value": None if share is None else round(share, 3), "n": tally.total}
            else:
                found[name] = tally.mean() if name in ("L_R", "L_Y", "end_delay") else tally.rate()
            if found[name]["n"] < 10:
                found[name]["value"] = None
        kinds = {
            kind: tally.rate() | ({"mean_s": tally.mean()["value"]} if tally.values else {})
            for kind, tally in sorted(self.by_kind.items())
        }
        early = {"early": self.early.rate() | {"ahead_s": self.early.mean()["value"], **self.early_tokens}}
        return found | early | {"by_kind": kinds, "model_requests_beyond_turns": self.wasted_requests}


def panel_of(calls: Sequence[PanelCall]) -> Panel:
    panel = Panel()
    for call in calls:
        panel.add_call(call)
    return panel
