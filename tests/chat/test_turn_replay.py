"""A turn of a conversation is played again with the draft: what changes is shown, and nothing else happens."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.chat.recorded_turns import read_recorded_turn
from offhook.root import Root
from offhook.runs.records import event_queries
from offhook.runs.records.storable_json import encode_event_data
from offhook.voice.dialog.steps import ConversationState
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels
from tests.fakes.scripted import calls, says, takes
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION, MakeRun


async def replay(client: AsyncClient, workflow_id: int, run_id: int, turn: object, headers: dict[str, str]) -> Any:
    return await client.post(f"/workflow/{workflow_id}/runs/{run_id}/turns/{turn}/replay", headers=headers)


async def change_definition(root: Root, workflow_id: int, definition: dict[str, Any]) -> None:
    async with root.db.transaction() as session:
        await session.execute(
            update(WorkflowVersion).where(WorkflowVersion.workflow_id == workflow_id).values(definition=definition)
        )


@pytest.fixture
async def run_id(client: AsyncClient, workflow_id: int, models: FixedModels, org: OrgFixture) -> int:
    """A chat of two turns: the agent answers, and then says goodbye."""
    sessions = f"/workflow/{workflow_id}/text-chat/sessions"
    run_id = int((await client.post(sessions, json={}, headers=org.owner_headers)).json()["id"])
    for text in ("When do you open?", "Thanks, bye"):
        said = await client.post(f"{sessions}/{run_id}/messages", json={"text": text}, headers=org.owner_headers)
        assert said.status_code == 200, said.text
    return run_id


class TestReplay:
    async def test_the_same_answer(
        self, client: AsyncClient, workflow_id: int, run_id: int, models: FixedModels, org: OrgFixture
    ) -> None:
        models.llm.script = [*models.llm.script[: len(models.llm.requests)], says("We are open  until six.")]
        answer = await replay(client, workflow_id, run_id, 1, org.owner_headers)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert (found["heard"], found["is_same_path"], found["is_same_answer"]) == ("When do you open?", True, True)
        asked = [message.content for message in models.llm.requests[-1].messages[1:]]
        assert asked == ["Hello, how may I help?", "When do you open?"]

    async def test_another_edge(
        self, client: AsyncClient, workflow_id: int, run_id: int, models: FixedModels, org: OrgFixture
    ) -> None:
        models.llm.script = [*models.llm.script[: len(models.llm.requests)], takes("done"), says("Goodbye.")]
        found = (await replay(client, workflow_id, run_id, 1, org.owner_headers)).json()
        assert (found["recorded"]["edges"], found["is_same_path"]) == ([], False)
        (edge,) = found["replayed"]["edges"]
        assert edge["label"].lower() == "done"
        assert found["replayed"]["end_reason"] == "agent_ended"

    async def test_nothing_of_it_is_stored(
        self, client: AsyncClient, workflow_id: int, run_id: int, org: OrgFixture
    ) -> None:
        one = f"/workflow/{workflow_id}/text-chat/sessions/{run_id}"
        before = (await client.get(one, headers=org.owner_headers)).json()
        assert (await replay(client, workflow_id, run_id, 2, org.owner_headers)).status_code == 200
        assert (await client.get(one, headers=org.owner_headers)).json() == before

    async def test_a_step_that_the_draft_lost(
        self, client: AsyncClient, root: Root, workflow_id: int, run_id: int, org: OrgFixture
    ) -> None:
        renamed = [{**node, "id": f"new-{node['id']}"} for node in DEFINITION["nodes"]]
        await change_definition(root, workflow_id, {**DEFINITION, "nodes": renamed, "edges": []})
        answer = await replay(client, workflow_id, run_id, 1, org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "step_not_in_draft")
        assert answer.json()["detail"].endswith(", where this was said, is not in version 1.")

    @pytest.mark.parametrize(("turn", "status"), [(3, 404), (0, 404), ("x", 422), (100_001, 404)])
    async def test_turns_that_are_not_there(
        self, client: AsyncClient, workflow_id: int, run_id: int, org: OrgFixture, turn: object, status: int
    ) -> None:
        answer = await replay(client, workflow_id, run_id, turn, org.owner_headers)
        assert answer.status_code == status
        if turn == 3:
            assert answer.json()["code"] == "turn_not_found"

    async def test_words_that_were_not_understood(
        self, client: AsyncClient, root: Root, workflow_id: int, make_run: MakeRun, org: OrgFixture
    ) -> None:
        run = await make_run()
        async with root.db.transaction() as session:
            missed = event_queries.NewEvent(run.id, "caller_not_understood", 900, "{}", run.created_at)
            await event_queries.append_events(session, [missed])
        answer = await replay(client, workflow_id, run.id, 1, org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "turn_not_understood")

    async def test_who_may(
        self, client: AsyncClient, workflow_id: int, run_id: int, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        assert (await replay(client, workflow_id, run_id, 1, {})).status_code == 401
        assert (await replay(client, workflow_id, run_id, 1, org.headers_for("viewer"))).status_code == 403
        assert (await replay(client, workflow_id, run_id, 1, other_org.owner_headers)).status_code == 404


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


CALL = [
    event("node_entered", node_id="1", name="Greeting"),
    event("agent_said", text="Hello."),
    event("caller_said", text="Book me in."),
    event("variables_extracted", node_id="1", values={"day": "Monday"}),
    event("edge_taken", edge_id="e1", label="Book", **{"from": "1", "to": "2"}),
    event("node_entered", node_id="2", name="Booking"),
    event("tool_called", id="c1", name="book", arguments={"day": "Monday"}),
    event("tool_answered", id="c1", name="book", ok=True, result={"slot": 4}),
    event("agent_said", text="You are booked."),
    event("agent_said", text="Anything else?"),
    event("caller_said", text="No."),
    event("agent_said", text="Bye."),
]


class TestReadingATurn:
    def state_before(self, number: int, stored: list[dict[str, Any]] = CALL) -> ConversationState:
        turn = read_recorded_turn(stored, number)
        assert turn is not None
        return turn.state

    def test_history_and_variables_before_it(self) -> None:
        state = self.state_before(2)
        assert (state["node_id"], state["nodes_visited"], state["values"]) == (
            "2",
            ["Greeting", "Booking"],
            {"day": "Monday"},
        )
        roles = [message["role"] for message in state["history"]]
        assert roles == ["assistant", "user", "assistant", "tool", "assistant", "assistant"]
        assert state["history"][3]["content"] == '{"slot": 4}'

    def test_what_came_of_it(self) -> None:
        turn = read_recorded_turn(CALL, 1)
        assert turn is not None
        outcome = turn.outcome
        assert (turn.heard, turn.step, outcome.answer) == ("Book me in.", "Greeting", "You are booked. Anything else?")
        assert (outcome.path, outcome.steps, outcome.values) == (["2"], ["Booking"], {"day": "Monday"})
        assert [(tool.name, tool.result) for tool in outcome.tools] == [("book", {"slot": 4})]

    def test_a_rewound_chat_forgets(self) -> None:
        rewound = event(
            "chat_rewound",
            turn_id="turn_1",
            node_id="1",
            name="Greeting",
            values={},
            nodes_visited=["Greeting"],
            lines=1,
        )
        stored = [*CALL, rewound, event("caller_said", text="Cancel it.")]
        state = self.state_before(3, stored)
        assert (state["node_id"], state["values"]) == ("1", {})
        assert [message["content"] for message in state["history"]] == ["Hello."]

    @pytest.mark.parametrize("number", [0, 3, -1])
    def test_no_such_turn(self, number: int) -> None:
        assert read_recorded_turn(CALL, number) is None


class TestTools:
    async def test_a_tool_gives_its_recorded_answer_and_is_not_called(
        self, client: AsyncClient, root: Root, workflow_id: int, make_run: MakeRun, models: FixedModels, org: OrgFixture
    ) -> None:
        made = await client.post(
            "/tools/",
            json={
                "name": "Book",
                "category": "http_api",
                "definition": {
                    "schema_version": 1,
                    "type": "http_api",
                    # Nothing listens there: a request would fail.
                    "config": {"method": "POST", "url": "https://192.0.2.1/book", "timeout_ms": 1000},
                },
            },
            headers=org.owner_headers,
        )
        assert made.status_code == 200, made.text
        nodes = [
            {**node, "data": {**node["data"], "tool_uuids": [made.json()["tool_uuid"]]}} for node in DEFINITION["nodes"]
        ]
        await change_definition(root, workflow_id, {**DEFINITION, "nodes": nodes})
        run = await make_run()
        start = DEFINITION["nodes"][0]["id"]
        happened = [
            ("node_entered", {"node_id": start, "name": "Start"}),
            ("caller_said", {"text": "Book me in."}),
            ("tool_called", {"id": "c1", "name": "book", "arguments": {}}),
            ("tool_answered", {"id": "c1", "name": "book", "ok": True, "result": {"slot": 4}}),
            ("agent_said", {"text": "Booked."}),
        ]
        async with root.db.transaction() as session:
            await event_queries.append_events(
                session,
                [
                    event_queries.NewEvent(run.id, kind, at, encode_event_data(data), run.created_at)
                    for at, (kind, data) in enumerate(happened)
                ],
            )
        models.llm.script = [calls("book"), says("You have slot four.")]
        found = (await replay(client, workflow_id, run.id, 1, org.owner_headers)).json()
        assert found["replayed"]["tools"] == [{"name": "book", "arguments": {}, "is_ok": True, "error": None}]
        assert models.llm.requests[-1].messages[-1].content == '{"slot": 4}'
        assert (found["recorded"]["answer"], found["replayed"]["answer"]) == ("Booked.", "You have slot four.")
