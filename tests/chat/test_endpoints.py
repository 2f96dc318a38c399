"""Text chats over HTTP: the same conversation in whichever process a message comes to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import text, update

from offhook.bootstrap import build_root
from offhook.kit.json_values import JsonObject
from offhook.root import Root
from offhook.runs import RunFinished
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.usage.repository import lock_credit
from offhook.workflows.tables import WorkflowVersion
from tests.applications import lend_application
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import Reply, says
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION, MakeRun
from tests.usage.test_enforcement import enforce

GREETING = "Hello, how may I help?"


@pytest.fixture
def path(workflow_id: int, models: FixedModels) -> str:
    return f"/workflow/{workflow_id}/text-chat/sessions"


@pytest.fixture
async def chat(client: AsyncClient, path: str, org: OrgFixture) -> dict[str, Any]:
    return (await client.post(path, json={}, headers=org.owner_headers)).json()  # type: ignore[no-any-return]


@pytest.fixture
async def other_server(settings: Settings, database_url: str) -> AsyncIterator[AsyncClient]:
    """A second server process on the same database, with models of its own."""
    second = build_root(settings, database_url)
    use_fakes(second, FixedModels([says("From the other server.")]))
    async with AsyncExitStack() as stack:
        app = stack.enter_context(lend_application(second))
        await stack.enter_async_context(app.router.lifespan_context(app))
        transport = ASGITransport(app=app, raise_app_exceptions=False)
        yield await stack.enter_async_context(AsyncClient(transport=transport, base_url="http://testserver/api/v1"))


def texts(chat: dict[str, Any]) -> list[tuple[str, str]]:
    return [(message["role"], message["text"]) for message in chat["messages"]]


async def say(client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture, text: str, **more: Any) -> Any:
    return await client.post(f"{path}/{chat['id']}/messages", json={"text": text, **more}, headers=org.owner_headers)


async def test_an_organization_that_waits_for_its_money_leaves_the_server_to_others(
    client: AsyncClient, path: str, workflow_id: int, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    async with root.db.transaction() as held:
        await lock_credit(held, org.id)
        runs = f"/workflow/{workflow_id}/runs"
        flood = [
            *(asyncio.create_task(client.post(path, json={}, headers=org.owner_headers)) for _ in range(20)),
            *(
                asyncio.create_task(client.post(runs, json={"mode": "browser"}, headers=org.key_headers))
                for _ in range(20)
            ),
        ]
        async with asyncio.timeout(20):
            for _ in range(5):
                answer = await client.get("/workflow/fetch", headers=other_org.owner_headers)
                assert answer.status_code == 200
        assert not any(one.done() for one in flood)
    assert {one.status_code for one in await asyncio.gather(*flood)} <= {200, 429}


async def test_without_credit_a_chat_can_only_end(
    client: AsyncClient, path: str, chat: dict[str, Any], root: Root, org: OrgFixture
) -> None:
    await enforce(root, org.id)
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM credit_holds"))
    refused = await say(client, path, chat, org, "Hello?")
    assert (refused.status_code, refused.json()["code"]) == (402, "out_of_credit")
    ended = await client.post(f"{path}/{chat['id']}/end", headers=org.owner_headers)
    assert ended.json()["status"] == "completed"


class TestWhoMayNot:
    async def test_anonymous(self, client: AsyncClient, path: str, chat: dict[str, Any]) -> None:
        one = f"{path}/{chat['id']}"
        for answer in (
            await client.post(path, json={}),
            await client.get(one),
            await client.post(f"{one}/messages", json={"text": "Hi"}),
            await client.post(f"{one}/end"),
        ):
            assert answer.status_code == 401

    async def test_other_organization_and_viewer(
        self, client: AsyncClient, path: str, chat: dict[str, Any], other_org: OrgFixture, org: OrgFixture
    ) -> None:
        one, viewer = f"{path}/{chat['id']}", org.headers_for("viewer")
        for headers, status in ((other_org.owner_headers, 404), (viewer, 403)):
            assert (await client.post(path, json={}, headers=headers)).status_code == status
            answer = await client.post(f"{one}/messages", json={"text": "Hi"}, headers=headers)
            assert answer.status_code == status
            assert (await client.post(f"{one}/end", headers=headers)).status_code == status
        assert (await client.get(one, headers=other_org.owner_headers)).status_code == 404
        assert (await client.get(one, headers=viewer)).status_code == 200

    @pytest.mark.parametrize(
        "body",
        [{}, {"text": ""}, {"text": "  "}, {"text": "x" * 4001}, {"text": 1}, {"text": "Hi", "expected_revision": -1},
         {"text": "Hi", "expected_revision": "x"}, {"text": "a\0b"}],
    )  # fmt: skip
    async def test_bad_input(
        self, client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture, body: Any
    ) -> None:
        answer = await client.post(f"{path}/{chat['id']}/messages", json=body, headers=org.owner_headers)
        assert answer.status_code == 422
        assert (await client.get(f"{path}/{chat['id']}", headers=org.owner_headers)).json()["revision"] == 1

    async def test_a_run_that_is_no_chat(
        self, client: AsyncClient, path: str, org: OrgFixture, make_run: MakeRun
    ) -> None:
        call = await make_run()
        assert (await client.get(f"{path}/{call.id}", headers=org.owner_headers)).status_code == 404


async def test_a_chat_from_hello_to_goodbye(
    client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture, root: Root
) -> None:
    published: list[RunFinished] = []

    async def keep(event: RunFinished) -> None:
        published.append(event)

    root.events.subscribe(RunFinished, keep)
    assert (chat["status"], chat["revision"], texts(chat)) == ("in_progress", 1, [("agent", GREETING)])
    second = (await say(client, path, chat, org, "When do you close?")).json()
    assert texts(second)[1:] == [("caller", "When do you close?"), ("agent", "We are open until six.")]
    third = (await say(client, path, chat, org, "Thank you, bye", expected_revision=2)).json()
    assert texts(third)[3:] == [("caller", "Thank you, bye"), ("agent", "Thank you, goodbye.")]
    assert (third["status"], third["outcome"], third["is_over"], third["revision"]) == (
        "completed", "answered", True, 3,
    )  # fmt: skip
    assert [event.run_id for event in published] == [chat["id"]]
    late = await say(client, path, chat, org, "Hello?")
    assert (late.status_code, late.json()["code"]) == (409, "chat_is_over")

    run = (await client.get(f"/workflow/{chat['workflow_id']}/runs/{chat['id']}", headers=org.owner_headers)).json()
    assert (run["mode"], run["recording_url"], run["end_reason"]) == ("textchat", None, "agent_ended")
    assert [(line["role"], line["text"]) for line in run["transcript"]] == texts(third)
    assert [event["seq"] for event in run["events"]] == list(range(1, len(run["events"]) + 1))
    assert run["gathered_context"]["nodes_visited"] == ["Greeting", "Goodbye"]
    told = (await client.get("/events", headers=org.owner_headers)).json()["events"]
    assert [(event["type"], event["data"]["run_id"]) for event in told] == [
        ("run.started", chat["id"]),
        ("run.completed", chat["id"]),
    ]


async def test_goes_on_in_another_process(
    client: AsyncClient, other_server: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture
) -> None:
    there = (await say(other_server, path, chat, org, "Hi", expected_revision=1)).json()
    assert texts(there) == [("agent", GREETING), ("caller", "Hi"), ("agent", "From the other server.")]
    here = (await client.get(f"{path}/{chat['id']}", headers=org.owner_headers)).json()
    assert here == there
    back = (await say(client, path, chat, org, "And here?", expected_revision=2)).json()
    assert texts(back)[3:] == [("caller", "And here?"), ("agent", "We are open until six.")]


async def test_a_stale_revision_is_refused_with_both(
    client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture
) -> None:
    await say(client, path, chat, org, "When do you close?")
    answer = await say(client, path, chat, org, "Again", expected_revision=1)
    assert (answer.status_code, answer.json()["code"]) == (409, "revision_conflict")
    detail = answer.json()["detail"]
    assert (detail["expected_revision"], detail["actual_revision"]) == (1, 2)


async def test_of_messages_that_come_together_one_is_answered(
    client: AsyncClient,
    other_server: AsyncClient,
    path: str,
    chat: dict[str, Any],
    org: OrgFixture,
    models: FixedModels,
) -> None:
    models.llm.script = [Reply("Slowly.", first_token_s=2)]
    answers = await asyncio.gather(
        *(say(server, path, chat, org, "Hi", expected_revision=1) for server in (client, other_server, client))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    final = (await client.get(f"{path}/{chat['id']}", headers=org.owner_headers)).json()
    assert (final["revision"], len(final["messages"]), final["is_answering"]) == (2, 3, False)


async def test_a_crash_in_the_middle_of_an_answer_frees_the_chat_in_time(
    client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture, root: Root
) -> None:
    abandoned: JsonObject = {"id": "dead", "until": "2020-01-01T00:00:00+00:00"}
    async with root.db.transaction() as session:
        run = await session.get(Run, chat["id"])
        assert run is not None
        run.chat_state = {**(run.chat_state or {}), "claim": abandoned | {"until": "2999-01-01T00:00:00+00:00"}}
    assert (await say(client, path, chat, org, "Hi")).status_code == 409
    async with root.db.transaction() as session:
        run = await session.get(Run, chat["id"])
        assert run is not None
        run.chat_state = {**(run.chat_state or {}), "claim": abandoned}
    assert (await say(client, path, chat, org, "Hi")).status_code == 200


async def test_ending_it(client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture) -> None:
    for _ in range(2):
        ended = await client.post(f"{path}/{chat['id']}/end", headers=org.owner_headers)
        assert ended.status_code == 200
        assert (ended.json()["status"], ended.json()["end_reason"]) == ("completed", "caller_hung_up")
        assert ended.json()["revision"] == 2


async def test_a_run_made_as_text_chat_begins_with_its_first_message(
    client: AsyncClient, path: str, org: OrgFixture, workflow_id: int
) -> None:
    run = (
        await client.post(f"/workflow/{workflow_id}/runs", json={"mode": "textchat"}, headers=org.owner_headers)
    ).json()
    chat = (await say(client, path, run, org, "When do you close?")).json()
    assert texts(chat)[0] == ("agent", GREETING)
    assert chat["status"] == "in_progress"


async def test_a_draft_that_lost_the_chats_node(
    client: AsyncClient, path: str, chat: dict[str, Any], org: OrgFixture, root: Root
) -> None:
    nodes = [{**DEFINITION["nodes"][0], "id": "another"}]
    async with root.db.transaction() as session:
        await session.execute(update(WorkflowVersion).values(definition={"nodes": nodes, "edges": []}))
    answer = await say(client, path, chat, org, "Hi")
    assert (answer.status_code, answer.json()["code"]) == (409, "workflow_changed")
    assert (await client.get(f"{path}/{chat['id']}", headers=org.owner_headers)).json()["is_answering"] is False


async def test_chats_take_no_call_slot_and_know_their_context(
    client: AsyncClient, path: str, org: OrgFixture, models: FixedModels
) -> None:
    made = [
        await client.post(
            path, json={"name": f"Chat {i}", "initial_context": {"first_name": "Ada"}}, headers=org.owner_headers
        )
        for i in range(12)
    ]
    assert [answer.status_code for answer in made] == [200] * 12
    assert made[3].json()["workflow_run_name"] == "Chat 3"


class TestFromAStep:
    async def test_begins_there_with_the_given_variables(
        self, client: AsyncClient, path: str, root: Root, workflow_id: int, org: OrgFixture
    ) -> None:
        nodes = [{**node, "data": {**node["data"]}} for node in DEFINITION["nodes"]]
        nodes[1]["data"]["say"] = "Goodbye, {{ first_name }}."
        async with root.db.transaction() as session:
            await session.execute(
                update(WorkflowVersion)
                .where(WorkflowVersion.workflow_id == workflow_id)
                .values(definition={**DEFINITION, "nodes": nodes})
            )
        body = {"start_node_id": "bye", "initial_context": {"first_name": "Ann"}}
        answer = await client.post(path, json=body, headers=org.owner_headers)
        assert answer.status_code == 200, answer.text
        assert texts(answer.json()) == [("agent", "Goodbye, Ann.")]
        assert answer.json()["is_over"]

    @pytest.mark.parametrize("step", ["nowhere", "", "a\0", 3])
    async def test_no_such_step(self, client: AsyncClient, path: str, org: OrgFixture, step: object) -> None:
        answer = await client.post(path, json={"start_node_id": step}, headers=org.owner_headers)
        assert answer.status_code == 422
        if step == "nowhere":
            assert (answer.json()["code"], answer.json()["field"]) == ("start_step_unknown", "start_node_id")
        listed = await client.get(path.replace("/text-chat/sessions", "/runs"), headers=org.owner_headers)
        assert listed.json()["total_count"] == 0
