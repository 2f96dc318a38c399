"""How long calls are kept: who sets it, and what is left when the time has come."""

from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, update

from offhook.campaigns import CampaignServices
from offhook.kit.files.file_store import StorageUnavailable
from offhook.privacy.retention import sweep as retention_sweep
from offhook.privacy.retention.sweep import RETENTION_JOB, RetentionSweep
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.recording_files.wav import wav_header
from offhook.runs.records import transcript_queries
from offhook.runs.tables import Run, RunEvent, RunText
from offhook.scenarios.services import ScenarioServices
from offhook.voice.events import CALLER_SAID, NODE_ENTERED, VoiceEvent
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun

PATH = "/organizations/retention"
KEEP: dict[str, Any] = {"recordings_days": None, "transcripts_days": None, "runs_days": None}
DAY = timedelta(days=1)


async def set_days(client: AsyncClient, org: OrgFixture, **days: int) -> None:
    saved = await client.put(PATH, json=KEEP | days, headers=org.key_headers)
    assert saved.status_code == 200, saved.text


async def sweep(root: Root, batch: int = 2) -> None:
    eraser = root.get(CampaignServices).eraser
    scenarios, runs = root.get(ScenarioServices), root.get(RunServices)
    answers = scenarios.answers.store
    await RetentionSweep(
        root.db, root.clock, runs.eraser, eraser, scenarios.recordings, runs.partitions, answers, batch=batch
    ).sweep({})


async def talk(root: Root, run: Run, *, age_days: float, is_over: bool = True) -> Run:
    """Makes the run one of some days ago, with a recording and words."""
    writer = EventWriter(root.db)
    sink = writer.create_sink(run.id)
    sink.emit(VoiceEvent(NODE_ENTERED, 0.1, {"node_id": "start", "name": "Start", "kind": "start"}))
    sink.emit(VoiceEvent(CALLER_SAID, 0.5, {"text": "My name is Ann."}))
    await writer.flush()
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    path = root.storage.path_for(key)
    path.write_bytes(wav_header(8000, 2, 8) + bytes(8))
    async with root.db.transaction() as session:
        if is_over:
            await service.apply_status(session, run.organization_id, run.id, "completed", outcome="answered")
        await transcript_queries.index_transcripts(session, run.organization_id, [run.id])
        created_at = root.clock.now() - DAY * age_days
        await session.execute(
            update(Run)
            .where(Run.id == run.id)
            .values(created_at=created_at, recording_key=key, gathered_context={"name": "Ann"})
        )
    return run


async def left(root: Root, run: Run) -> tuple[str, ...]:
    """What there still is of the run."""
    async with root.db.transaction() as session:
        row = await session.get(Run, run.id)
        types = set(await session.scalars(select(RunEvent.type).where(RunEvent.run_id == run.id)))
        words = await session.get(RunText, run.id)
    has_file = root.storage.path_for(f"recordings/{run.organization_id}/{run.id}.wav").exists()
    assert (row is not None and row.recording_key is not None) == has_file
    assert (CALLER_SAID in types) == (words is not None)
    assert row is None or (row.gathered_context == {}) == (words is None)
    present = {"run": row is not None, "facts": NODE_ENTERED in types, "words": bool(words), "recording": has_file}
    return tuple(name for name, is_there in present.items() if is_there)


@pytest.mark.parametrize(
    ("days", "old"),
    [
        ({}, ("run", "facts", "words", "recording")),
        ({"recordings_days": 30}, ("run", "facts", "words")),
        ({"transcripts_days": 30}, ("run", "facts", "recording")),
        ({"recordings_days": 30, "transcripts_days": 20}, ("run", "facts")),
        ({"runs_days": 30}, ()),
    ],
)
async def test_what_is_left_of_a_call(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture, days: dict[str, int], old: tuple[str, ...]
) -> None:
    before = [await talk(root, await make_run(), age_days=31) for _ in range(5)]
    after = await talk(root, await make_run(), age_days=19)
    await set_days(client, org, **days)
    for _ in range(2):
        await sweep(root)
        assert [await left(root, run) for run in before] == [old] * 5
        assert await left(root, after) == ("run", "facts", "words", "recording")


@pytest.mark.parametrize("error", [StorageUnavailable(), RuntimeError("a recording of a strange form")])
async def test_what_cannot_be_deleted_keeps_nothing_else(
    client: AsyncClient,
    root: Root,
    make_run: MakeRun,
    org: OrgFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """A bucket that was away, or one recording, ended the sweep of all organizations behind it."""

    async def refuse(_key: str) -> None:
        raise error

    run = await talk(root, await make_run(), age_days=31)
    await set_days(client, org, recordings_days=30, transcripts_days=30)
    with monkeypatch.context() as away:
        away.setattr(root.storage, "delete", refuse)
        await sweep(root)
        assert await left(root, run) == ("run", "facts", "recording")
    await sweep(root)
    assert await left(root, run) == ("run", "facts")


async def test_when_everything_fails_the_job_does(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_key: str) -> None:
        raise StorageUnavailable

    await talk(root, await make_run(), age_days=31)
    await set_days(client, org, recordings_days=30)
    monkeypatch.setattr(root.storage, "delete", refuse)
    monkeypatch.setattr(retention_sweep, "MAX_FAILURES", 1)
    with pytest.raises(StorageUnavailable):
        await sweep(root)


async def test_one_organization_keeps_no_other_from_its_sweep(
    client: AsyncClient,
    root: Root,
    make_run: MakeRun,
    org: OrgFixture,
    other_org: OrgFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many of its agents have periods of their own."""
    swept = []

    async def fail_for_one(_sweep: RetentionSweep, period: retention_sweep._RunPeriod) -> None:
        if period.organization_id == org.id:
            raise StorageUnavailable
        swept.append(period.kind)

    await set_days(client, org, runs_days=30, recordings_days=30, transcripts_days=30)
    await set_days(client, other_org, transcripts_days=30)
    monkeypatch.setattr(retention_sweep, "MAX_FAILURES", 2)
    monkeypatch.setattr(RetentionSweep, "_sweep_period", fail_for_one)
    await sweep(root)
    assert swept == ["transcripts"]


async def test_time_passes(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture, shifted_clock: ShiftedClock
) -> None:
    run = await talk(root, await make_run(), age_days=0)
    await set_days(client, org, recordings_days=7, runs_days=30)
    for days, there in ((0, True), (6.9, True), (7.1, False)):
        shifted_clock.advance(minutes=days * 1440)
        await root.jobs.handlers[RETENTION_JOB]({})
        assert ("recording" in await left(root, run)) == there, days
        shifted_clock.advance(minutes=-days * 1440)
    state = (await client.get(PATH, headers=org.key_headers)).json()
    assert state["recordings_swept_until"] > state["runs_swept_until"]
    assert state["transcripts_swept_until"] is None
    shifted_clock.advance(minutes=31 * 1440)
    await sweep(root)
    assert await left(root, run) == ()


async def test_a_live_run_holds_the_sweep_until_it_is_over(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture
) -> None:
    older, live, younger = [await talk(root, await make_run(), age_days=age, is_over=age != 39) for age in (40, 39, 38)]
    await set_days(client, org, runs_days=30)
    await sweep(root)
    assert [bool(await left(root, run)) for run in (older, live, younger)] == [False, True, True]
    async with root.db.transaction() as session:
        await service.apply_status(session, org.id, live.id, "completed")
    await sweep(root)
    assert [bool(await left(root, run)) for run in (live, younger)] == [False, False]


async def test_runs_of_one_moment_and_shorter_periods(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture
) -> None:
    runs = [await talk(root, await make_run(), age_days=10) for _ in range(5)]
    moment = root.clock.now() - 10 * DAY
    async with root.db.transaction() as session:
        await session.execute(update(Run).values(created_at=moment))
    for days in (20, 5):
        await set_days(client, org, transcripts_days=days)
        await sweep(root)
        assert {"words" in await left(root, run) for run in runs} == {days == 20}


async def test_other_organizations_keep_theirs(
    client: AsyncClient, root: Root, make_run: MakeRun, other_org: OrgFixture
) -> None:
    run = await talk(root, await make_run(), age_days=100)
    await set_days(client, other_org, runs_days=1, recordings_days=1, transcripts_days=1)
    await sweep(root)
    assert await left(root, run) == ("run", "facts", "words", "recording")
    assert (await client.get(PATH, headers=other_org.key_headers)).json()["runs_days"] == 1


async def test_who_may_and_bad_input(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    assert (await client.get(PATH)).status_code == 401
    assert (await client.put(PATH, json=KEEP)).status_code == 401
    for role in ("viewer", "member"):
        assert (await client.put(PATH, json=KEEP, headers=org.headers_for(role))).status_code == 403
        assert (await client.get(PATH, headers=org.headers_for(role))).status_code == 200
    bad: list[dict[str, object]] = [{"runs_days": value} for value in (0, -1, 3651, 1.5, True, "x")]
    bad += [
        {"contacts_days": 0},
        {"contacts_days": "x"},
        {"audit_days": 89},
        {"audit_days": True},
        {"audit_days": 3651},
    ]
    for body in (*(KEEP | one for one in bad), {"runs_days": 3}):
        assert (await client.put(PATH, json=body, headers=org.owner_headers)).status_code == 422, body
    await set_days(client, org, runs_days=3650)
    assert (await client.get(PATH, headers=other_org.owner_headers)).json()["runs_days"] is None
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    (entry,) = [entry for entry in log if entry["action"] == "retention.changed"]
    assert entry["data"] == KEEP | {"runs_days": 3650, "contacts_days": None, "audit_days": None}
    # without the fields they stay
    await set_days(client, org, contacts_days=30, audit_days=90)
    await set_days(client, org, runs_days=10)
    state = (await client.get(PATH, headers=org.owner_headers)).json()
    assert (state["runs_days"], state["contacts_days"], state["audit_days"]) == (10, 30, 90)
