"""An owner deletes the organization: what ends at once, what the job deletes, and who cannot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from pydantic import SecretStr
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Campaign
from offhook.jobs.worker import run_until_empty
from offhook.kit.database.database import Database
from offhook.orgs import service
from offhook.orgs.errors import OrganizationClosed
from offhook.orgs.tables import Organization, User
from offhook.privacy import organization_deletion, superuser_queries
from offhook.privacy.organization_deletion import JOB
from offhook.privacy.organization_eraser import FOLDERS, NUMBER_TABLES, SWEEP_JOB, OrganizationEraser
from offhook.privacy.tables import OrganizationDeletion
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.records.deletion import RunEraser
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.telephony import TelephonyServices
from offhook.telephony.ports import CarrierFailed, CarrierRegistry
from offhook.telephony.tables import PhoneNumber
from tests.fakes.carrier import FakeCarrier
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture, borrow_session
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import enroll
from tests.privacy.every_table import count_rows, owned_tables, plant_rows
from tests.privacy.scan import find_in_files, find_in_tables
from tests.runs.conftest import MakeRun, MakeWorkflow

PATH = "/organizations/deletion"
OURS, THEIRS = "4152000007", "5552000008"


async def plant(root: Root, org: OrgFixture, mark: str) -> None:
    """A row in every table and a file in every folder of the organization."""
    async with root.db.transaction() as session:
        await plant_rows(session, org.id, org.user_ids["member"], mark)
    for folder in FOLDERS:
        path = root.storage.path_for(f"{folder}/{org.id}/{mark}.bin")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mark.encode())


async def settle(root: Root, org: OrgFixture) -> None:
    """What was planted is over: no call is in progress, no campaign runs, no number is being bought."""
    async with root.db.transaction() as session:
        for statement in (
            "UPDATE runs SET status = 'completed', lease_until = NULL WHERE organization_id = :id",
            "UPDATE campaigns SET status = 'completed' WHERE organization_id = :id",
            "UPDATE number_purchases SET state = 'done' WHERE organization_id = :id",
            "UPDATE ledger_entries SET kind = 'credit', amount_cents = 2500 WHERE organization_id = :id",
        ):
            await session.execute(text(statement), {"id": org.id})


async def close(client: AsyncClient, org: OrgFixture) -> Any:
    answer = await client.post(PATH, json={"name": org.name}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def receipt_of(root: Root, deletion_id: int) -> OrganizationDeletion:
    async with root.db.transaction() as session:
        return await session.get_one(OrganizationDeletion, deletion_id)


async def test_nothing_is_left_but_the_receipt(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    for one, mark in ((org, OURS), (other_org, THEIRS)):
        await plant(root, one, mark)
        await settle(root, one)
    async with root.db.transaction() as session:
        planted = await count_rows(session, org.id)
        theirs = await count_rows(session, other_org.id)
    assert planted.keys() == {table.name for table in owned_tables()}
    assert len(await find_in_tables(root)) > 60
    assert len(find_in_files(root)) == len(FOLDERS)

    closed = await close(client, org)
    await root.jobs.handlers[JOB]({"deletion_id": closed["deletion_id"]})

    async with root.db.transaction() as session:
        assert await count_rows(session, org.id) == {}
        assert await count_rows(session, other_org.id) == theirs
        assert await session.get(Organization, org.id) is None
        assert set(await session.scalars(select(User.id))) == set(other_org.user_ids.values())
    assert await find_in_tables(root) == {}
    assert find_in_files(root) == []
    receipt = await receipt_of(root, closed["deletion_id"])
    assert (receipt.state, receipt.step, receipt.requested_by) == ("done", None, org.user_ids["owner"])
    assert receipt.finished_at is not None
    # Who got in ended before the job counted.
    ended = {"members", "member_identities", "api_keys", "user_sessions", "sign_in_links", "sign_in_challenges"}
    ended |= {"identity_providers", "run_views"}
    assert receipt.counts == {name: count for name, count in planted.items() if name not in ended}
    (month,) = receipt.books or []
    assert (month["kind"], month["entries"], month["amount_cents"]) == ("credit", 1, 2500)
    assert (closed["members"], closed["accounts"], closed["ended_keys"]) == (4, 4, 1)
    await root.jobs.handlers[JOB]({"deletion_id": closed["deletion_id"]})
    async with root.db.transaction() as session:
        (listed,) = await organization_deletion.list_receipts(session)
    assert (listed["organization"], listed["state"], listed["counts"]) == (org.id, "done", receipt.counts)
    assert listed["finished_at"] == receipt.finished_at.isoformat(), "a repeated job changes nothing"


class DyingDatabase(Database):
    """Ends its process before a transaction, after so many of them."""

    def __init__(self, url: str, lives: int) -> None:
        super().__init__(url, pool_size=2)
        self.lives = lives

    @asynccontextmanager
    async def transaction(self, organization_id: int | None = None) -> AsyncIterator[AsyncSession]:
        self.lives -= 1
        if self.lives < 0:
            raise Killed
        async with super().transaction(organization_id) as session:
            yield session

    @asynccontextmanager
    async def without_time_limit(self) -> AsyncIterator[Database]:
        yield self


class Killed(Exception):
    """As ``kill -9`` ends a worker: what was committed stays, and nothing else."""


@pytest.mark.slow
async def test_a_killed_job_is_gone_on_with(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await plant(root, org, OURS)
    await settle(root, org)
    deletion_id = (await close(client, org))["deletion_id"]
    deaths, numbers = 0, root.get(TelephonyServices).managed_numbers
    while (await receipt_of(root, deletion_id)).state != "done":
        database = DyingDatabase(root.db.url, lives=3 + deaths)
        eraser = OrganizationEraser(
            database, root.storage, root.clock, RunEraser(database, root.storage, root.clock), numbers
        )
        try:
            await eraser.delete_organization(deletion_id)
        except Killed:
            deaths += 1
            # The sweep finds it, whatever became of the job of the dead worker.
            async with root.db.transaction() as session:
                assert [one.id for one in await superuser_queries.list_open_deletions(session)] == [deletion_id]
        await database.dispose()
    assert deaths > 10
    async with root.db.transaction() as session:
        assert await count_rows(session, org.id) == {}
    assert await find_in_tables(root) == {}
    assert find_in_files(root) == []
    counts = (await receipt_of(root, deletion_id)).counts
    assert counts is not None
    assert (counts["runs"], counts["run_events"], counts["campaign_contacts"]) == (1, 1, 1), "each is counted once"


async def test_it_is_closed_at_once(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    workflow_id = await make_workflow(org.id)
    invited = await client.post("/organizations/members", json={"email": "new@example.com"}, headers=org.owner_headers)
    bought = await client.post("/telephony/quick-connect", json={"mode": "new"}, headers=org.owner_headers)
    assert bought.status_code == 200, bought.text
    async with root.db.transaction() as session:
        await service.add_member(session, other_org.id, org.user_ids["admin"], "viewer")
    closed = await close(client, org)
    assert (closed["members"], closed["accounts"], closed["deleted_own_account"]) == (4, 3, True)
    for headers in (org.key_headers, *(org.headers_for(role) for role in ("owner", "admin", "viewer"))):
        assert (await client.get("/workflow/fetch", headers=headers)).status_code == 401
    token = {"token": invited.json()["token"]}
    assert (await client.post("/auth/invitations/look", json=token)).status_code == 401
    accepted = await client.post("/auth/invitations/accept", json={**token, "password": "a fine long phrase"})
    assert accepted.status_code == 401
    async with root.db.transaction() as session:
        users = set(await session.scalars(select(User.id)))
        assert users == {*other_org.user_ids.values(), org.user_ids["admin"]}, "who is elsewhere too stays"
        (number,) = await session.scalars(select(PhoneNumber))
        assert (number.is_active, number.inbound_workflow_id) == (False, None)
    for begin in (
        lambda session: runs.create_run(
            session,
            organization_id=org.id,
            workflow_id=workflow_id,
            mode="browser",
            direction="inbound",
            use_draft=False,
        ),
        lambda session: service.add_member(session, org.id, other_org.user_ids["owner"], "owner"),
        lambda session: service.create_key(session, organization_id=org.id, name="Mine"),
    ):
        with pytest.raises(OrganizationClosed):
            async with root.db.transaction() as session:
                await begin(session)
    # And then all of it: the number is back on sale.
    await root.jobs.handlers[JOB]({"deletion_id": closed["deletion_id"]})
    async with root.db.transaction() as session:
        assert await count_rows(session, org.id) == {}


class TestWhatStandsAgainstIt:
    async def test_who_may(self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture) -> None:
        borrowed = await borrow_session(root, org, other_org.user_ids["owner"])
        body = {"name": org.name}
        for headers, status in (
            ({}, 401),
            (org.key_headers, 403),
            (borrowed, 403),
            *((org.headers_for(role), 403) for role in ("admin", "member", "viewer")),
        ):
            assert (await client.get(PATH, headers=headers)).status_code == status
            assert (await client.post(PATH, json=body, headers=headers)).status_code == status
        elsewhere = await client.post(PATH, json=body, headers=other_org.owner_headers)
        assert (elsewhere.status_code, elsewhere.json()["code"]) == (422, "confirmation_wrong")
        async with root.db.transaction() as session:
            assert set(await session.scalars(select(Organization.closed_at))) == {None}

    @pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": None}, {"name": "acme"}, {"name": "Acme", "code": 7}])
    async def test_a_wrong_confirmation(self, client: AsyncClient, org: OrgFixture, body: Any) -> None:
        assert (await client.post(PATH, json=body, headers=org.owner_headers)).status_code == 422
        assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 200

    async def test_the_password_and_the_code(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        _, codes = await enroll(client, headers, root.clock)
        body = {"name": "Analytical", "current_password": PASSWORD}
        preview = (await client.get(PATH, headers=headers)).json()
        assert (preview["needs_password"], preview["needs_code"], preview["refusals"]) == (True, True, [])
        for wrong, code in (
            ({"current_password": "something else"}, "wrong_password"),
            ({"code": "000000"}, "wrong_code"),
        ):
            refused = await client.post(PATH, json={**body, **wrong}, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (403, code)
        done = await client.post(PATH, json={**body, "code": codes[0]}, headers=headers)
        assert (done.status_code, done.json()["deleted_own_account"]) == (200, True)
        assert (
            await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
        ).status_code == 401

    async def test_an_old_sign_in(self, client: AsyncClient, org: OrgFixture, shifted_clock: ShiftedClock) -> None:
        shifted_clock.advance(minutes=11)
        refused = await client.post(PATH, json={"name": org.name}, headers=org.owner_headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "fresh_sign_in_needed")
        assert (await client.get(PATH, headers=org.owner_headers)).json()["refusals"] == ["fresh_sign_in_needed"]

    async def test_what_is_under_way(
        self, client: AsyncClient, root: Root, org: OrgFixture, make_workflow: MakeWorkflow
    ) -> None:
        await make_workflow(org.id)
        async with root.db.transaction() as session:
            await plant_rows(session, org.id, org.user_ids["member"], OURS)
            await session.execute(update(Campaign).values(status="running"))
            await session.execute(update(User).where(User.id == org.user_ids["member"]).values(is_superuser=True))
        preview = (await client.get(PATH, headers=org.owner_headers)).json()
        assert preview["refusals"] == [
            "superuser_account",
            "organization_has_running_campaigns",
            "organization_has_live_calls",
        ]
        assert (preview["counts"]["runs"], preview["counts"]["agents"], preview["counts"]["members"]) == (1, 1, 4)
        for code, end in (
            ("organization_has_running_campaigns", update(Campaign).values(status="paused")),
            ("organization_has_live_calls", update(Run).values(status="completed", lease_until=None)),
            ("superuser_account", update(User).values(is_superuser=False)),
        ):
            refused = await client.post(PATH, json={"name": org.name}, headers=org.owner_headers)
            assert (refused.status_code, refused.json()["code"]) == (409, code)
            async with root.db.transaction() as session:
                await session.execute(end)
        await close(client, org)

    async def test_a_chat_that_waits_for_a_message_stands_in_no_ones_way(
        self, client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun, shifted_clock: ShiftedClock
    ) -> None:
        run, now = await make_run(), root.clock.now()
        claim = {"id": "c", "until": (now + timedelta(minutes=1)).isoformat()}
        chat = {"mode": "textchat", "status": "in_progress", "lease_until": now + timedelta(minutes=30)}
        async with root.db.transaction() as session:
            await session.execute(update(Run).values(**chat, chat_state={"claim": claim}))
        live = ["organization_has_live_calls"]
        assert (await client.get(PATH, headers=org.owner_headers)).json()["refusals"] == live, "it is being answered"
        async with root.db.transaction() as session:
            await session.execute(update(Run).values(chat_state={"claim": None}))
        assert (await client.get(PATH, headers=org.owner_headers)).json()["refusals"] == []
        deletion_id = (await close(client, org))["deletion_id"]
        await root.jobs.handlers[JOB]({"deletion_id": deletion_id})
        assert (await receipt_of(root, deletion_id)).step == "calls", "what it cost is counted first"
        for _ in range(2):
            shifted_clock.advance(minutes=1)
            await root.jobs.handlers["run.sweep"]({})
        async with root.db.transaction() as session:
            ended = await session.get_one(Run, run.id)
            assert (ended.status, ended.end_reason, ended.lease_until) == ("completed", "idle", None)
        await root.jobs.handlers[SWEEP_JOB]({})
        await run_until_empty(root.db, root.jobs)
        assert (await receipt_of(root, deletion_id)).state == "done"

    async def test_a_call_that_began_at_the_last_moment_is_waited_for(
        self, client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
    ) -> None:
        run = await make_run()
        async with root.db.transaction() as session:
            await session.execute(update(Run).values(status="completed"))
        deletion_id = (await close(client, org))["deletion_id"]
        async with root.db.transaction() as session:
            await session.execute(update(Run).values(status="in_progress"))
        await root.jobs.handlers[JOB]({"deletion_id": deletion_id})
        waiting = await receipt_of(root, deletion_id)
        assert (waiting.state, waiting.step) == ("waiting", "calls")
        async with root.db.transaction() as session:
            assert await session.get(Run, run.id) is not None
            await session.execute(update(Run).values(status="completed", lease_until=None))
        await root.jobs.handlers[SWEEP_JOB]({})
        await run_until_empty(root.db, root.jobs)
        assert (await receipt_of(root, deletion_id)).state == "done"

    async def test_of_two_owners_at_once_one_deletes(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        body = {"name": org.name}
        answers = await asyncio.gather(*(client.post(PATH, json=body, headers=org.owner_headers) for _ in range(2)))
        assert {answer.status_code for answer in answers} <= {200, 401, 404, 409}
        assert [answer.status_code for answer in answers].count(200) == 1
        async with root.db.transaction() as session:
            assert len((await session.scalars(select(OrganizationDeletion))).all()) == 1


class TestNumbersOfThePlatform:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        account = '{"account_sid": "AC1", "auth_token": "secret"}'
        return settings.model_copy(
            update={"platform_carrier": "twilio", "platform_carrier_account": SecretStr(account)}
        )

    async def test_they_go_back_to_the_carrier_and_are_waited_for(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        carrier = FakeCarrier()
        root.get(CarrierRegistry).add(carrier.spec("twilio"))
        for _ in range(2):
            bought = await client.post("/telephony/quick-connect", json={"mode": "new"}, headers=org.owner_headers)
            assert bought.status_code == 200, bought.text
            carrier.for_sale.pop(0)
        assert len(carrier.numbers) == 2
        carrier.refuses["release"] = CarrierFailed("timeout", "No answer.", retryable=True)
        deletion_id = (await close(client, org))["deletion_id"]
        await root.jobs.handlers[JOB]({"deletion_id": deletion_id})
        waiting = await receipt_of(root, deletion_id)
        assert (waiting.state, waiting.step, len(carrier.numbers)) == ("running", "numbers", 2)
        async with root.db.transaction() as session:
            assert set(await count_rows(session, org.id)) <= NUMBER_TABLES, "everything else is gone"
        carrier.refuses.clear()
        await root.jobs.handlers[JOB]({"deletion_id": deletion_id})
        assert ((await receipt_of(root, deletion_id)).state, carrier.numbers) == ("done", set())
        async with root.db.transaction() as session:
            assert await count_rows(session, org.id) == {}
