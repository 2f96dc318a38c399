"""What the offline recogniser understands: ``python -m bench.stt_offline``. Prints a table for docs/performance.md.

Sentences of four kinds of node are spoken by several espeak-ng voices, at 8 kHz through mu-law and at 16 kHz, and recognised
with the grammar of their node; then sentences that no node expects are tried on every grammar.
"""

import asyncio
import time

import numpy as np

from offhook.kit.audio import MULAW_8K
from offhook.models.ports import Expectation
from offhook.models.providers.builtin.grammar import compile_grammar, words_of
from offhook.models.providers.builtin.speech_program import SpeechProgram
from offhook.models.providers.builtin.stt import BuiltinStt, for_model
from offhook.models.providers.builtin.tts import BuiltinTts

MENU = (
    "I would like to book an appointment",
    "cancel my appointment",
    "I want to change my appointment",
    "what are your opening hours",
    "I want to speak to a person",
)
NODES = {
    "menu": (Expectation(MENU, ("yes_no",)), (*MENU, "yes please", "no thank you")),
    "days": (
        Expectation(("any day is fine",), ("days",)),
        ("Tuesday morning", "on Wednesday", "tomorrow afternoon", "Monday"),
    ),
    "times": (
        Expectation(("something else",), ("times",)),
        ("ten o'clock", "at nine", "half past two", "in the morning"),
    ),
    "digits": (
        Expectation(("I don't have it",), ("digits",)),
        ("one two three four", "four seven one one", "nine eight five"),
    ),
}
UNEXPECTED = (
    "the weather is lovely in Spain today",
    "my brother plays the violin",
    "please read the whole newspaper to me",
    "seventeen purple elephants danced",
)
VOICES = ("en-us", "en-us+klatt3", "en-us+f3", "en-gb", "en-gb+m3")
SAME = {"yeah please": "yes please", "yep please": "yes please", "nope thank you": "no thank you"}


async def main() -> None:
    speech, hits, tries, times, lengths = SpeechProgram(), {}, {}, [], []  # type: ignore[var-annotated]
    stt = BuiltinStt(speech)
    await stt.warm()
    wrong = unexpected = 0
    for voice_name in VOICES:
        voice = BuiltinTts(speech, voice=voice_name)
        for rate in (8000, 16000):
            for node, (expectation, sentences) in NODES.items():
                grammar = compile_grammar(expectation)
                for sentence in (*sentences, *UNEXPECTED):
                    samples = await voice.synthesize(sentence, sample_rate=rate)
                    if rate == 8000:
                        samples = MULAW_8K.decode(MULAW_8K.encode(samples))
                    samples = np.pad(samples, rate // 4)
                    began = time.perf_counter()
                    event = await stt.recognise(grammar, for_model(samples, rate))
                    times.append(time.perf_counter() - began)
                    lengths.append(samples.size / rate)
                    if sentence in UNEXPECTED:
                        unexpected += 1
                        wrong += bool(event.text)
                        continue
                    key = (node, rate)
                    tries[key] = tries.get(key, 0) + 1
                    hits[key] = hits.get(key, 0) + (SAME.get(event.text, event.text) == " ".join(words_of(sentence)))
    print("| node | 8 kHz mu-law | 16 kHz |\n|---|---|---|")
    for node in NODES:
        print(f"| {node} | " + " | ".join(f"{hits[node, rate]}/{tries[node, rate]}" for rate in (8000, 16000)) + " |")
    print(f"\nunexpected sentences taken for something: {wrong} of {unexpected}")
    print(f"real-time factor {sum(times) / sum(lengths):.3f}, decoding p95 {np.percentile(times, 95) * 1000:.0f} ms")
    await stt.close()
    await speech.close()


if __name__ == "__main__":
    asyncio.run(main())
