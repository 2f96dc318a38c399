"""The simulator's database is PostgreSQL: random statements of two open transactions are answered alike and leave the same.

What the simulator proves of the engine holds for the real store only as far as the two agree, so that they are compared
statement by statement: answers, rows after each commit, and where one transaction waits for the other.
"""

from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.engine.ports import AcceptedCall, AttemptResult, ContactRefusal, OpenAttempt
from offhook.campaigns.engine.store import plan_from_row
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.states import StatusChange
from tests.campaigns.conftest import MakeCampaign
from tests.campaigns.sim.twin import TwinTx
from tests.campaigns.twins import Both, Statement, Twins, plain_route, without_call
from tests.fakes.clock import SetClock
from tests.fixtures_orgs import OrgFixture

SEEDS = 12
TURNS = 160
OUTCOMES = ["answered", "busy", "no_answer", "failed", "voicemail"]
# One statement after the other; each is sent the answer to the one before.
Script = AsyncGenerator[tuple[str, Statement], Any]


class Play:
    """Two scripts at a time, each in a transaction of its own, a statement of either at random."""

    def __init__(self, twins: Twins, organization_id: int, campaigns: list[Campaign]) -> None:
        self.twins = twins
        self.rng = twins.rng
        self.organization_id = organization_id
        self.plans = [plan_from_row(campaign) for campaign in campaigns]
        self.answers = self.waits = 0

    async def run(self, turns: int) -> None:
        open_ones: list[tuple[Script, Both, AsyncSession]] = []
        for _ in range(turns):
            self.twins.clock.advance(self.rng.choice([0.0, 0.4, 7.0]))
            if len(open_ones) < 2:
                session = AsyncSession(self.twins.root.db.engine, expire_on_commit=False)
                await session.execute(text("SET LOCAL lock_timeout = '15ms'"))
                open_ones.append((self.script(alone=not open_ones), self.twins.open(session), session))
            one = self.rng.choice(open_ones)
            if not await self.turn(*one):
                open_ones.remove(one)
                if not open_ones:
                    await self.twins.compare()
        for script, both, session in open_ones:
            both.twin.rollback()
            await session.close()
            await script.aclose()

    async def turn(self, script: Script, both: Both, session: AsyncSession) -> bool:
        """One statement; False when the transaction is over."""
        try:
            name, statement = await script.asend(both.last)
        except StopAsyncIteration:
            if self.rng.random() < 0.85:
                await session.commit()
                both.twin.commit()
            else:
                await session.rollback()
                both.twin.rollback()
            await session.close()
            return False
        both.last = await both.ask(name, statement)
        self.answers += 1
        if both.is_broken:
            self.waits += 1
            await session.rollback()
            await session.close()
            await script.aclose()
        return not both.is_broken

    def script(self, *, alone: bool) -> Script:
        """Those that charge runs or tell customers hold locks that are not the engine's: one of them at a time."""
        scripts: list[Callable[[], Script]] = [self.pass_, self.looking, self.settling, self.settling, self.tick]
        return self.rng.choice(scripts + ([self.report, self.report, self.status, self.refusal] if alone else []))()

    # what the engine does

    async def pass_(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now
        yield do("lock_slots", org)
        plans = yield do("lock_running_campaigns", org)
        yield do("slot_capacity", org)
        for plan in plans:
            yield do("remaining_work", plan)
            yield "route", self.route_of(plan)
            yield "account_calls", self.calls_of(plan)
            at = now()
            yield in_any_order("recent_outcomes", plan.id, at - timedelta(seconds=rng.choice([0, 5, 500])), 99)
            found = yield do("claim_contacts", plan.id, at, 3, ())
            contacts = [*found, *(yield do("claim_contacts", plan.id, at, 2, [one.id for one in found]))]
            refused = [self.refused(one.id) for one in contacts if rng.random() < 0.2]
            if refused:
                yield do("refuse_contacts", refused, at)
            chosen = [one for one in contacts if one.id not in {other.contact_id for other in refused}]
            if not chosen:
                continue
            yield do("take_tokens", org, "account", len(chosen), 3.0, at)
            until, check_at = at + timedelta(seconds=3), at + timedelta(seconds=rng.choice([4, 40]))
            ids = yield do("create_attempts", plan, chosen, now=at, may_dial_until=until, check_at=check_at)
            yield "place", self.place(plan, chosen, ids, until)
        yield do("schedule_dialing", org, None)

    async def looking(self) -> Script:
        """Claims beside another's, which holds no lock that would keep them apart: what is locked is skipped."""
        now = self.twins.clock.now()
        for plan in self.plans:
            found = yield do("claim_contacts", plan.id, now, self.rng.choice([1, 4]), ())
            if found:
                yield do("refuse_contacts", [self.refused(one.id) for one in found[:1]], now)

    async def settling(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now()
        ended = self.some_runs(4)
        dials: list[OpenAttempt] = yield do("lock_open_attempts", ended)
        yield do("load_run_states", ended)
        yield do("load_run_states", [(org + 1, run_id) for _, run_id in ended])
        if dials and rng.random() < 0.3:
            yield do("mark_placed", [AcceptedCall(dial.id, org, dial.run_id, f"C{dial.run_id}") for dial in dials], now)
        elif dials:
            yield do("finalize_attempts", [self.settled(dial, now) for dial in dials], now)
            # told twice: what is final stays as it is
            yield do("finalize_attempts", [self.settled(dial, now) for dial in dials], now)
        yield do("has_running_campaign", org)
        yield do("begin_pass", org)
        if rng.random() < 0.3:
            yield do("end_pass", org)
        yield do("schedule_dialing", org, now + timedelta(seconds=rng.choice([-1, 0.05, 3])))

    async def tick(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now()
        silent = yield in_any_order("find_stale_attempts", now, 100)
        yield do("list_running_organizations")
        yield do("count_placing_dials", org, rng.choice(self.plans).id)
        for one in silent[:2]:
            yield do("postpone_check", one.attempt_id, now + timedelta(seconds=9))
        yield do("cancel_pending_of_failed", now)

    # what others do, and what charges runs or tells customers

    async def report(self) -> Script:
        org, rng = self.organization_id, self.rng
        for _, run_id in self.some_runs(2):
            status = rng.choice(["ringing", "in_progress", "completed", "busy", "no_answer", "failed", "canceled"])
            yield f"{status} of {run_id}", apply_status(org, run_id, status, rng.choice([None, None, "voicemail"]))

    async def status(self) -> Script:
        plan, now = self.rng.choice(self.plans), self.twins.clock.now()
        target = self.rng.choice(["paused", "paused", "paused", "completed", "failed"])
        if self.rng.random() < 0.5:
            yield "resume", resume(plan.id)
        else:
            yield do("set_status", plan.id, target, "because", now)

    async def refusal(self) -> Script:
        org, now = self.organization_id, self.twins.clock.now()
        for run in self.some_runs(1):
            dials = yield do("lock_open_attempts", [run])
            if dials:
                yield do("finalize_attempts", [self.settled(dials[0], now)], now)
                yield do("end_run", org, run[1], "failed", "carrier_refused", now)

    # parts

    def some_runs(self, most: int) -> list[tuple[int, int]]:
        """(organization, run), one that is not there among them."""
        known = sorted(self.twins.memory.tables["runs"])[-20:]
        some = self.rng.sample(known, min(len(known), self.rng.randint(1, most)))
        return [(self.organization_id, run_id) for run_id in (*sorted(some), 10**9)]

    def refused(self, contact_id: int) -> ContactRefusal:
        if self.rng.random() < 0.5:
            return ContactRefusal(
                contact_id, "outside_callee_hours", until=self.twins.clock.now() + timedelta(seconds=5)
            )
        return ContactRefusal(contact_id, "do_not_call", outcome="do_not_call")

    def settled(self, dial: OpenAttempt, now: datetime) -> AttemptResult:
        outcome = self.rng.choice(OUTCOMES)
        if self.rng.random() < 0.4:
            return AttemptResult(dial.id, dial.contact_id, outcome, "why")
        again = now + timedelta(seconds=self.rng.choice([0, 3]))
        return AttemptResult(
            dial.id, dial.contact_id, outcome, None, again, outcome, was_dialed=self.rng.random() < 0.7
        )

    def route_of(self, plan: Any) -> Statement:
        async def statement(tx: Any) -> Any:
            return plain_route(await tx.find_route(plan))

        return statement

    def calls_of(self, plan: Any) -> Statement:
        async def statement(tx: Any) -> Any:
            return await tx.count_account_calls(self.organization_id, await tx.find_route(plan))

        return statement

    def place(self, plan: Any, chosen: Any, ids: Any, until: datetime) -> Statement:
        async def statement(tx: Any) -> Any:
            return without_call(await tx.start_placing(plan, await tx.find_route(plan), chosen, ids, until))

        return statement


def do(name: str, *args: Any, **values: Any) -> tuple[str, Statement]:
    """A statement of ``ports.Tx``."""

    async def statement(tx: Any) -> Any:
        return await getattr(tx, name)(*args, **values)

    return name, statement


def in_any_order(name: str, *args: Any) -> tuple[str, Statement]:
    async def statement(tx: Any) -> Any:
        return sorted(await getattr(tx, name)(*args), key=repr)

    return name, statement


def apply_status(organization_id: int, run_id: int, status: str, outcome: str | None) -> Statement:
    async def statement(tx: Any) -> Any:
        if isinstance(tx, TwinTx):
            if run_id not in tx.memory.tables["runs"]:
                return None
            return await tx.apply_status(organization_id, run_id, status, outcome, None)
        change = StatusChange(organization_id, run_id, status, tx.clock.now(), outcome)
        return (await runs.apply_status_changes(tx.session, [change]))[0]

    return statement


def resume(campaign_id: int) -> Statement:
    async def statement(tx: Any) -> Any:
        if isinstance(tx, TwinTx):
            return await tx.set_running(campaign_id, "paused")
        done = await tx.session.execute(
            text("UPDATE campaigns SET status = 'running' WHERE id = :id AND status = 'paused'"), {"id": campaign_id}
        )
        return bool(done.rowcount)

    return statement


@pytest.mark.timeout(120)
@pytest.mark.slow
async def test_the_twin_answers_as_postgresql_does(root: Root, org: OrgFixture, make_campaign: MakeCampaign) -> None:
    clock = SetClock(root.clock.now())
    answers = waits = 0
    for seed in range(SEEDS):
        async with root.db.transaction() as session:
            await session.execute(text("TRUNCATE campaigns, runs, campaign_dial_passes CASCADE"))
        made = [await make_campaign(contacts=n, name=f"C{n}") for n in (9, 4)]
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE campaigns SET status = 'running'"))
            await session.execute(
                text("UPDATE campaign_contacts SET due_at = :now, variables = '{}'"), {"now": clock.now()}
            )
            campaigns = [await session.get_one(Campaign, one.id, populate_existing=True) for one in made]
        twins = Twins(root, clock, seed)
        await twins.begin(org.id, campaigns, 10)
        play = Play(twins, org.id, campaigns)
        try:
            await play.run(TURNS)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, after {play.answers} answers: {error}") from error
        answers, waits = answers + play.answers, waits + play.waits
    # Enough was compared, and they have been in each other's way.
    assert answers > 40 * SEEDS
    assert waits > SEEDS // 2
