"""Measures how long a turn waits for its documents: questions spoken word by word to the real look-up, search and
model."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bench.knowledge_rig import Rig
from offhook.kit.json_values import ReadableJsonObject
from offhook.knowledge import PassageLookup
from offhook.runs.live.call_knowledge import CallKnowledge
from offhook.voice.dialog.retrieval import PassageRetriever
from offhook.workflows.graph import Node

# Half of the time that people and recognizers take, so that the look-ups have less time than in a call.
WORD_S: Final = 0.15
ENDPOINTING_S: Final = 0.25


async def turns(rig: Rig, organization_id: int, refs: Sequence[str], questions: Sequence[str]) -> None:
    """Runs turns. The same turn without documents waits for nothing, so the printed times are what documents add."""
    node = Node(id="start", kind="startCall", name="Start", data={}, document_refs=tuple(refs))
    rig.root.get(PassageLookup).start_warm_up()
    await rig.search.find_passages(organization_id, "warm", limit=1)
    waits: list[float] = []
    lookups_ms: list[float] = []
    early = 0
    for question in questions:
        told = _Told()
        knowledge = _Timed(CallKnowledge(rig.root.get(PassageLookup), organization_id), lookups_ms)
        retriever = PassageRetriever(knowledge, told)
        words = question.split()
        for count in range(1, len(words) + 1):
            retriever.prefetch(node, " ".join(words[:count]))
            await asyncio.sleep(WORD_S)
        await asyncio.sleep(ENDPOINTING_S)
        began = time.perf_counter()
        passages = await retriever.passages_for_turn(node, question)
        waits.append((time.perf_counter() - began) * 1000)
        early += bool(passages) and bool(told.data) and told.data[-1]["waited_ms"] == 0
    p50, p95 = np.percentile(waits, [50, 95])
    print(
        f"{len(questions)} turns: documents add p50 {p50:.1f} ms, p95 {p95:.1f} ms, at most {max(waits):.1f} ms by the clock;"
        f" {early} were answered by a look-up made while the caller spoke;"
        f" a look-up takes p50 {np.median(lookups_ms):.0f} ms, p95 {np.percentile(lookups_ms, 95):.0f} ms"
    )


class _Told:
    """Records the events of a conversation."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []

    def __call__(self, _: str, data: ReadableJsonObject) -> None:
        self.data.append(dict(data))


class _Timed:
    """Implements ``voice.ports.KnowledgeSource`` and measures it."""

    def __init__(self, knowledge: CallKnowledge, took_ms: list[float]) -> None:
        self._knowledge = knowledge
        self._took_ms = took_ms

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[Any]:
        began = time.perf_counter()
        found = await self._knowledge.find_passages(document_refs, question)
        self._took_ms.append((time.perf_counter() - began) * 1000)
        return found
