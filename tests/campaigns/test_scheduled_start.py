"""Campaigns that start by themselves: once, at their time, and only for those who may still start them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import CampaignServices, scheduled_starts
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.scheduled_starts import START_JOB, ScheduledStarts
from offhook.campaigns.tables import Attempt
from offhook.orgs.tables import ApiKey, AuditEntry, Member, Organization
from offhook.root import Root
from tests.campaigns.conftest import instant_sandbox
from tests.campaigns.desk import Desk
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture

Change = Callable[[AsyncSession, OrgFixture], Awaitable[Any]]
DIAL_JOBS = text("SELECT id FROM pgqueuer WHERE entrypoint = 'campaign.dial'")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def ahead(root: Root, **span: float) -> str:
    return (root.clock.now() + timedelta(**span)).isoformat()


@pytest.fixture
def member_desk(client: AsyncClient, org: OrgFixture, workflow_id: int) -> Desk:
    return Desk(client, org.headers_for("member"), workflow_id)


async def sweep(root: Root) -> None:
    await root.jobs.handlers[START_JOB]({})


async def read(root: Root, statement: Any) -> list[Any]:
    async with root.db.transaction() as session:
        return list((await session.execute(statement)).all())


async def events_of(client: AsyncClient, org: OrgFixture) -> list[dict[str, Any]]:
    answer = await client.get("/events", params={"after": 0}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


async def starts_in_log(root: Root) -> list[Any]:
    return await read(
        root, select(AuditEntry.actor_user_id, AuditEntry.data).where(AuditEntry.action == "campaign.started")
    )


class TestSetting:
    async def test_a_draft_is_created_with_a_start_and_keeps_it_until_it_is_cleared(
        self, root: Root, desk: Desk
    ) -> None:
        campaign = await desk.made(starts_at=ahead(root, days=59))
        path = f"/{campaign['id']}"
        assert (campaign["status"], campaign["start_problem"]) == ("draft", None)
        assert datetime.fromisoformat(campaign["starts_at"]) - root.clock.now() > timedelta(days=58)
        assert (await desk.ask("PATCH", path, json={"name": "Summer"})).json()["starts_at"] == campaign["starts_at"]
        zoned = (root.clock.now() + timedelta(hours=2)).replace(microsecond=0)
        changed = (await desk.ask("PATCH", path, json={"starts_at": zoned.isoformat()})).json()
        assert datetime.fromisoformat(changed["starts_at"]) == zoned
        assert (await desk.ask("PATCH", path, json={"starts_at": None})).json()["starts_at"] is None
        assert (await desk.get(path))["starts_at"] is None

    async def test_the_audit_log_says_who_set_which_time(self, root: Root, member_desk: Desk, org: OrgFixture) -> None:
        campaign = await member_desk.made()
        starts_at = ahead(root, hours=1)
        await member_desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": starts_at})
        [(actor, data)] = await read(
            root, select(AuditEntry.actor_user_id, AuditEntry.data).where(AuditEntry.action == "campaign.updated")
        )
        assert (actor, data) == (org.user_ids["member"], {"changed": ["starts_at"], "starts_at": starts_at})

    @pytest.mark.parametrize(
        ("span", "code"),
        [({"seconds": -1}, "start_in_past"), ({"days": 60, "minutes": 1}, "start_too_far_ahead")],
    )
    async def test_other_times_are_refused(self, root: Root, desk: Desk, span: dict[str, float], code: str) -> None:
        refused = await desk.create(starts_at=ahead(root, **span))
        assert (refused.status_code, refused.json()["code"], refused.json()["field"]) == (422, code, "starts_at")
        assert await desk.get("/") == []
        campaign = await desk.made()
        refused = await desk.ask("PATCH", f"/{campaign['id']}", json={"name": "New", "starts_at": ahead(root, **span)})
        assert (refused.status_code, refused.json()["code"]) == (422, code)
        assert (await desk.get(f"/{campaign['id']}"))["name"] == "Spring"

    @pytest.mark.parametrize(
        "wrong", ["soon", "2026-12-01", "2026-12-01T09:00", True, [], {}, "0001-01-01T00:00:00+14:00", 10**30]
    )
    async def test_bad_input(self, desk: Desk, wrong: object) -> None:
        assert (await desk.create(starts_at=wrong)).status_code == 422
        campaign = await desk.made()
        assert (await desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": wrong})).status_code == 422

    async def test_who_may(
        self, root: Root, desk: Desk, other_desk: Desk, client: AsyncClient, org: OrgFixture
    ) -> None:
        campaign = await desk.made()
        path, body = f"/campaign/{campaign['id']}", {"starts_at": ahead(root, hours=1)}
        assert (await client.patch(path, json=body)).status_code == 401
        assert (await client.patch(path, json=body, headers=org.headers_for("viewer"))).status_code == 403
        assert (await other_desk.ask("PATCH", f"/{campaign['id']}", json=body)).status_code == 404
        async with root.db.transaction() as session:
            await session.execute(update(ApiKey).where(ApiKey.id == org.key_id).values(scopes=["read", "manage"]))
        refused = await desk.ask("PATCH", f"/{campaign['id']}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "api_key_scope_missing")
        assert (await desk.create(starts_at=body["starts_at"])).status_code == 403
        assert (await desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": None})).status_code == 200
        assert (await desk.get(f"/{campaign['id']}"))["starts_at"] is None

    async def test_only_of_drafts(self, root: Root, desk: Desk) -> None:
        campaign = await desk.made(starts_at=ahead(root, hours=1))
        started = (await desk.ask("POST", f"/{campaign['id']}/start")).json()
        assert (started["status"], started["starts_at"]) == ("running", None)
        for starts_at in (ahead(root, hours=1), None):
            refused = await desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": starts_at})
            assert (refused.status_code, refused.json()["code"]) == (409, "campaign_not_schedulable")

    async def test_a_redial_has_none(self, root: Root, desk: Desk) -> None:
        campaign = await desk.made(starts_at=ahead(root, hours=1))
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE campaigns SET status = 'failed'"))
            await session.execute(text("UPDATE campaign_contacts SET state = 'done', outcome = 'busy'"))
        again = await desk.ask("POST", f"/{campaign['id']}/redial", json={"redial_statuses": ["busy"]})
        assert (again.status_code, again.json()["starts_at"]) == (200, None)


class TestStarting:
    async def test_at_its_time_and_not_before(
        self, root: Root, member_desk: Desk, shifted_clock: ShiftedClock, client: AsyncClient, org: OrgFixture
    ) -> None:
        starts_at = ahead(root, minutes=30)
        campaign = await member_desk.made(starts_at=starts_at)
        path = f"/{campaign['id']}"
        shifted_clock.advance(minutes=29)
        await sweep(root)
        assert (await member_desk.get(path))["status"] == "draft"
        shifted_clock.advance(minutes=2)
        await sweep(root)
        started = await member_desk.get(path)
        assert (started["status"], started["starts_at"], started["start_problem"]) == ("running", None, None)
        assert started["started_at"] is not None
        assert await read(root, DIAL_JOBS) != []
        data = {"by": "schedule", "starts_at": starts_at, "set_by_user_id": org.user_ids["member"]}
        assert await starts_in_log(root) == [(None, data | {"set_by_key_id": None})]
        [event] = await events_of(client, org)
        assert (event["type"], event["data"]["status"]) == ("campaign.status_changed", "running")

    async def test_twice_at_once_is_once(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock, client: AsyncClient, org: OrgFixture
    ) -> None:
        for _ in range(3):
            await desk.made(starts_at=ahead(root, minutes=1))
        shifted_clock.advance(minutes=2)
        await asyncio.gather(*(sweep(root) for _ in range(4)))
        await sweep(root)
        assert len(await starts_in_log(root)) == 3
        assert len(await events_of(client, org)) == 3

    async def test_a_worker_that_dies_in_the_middle_has_started_nothing(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign = await desk.made(starts_at=ahead(root, minutes=1))
        shifted_clock.advance(minutes=2)

        async def die(*_: object) -> None:
            raise asyncio.CancelledError

        with monkeypatch.context() as patched:
            patched.setattr(scheduled_starts, "write_audit_entry", die)
            with pytest.raises(asyncio.CancelledError):
                await sweep(root)
        assert (await desk.get(f"/{campaign['id']}"))["status"] == "draft"
        await sweep(root)
        assert (await desk.get(f"/{campaign['id']}"))["status"] == "running"
        assert len(await starts_in_log(root)) == 1

    async def test_a_worker_that_dies_after_it_leaves_a_started_campaign(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock
    ) -> None:
        campaign = await desk.made(starts_at=ahead(root, minutes=1))
        shifted_clock.advance(minutes=2)

        async def die(_: CampaignStatusChanged) -> None:
            raise asyncio.CancelledError

        root.events.subscribe(CampaignStatusChanged, die)
        with pytest.raises(asyncio.CancelledError):
            await sweep(root)
        await sweep(root)
        assert (await desk.get(f"/{campaign['id']}"))["status"] == "running"
        assert len(await starts_in_log(root)) == 1
        assert await read(root, DIAL_JOBS) != []

    async def test_one_that_fails_keeps_no_other_one_waiting(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken, sound = [await desk.made(starts_at=ahead(root, minutes=1)) for _ in range(2)]
        shifted_clock.advance(minutes=2)
        start = ScheduledStarts._start

        async def fail_first(self: ScheduledStarts, due: Any) -> None:
            if due.campaign_id == broken["id"]:
                raise RuntimeError("broken")
            await start(self, due)

        monkeypatch.setattr(ScheduledStarts, "_start", fail_first)
        with pytest.raises(RuntimeError):
            await sweep(root)
        assert (await desk.get(f"/{sound['id']}"))["status"] == "running"

    async def test_before_its_hours_it_runs_and_waits_for_them(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock, org: OrgFixture
    ) -> None:
        await instant_sandbox(root, org.id)
        day = WEEKDAYS[(root.clock.now().astimezone(UTC).weekday() + 3) % 7]
        hours = {"timezone": "UTC", "slots": [{"day": day, "start": "09:00", "end": "17:00"}]}
        campaign = await desk.made(starts_at=ahead(root, minutes=1), calling_hours=hours)
        shifted_clock.advance(minutes=2)
        await sweep(root)
        await root.get(CampaignServices).engine.run_dial_pass(org.id)
        waiting = await desk.get(f"/{campaign['id']}")
        assert (waiting["status"], waiting["next_open_at"] is not None) == ("running", True)
        assert await read(root, select(func.count()).select_from(Attempt)) == [(0,)]

    async def test_a_time_that_was_moved_or_called_off_is_not_used(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock
    ) -> None:
        moved, called_off = [await desk.made(starts_at=ahead(root, minutes=1)) for _ in range(2)]
        await desk.ask("PATCH", f"/{moved['id']}", json={"starts_at": ahead(root, minutes=9)})
        await desk.ask("PATCH", f"/{called_off['id']}", json={"starts_at": None})
        shifted_clock.advance(minutes=2)
        await sweep(root)
        assert {campaign["status"] for campaign in await desk.get("/")} == {"draft"}


async def remove_member(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(delete(Member).where(Member.user_id == org.user_ids["member"]))


async def demote_member(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(update(Member).where(Member.user_id == org.user_ids["member"]).values(role="viewer"))


async def close_organization(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(update(Organization).where(Organization.id == org.id).values(closed_at=func.now()))


async def archive_key(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(update(ApiKey).where(ApiKey.id == org.key_id).values(archived_at=func.now()))


async def expire_key(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(update(ApiKey).where(ApiKey.id == org.key_id).values(expires_at=func.now()))


async def narrow_key(session: AsyncSession, org: OrgFixture) -> None:
    await session.execute(update(ApiKey).where(ApiKey.id == org.key_id).values(scopes=["read", "manage"]))


class TestNotStarting:
    @pytest.mark.parametrize(
        ("role", "change"),
        [
            ("member", remove_member),
            ("member", demote_member),
            ("member", close_organization),
            ("key", archive_key),
            ("key", expire_key),
            ("key", narrow_key),
        ],
    )
    async def test_without_the_right_to_it(
        self, root: Root, org: OrgFixture, client: AsyncClient, workflow_id: int, shifted_clock: ShiftedClock,
        role: str, change: Change,
    ) -> None:  # fmt: skip
        setter = Desk(client, org.key_headers if role == "key" else org.headers_for(role), workflow_id)
        campaign = await setter.made(starts_at=ahead(root, minutes=1))
        async with root.db.transaction() as session:
            await change(session, org)
        shifted_clock.advance(minutes=2)
        await sweep(root)
        query = text("SELECT status, start_problem, starts_at IS NULL FROM campaigns WHERE id = :id")
        [(status, problem, is_cleared)] = await read(root, query.bindparams(id=campaign["id"]))
        assert (status, problem[:12], is_cleared) == ("draft", "access_lost:", False)
        assert await starts_in_log(root) == []

    async def test_more_than_a_day_late(
        self, root: Root, desk: Desk, shifted_clock: ShiftedClock, client: AsyncClient, org: OrgFixture
    ) -> None:
        late, in_time = (
            await desk.made(starts_at=ahead(root, minutes=1)),
            await desk.made(starts_at=ahead(root, days=1)),
        )
        shifted_clock.advance(minutes=24 * 60 + 2)
        await sweep(root)
        await sweep(root)
        left = await desk.get(f"/{late['id']}")
        assert (left["status"], left["starts_at"]) == ("draft", late["starts_at"])
        assert left["start_problem"].startswith("overdue: ")
        assert (await desk.get(f"/{in_time['id']}"))["status"] == "running"
        told = [event["data"] for event in await events_of(client, org) if event["type"] == "campaign.not_started"]
        assert [(one["campaign_id"], one["status"]) for one in told] == [(late["id"], "draft")]
        assert told[0]["reason"] == left["start_problem"]
        assert datetime.fromisoformat(told[0]["starts_at"]) == datetime.fromisoformat(late["starts_at"])

    async def test_another_time_gets_another_try(self, root: Root, desk: Desk, shifted_clock: ShiftedClock) -> None:
        campaign = await desk.made(starts_at=ahead(root, minutes=1))
        shifted_clock.advance(minutes=24 * 60 + 2)
        await sweep(root)
        again = await desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": ahead(root, minutes=1)})
        assert (again.status_code, again.json()["start_problem"]) == (200, None)
        shifted_clock.advance(minutes=2)
        await sweep(root)
        assert (await desk.get(f"/{campaign['id']}"))["status"] == "running"

    async def test_a_click_starts_it_anyway(self, root: Root, desk: Desk, shifted_clock: ShiftedClock) -> None:
        campaign = await desk.made(starts_at=ahead(root, minutes=1))
        shifted_clock.advance(minutes=24 * 60 + 2)
        await sweep(root)
        started = (await desk.ask("POST", f"/{campaign['id']}/start")).json()
        assert (started["status"], started["starts_at"], started["start_problem"]) == ("running", None, None)
