"""Answer times as heard: the silence between the caller's last sound and the agent's first one, from a stereo recording.

The events of a turn say when the engine heard the caller stop and sent the first frame; this says what is in the sound,
with the silence that a voice begins with and without what a speech detector adds. Pure but for reading the file.
"""

import bisect
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from offhook.kit.json_values import JsonObject
from offhook.runs.records.projections import nearest_rank_percentile

# The frame of the speech detector in ITU-T G.729 Annex B; it is also the resolution of every figure here.
FRAME_S: Final = 0.01
# ITU-T P.56, method B: speech is what lies less than this below the level of active speech ...
SPEECH_MARGIN_DB: Final = 15.9
# ... and a shorter pause belongs to it; Brady (Bell System Technical Journal, 1968) fills the same gaps.
HANGOVER_S: Final = 0.2
# What the engine takes for speech (``voice.input.speech_detector``): a shorter sound is a click.
MIN_SPEECH_S: Final = 0.06
# What the engine's ``sound_evidence`` wants between the noise of a line and a sound on it.
NOISE_MARGIN_DB: Final = 6.0
# Of all frames; every conversation has more pauses than that on each side. Our choice.
FLOOR_PERCENTILE: Final = 10
# Far below speech: listening tests use -26 dB (ITU-T P.800), and idle mu-law is at -72. Our choice.
MIN_SPEECH_DB: Final = -50
# Speech that began under the agent's has to outlast it by this. ITU-T G.114 wants at most 0.15 s one way; what ends
# sooner can be the agent's echo. Our choice.
MIN_OUTLAST_S: Final = 0.2
# Level of digital silence.
SILENCE_DB: Final = -90.0
# Of one run; as many turns as a talkative hour has.
MAX_ANSWERS: Final = 500
_FULL_SCALE: Final = 32768.0
_BLOCK_FRAMES: Final = 6000

Levels = npt.NDArray[np.float32]
Burst = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One measured answer, in seconds of the recording."""

    caller_stopped_s: float
    agent_audible_s: float

    @property
    def silence_ms(self) -> int:
        return round((self.agent_audible_s - self.caller_stopped_s) * 1000)


def read_answers(source: BinaryIO) -> list[MeasuredAnswer] | None:
    """Measures a PCM16 WAV with the caller left and the agent right; None for a file of another kind.

    Raises OSError when the file cannot be read.
    """
    speech = read_speech(source)
    return None if speech is None else find_answers(*speech)


def read_speech(source: BinaryIO) -> tuple[list[Burst], list[Burst]] | None:
    """Returns when the caller and when the agent speaks in such a file. Raises OSError when it cannot be read."""
    try:
        with wave.open(source) as file:
            if file.getsampwidth() != 2 or file.getnchannels() != 2 or file.getframerate() < 1 / FRAME_S:
                return None
            length = round(file.getframerate() * FRAME_S)
            blocks: list[Levels] = []
            while block := file.readframes(length * _BLOCK_FRAMES):
                samples = np.frombuffer(block[: len(block) - len(block) % 4], "<i2").reshape(-1, 2)
                blocks.append(measure_levels(samples, length))
            frame_s = length / file.getframerate()
    except (wave.Error, EOFError):
        return None
    levels = np.concatenate(blocks) if blocks else np.empty((0, 2), np.float32)
    return find_speech(levels[:, 0], frame_s), find_speech(levels[:, 1], frame_s)


def measure_levels(samples: npt.NDArray[np.int16], length: int) -> Levels:
    """Returns the level of each whole frame of ``length`` samples in dB below full scale, by channel; an offset of the
    line is no sound."""
    count = len(samples) // length
    frames = samples[: count * length].reshape(count, length, samples.shape[1]).astype(np.float32) / _FULL_SCALE
    # ``frames.var(axis=1)``, which takes twice as long for an hour.
    power: Levels = np.einsum("fsc,fsc->fc", frames, frames) / length - np.square(np.einsum("fsc->fc", frames) / length)
    levels: Levels = (10 * np.log10(np.maximum(power, 10 ** (SILENCE_DB / 10)))).astype(np.float32)
    return levels


def find_speech(levels: Levels, frame_s: float = FRAME_S) -> list[Burst]:
    """Returns the beginning and end of each stretch of speech on one channel, in seconds: sound above both
    ``SPEECH_MARGIN_DB`` below this channel's speech and ``NOISE_MARGIN_DB`` above its noise, pauses of up to
    ``HANGOVER_S`` joined, less than ``MIN_SPEECH_S`` of sound left out."""
    if not len(levels):
        return []
    floor = float(np.percentile(levels, FLOOR_PERCENTILE))
    threshold = max(floor + NOISE_MARGIN_DB, _speech_threshold(levels, frame_s))
    loud = np.flatnonzero(levels >= threshold)
    if not len(loud):
        return []
    breaks = np.flatnonzero((np.diff(loud) - 1) * frame_s > HANGOVER_S + frame_s / 2) + 1
    bursts = np.split(loud, breaks)
    return [
        (int(burst[0]) * frame_s, (int(burst[-1]) + 1) * frame_s)
        for burst in bursts
        if len(burst) * frame_s >= MIN_SPEECH_S - frame_s / 2
    ]


def _speech_threshold(levels: Levels, frame_s: float) -> float:
    """Returns the lowest level that is no more than ``SPEECH_MARGIN_DB`` below the level of what is active above it
    (method B of ITU-T P.56, in steps of 1 dB), at least ``MIN_SPEECH_DB``."""
    energy = float(np.power(10.0, levels.astype(np.float64) / 10).sum())
    hangover = round(HANGOVER_S / frame_s)
    for threshold in range(MIN_SPEECH_DB, 1):
        loud = np.flatnonzero(levels >= threshold)
        active = int(np.minimum(np.diff(loud, append=len(levels) + hangover), hangover).sum())
        if not active or 10 * np.log10(energy / active) - threshold <= SPEECH_MARGIN_DB:
            return float(threshold)
    return 0.0


def find_answers(caller: Sequence[Burst], agent: Sequence[Burst]) -> list[MeasuredAnswer]:
    """Returns the silences that the caller's speech began and the agent's ended.

    There is none where both speak at once: where the agent begins before the caller is done, where it talks on through
    the caller's words, and where what is heard of the caller under the agent ends with it. The caller's stop counts
    for one answer, and when the caller goes on after a pause it is the last stop that counts.
    """
    answers = []
    agent_starts = [start for start, _ in agent]
    for index, (start, stopped) in enumerate(caller):
        goes_on_s = caller[index + 1][0] if index + 1 < len(caller) else float("inf")
        following = bisect.bisect_left(agent_starts, stopped)
        if following == len(agent) or agent[following][0] >= goes_on_s:
            continue
        silent_since = agent[following - 1][1] if following else 0.0
        is_overlap = silent_since > start
        if is_overlap and stopped - silent_since < MIN_OUTLAST_S:
            continue
        answers.append(MeasuredAnswer(round(stopped, 3), round(agent[following][0], 3)))
    return answers


def summarize_answers(answers: Sequence[MeasuredAnswer]) -> JsonObject:
    """Returns ``{p50_ms, p95_ms, answers}`` as it is stored; the percentiles are of all, the list has the first ones."""
    silences = [answer.silence_ms for answer in answers]
    return {
        "p50_ms": nearest_rank_percentile(silences, 0.5),
        "p95_ms": nearest_rank_percentile(silences, 0.95),
        "answers": [
            {
                "caller_stopped_s": answer.caller_stopped_s,
                "agent_audible_s": answer.agent_audible_s,
                "silence_ms": answer.silence_ms,
            }
            for answer in answers[:MAX_ANSWERS]
        ],
    }
