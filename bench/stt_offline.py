"""Measures the offline recognizer's accuracy: sentences of several espeak-ng voices, as telephone and as browser audio.

    python -m bench.stt_offline [--voices N] [--paced] [--json]

Prints for 8 kHz mu-law and 16 kHz: how many expected sentences were recognized, misrecognized or missed; how many
unexpected ones were taken for an expected one; the word error rate; and with ``--paced`` (in real time) the delay of
the final after the end of speech.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.ports import Expectation, SttEvent
from offhook.models.providers.builtin.hearing.grammar import words_of
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess

VOICES: Final = ("en-us", "en-gb", "en-us+f3", "en-us+m3", "en-gb-scotland", "en-us+f5")
MENU: Final = (
    "book an appointment", "i would like to book an appointment", "change my appointment", "i need to reschedule",
    "cancel my appointment", "what are your opening hours", "when are you open", "talk to a person", "wrong number",
)  # fmt: skip
ORDERS: Final = (
    "where is my order", "i want to track my order", "when does my parcel arrive", "i want to return something",
    "it doesn't fit", "can i speak to someone", "nothing thanks", "i have another question",
)  # fmt: skip
SURVEY: Final = ("the room", "the breakfast", "the service", "something else", "nothing special", "i don't know")
# (the node's expected phrases, the spoken text)
CASES: Final = (
    (Expectation(MENU, ("yes_no",)), MENU),
    (Expectation(ORDERS), ORDERS),
    (Expectation(SURVEY), SURVEY),
    (Expectation((), ("yes_no",)), ("yes", "no", "yes please", "no thank you", "of course", "not really")),
    (Expectation((), ("days",)), ("tuesday", "next friday", "on wednesday please", "tomorrow", "monday works for me")),
    (Expectation((), ("times",)), ("eleven o'clock", "half past two", "at three thirty", "in the morning", "nine a m")),
    (Expectation((), ("digits",)), ("four two seven one", "nine nine zero five", "one two three four five six")),
    (Expectation((), ("numbers",)), ("eight", "seven out of ten", "twenty five")),
)
UNEXPECTED: Final = (
    "the weather in paris is lovely this summer",
    "my dog ate all of the furniture",
    "purple elephants dance in the moonlight",
    "hold on somebody is at the door",
    "let me check with my wife about it",
    "the stock market fell by a lot",
)
# The recognizer unifies words that mean the same.
SAME: Final = {"yeah": "yes", "yep": "yes", "nope": "no"}


@dataclass
class Row:
    rate: int
    expected: int = 0
    right: int = 0
    rejected: int = 0
    unexpected: int = 0
    accepted: int = 0
    words: int = 0
    word_errors: int = 0
    audio_s: float = 0.0
    wall_s: float = 0.0
    final_ms_p50: float = 0.0
    final_ms_p95: float = 0.0

    def text(self) -> str:
        wrong = self.expected - self.right - self.rejected
        line = (
            f"| {self.rate} | {self.expected} | {self.right / self.expected:.1%} | {self.rejected / self.expected:.1%} "
            f"| {wrong / self.expected:.1%} | {self.word_errors / self.words:.2f} "
            f"| {self.accepted / self.unexpected:.1%} of {self.unexpected} | {self.wall_s / self.audio_s:.3f} |"
        )
        return line + (f" {self.final_ms_p50:.0f} / {self.final_ms_p95:.0f} |" if self.final_ms_p95 else " - |")


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Returns the insertions, deletions and substitutions between two sentences."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (word != other))
    return row[-1]


def _line(speech: Samples, rate: int) -> Samples:
    """Returns the audio with half a second before and a third after, passed through mu-law at 8 kHz."""
    samples = np.concatenate((np.zeros(rate // 2, np.int16), speech, np.zeros(rate // 3, np.int16)))
    return MULAW_8K.decode(MULAW_8K.encode(samples)) if rate == 8000 else samples


async def hear(
    stt: BuiltinStt, expectation: Expectation, samples: Samples, rate: int, *, is_paced: bool
) -> tuple[SttEvent, float]:
    """Returns the final and its delay in seconds after the end of speech."""
    stream = await stt.open_stream(sample_rate=rate, language="en-US")
    stream.set_expectation(expectation)
    frame = rate // 50
    loop = asyncio.get_running_loop()
    began = loop.time()
    for index in range(0, samples.size, frame):
        if index // frame == 20:
            stream.speech_started()
        stream.push_audio(samples[index : index + frame].tobytes())
        if is_paced:
            await asyncio.sleep(max(0.0, began + index / rate - loop.time()))
    ended = time.perf_counter()
    stream.speech_ended()
    event = await anext(event async for event in stream.events() if event.kind == "final")
    took = time.perf_counter() - ended
    await stream.close()
    return event, took


async def measure(rate: int, voices: Sequence[str], *, is_paced: bool) -> Row:
    speech = SynthesizerProcess()
    stt = BuiltinStt(speech)
    await stt.warm_up()
    row, finals = Row(rate), []
    for voice in voices:
        tts = BuiltinTts(speech, voice=voice)
        for expectation, sentences in CASES:
            for sentence in (*sentences, *UNEXPECTED):
                samples = _line(await tts.synthesize(sentence, sample_rate=rate), rate)
                began = time.perf_counter()
                event, final_s = await hear(stt, expectation, samples, rate, is_paced=is_paced)
                row.wall_s += time.perf_counter() - began
                row.audio_s += samples.size / rate
                finals.append(final_s * 1000)
                if sentence in UNEXPECTED:
                    row.unexpected += 1
                    row.accepted += bool(event.text)
                else:
                    _count(row, sentence, event.text)
    if is_paced:
        row.final_ms_p50, row.final_ms_p95 = (float(np.percentile(finals, p)) for p in (50, 95))
    await stt.close()
    await speech.close()
    return row


def _count(row: Row, sentence: str, heard: str) -> None:
    said = [SAME.get(word, word) for word in words_of(sentence)]
    row.expected += 1
    row.right += said == heard.split()
    row.rejected += not heard
    row.words += len(said)
    row.word_errors += word_errors(said, heard.split())


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", type=int, default=len(VOICES))
    parser.add_argument("--paced", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [await measure(rate, VOICES[: given.voices], is_paced=given.paced) for rate in (8000, 16000)]
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print("| Hz | sentences | right | rejected | wrong | WER | unexpected accepted | RTF | final after ms p50 / p95 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(row.text())


if __name__ == "__main__":
    asyncio.run(main())
