"""Quiet background sound behind the agent: generated here, and mixed only into the audio sent to the caller.

The recording and the transcript keep the bare voice, and recognition hears only the caller.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import FRAME_S, Samples
from offhook.voice import events
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.events import VoiceEvent
from offhook.voice.output.metronome import Metronome
from offhook.voice.ports import CallLeg, SoundLibrary

# Loudness at volume 1, dBFS: telephone speech is at about -20, so the default of 0.3 is 17 dB below it.
FULL_DB: Final = -26.0
# The far end buffers one noise frame. More would delay the voice that comes after it.
LEAD_FRAMES: Final = 1
_LOOP_S: Final = 12
_RATE: Final = 16_000
# The soft noise of an open line, which only fills pauses.
COMFORT_NOISE: Final = "comfort_noise"
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AmbienceConfig:
    """``volume`` from 0 to 1; ``sound`` is one of :data:`SOUNDS`; ``recording_id`` plays a recording instead."""

    volume: float
    sound: str = "office"
    recording_id: str | None = None

    @property
    def level_db(self) -> float:
        """Returns its loudness in dBFS."""
        return FULL_DB + 20 * math.log10(self.volume)

    @property
    def is_under_voice(self) -> bool:
        """Returns whether it goes on while the agent speaks."""
        return self.sound != COMFORT_NOISE

    @classmethod
    def comfort_noise(cls, level_db: float) -> "AmbienceConfig":
        """Returns the noise of an open line between what the agent says, which is not dead then."""
        return cls(10 ** ((level_db - FULL_DB) / 20), COMFORT_NOISE)


class AmbientLeg:
    """A ``CallLeg`` around another one: its far end hears a steady background with the voice on top.

    :meth:`start_background` starts it; until then, and after :meth:`hang_up`, frames pass through unchanged.
    """

    def __init__(self, leg: CallLeg, ambience: AmbienceConfig, sounds: SoundLibrary) -> None:
        self._leg = leg
        self._ambience = ambience
        self._sounds = sounds
        self._is_over = False
        self.codec = leg.codec
        self._loop = asyncio.get_running_loop()
        self._samples: list[Samples] = []
        self._frames: list[bytes] = []
        self._at = 0
        self._first_beat: float | None = None
        self._sent = 0

    async def start_background(self, emit: Emit) -> None:
        """Creates or loads the background and plays it in a loop."""
        ambience, rate = self._ambience, self.codec.sample_rate
        recording = None
        if ambience.recording_id is not None:
            recording = await self._sounds.find_sound(ambience.recording_id, rate)
            if recording is None:
                emit(events.RECORDING_MISSING, {"recording_id": ambience.recording_id, "instead": ambience.sound})
        if recording is not None:
            made = recording.samples
        elif (ambience.sound, rate) in _background_cache:
            made = _background_cache[ambience.sound, rate]
        else:
            made = await asyncio.to_thread(get_background_samples, ambience.sound, rate)
        if not self._is_over:
            self._play_background(made)

    def _play_background(self, room: Samples) -> None:
        size = round(self.codec.sample_rate * FRAME_S)
        whole = room[: room.size // size * size]
        if not whole.size:
            return
        loud = whole.astype(np.float64)
        level, target = np.sqrt(np.mean(loud**2)), 32768 * 10 ** (self._ambience.level_db / 20)
        quiet: Samples = np.clip(loud * (target / level if level else 0.0), -32768, 32767).astype(np.int16)
        self._samples = list(quiet.reshape(-1, size))
        self._frames = [self.codec.encode(samples) for samples in self._samples]
        Metronome.of_running_loop().add(self)

    def send_due_frames(self, beat: float) -> bool:
        """Fills the frames of this beat that the voice has not filled."""
        if self._first_beat is None:
            self._first_beat = beat
        due = self._count_due_frames(beat)
        while self._sent < due and self._frames:
            self._leg.send_frame(self._frames[self._next_frame_index()])
        return bool(self._frames)

    def _count_due_frames(self, at: float) -> int:
        """Counts the frames that should have been sent by ``at``, in whole beats."""
        return LEAD_FRAMES + 1 + int((at - (self._first_beat or at)) / FRAME_S + 0.01)

    def _next_frame_index(self) -> int:
        at, self._at = self._at, (self._at + 1) % len(self._frames)
        self._sent += 1
        return at

    # CallLeg

    @property
    def confirms_playback(self) -> bool:
        return self._leg.confirms_playback

    def send_frame(self, payload: bytes) -> None:
        if self._samples and len(payload) == self.codec.frame_bytes:
            room = self._samples[self._next_frame_index()]
            if self._ambience.is_under_voice:
                voice = self.codec.decode(payload).astype(np.int32) + room
                payload = self.codec.encode(np.clip(voice, -32768, 32767).astype(np.int16))
        self._leg.send_frame(payload)

    def send_mark(self, name: str) -> None:
        self._leg.send_mark(name)

    def clear_buffer(self) -> None:
        self._leg.clear_buffer()
        # the far end's buffer was cleared: continue from now
        self._sent = min(self._sent, self._count_due_frames(self._loop.time()) - LEAD_FRAMES)

    def send_event(self, event: VoiceEvent) -> None:
        self._leg.send_event(event)

    async def hang_up(self) -> None:
        self._is_over = True
        self._samples, self._frames = [], []
        await self._leg.hang_up()


_background_cache: Final[dict[tuple[str, int], Samples]] = {}


def get_background_samples(sound: str, rate: int) -> Samples:
    """Returns twelve seconds of background that loop seamlessly, always the same, at 8 or 16 kHz.

    Generated once per process, which takes a tenth of a second.
    """
    if (sound, rate) not in _background_cache:
        noise = _GENERATORS[sound](np.random.default_rng(7))
        step = _RATE // rate
        if step > 1:
            noise = _apply_spectrum_gain(noise, lambda hz: (hz < rate * 0.45).astype(float))[::step]
        _background_cache[sound, rate] = (noise / np.abs(noise).max() * 20_000).astype(np.int16)
    return _background_cache[sound, rate]


def _apply_spectrum_gain(noise: FloatArray, gain: Callable[[FloatArray], FloatArray]) -> FloatArray:
    spectrum = np.fft.rfft(noise)
    hz: FloatArray = np.fft.rfftfreq(noise.size, 1 / _RATE).astype(np.float64)
    shaped: FloatArray = np.fft.irfft(spectrum * gain(hz), noise.size)
    return shaped


def _white_noise(random: np.random.Generator) -> FloatArray:
    return random.standard_normal(_LOOP_S * _RATE)


def _slow_swell(random: np.random.Generator, fastest_hz: float, depth: float) -> FloatArray:
    """Returns a slow rise and fall around 1 that loops seamlessly."""
    slow = _apply_spectrum_gain(_white_noise(random), lambda hz: (hz <= fastest_hz).astype(float))
    swell: FloatArray = 1 + depth * slow / np.abs(slow).max()
    return swell


def _soft_noise(random: np.random.Generator, corner_hz: float) -> FloatArray:
    """Returns soft noise that falls off above the corner; nothing below 80 Hz, which a telephone does not carry."""
    air = _apply_spectrum_gain(_white_noise(random), lambda hz: (hz > 80) / (1 + (hz / corner_hz) ** 2))
    even: FloatArray = air / air.std()
    return even


def _babble_noise(random: np.random.Generator, voices: int) -> FloatArray:
    """Returns unintelligible chatter: speech bands that rise and fall as syllables do (2 to 5 a second)."""
    total = np.zeros(_LOOP_S * _RATE)
    for _ in range(voices):
        center = random.uniform(350, 900)
        band = _apply_spectrum_gain(_white_noise(random), lambda hz, c=center: np.exp(-(((hz - c) / (c * 0.45)) ** 2)))  # type: ignore[misc]
        total += band / band.std() * np.maximum(0, _slow_swell(random, random.uniform(2, 5), 1.6) - 0.6)
    even: FloatArray = total / total.std()
    return even


SOUNDS: Final[Mapping[str, Callable[[np.random.Generator], FloatArray]]] = {
    "office": lambda random: _soft_noise(random, 500) * _slow_swell(random, 0.3, 0.2) + 0.35 * _babble_noise(random, 2),
    "cafe": lambda random: 0.5 * _soft_noise(random, 900) + _babble_noise(random, 7),
    "street": lambda random: (
        _soft_noise(random, 220) * _slow_swell(random, 0.25, 0.7) + 0.15 * _soft_noise(random, 2500)
    ),
}
_GENERATORS: Final[Mapping[str, Callable[[np.random.Generator], FloatArray]]] = {
    **SOUNDS,
    COMFORT_NOISE: lambda random: _soft_noise(random, 1200),
}
