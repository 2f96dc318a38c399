"""Measures what noise suppression and gain do to what is heard of a caller (``caller_audio``).

    python -m bench.caller_audio [--sentences N] [--line NAME ...] [--windows]

Sentences of several espeak-ng voices through mu-law, over the talk of six others, over the noise of a street, in silence and
from a soft line. Prints for each line and setting: windows of speech that the voice detector finds, windows of noise that it
takes for speech, and words that the offline recognizer gets wrong, left out or added; and the CPU of each setting.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from bench.turns import clips
from offhook.kit.audio import MULAW_8K, Samples
from offhook.kit.audio_cleaner import AudioCleaner, CleaningConfig
from offhook.models.ports import Expectation
from offhook.models.providers.builtin.hearing.grammar import words_of
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.scenarios.sound.offline_recognizer import recognize_clip
from offhook.voice.input.silero_vad_engine import CONTEXT, WINDOW, SileroVad
from offhook.voice.output.ambience import get_background_samples

RATE: Final = 8000
VOICES: Final = ("en-us", "en-gb", "en-us+f3", "en-us+m3", "en-gb-scotland")
SENTENCES: Final = (
    "where is my order", "i would like to book an appointment", "what are your opening hours",
    "can i speak to someone", "i need to reschedule", "when does my parcel arrive", "cancel my appointment",
    "i want to return something", "talk to a person", "i have another question",
)  # fmt: skip
EXPECTED: Final = Expectation(SENTENCES, ("yes_no",))
OTHERS: Final = (
    "we could go there at the weekend", "did you see her new car", "the soup is really good here",
    "no that was on thursday I think", "he told me so himself", "let us ask for the bill",
)  # fmt: skip
# (name, background, dB of speech over it, dBFS of speech); before a caller speaks there is a second of the line
LINES: Final = (
    ("quiet", "", 0.0, -22.0),
    ("babble 10 dB", "babble", 10.0, -22.0),
    ("babble 5 dB", "babble", 5.0, -22.0),
    ("street 5 dB", "street", 5.0, -22.0),
    ("quiet, -40 dBFS", "", 0.0, -40.0),
)
SETTINGS: Final[tuple[tuple[str, CleaningConfig | None], ...]] = (
    ("off", None),
    ("low", CleaningConfig(1)),
    ("moderate", CleaningConfig(2)),
    ("high", CleaningConfig(3)),
    ("gain", CleaningConfig(0, -3)),
    ("moderate, gain", CleaningConfig(2, -3)),
)
BEFORE: Final = RATE
AFTER: Final = RATE // 2


def put_on_line(
    speech: Samples, background: clips.FloatArray | None, snr_db: float, level_db: float, at: int
) -> Samples:
    """Returns a second of the line, the speech on it, and half a second more."""
    level = 32768 * 10 ** (level_db / 20)
    line = np.random.default_rng(at).normal(0, 8, BEFORE + speech.size + AFTER)
    line[BEFORE : BEFORE + speech.size] += speech / np.sqrt(np.mean(speech.astype(np.float64) ** 2)) * level
    if background is not None:
        line += np.resize(np.roll(background, at * 7919), line.size) * level * 10 ** (-snr_db / 20)
    return MULAW_8K.decode(clips.through_telephone(line))


def clean_line(line: Samples, setting: CleaningConfig | None) -> Samples:
    if setting is None:
        return line
    cleaner = AudioCleaner(MULAW_8K, setting)
    frames = [MULAW_8K.encode(line[start : start + 160]) for start in range(0, line.size, 160)]
    return MULAW_8K.decode(b"".join(cleaner.clean_frame(frame) for frame in frames))


class Windows:
    """Counts what the voice detector finds in windows with and without speech."""

    def __init__(self, vad: SileroVad) -> None:
        self._vad = vad
        self.found, self.speech, self.taken, self.noise = 0, 0, 0, 0

    async def count(self, line: Samples, speech: Samples) -> None:
        loud = np.abs(speech.astype(np.int32)) > 300
        probabilities: list[float] = []
        all_found, count = asyncio.Event(), line.size // WINDOW

        def add_window(probability: float, window_s: float) -> None:
            probabilities.append(probability)
            if len(probabilities) == count:
                all_found.set()

        stream = self._vad.open_stream(add_window)
        stream.push(line)
        await all_found.wait()
        stream.close()
        for index, probability in enumerate(probabilities):
            start, end = index * WINDOW - BEFORE, (index + 1) * WINDOW - BEFORE
            if end < -CONTEXT or start > speech.size + RATE // 5:
                self.noise += 1
                self.taken += probability >= 0.5
            elif start >= 0 and end <= speech.size and loud[start:end].mean() > 0.3:
                self.speech += 1
                self.found += probability >= 0.5


def count_wrong(said: str, heard: str) -> int:
    """Returns the words that are wrong, left out or added."""
    left, right = words_of(said), words_of(heard)
    row = list(range(len(right) + 1))
    for number, word in enumerate(left, 1):
        before, row[0] = row[0], number
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return row[-1]


def measure_cpu(setting: CleaningConfig) -> float:
    """Returns ms of CPU per second of a mu-law line."""
    cleaner, seconds = AudioCleaner(MULAW_8K, setting), 20
    frame = MULAW_8K.encode(np.random.default_rng(1).normal(0, 900, 160).astype(np.int16))
    cleaner.clean_frame(frame)
    begun = time.process_time()
    for _ in range(50 * seconds):
        cleaner.clean_frame(frame)
    return (time.process_time() - begun) / seconds * 1000


async def measure(
    library: clips.ClipLibrary, sentences: Sequence[str], lines: Sequence[str], *, has_words: bool
) -> None:
    speech = SynthesizerProcess()
    # as long as it takes: a busy machine is not what is measured
    stt, vad = BuiltinStt(speech, silence_timeout_s=60, max_decoding_s=60), SileroVad()
    backgrounds: dict[str, clips.FloatArray | None] = {
        "": None,
        "babble": clips.babble(library, np.random.default_rng(5), 20.0, OTHERS),
        "street": get_background_samples("street", RATE).astype(np.float64),
    }
    street = backgrounds["street"]
    assert street is not None
    backgrounds["street"] = street / street.std()
    said = [(voice, text) for index, text in enumerate(sentences) for voice in (VOICES[index % len(VOICES)],)]
    print("| line | setting | speech found | noise taken for speech | words wrong | sentences right |")
    print("|---|---|---|---|---|---|")
    for name, background, snr_db, level_db in LINES:
        if lines and name not in lines:
            continue
        for label, setting in SETTINGS:
            windows, wrong, right = Windows(vad), 0, 0
            for at, (voice, text) in enumerate(said):
                clip = library.speech(voice, text)
                line = clean_line(put_on_line(clip, backgrounds[background], snr_db, level_db, at), setting)
                await windows.count(line, clip)
                heard = "" if not has_words else await recognize_clip(stt, EXPECTED, line[BEFORE - RATE // 2 :])
                wrong += count_wrong(text, heard)
                right += words_of(text) == words_of(heard)
            words = sum(len(words_of(text)) for _, text in said)
            print(
                f"| {name} | {label} | {windows.found / max(windows.speech, 1):.2f} | "
                f"{windows.taken / max(windows.noise, 1):.2f} | {wrong} of {words} | {right} of {len(said)} |",
                flush=True,
            )
    await stt.close()
    await speech.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=len(SENTENCES))
    parser.add_argument("--line", action="append", default=[], help="only this one, by its name")
    parser.add_argument("--windows", action="store_true", help="without the recognizer, which takes minutes")
    given = parser.parse_args()
    sentences = SENTENCES[: given.sentences]
    library = clips.ClipLibrary()
    library.prepare(
        [(VOICES[index % len(VOICES)], text) for index, text in enumerate(sentences)]
        + [(voice, text) for voice in clips.BABBLE_VOICES for text in OTHERS]
    )
    for label, setting in SETTINGS:
        if setting is not None:
            print(f"{label}: {measure_cpu(setting):.1f} ms of CPU per second")
    asyncio.run(measure(library, sentences, given.line, has_words=not given.windows))


if __name__ == "__main__":
    main()
