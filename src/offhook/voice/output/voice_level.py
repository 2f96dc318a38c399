"""The volume of the agent: speech of every voice reaches the caller equally loud, and nothing clips.

A voice is measured while it speaks, and remembered for the process: voices of vendors differ by more than 20 dB. A sentence
keeps the gain with which it begins, except the first one of a voice, whose gain follows what is measured.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import FRAME_S, Samples

# Telephone speech is at about this level: ambience.py and the rules of interruption are made for it.
DEFAULT_LEVEL_DB: Final = -20.0
MAX_GAIN_DB: Final = 20.0
# Speech is measured without its pauses: of the frames above -60 dBFS those within 22 dB of the loudest, which is about
# 6 dB above the level. ITU-T P.56 has 16 dB below the level.
PAUSE_SHARE: Final = 10 ** (-22 / 10)
PEAK_SHARE: Final = 10 ** (-6 / 10)
SILENCE_POWER: Final = (32768 * 10 ** (-60 / 20)) ** 2
# A voice is known after a second of speech; what it said half a minute ago counts no more.
KNOWN_FRAMES: Final = 50
MAX_FRAMES: Final = 1500
FADE: Final = 0.999
FALL_S: Final = 0.005
# A gain this small is not heard, and costs nothing.
MIN_GAIN_DB: Final = 0.5
# Peaks are rounded off above -6 dBFS, and end at -1 dBFS.
KNEE: Final = 16_400.0
PEAK: Final = 29_200.0
FloatArray = NDArray[np.float32]
Powers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AgentVolume:
    """``level_db`` is the level of the agent's speech in dBFS, without pauses; None leaves voices as they are."""

    level_db: float | None = DEFAULT_LEVEL_DB
    includes_recordings: bool = True


DEFAULT_VOLUME: Final = AgentVolume()


class VoiceLevel:
    """How loud one voice is."""

    _of_voice: ClassVar["WeakKeyDictionary[object, VoiceLevel]"] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._power = 0.0
        self._loudest = 0.0
        self._frames = 0

    @classmethod
    def of_voice(cls, voice: object) -> "VoiceLevel":
        """Returns what is known of a voice: the object of the vendor, which all calls of a process share."""
        level = cls._of_voice.get(voice)
        if level is None:
            level = cls._of_voice[voice] = cls()
        return level

    @property
    def is_known(self) -> bool:
        return self._frames >= KNOWN_FRAMES

    @property
    def level_db(self) -> float | None:
        """Returns the level of its speech in dBFS; None before the first."""
        if not self._frames:
            return None
        # Words begin softly: a voice that has said no more than that is not taken for a soft one.
        power = self._power if self.is_known else max(self._power, self._loudest * PEAK_SHARE)
        return 10 * math.log10(power) - 90.31

    def measure(self, powers: Powers) -> None:
        """Learns from the mean squares of frames, pauses included."""
        self._loudest = max(self._loudest * FADE, int(powers.max(initial=0)))
        loud = powers[powers >= max(SILENCE_POWER, self._loudest * PAUSE_SHARE)]
        if not loud.size:
            return
        total = self._frames + loud.size
        self._power += (int(loud.sum()) / loud.size - self._power) * loud.size / total
        self._frames = min(total, MAX_FRAMES)


class SpeechLeveler:
    """Brings one stretch of speech to ``level_db``, chunk by chunk and without a delay; as many samples as came."""

    def __init__(self, voice: VoiceLevel, level_db: float | None, sample_rate: int) -> None:
        """``level_db`` is the speech level in dBFS; None leaves speech as it is."""
        self._voice = voice
        self._level_db = level_db
        self._rate = sample_rate
        self._frame = round(sample_rate * FRAME_S)
        self._is_settled = voice.is_known
        self._gain_db = self._target_gain_db() if self._is_settled else None

    def push(self, samples: Samples) -> Samples:
        if self._level_db is None or not samples.size:
            return samples
        self._voice.measure(frame_powers(samples, self._frame))
        before = self._gain_db
        if not self._is_settled:
            self._gain_db = self._target_gain_db()
            self._is_settled = self._voice.is_known
        now = self._gain_db
        if now is None:
            return samples
        if before is None or abs(now - before) < MIN_GAIN_DB:
            return samples if abs(now) < MIN_GAIN_DB else apply_gain(samples, np.float32(10 ** (now / 20)))
        # Not in a step: up within the chunk, and down within milliseconds, because a loud word has begun.
        gains = np.full(samples.size, 10 ** (now / 20), np.float32)
        ramp = gains if now > before else gains[: int(FALL_S * self._rate)]
        ramp[:] = np.linspace(10 ** (before / 20), 10 ** (now / 20), ramp.size, dtype=np.float32)
        return apply_gain(samples, gains)

    def _target_gain_db(self) -> float | None:
        level = self._voice.level_db
        if level is None or self._level_db is None:
            return None
        return bounded_gain_db(level, self._level_db)


def level_whole(samples: Samples, level_db: float | None, sample_rate: int) -> Samples:
    """Brings a recording, which is known from its beginning to its end, to ``level_db``."""
    if level_db is None or not samples.size:
        return samples
    level = VoiceLevel()
    level.measure(frame_powers(samples, round(sample_rate * FRAME_S)))
    known = level.level_db
    gain_db = 0.0 if known is None else bounded_gain_db(known, level_db)
    if abs(gain_db) < MIN_GAIN_DB:
        return samples
    return apply_gain(samples, np.float32(10 ** (gain_db / 20)))


def bounded_gain_db(level_db: float, wanted_db: float) -> float:
    # in tenths, and sums of integers below, so that scenarios sound the same on every machine
    return round(min(max(wanted_db - level_db, -MAX_GAIN_DB), MAX_GAIN_DB), 1)


def frame_powers(samples: Samples, frame: int) -> Powers:
    """Returns the mean squares of the whole frames; of all of it when it is shorter than one."""
    whole = samples.size // frame * frame
    frames = (samples[:whole].reshape(-1, frame) if whole else samples.reshape(1, -1)).astype(np.int64)
    return np.asarray(np.vecdot(frames, frames) // frames.shape[1], np.int64)


def apply_gain(samples: Samples, gain: np.float32 | FloatArray) -> Samples:
    """Multiplies, and rounds off what would clip."""
    loud = samples.astype(np.float32) * gain
    if max(float(loud.max()), -float(loud.min())) > KNEE:
        over = np.abs(loud) > KNEE
        peaks = loud[over]
        room = PEAK - KNEE
        excess = np.abs(peaks) - KNEE
        loud[over] = np.copysign(KNEE + room * excess / (room + excess), peaks)
    leveled: Samples = np.rint(loud).astype(np.int16)
    return leveled
