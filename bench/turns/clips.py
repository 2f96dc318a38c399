"""The panel's sounds at 8 kHz: voices of espeak-ng, recordings of people, coughs, babble; and where their words are."""

import asyncio
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.scenarios.sound.clips import RATE, SPEECH_RMS, Clip, at_level, place_words, trim_silence

FRAME: Final = 160
VOICES: Final = ("en-us", "en-gb", "en-us+m3", "en-us+f3", "en-gb+klatt4", "en-us+f2", "en-gb-scotland", "en-us+m7")
AGENT_VOICE: Final = "en-us+f4"
BABBLE_VOICES: Final = ("en-us+m1", "en-us+f1", "en-gb+m5", "en-gb+f5", "en-us+m6", "en-gb")
# People who were recorded (Debian's pocketsphinx-testdata); left out where the package is not installed.
PEOPLE: Final = Path("/usr/share/pocketsphinx/test/data")
RECORDED: Final = {
    "goforward.raw": "go forward ten meters",
    "cards/001.wav": "ten of clubs",
    "cards/003.wav": "seven of clubs",
    "cards/005.wav": "eight of spades four of clubs seven of hearts",
    "librivox/sense_and_sensibility_01_austen_64kb-0880.wav": "he was not an ill disposed young man",
    "librivox/sense_and_sensibility_01_austen_64kb-0930.wav": "he might even have been made amiable himself",
}
MAX_AGENT_GAP_S: Final = 0.1
_WORD: Final = re.compile(r"[\w'-]+")
FloatArray = NDArray[np.float64]


class ClipLibrary:
    """Every sentence that a voice says in the panel, synthesized before the calls begin."""

    def __init__(self) -> None:
        self._speech: dict[tuple[str, str], Samples] = {}
        self._agent: dict[str, Samples] = {}

    def prepare(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Synthesizes ``(voice, text)`` pairs, with a pace of their own for each voice."""
        asyncio.run(self._synthesize([pair for pair in dict.fromkeys(wanted) if pair not in self._speech]))

    async def _synthesize(self, wanted: list[tuple[str, str]]) -> None:
        program = SynthesizerProcess()
        try:
            for voice, text in wanted:
                speed = 0.95 + 0.05 * (sum(map(ord, voice)) % 5)
                tts = BuiltinTts(program, voice=voice, speed=speed)
                self._speech[voice, text] = trim_silence(await tts.synthesize(text, sample_rate=RATE))
        finally:
            await program.close()

    def speech(self, voice: str, text: str) -> Samples:
        return self._speech[voice, text]

    def clip(self, voice: str, text: str, pause_s: float = 0.8) -> Clip:
        """Returns a sentence, with a silence of ``pause_s`` at its bar."""
        parts, words, pauses = [], [], []
        at = 0.0
        for index, part in enumerate(text.split("|")):
            if index:
                pauses.append((at, at + pause_s))
                parts.append(np.zeros(int(pause_s * RATE), np.int16))
                at += pause_s
            samples = at_level(self._speech[voice, part], SPEECH_RMS)
            words += place_words(_WORD.findall(part), samples, at)
            parts.append(samples)
            at += samples.size / RATE
        return Clip(np.concatenate(parts), tuple(words), tuple(pauses))

    def has_agent_speech(self, text: str) -> bool:
        return (AGENT_VOICE, text) in self._speech

    def agent_speech(self, text: str) -> Samples:
        """Returns a sentence of the agent without a gap of its own that a judge could take for silence."""
        if text not in self._agent:
            self._agent[text] = close_gaps(at_level(self._speech[AGENT_VOICE, text], SPEECH_RMS))
        return self._agent[text]


@cache
def recorded_clips() -> list[Clip]:
    """Returns the recordings of people."""
    clips = []
    for name, text in RECORDED.items():
        if (PEOPLE / name).exists():
            raw = (PEOPLE / name).read_bytes()
            samples = np.frombuffer(raw[44:] if name.endswith(".wav") else raw, "<i2").astype(np.int16)
            narrow = at_level(trim_silence(soxr.resample(samples, 16000, RATE)), SPEECH_RMS)
            clips.append(Clip(narrow, tuple(place_words(_WORD.findall(text), narrow, 0.0))))
    return clips


def tic_clip(text: str, random: np.random.Generator) -> Clip:
    """Returns a cough, a cleared throat or a sneeze: bursts of breath that no recognizer has words for."""
    bursts = {"<cough>": 1, "<cough cough>": 2, "<throat>": 1, "<sneeze>": 1}[text]
    parts: list[FloatArray] = []
    for index in range(bursts):
        if index:
            parts.append(np.zeros(int(random.uniform(0.12, 0.2) * RATE)))
        parts.append(_rumble(random) if text == "<throat>" else _burst(random, is_sneeze=text == "<sneeze>"))
    sound = np.concatenate(parts)
    return Clip(at_level((sound / np.abs(sound).max() * 9000).astype(np.int16), SPEECH_RMS * 1.2), ())


def _burst(random: np.random.Generator, *, is_sneeze: bool) -> FloatArray:
    """A glottal burst, noise through the mouth's resonances, and a fading end."""
    size = int(random.uniform(0.18, 0.35) * RATE)
    at = np.arange(size) / RATE
    decay = random.uniform(0.05, 0.12)
    envelope = np.minimum(at / 0.008, 1) * np.exp(-at / decay)
    noise = random.standard_normal(size) * envelope
    low, high = (1500, 3400) if is_sneeze else (250, 2200)
    return band_pass(noise, low, high)


def _rumble(random: np.random.Generator) -> FloatArray:
    """A cleared throat: rough pulses at irregular distances through a dull resonance."""
    size = int(random.uniform(0.3, 0.5) * RATE)
    pulses, at = np.zeros(size), 0
    while at < size:
        pulses[at] = random.uniform(0.3, 1.0)
        at += int(RATE / random.uniform(35, 110))
    sound = band_pass(pulses + random.standard_normal(size) * 0.05, 150, 1200)
    envelope = np.sin(np.linspace(0, np.pi, size)) ** 0.5
    return sound * envelope


def band_pass(signal: FloatArray, low: float, high: float) -> FloatArray:
    spectrum = np.fft.rfft(signal)
    hz = np.fft.rfftfreq(signal.size, 1 / RATE)
    gain = 1 / (1 + (low / np.maximum(hz, 1)) ** 4) / (1 + (hz / high) ** 4)
    filtered: FloatArray = np.fft.irfft(spectrum * gain, signal.size)
    return filtered


def turn_away(clip: Clip, random: np.random.Generator) -> Clip:
    """Returns the clip as somebody says it who has turned away from the handset: quieter, duller, with the room."""
    dull = band_pass(clip.samples.astype(np.float64), 150, random.uniform(900, 1500))
    echoes = dull.copy()
    for _ in range(6):
        delay = int(random.uniform(0.008, 0.06) * RATE)
        echoes[delay:] += dull[: dull.size - delay] * random.uniform(0.1, 0.35)
    level = SPEECH_RMS * 10 ** (-random.uniform(6, 13) / 20)
    return Clip(at_level(np.clip(echoes, -32768, 32767).astype(np.int16), level), clip.words, clip.pauses)


def babble(library: ClipLibrary, random: np.random.Generator, seconds: float, texts: tuple[str, ...]) -> FloatArray:
    """Returns the talk of six people at once, with a root mean square of 1."""
    size = int(seconds * RATE)
    total = np.zeros(size)
    for voice in BABBLE_VOICES:
        speech = np.concatenate([library.speech(voice, text) for text in random.permutation(np.array(texts))])
        start = int(random.integers(speech.size))
        total += np.resize(np.roll(speech.astype(np.float64), -start), size)
    even: FloatArray = total / np.sqrt(np.mean(total**2))
    return even


def through_telephone(samples: FloatArray) -> bytes:
    """Returns mu-law of whole frames."""
    whole = samples[: samples.size // FRAME * FRAME]
    return MULAW_8K.encode(np.clip(whole, -32768, 32767).astype(np.int16))


def close_gaps(samples: Samples) -> Samples:
    frames = samples[: samples.size // FRAME * FRAME].reshape(-1, FRAME)
    quiet = np.abs(frames.astype(np.int32)).mean(axis=1) < 120
    kept, run = [], 0
    for frame, is_quiet in zip(frames, quiet, strict=True):
        run = run + 1 if is_quiet else 0
        if run * 0.02 <= MAX_AGENT_GAP_S:
            kept.append(frame)
    return np.concatenate(kept)


def find_audio(source: Samples, part: FloatArray) -> list[int]:
    """Returns where ``part`` is in ``source``, by correlation: a sentence can have been said several times."""
    if part.size == 0 or source.size <= part.size or not part.any():
        return []
    size = 1 << (source.size + part.size).bit_length()
    signal = source.astype(np.float64)
    dots = np.fft.irfft(np.fft.rfft(signal, size) * np.conj(np.fft.rfft(part, size)), size)[: source.size - part.size]
    sums = np.concatenate(([0.0], np.cumsum(signal**2)))
    energy = (sums[part.size :] - sums[: -part.size])[: dots.size]
    score = dots / np.sqrt(np.maximum(energy, 1.0) * max(float((part**2).sum()), 1.0))
    found = []
    while score[best := int(score.argmax())] > 0.7:
        found.append(best)
        score[max(0, best - FRAME) : best + FRAME] = 0
    return found
