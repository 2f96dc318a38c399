"""Model servers that organizations choose, and whose answers have no end: they share a process with all calls."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from offhook.kit.egress import ResponseTooLarge
from offhook.models import http_clients
from offhook.models.llm import chunk_shares
from offhook.models.llm import stream as llm_stream
from offhook.models.llm.chunk_shares import share_chunks
from offhook.models.llm.stream import LlmTimeouts, stream_with_timeouts
from offhook.models.ports import LlmEvent, LlmMessage, LlmRequest, ModelError, ModelRef, TextDelta
from offhook.models.providers.openai_compatible import http_requests
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute
from offhook.models.vendors import ModelChoice
from offhook.voice.dialog.llm_chain import MAX_ANSWER_CHARS, LlmChain
from offhook.voice.usage_counter import UsageCounter
from tests.fakes.web import Reply, egress_to_loopback, local_server

ASKED = LlmRequest([LlmMessage("user", "Hello")])


class EndlessChunks:
    def __init__(self) -> None:
        self.sent = 0

    def __aiter__(self) -> "EndlessChunks":
        return self

    async def __anext__(self) -> int:
        self.sent += 1
        return self.sent

    async def close(self) -> None:
        pass


async def read_all(chunks: AsyncIterator[Any]) -> None:
    async for _ in chunks:
        pass


async def open_chunks(chunks: EndlessChunks) -> Any:
    return chunks


async def test_chunks_are_read_no_faster_than_models_write() -> None:
    source = EndlessChunks()
    chunks = stream_with_timeouts(lambda: open_chunks(source), LlmTimeouts(), lambda _: None)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read_all(chunks), 0.3)
    await chunks.aclose()
    limit = llm_stream.MAX_BURST_CHUNKS + (time.monotonic() - started) * llm_stream.MAX_CHUNKS_PER_S
    assert 1000 < source.sent <= limit + 1


async def test_all_streams_of_an_organization_have_one_share() -> None:
    sources = [EndlessChunks() for _ in range(30)]
    others = EndlessChunks()

    async def read(source: EndlessChunks, organization_id: int) -> None:
        with share_chunks(organization_id):
            chunks = stream_with_timeouts(lambda: open_chunks(source), LlmTimeouts(), lambda _: None)
            async with aclosing(chunks):
                await read_all(chunks)

    started = time.monotonic()
    reading = [asyncio.create_task(read(source, 1)) for source in sources]
    reading.append(asyncio.create_task(read(others, 2)))
    await asyncio.wait(reading, timeout=0.5)
    took_s = time.monotonic() - started
    for task in reading:
        task.cancel()
    await asyncio.wait(reading)
    limit = chunk_shares.MAX_SHARED_BURST + took_s * chunk_shares.MAX_SHARED_CHUNKS_PER_S
    assert sum(source.sent for source in sources) <= limit + len(sources)
    assert others.sent >= 1000, "another organization has its own"


async def test_chunks_without_an_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_stream, "MAX_CHUNKS", 500)
    source = EndlessChunks()
    with pytest.raises(ModelError) as caught:
        async for _ in stream_with_timeouts(lambda: open_chunks(source), LlmTimeouts(), lambda _: None):
            pass
    assert (caught.value.code, caught.value.retryable, source.sent) == ("llm_answer_too_long", False, 501)


class EndlessLlm:
    model_ref = ModelRef("llm", "openai", "m")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        while True:
            yield TextDelta("word " * 1000)


async def test_text_without_an_end_is_cut() -> None:
    llm = LlmChain([EndlessLlm()], emit=lambda *_: None, usage=UsageCounter(), stall_s=5)
    text = "".join([event.text async for event in llm.stream(ASKED) if isinstance(event, TextDelta)])
    assert len(text) == MAX_ANSWER_CHARS


async def test_an_event_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_clients, "MAX_ANSWER_BYTES", 100_000)
    line = b"data: " + json.dumps({"choices": [{"delta": {"content": "a" * 200_000}}]}).encode()
    async with local_server(Reply(body=line, headers={"content-type": "text/event-stream"})) as server:
        choice = ModelChoice("llm", "openai", "m", "key", server.url("models.test", "/v1"))
        llm = OpenAiCompatibleLlm(choice, egress=egress_to_loopback("models.test"))
        with pytest.raises(ModelError) as caught:
            async for _ in llm.stream(ASKED):
                pass
        await http_clients.close_http_clients()
    assert ResponseTooLarge().message in str(caught.value)


async def test_a_failure_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_requests, "MAX_ANSWER_BYTES", 100_000)
    way = NetworkRoute(is_guarded=True, egress=egress_to_loopback("models.test"))
    async with local_server(Reply(500, b"no" * 100_000)) as server:
        with pytest.raises(ModelError, match=r"too large|larger"):
            async with http_requests.post_request(
                server.url("models.test"), "key", VendorErrors("tts", "key"), 5, way, json={}
            ):
                pass
        await http_requests.close_clients()
