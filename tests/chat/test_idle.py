"""A chat in which nobody writes ends after the time that its workflow sets."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import update

from offhook.root import Root
from offhook.runs import RunFinished, RunServices
from offhook.runs.chats import chat_store
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels
from tests.fakes.clock import SetClock
from tests.fixtures_orgs import OrgFixture


class Chat:
    """One chat over HTTP, and the sweeper and the clock of its server."""

    def __init__(self, client: AsyncClient, path: str, org: OrgFixture, root: Root, clock: SetClock) -> None:
        self._client = client
        self._path = path
        self._headers = org.owner_headers
        self._clock = clock
        self._sweeper = RunSweeper(
            db=root.db,
            storage=root.storage,
            spool=RecordingSpool(root.db, root.get(RunServices).vault),
            events=root.events,
            clock=clock,
            lease_s=15,
            grace_s=5,
        )
        self.id = 0
        self.finished: list[RunFinished] = []
        root.events.subscribe(RunFinished, self._keep)

    async def _keep(self, event: RunFinished) -> None:
        self.finished.append(event)

    async def begin(self) -> None:
        made = await self._client.post(self._path, json={}, headers=self._headers)
        assert made.status_code == 200, made.text
        self.id = made.json()["id"]
        self._path += f"/{self.id}"

    async def say(self, text: str) -> int:
        return (await self._post("messages", {"text": text})).status_code

    async def rewind(self) -> int:
        return (await self._post("rewind", {"cursor_turn_id": None})).status_code

    async def _post(self, action: str, body: dict[str, Any]) -> Response:
        return await self._client.post(f"{self._path}/{action}", json=body, headers=self._headers)

    async def waits_until(self) -> str | None:
        """What the run says."""
        path = self._path.replace("/text-chat/sessions", "/runs")
        waits_until: str | None = (await self._client.get(path, headers=self._headers)).json()["waits_until"]
        return waits_until

    async def duration(self) -> float | None:
        path = self._path.replace("/text-chat/sessions", "/runs")
        duration: float | None = (await self._client.get(path, headers=self._headers)).json()["duration"]
        return duration

    async def after(self, seconds: float) -> tuple[str, str | None, str | None]:
        """How the chat stands when that much time has gone by and the sweeper has looked."""
        self._clock.advance(seconds)
        await self._sweeper.sweep()
        self._clock.advance(5)
        await self._sweeper.sweep()
        shown = (await self._client.get(self._path, headers=self._headers)).json()
        return shown["status"], shown["outcome"], shown["end_reason"]


LIVE = ("in_progress", None, None)
IDLE = ("completed", "answered", "idle")


@pytest.fixture
def shifted_clock() -> SetClock:
    """The clock of ``root``: it stands, so that only these tests move it."""
    return SetClock(datetime.now(UTC))


@pytest.fixture
async def chat(
    client: AsyncClient,
    workflow_id: int,
    models: FixedModels,
    org: OrgFixture,
    root: Root,
    shifted_clock: SetClock,
) -> Chat:
    return Chat(client, f"/workflow/{workflow_id}/text-chat/sessions", org, root, shifted_clock)


async def set_timeout(root: Root, workflow_id: int, seconds: Any) -> None:
    async with root.db.transaction() as session:
        await session.execute(
            update(WorkflowVersion)
            .where(WorkflowVersion.workflow_id == workflow_id)
            .values(configurations={"text_chat_inactivity_timeout_seconds": seconds})
        )


async def test_after_the_time_that_the_workflow_sets(chat: Chat, root: Root, workflow_id: int) -> None:
    await set_timeout(root, workflow_id, 90)
    await chat.begin()
    assert await chat.after(80) == LIVE
    assert await chat.say("When do you close?") == 200
    assert await chat.after(80) == LIVE, "the message began the time anew"
    assert await chat.rewind() == 200
    assert await chat.after(80) == LIVE, "so does going back"
    assert chat.finished == []
    assert await chat.after(10) == IDLE
    assert [(event.status, event.end_reason) for event in chat.finished] == [("completed", "idle")]
    assert await chat.say("Hello?") == 409


async def test_the_time_that_it_waited_does_not_count(chat: Chat) -> None:
    await chat.begin()
    assert await chat.after(20) == LIVE
    assert await chat.say("When do you close?") == 200
    assert await chat.after(1900) == IDLE
    duration = await chat.duration()
    assert duration is not None
    assert 20 <= duration < 60


@pytest.mark.parametrize("stored", [None, True, "90", -5])
async def test_after_half_an_hour_when_nothing_useful_is_set(
    chat: Chat, root: Root, workflow_id: int, stored: Any
) -> None:
    await set_timeout(root, workflow_id, stored)
    await chat.begin()
    assert await chat.after(1700) == LIVE
    assert await chat.after(110) == IDLE


async def test_a_change_counts_from_the_next_message_on(chat: Chat, root: Root, workflow_id: int) -> None:
    await chat.begin()
    await set_timeout(root, workflow_id, 60)
    assert await chat.after(600) == LIVE
    assert await chat.say("When do you close?") == 200
    assert await chat.after(70) == IDLE


async def test_nobody_is_idle_while_the_agent_thinks(chat: Chat, root: Root, workflow_id: int, org: OrgFixture) -> None:
    await set_timeout(root, workflow_id, 60)
    await chat.begin()
    async with root.db.transaction() as session:
        await chat_store.claim_chat(
            session, (org.id, workflow_id, chat.id), expected_revision=None, now=root.clock.now()
        )
    assert await chat.after(120) == LIVE
    assert await chat.after(30) == IDLE, "the process that was answering is gone"


async def test_the_run_says_until_when_it_waits(
    chat: Chat, root: Root, workflow_id: int, shifted_clock: SetClock
) -> None:
    await set_timeout(root, workflow_id, 90)
    await chat.begin()
    until = await chat.waits_until()
    assert until is not None
    assert datetime.fromisoformat(until) - shifted_clock.now() == timedelta(seconds=90)
    assert await chat.after(100) == IDLE
    assert await chat.waits_until() is None
