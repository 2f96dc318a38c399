"""The sound of one caller: what stands out from the line's noise, and how their voice usually is."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from offhook.kit.audio import Samples
from offhook.voice.input.interruption_rules import is_turned_away
from offhook.voice.input.line_levels import LineLevels
from offhook.voice.input.recent_sound import RecentSound
from offhook.voice.input.sound_evidence import LOUD_MARGIN_DB, SoundEvidence

# Sound with less voicing is a cough or a noise.
MIN_VOICING: Final = 0.4
MIN_LEARNED_S: Final = 0.25
LEARNED_S: Final = 1.6
# What is looked at of a turn, with the silence after it.
TURN_S: Final = 2.2
# A stretch of sound is measured again after this long.
MEASURE_EVERY_S: Final = 0.09
# Whole turns are long enough for one frame in so many.
TURN_FRAMES: Final = 2
# A voice is known by the last turns, of which the louder half was said to the agent rather than to somebody else.
LEARNED_TURNS: Final = 6
# Of windows without speech, one in so many is measured: for the floor of the noise.
QUIET_WINDOWS: Final = 4


class CallerSound:
    """Push every piece of the caller's audio at 8 kHz; ``now`` is loop time."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._recent = RecentSound()
        self._levels = LineLevels(self._recent)
        self.push: Callable[[Samples], None] = self._recent.push
        self._quiet_windows = 0
        self._voice: SoundEvidence | None = None
        self._turns: deque[SoundEvidence] = deque(maxlen=LEARNED_TURNS)
        self._measured: tuple[float, SoundEvidence] = (-1.0, SoundEvidence())

    def stands_out(self, is_speech: bool) -> bool:
        """Measures a window of the voice detector; returns whether it is speech above the noise of the line."""
        if not is_speech:
            self._quiet_windows += 1
            if self._quiet_windows % QUIET_WINDOWS == 0:
                self._levels.measure_window(is_speech=False)
            return False
        self._levels.measure_window(is_speech=True)
        return self._levels.stands_out()

    @property
    def has_contrast(self) -> bool:
        """Returns whether a voice was clearly louder than what is always on the line."""
        return self._levels.has_contrast

    def measure_overlap(self, age_s: float) -> tuple[SoundEvidence, float, float]:
        """Measures the speech that began ``age_s`` ago: its sound, and by how many dB it is quieter and duller than
        this caller's voice, 0 where that is not known yet."""
        now = self._now()
        if now - self._measured[0] >= MEASURE_EVERY_S:
            self._measured = (now, self._measure(min(age_s + 0.05, 0.7)))
        sound = self._measured[1]
        if self._voice is None:
            return sound, 0.0, 0.0
        if not sound.loud_s:
            # whatever it was does not stand out from the noise
            return sound, max(0.0, self._voice.level_db - self._levels.floor_db - LOUD_MARGIN_DB), 0.0
        return sound, self._voice.level_db - sound.level_db, self._voice.tilt_db - sound.tilt_db

    def was_turned_away(self) -> bool:
        """Returns whether the speech that has just ended was quieter and duller than this caller's voice."""
        heard = self._measure(TURN_S, every=TURN_FRAMES)
        if self._voice is None or heard.loud_s < MIN_LEARNED_S:
            return False
        distance, dullness = self._voice.level_db - heard.level_db, self._voice.tilt_db - heard.tilt_db
        return is_turned_away(distance, dullness)

    def sound_age_s(self) -> float:
        """Returns for how long sound has stood out from the noise until now: the voice detector is late in noise."""
        return self._levels.loud_for_s()

    def learn_voice(self) -> None:
        """Remembers how the caller sounds who has just spoken to the agent."""
        heard = self._measure(LEARNED_S, every=TURN_FRAMES)
        if heard.loud_s < MIN_LEARNED_S or heard.voiced < MIN_VOICING:
            return
        self._turns.append(heard)
        louder = sorted(self._turns, key=lambda turn: turn.level_db)[len(self._turns) // 2 :]
        level, tilt = (
            sum(values) / len(louder) for values in zip(*((t.level_db, t.tilt_db) for t in louder), strict=True)
        )
        self._voice = replace(heard, level_db=level, tilt_db=tilt)

    def was_breath(self) -> bool:
        """Returns whether the sound that has just ended had no pitch, like a cough that was taken for a word."""
        heard = self._measure(TURN_S, every=TURN_FRAMES)
        return self._levels.has_contrast and heard.loud_s > 0 and heard.voiced < MIN_VOICING

    def was_voice(self, span_s: float) -> bool:
        """Returns whether the sound of the last ``span_s`` seconds had a pitch."""
        return self._measure(span_s).voiced >= MIN_VOICING

    def _measure(self, seconds: float, *, every: int = 1) -> SoundEvidence:
        return self._recent.measure(seconds, self._levels.floor_db, every=every)
