"""A process whose machine's clock is ten minutes behind writes the installation's time wherever others compare it."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from offhook.root import Root
from offhook.runs import service
from offhook.runs.live import media_tokens
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.records.placement import CallPlacement
from offhook.runs.tables import MediaToken, Run, RunEvent
from offhook.telephony import CallReports
from offhook.telephony.ports import StatusUpdate
from offhook.voice.events import VoiceEvent
from tests.fakes.clock import ShiftedClock
from tests.runs.conftest import MakeRun

SECONDS = timedelta(seconds=60)


@pytest.fixture(autouse=True)
def behind(root: Root, shifted_clock: ShiftedClock) -> None:
    shifted_clock.advance(minutes=10)


async def test_tokens_of_its_calls_open_sockets_elsewhere(root: Root, run: Run, shifted_clock: ShiftedClock) -> None:
    async with root.db.transaction() as session:
        token = await media_tokens.issue_token(session, run)
        (stored,) = await session.scalars(select(MediaToken).where(MediaToken.run_id == run.id))
    left = stored.expires_at - shifted_clock.now()
    assert SECONDS < left <= timedelta(seconds=media_tokens.TOKEN_TTL_S), "another machine would refuse it"
    async with root.db.transaction() as session:
        assert (await media_tokens.claim_token(session, token, run_id=run.id, mode=run.mode)).id == run.id


async def test_a_dial_is_sought_at_the_time_it_was_placed(
    root: Root, make_run: MakeRun, shifted_clock: ShiftedClock
) -> None:
    run = await make_run()
    async with root.db.transaction() as session:
        taken = await service.take_for_dialing(
            session,
            run.organization_id,
            run.id,
            to_number="+12025550123",
            from_number="+12025550100",
            context={},
            placement=CallPlacement(placed_by="request", checked_at=shifted_clock.now()),
        )
    assert taken is not None
    assert taken.started_at is not None
    assert abs(taken.started_at - shifted_clock.now()) < SECONDS, (
        "the carrier's list would be read from another time on"
    )


async def test_calls_are_as_long_as_they_were(root: Root, run: Run, shifted_clock: ShiftedClock) -> None:
    reports = root.get(CallReports)
    for status in ("in_progress", "completed"):
        await reports.report_status(run.organization_id, run.id, StatusUpdate(status))
    async with root.db.transaction() as session:
        ended = await service.get_run(session, run.organization_id, run.id)
        events = list(await session.scalars(select(RunEvent).where(RunEvent.run_id == run.id)))
    assert ended.answered_at is not None
    assert ended.ended_at is not None
    for moment in (ended.answered_at, ended.ended_at, *(event.created_at for event in events)):
        assert abs(moment - shifted_clock.now()) < SECONDS, "another machine's time begins or ends the call"


async def test_its_events_follow_those_of_a_machine_that_had_the_call_before(
    root: Root, run: Run, shifted_clock: ShiftedClock
) -> None:
    writer = EventWriter(root.db, clock=root.clock)
    writer.create_sink(run.id).emit(VoiceEvent("agent_said", 1.0, {"text": "Hello."}))
    assert await writer.flush(10.0)
    async with root.db.transaction() as session:
        (event,) = await session.scalars(select(RunEvent).where(RunEvent.run_id == run.id))
    assert abs(event.created_at - shifted_clock.now()) < SECONDS
