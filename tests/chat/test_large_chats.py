"""Chats with a model that says far too much: what is stored, and written again with each message, stays small."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs.chats import chat_store
from offhook.runs.tables import Run
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import says, takes
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor
from tests.workflows.definitions import agent, definition, edge, start

VARIABLES: dict[str, Any] = {
    "extraction_enabled": True,
    "extraction_variables": [{"name": f"v{number}", "type": "string", "prompt": "Anything"} for number in range(20)],
}
BACK_AND_FORTH = definition(
    start(greeting="Hello."),
    agent("a", prompt="Ask.", **VARIABLES),
    agent("b", prompt="Ask."),
    edges=[edge("s", "a", "Begin"), edge("a", "b", "Forth"), edge("b", "a", "Back")],
)


@pytest.fixture
def models(root: Root) -> FixedModels:
    fakes = FixedModels([])
    use_fakes(root, fakes)
    return fakes


async def talk(client: AsyncClient, org: OrgFixture, models: FixedModels, *exchanges: tuple[Any, str]) -> Any:
    """Sends a message for each (replies, extracted values) and returns the last response."""
    workflow_id = await Editor(client, org.key_headers).create_published(BACK_AND_FORTH)
    path = f"/workflow/{workflow_id}/text-chat/sessions"
    answer = await client.post(path, json={}, headers=org.key_headers)
    path += f"/{answer.json()['id']}/messages"
    for replies, extracted in exchanges:
        llm = models.llm
        llm.extracts = extracted
        llm.script = [*llm.script[: llm._next], *replies]
        answer = await client.post(path, json={"text": "Go on"}, headers=org.key_headers)
        if not answer.is_success:
            break
    return answer


async def stored_size(root: Root, run_id: int) -> int:
    async with root.db.transaction() as session:
        run = await session.get(Run, run_id)
    assert run is not None
    return len(json.dumps(run.chat_state))


async def test_values_without_an_end_are_not_kept(
    client: AsyncClient, root: Root, org: OrgFixture, models: FixedModels
) -> None:
    """Each turn keeps the values as they were: 20 of a model's longest answers were gigabytes after 200 turns."""
    small = json.dumps({"v0": "Oslo", "v1": "x" * 150_000, "v2": 3})
    many = json.dumps({f"v{number}": "x" * 9000 for number in range(3, 20)})
    answer = await talk(
        client, org, models,
        ([takes("begin"), says("Here.")], "{}"),
        ([takes("forth"), says("There.")], small),
        ([takes("back"), says("Here.")], "{}"),
        ([takes("forth"), says("There.")], many),
    )  # fmt: skip
    chat = answer.json()
    variables = chat["session_data"]["turns"][-1]["variables"]
    assert (variables["v0"], variables["v2"]) == ("Oslo", 3)
    assert "v1" not in variables
    assert 50_000 < len(json.dumps(variables)) < 64_000
    assert await stored_size(root, chat["id"]) < 200_000


async def test_a_chat_of_too_many_words_is_full(
    client: AsyncClient, root: Root, org: OrgFixture, models: FixedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_store, "MAX_STATE_CHARS", 30_000)
    answer = await talk(client, org, models, *(([says("x" * 10_000)], "{}") for _ in range(5)))
    assert (answer.status_code, answer.json()["code"]) == (409, "chat_turn_limit")
    assert "30,000 characters" in answer.json()["detail"]
