"""Taking a chat back to an earlier turn: node, variables and history are exactly what they were."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from offhook.chat.service import TextChatService
from offhook.chat.services import ChatServices
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.chats import chat_turns
from offhook.runs.tables import Run
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import Reply, says, takes
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor
from tests.workflows.definitions import agent, definition, edge, end, start

CITY: dict[str, Any] = {
    "extraction_enabled": True,
    "extraction_variables": [{"name": "city", "type": "string", "prompt": "Where to"}],
}
TRIP = definition(
    start(greeting="Where do you want to go?", **CITY),
    agent("a", prompt="Ask for the day of the trip to {{city}}."),
    agent("b", prompt="Ask how many people travel."),
    end(say="Have a good trip."),
    edges=[edge("s", "a", "City"), edge("a", "b", "Day"), edge("b", "e", "People")],
)


class Chatting:
    """One chat of one organization, over HTTP; ``llm`` is what its agent says next."""

    def __init__(self, client: AsyncClient, headers: dict[str, str], path: str, models: FixedModels) -> None:
        self._client = client
        self.headers = headers
        self.path = path
        self.models = models
        self.shown: dict[str, Any] = {}

    async def post(self, tail: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
        answer = await self._client.post(self.path + tail, json=body, headers=headers or self.headers)
        if answer.is_success:
            self.shown = answer.json()
        return answer

    async def begin(self) -> None:
        assert (await self.post("", {})).is_success
        self.path += f"/{self.shown['id']}"

    async def say(self, text: str, *replies: Reply) -> None:
        self.models.llm.script = [*self.models.llm.script[: self.models.llm._next], *replies]
        answer = await self.post("/messages", {"text": text})
        assert answer.is_success, answer.text

    async def rewind(self, turn: str | None, **more: Any) -> Response:
        return await self.post("/rewind", {"cursor_turn_id": turn, **more})

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = self.shown["session_data"]
        return found

    @property
    def turns(self) -> list[str]:
        return [turn["id"] for turn in self.data["turns"]]

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.shown["messages"]]

    @property
    def asked(self) -> list[str]:
        """What the model was told in its last request, without the system message."""
        return [message.content for message in self.models.llm.requests[-1].messages[1:] if message.content]


@pytest.fixture
async def chat(client: AsyncClient, root: Root, org: OrgFixture) -> Chatting:
    """Three turns: the greeting, a city (which moves to node a), a day (which moves to node b)."""
    models = FixedModels(extracts='{"city": "Oslo"}')
    use_fakes(root, models)
    workflow_id = await Editor(client, org.key_headers).create_published(TRIP)
    chat = Chatting(client, org.key_headers, f"/workflow/{workflow_id}/text-chat/sessions", models)
    await chat.begin()
    await chat.say("To Oslo", takes("city"), says("Which day?"))
    await chat.say("Monday", takes("day"), says("How many are you?"))
    return chat


async def test_what_a_session_shows(chat: Chatting) -> None:
    assert (chat.data["version"], chat.data["status"], chat.data["cursor_turn_id"]) == (1, "idle", None)
    assert chat.turns == ["turn_1", "turn_2", "turn_3"]
    second = chat.data["turns"][1]
    assert (second["user_message"]["text"], second["assistant_message"]["text"]) == ("To Oslo", "Which day?")
    assert (second["node_id"], second["variables"], second["status"]) == ("a", {"city": "Oslo"}, "completed")
    assert chat.data["turns"][0]["user_message"] is None
    assert chat.data["discarded_future"] == []


async def test_back_and_on_another_way(chat: Chatting) -> None:
    revision = chat.shown["revision"]
    answer = await chat.rewind("turn_2")
    assert answer.status_code == 200
    assert (chat.data["status"], chat.data["cursor_turn_id"]) == ("rewound", "turn_2")
    assert chat.shown["revision"] == revision + 1
    assert chat.texts == ["Where do you want to go?", "To Oslo", "Which day?"]
    assert chat.turns == ["turn_1", "turn_2", "turn_3"]

    await chat.say("Friday", says("Friday it is. Any other wish?"))
    assert chat.asked == ["Where do you want to go?", "To Oslo", '{"ok": true}', "Which day?", "Friday"]
    assert "trip to Oslo" in chat.models.llm.requests[-1].messages[0].content
    assert chat.turns == ["turn_1", "turn_2", "turn_4"]
    assert [turn["id"] for turn in chat.data["discarded_future"]] == ["turn_3"]
    assert chat.data["discarded_future"][0]["user_message"]["text"] == "Monday"
    assert (chat.data["status"], chat.data["cursor_turn_id"]) == ("idle", None)
    assert chat.texts[-2:] == ["Friday", "Friday it is. Any other wish?"]


async def test_to_the_greeting_forgets_the_variables(chat: Chatting) -> None:
    await chat.rewind("turn_1")
    chat.models.llm.extracts = '{"city": "Rome"}'
    await chat.say("To Rome", takes("city"), says("Which day?"))
    assert chat.data["turns"][-1]["variables"] == {"city": "Rome"}
    assert chat.asked == ["Where do you want to go?", "To Rome", '{"ok": true}']


async def test_a_step_back_can_be_undone(chat: Chatting) -> None:
    before = chat.texts
    await chat.rewind("turn_1")
    assert (await chat.rewind(None)).status_code == 200
    assert (chat.data["status"], chat.texts, chat.data["discarded_future"]) == ("idle", before, [])
    await chat.say("Two", takes("people"))
    assert (chat.shown["is_over"], chat.texts[-1]) == (True, "Have a good trip.")


async def test_again_and_again(chat: Chatting) -> None:
    """Every way back leads to the same place, however often it was gone."""
    for number in range(4):
        await chat.rewind("turn_2")
        await chat.say(f"Day {number}", says(f"Answer {number}"))
        assert chat.asked == ["Where do you want to go?", "To Oslo", '{"ok": true}', "Which day?", f"Day {number}"]
    await chat.rewind(chat.turns[-1])
    assert chat.texts[-1] == "Answer 3"
    assert [turn["id"] for turn in chat.data["discarded_future"]] == ["turn_3", "turn_4", "turn_5", "turn_6"]


async def test_the_run_knows_only_what_counts(chat: Chatting, client: AsyncClient) -> None:
    await chat.rewind("turn_1")
    chat.models.llm.extracts = '{"city": "Rome"}'
    await chat.say("To Rome", takes("city"), says("Which day?"))
    run_path = f"/workflow/{chat.shown['workflow_id']}/runs/{chat.shown['id']}"
    live = (await client.get(run_path, headers=chat.headers)).json()
    assert [line["text"] for line in live["transcript"]] == chat.texts
    assert (live["progress"]["node"], live["progress"]["turns"]) == ("Node a", 1)
    assert live["gathered_context"]["nodes_visited"] == ["Node s", "Node a"]
    assert (await chat.post("/end", {})).is_success
    over = (await client.get(run_path, headers=chat.headers)).json()
    assert (over["gathered_context"]["city"], over["gathered_context"]["nodes_visited"]) == (
        "Rome",
        ["Node s", "Node a"],
    )
    assert [event["seq"] for event in over["events"]] == list(range(1, len(over["events"]) + 1))
    # what the discarded future cost was spent
    assert over["usage"]["llm"][0]["calls"] >= 6


async def test_ended_where_it_was_taken_back_to(chat: Chatting) -> None:
    await chat.rewind("turn_2")
    assert (await chat.post("/end", {})).is_success
    assert chat.data["status"] == "completed"
    assert chat.texts == ["Where do you want to go?", "To Oslo", "Which day?"]
    late = await chat.rewind("turn_1")
    assert (late.status_code, late.json()["code"]) == (409, "chat_is_over")


async def test_refusals(chat: Chatting, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    assert (await client.post(chat.path + "/rewind", json={})).status_code == 401
    assert (await chat.post("/rewind", {}, other_org.key_headers)).status_code == 404
    assert (await chat.post("/rewind", {}, org.headers_for("viewer"))).status_code == 403
    unknown = await chat.rewind("turn_99")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "chat_turn_not_found")
    bodies: list[dict[str, Any]] = [
        {"cursor_turn_id": 1},
        {"cursor_turn_id": "x" * 65},
        {"expected_revision": -1},
        {"cursor_turn_id": []},
    ]
    for body in bodies:
        assert (await chat.post("/rewind", body)).status_code == 422
    stale = await chat.rewind("turn_1", expected_revision=chat.shown["revision"] - 1)
    assert (stale.status_code, stale.json()["code"]) == (409, "revision_conflict")
    assert stale.json()["detail"]["actual_revision"] == chat.shown["revision"]
    ended = await chat.post("/end", {"expected_revision": 0})
    assert (ended.status_code, ended.json()["code"]) == (409, "revision_conflict")


@pytest.mark.slow
async def test_not_while_a_message_is_being_answered(chat: Chatting) -> None:
    chat.models.llm.script = [*chat.models.llm.script, Reply("Slowly.", first_token_s=2)]
    asked = len(chat.models.llm.requests)
    message = asyncio.create_task(chat.post("/messages", {"text": "Two"}))
    while len(chat.models.llm.requests) == asked:
        await asyncio.sleep(0.01)
    refused = await chat.rewind("turn_1")
    assert (refused.status_code, refused.json()["code"]) == (409, "revision_conflict")
    assert (await message).is_success


async def test_of_many_at_once_one_moves(chat: Chatting) -> None:
    revision = chat.shown["revision"]
    answers = await asyncio.gather(*(chat.rewind(f"turn_{n % 3 + 1}", expected_revision=revision) for n in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5


@pytest.mark.slow
async def test_a_long_chat_is_stored_once(chat: Chatting, root: Root) -> None:
    for number in range(12):
        await chat.say(f"Message {number} {'x' * 200}", says("y" * 200))
    async with root.db.transaction() as session:
        run = await session.get(Run, chat.shown["id"])
    assert run is not None
    assert run.chat_state is not None
    state = chat_turns.state_of(run.chat_state)
    kept = sum(len(turn["checkpoint"]["history"]) for turn in state["turns"])
    whole = chat_turns.engine_snapshot(state)
    assert whole is not None
    assert kept == len(whole["history"])


@pytest.mark.slow
async def test_a_chat_has_so_many_turns_however_often_it_is_taken_back(chat: Chatting, root: Root) -> None:
    agents = root.get(RunServices).agents
    limited = TextChatService(db=root.db, events=root.events, clock=root.clock, agents=agents, max_turns=4)
    root.provide(ChatServices, replace(root.get(ChatServices), conversations=limited))
    await chat.say("Two", says("See you."))
    assert (await chat.rewind("turn_2")).is_success
    refused = await chat.post("/messages", {"text": "Tuesday"})
    assert (refused.status_code, refused.json()["code"]) == (409, "chat_turn_limit")
    assert (await chat.rewind(None)).is_success
    ended = await chat.post("/end", {})
    assert (ended.status_code, ended.json()["is_over"]) == (200, True)
