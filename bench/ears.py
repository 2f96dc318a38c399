"""Measures how many natural openings the offline agent understands by voice.

    python -m bench.ears [--voices N] [--verbose]

Ten openings of each demo agent are spoken by several espeak-ng voices over a telephone band with noise, recognized by the
real recognizer and answered by the offline agent. Prints for each agent and voice: understood of ten, and how often a step
was entered that is against what was said.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from tests.models.conversations import Conversation, hold_conversation, judge_conversation, offline_agent

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.ports import Expectation
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.scenarios.sound.offline_recognizer import recognize_clip
from offhook.voice.dialog.prompts import agent_sentences, expectation_for, split_sentences
from offhook.workflows.catalog.templates import load_template
from offhook.workflows.demo import demo_agent
from offhook.workflows.graph import parse_graph

VOICES: Final = ("en-us", "en-gb", "en-gb+klatt4", "en-us+m3", "en-us+f3", "en-us+klatt2")
RATE: Final = 8000
NOISE_DB: Final = -20.0
OPENINGS: Final = Path(__file__).parents[1] / "tests" / "data" / "openings_by_voice.json"


@dataclass
class Score:
    """What came of the openings of one agent; ``missed`` are said and heard texts."""

    understood: int = 0
    harmful: int = 0
    total: int = 0
    missed: list[str] = field(default_factory=list)


def on_the_telephone(speech: Samples, seed: int) -> Samples:
    """Returns the speech with pauses around it, white noise 20 dB below it, through mu-law at 8 kHz."""
    loudness = float(np.sqrt(np.mean(speech.astype(np.float64) ** 2)))
    heard = np.random.default_rng(seed).normal(0, loudness * 10 ** (NOISE_DB / 20), speech.size + RATE * 5 // 6)
    heard[RATE // 2 : RATE // 2 + speech.size] += speech
    return MULAW_8K.decode(MULAW_8K.encode(np.clip(heard, -32768, 32767).astype(np.int16)))


def opening_expectation(slug: str) -> Expectation:
    """What a call with the demo agent expects first: the words of its prompts and documents."""
    graph = parse_graph(demo_agent(slug)["definition"])
    start = graph.nodes[graph.start_id or ""]
    documents = [document.content.decode() for document in load_template(slug).documents]
    topics = [sentence for text in documents for sentence in split_sentences(text)]
    return expectation_for(start, graph.edges_from(start.id), (*agent_sentences(graph), *topics))


async def measure_agent(
    slug: str, cases: Sequence[dict[str, Any]], voice: str, speech: SynthesizerProcess, stt: BuiltinStt, llm: BuiltinLlm
) -> Score:
    score, tts, expectation = Score(), BuiltinTts(speech, voice=voice), opening_expectation(slug)
    for seed, case in enumerate(cases):
        samples = on_the_telephone(await tts.synthesize(case["says"], sample_rate=RATE), seed)
        heard = await recognize_clip(stt, expectation, samples)
        score.total += 1
        if heard:
            expected = Conversation(str(seed), "opening", [heard], case["node"], case["never"])
            outcome = await hold_conversation(slug, [heard], llm)
            verdict = judge_conversation(expected, outcome)
            score.harmful += verdict.is_harmful
            # to stay at the greeting is right only for a question that was answered
            if not verdict.faults and not outcome.last_reply.startswith("Sorry"):
                score.understood += 1
                continue
            if verdict.is_harmful:
                heard = f"{heard} | HARM {verdict.faults}"
        score.missed.append(f"{case['says']} | {heard}")
    return score


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", type=int, default=len(VOICES))
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    openings: dict[str, list[dict[str, Any]]] = json.loads(OPENINGS.read_text())
    speech = SynthesizerProcess()
    # What it understands is measured, not how soon.
    stt = BuiltinStt(speech, silence_timeout_s=60, max_decoding_s=60)
    total = Score()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        llm = await stack.enter_async_context(offline_agent(Path(folder)))
        print("| agent | voice | understood | harmful |\n|---|---|---|---|")
        for slug, cases in openings.items():
            for voice in VOICES[: given.voices]:
                score = await measure_agent(slug, cases, voice, speech, stt, llm)
                print(
                    f"| {slug} | {voice} | {score.understood} of {score.total} | {score.harmful} |",
                    flush=True,
                )
                if given.verbose:
                    print(*score.missed, sep="\n")
                total.understood += score.understood
                total.total += score.total
                total.harmful += score.harmful
        print(f"\n{total.understood} of {total.total} understood, {total.harmful} harmful")
    await stt.close()
    await speech.close()


if __name__ == "__main__":
    asyncio.run(main())
