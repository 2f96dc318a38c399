"""What a live call of the runs domain needs, as fakes: models by script and ears that hear loudness."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from offhook.models.ports import CallModels, ModelSource
from offhook.recordings import RecordingServices
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts
from tests.fakes.voice import LoudnessVad


class FixedModels:
    """Implements ModelSource: every call gets one scripted LLM, TTS and STT."""

    def __init__(self, script: Sequence[Reply] = (), *, extracts: str = "{}") -> None:
        self.fails_with: Exception | None = None
        self.hearing = Hearing()
        self.llm = ScriptedLlm(script, extracts=extracts)
        # Sentences of a few hundredths of a second: these calls run on the wall clock.
        self.tts = ScriptedTts(s_per_char=0.01, first_byte_s=0.01)
        self.stt = ScriptedStt(self.hearing)

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        if self.fails_with is not None:
            raise self.fails_with
        return CallModels(llm=(self.llm,), tts=(self.tts,), stt=(self.stt,))

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        return await self.for_organization(organization_id, {})

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        return self.for_call(configurations)

    async def close(self) -> None:
        pass


def use_fakes(root: Root, models: ModelSource) -> None:
    """Give the process these models and a voice activity detector that needs no model file."""
    root.provide(ModelSource, models)  # type: ignore[type-abstract]  # found by its port
    root.provide(RecordingServices, replace(root.get(RecordingServices), models=models))
    runs = root.get(RunServices)
    runs.agents.models = models
    runs.live.vad = LoudnessVad()


async def wait_until_idle(live: LiveCallRegistry) -> None:
    """Waits until the process has put its calls away, which it does after it has stored their ends. TimeoutError."""
    async with asyncio.timeout(30):
        while live.active_calls or live.slots.taken:
            await asyncio.sleep(0.02)
