"""Search over transcripts: what is found, by whom, and what is refused."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs import service
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.tables import Run
from offhook.voice.events import AGENT_SAID, CALLER_SAID, VoiceEvent
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun

PATH = "/organizations/usage/runs"


async def hold_call(root: Root, run: Run, said: str, answer: str = "Thank you.") -> Run:
    """A finished call in which the caller said this."""
    sink = EventWriter(root.db).create_sink(run.id)
    sink.emit(VoiceEvent(CALLER_SAID, 1.0, {"text": said, "start_s": 0.2, "end_s": 1.0}))
    sink.emit(VoiceEvent(AGENT_SAID, 2.0, {"text": answer, "start_s": 1.2, "end_s": 2.0}))
    assert await sink._writer.flush()
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "in_progress")
        await service.apply_status(session, run.organization_id, run.id, "completed")
    return run


async def find(client: AsyncClient, org: OrgFixture, search: str, **more: Any) -> list[int]:
    answer = await client.get(PATH, params={"search": search, **more}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["total"] >= len(found["items"])
    return [item["id"] for item in found["items"]]


async def test_words_phrases_alternatives_and_what_must_be_missing(
    client: AsyncClient, make_run: MakeRun, org: OrgFixture, root: Root
) -> None:
    tooth = await hold_call(root, await make_run(), "My Tooth hurts, can I come on Friday?")
    order = await hold_call(root, await make_run(), "Where is my order?", answer="It arrives on Friday.")
    assert await find(client, org, "friday") == [order.id, tooth.id]
    assert await find(client, org, "friday -order") == [tooth.id]
    assert await find(client, org, '"on friday"') == [order.id, tooth.id]
    assert await find(client, org, '"friday on"') == []
    assert await find(client, org, "tooth or order") == [order.id, tooth.id]
    assert await find(client, org, "tooth order") == []
    assert await find(client, org, "friday", workflow_id=tooth.workflow_id, limit=1) == [order.id]


async def test_a_call_in_progress_is_found_when_it_is_over(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root
) -> None:
    assert await find(client, org, "friday") == []
    await hold_call(root, run, "On Friday, please.")
    assert await find(client, org, "friday") == [run.id]


async def test_another_organization_finds_nothing(
    client: AsyncClient, run: Run, org: OrgFixture, other_org: OrgFixture, root: Root
) -> None:
    await hold_call(root, run, "On Friday, please.")
    assert await find(client, other_org, "friday") == []
    assert await find(client, other_org, f"organization/{org.id}") == []
    assert await find(client, other_org, f"friday or organization/{org.id}") == []


async def test_anonymous(client: AsyncClient) -> None:
    assert (await client.get(PATH, params={"search": "friday"})).status_code == 401


async def test_bad_input(client: AsyncClient, org: OrgFixture) -> None:
    answer = await client.get(PATH, params={"search": "x" * 201}, headers=org.owner_headers)
    assert answer.status_code == 422


@pytest.mark.parametrize("search", ["'", '"', "&|!()", "\\", "-", "%", "<->", "a:*", "  "])
async def test_signs_are_words_or_nothing(client: AsyncClient, run: Run, org: OrgFixture, search: str) -> None:
    assert await find(client, org, search) in ([], [run.id])


async def test_the_list_says_why_and_where_a_call_ended(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root
) -> None:
    async with root.db.transaction() as session:
        stored = await service.get_run(session, org.id, run.id)
        stored.gathered_context = {"nodes_visited": ["Greeting", "Goodbye"]}
        stored.latency = {"p50_ms": 640}
        await service.apply_status(session, org.id, run.id, "failed", end_reason="media_lost")
    (item,) = (await client.get(PATH, headers=org.owner_headers)).json()["items"]
    assert (item["last_step"], item["answer_ms"], item["end_reason"]) == ("Goodbye", 640, "media_lost")
