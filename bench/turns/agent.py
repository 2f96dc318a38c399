"""The agent of the panel: a model with long answers of known sentences, and a voice whose audio the judge knows."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from tests.fakes.scripted import tone

from bench.turns.clips import ClipLibrary, FloatArray, find_audio
from bench.turns.phrases import QUESTIONS, STATEMENTS
from offhook.kit.audio import Samples
from offhook.models.ports import LlmEvent, LlmRequest, LlmUsage, ModelRef, TextDelta
from offhook.scenarios.sound.clips import RATE

FIRST_TOKEN_S: Final = 0.3
FIRST_BYTE_S: Final = 0.1
WORD_S: Final = 0.01
MAX_SHIFT_S: Final = 4.0
CHUNK: Final = RATE // 10
GREETING: Final = STATEMENTS[0]
DEFINITION: Final[dict[str, Any]] = {
    "nodes": [
        {
            "id": "1",
            "type": "startCall",
            "position": {"x": 0, "y": 0},
            "data": {"name": "Start", "prompt": "Help the caller.", "greeting": GREETING, "allow_interrupt": True},
        }
    ],
    "edges": [],
}


@dataclass(eq=False)
class PanelLlm:
    """Implements Llm: two statements, a question and a statement, in an order of its own for each request."""

    random: np.random.Generator
    requests: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", "emulated", "panel")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        self.requests += 1
        self.asked.append(next((m.content for m in reversed(request.messages) if m.role == "user"), ""))
        await asyncio.sleep(FIRST_TOKEN_S)
        first, second, last = self.random.permutation(np.array(STATEMENTS))[:3]
        words = f"{first} {second} {self.random.choice(np.array(QUESTIONS))} {last}".split()
        for word in words:
            yield TextDelta(f"{word} ")
            await asyncio.sleep(WORD_S)
        yield LlmUsage(200, len(words))


@dataclass(eq=False)
class PanelVoice:
    """Implements Tts. ``track`` lists what was synthesized since the far end was cleared: text and audio;
    ``script`` everything that it ever said, in order."""

    library: ClipLibrary
    sample_rate: int = RATE
    track: list[tuple[str, Samples]] = field(default_factory=list)
    script: list[Samples] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("tts", "emulated", "panel")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        await asyncio.sleep(FIRST_BYTE_S)
        if not self.library.has_agent_speech(text):  # a phrase of the engine, prepared for emergencies
            phrase = tone(1.0, RATE)
            self.script.append(np.frombuffer(phrase, np.int16))
            yield phrase
            return
        samples = self.library.agent_speech(text)
        self.track.append((text, samples))
        self.script.append(samples)
        for at in range(0, samples.size, CHUNK):
            yield samples[at : at + CHUNK].tobytes()
            await asyncio.sleep(0.005)

    def find_heard_s(self, heard: FloatArray, near_s: float) -> float | None:
        """Returns how much of the track was played when the far end has just heard a sound, near an estimate: what is
        said again after a pause shifts it. None: the sound is not found there."""
        if not self.track:
            return None
        track = np.concatenate([samples for _, samples in self.track])
        start = max(0, int((near_s - MAX_SHIFT_S) * RATE))
        found = find_audio(track[start : int((near_s + MAX_SHIFT_S) * RATE)], heard)
        return (start + found[0] + heard.size) / RATE if found else None

    def position(self, played_s: float) -> tuple[str, float, float]:
        """Returns the sentence that is played, the share of it that was, and the seconds that are left of the track."""
        total = sum(samples.size for _, samples in self.track) / RATE
        at = 0.0
        for text, samples in self.track:
            length = samples.size / RATE
            if played_s < at + length:
                return text, (played_s - at) / length, total - played_s
            at += length
        return "", 1.0, 0.0
