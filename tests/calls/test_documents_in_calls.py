"""Somebody calls and asks what only a document answers: the real look-up, index and embedding model, on a media socket."""

import asyncio

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.calls.conftest import LiveServer
from tests.knowledge.conftest import Librarian
from tests.knowledge.test_conversations import LONG_GUIDE
from tests.voice.phone import simple_agent

QUESTION = "How long is lost property kept?"


@pytest.mark.slow
async def test_the_agent_says_what_the_document_says(server: LiveServer) -> None:
    librarian = Librarian(server.http, server.org.key_headers, server.root)
    guide = await librarian.add(LONG_GUIDE)
    await librarian.add("Lost property is thrown away after one day.", "not_the_agents.txt")
    await server.publish(simple_agent(document_refs=[guide["id"]]))
    # The offline agent: quotes the passage that it was given, and knows nothing otherwise.
    server.models.llm = BuiltinLlm()

    async with server.call() as (run_id, call):
        await call.hears_the_agent()
        await call.says(QUESTION)
        async with asyncio.timeout(60):
            while not any("thirty days" in line["text"] for line in (await server.run(run_id))["transcript"]):
                await asyncio.sleep(0.1)
        call.wire.send_stop()
        await call.is_over()

    run = await server.finished(run_id)
    assert [line["text"] for line in run["transcript"] if line["role"] == "caller"] == [QUESTION]
    (found,) = [event["data"] for event in run["events"] if event["type"] == "knowledge_found"]
    assert found["question"] == QUESTION
    assert {source["document_id"] for source in found["sources"]} == {guide["id"]}
