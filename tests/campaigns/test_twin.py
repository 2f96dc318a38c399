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

from offhook.campaigns.ports import Dial, Refused, Settled, Taken
from offhook.campaigns.store import plan_of
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.runs import service as runs
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
        self.plans = [plan_of(campaign) for campaign in campaigns]
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
        scripts: list[Callable[[], Script]] = [self.pass_, self.pass_, self.settling, self.settling, self.tick]
        return self.rng.choice(scripts + ([self.report, self.report, self.status, self.refusal] if alone else []))()

    # what the engine does

    async def pass_(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now
        yield "lock_slots", lambda tx: tx.lock_slots(org)
        plans = yield "running", lambda tx: tx.running(org)
        yield "room", lambda tx: tx.room(org)
        for plan in plans:
            yield "work", lambda tx, plan=plan: tx.work(plan)
            yield "route", self.route_of(plan)
            since = now() - timedelta(seconds=rng.choice([0, 5, 500]))
            yield "ended_since", lambda tx, plan=plan, since=since: self.sorted(tx.ended_since(plan.id, since, 99))
            at = now()
            found = yield "claim", lambda tx, plan=plan, at=at: tx.claim(plan.id, at, 3, ())
            more = yield (
                "claim",
                lambda tx, plan=plan, at=at, but=[one.id for one in found]: tx.claim(plan.id, at, 2, but),
            )
            contacts = [*found, *more]
            refused = [self.refused(one.id) for one in contacts if rng.random() < 0.2]
            if refused:
                yield "refuse", lambda tx, refused=refused, at=at: tx.refuse(refused, at)
            chosen = [one for one in contacts if one.id not in {other.contact_id for other in refused}]
            if not chosen:
                continue
            yield "take_tokens", lambda tx, at=at: tx.take_tokens(org, "account", len(chosen), 3.0, at)
            until, check_at = at + timedelta(seconds=3), at + timedelta(seconds=rng.choice([4, 40]))
            ids = yield (
                "reserve",
                lambda tx, plan=plan, chosen=chosen: tx.reserve(
                    plan, chosen, now=at, may_dial_until=until, check_at=check_at
                ),
            )
            yield "place", self.place(plan, chosen, ids, until)
        yield "wake", lambda tx: tx.wake(org, None)

    async def settling(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now()
        run_ids = self.some_runs(4)
        dials: list[Dial] = yield "dials_of_runs", lambda tx: tx.dials_of_runs([(org, one) for one in run_ids])
        yield "endings", lambda tx: tx.endings([(org, one) for one in run_ids])
        yield "endings", lambda tx: tx.endings([(org + 1, one) for one in run_ids])
        if dials and rng.random() < 0.3:
            taken = [Taken(dial.id, org, dial.run_id, f"C{dial.run_id}") for dial in dials]
            yield "placed", lambda tx: tx.placed(taken, now)
        elif dials:
            settled = [self.settled(dial, now) for dial in dials]
            yield "settle", lambda tx: tx.settle(settled, now)
        yield "has_running", lambda tx: tx.has_running(org)
        yield "pass_begins", lambda tx: tx.pass_begins(org)
        if rng.random() < 0.3:
            yield "pass_ended", lambda tx: tx.pass_ended(org)
        yield "wake", lambda tx: tx.wake(org, now + timedelta(seconds=rng.choice([-1, 0.05, 3])))

    async def tick(self) -> Script:
        org, rng, now = self.organization_id, self.rng, self.twins.clock.now()
        silent = yield "silent", lambda tx: self.sorted(tx.silent(now, 100))
        yield "running_organizations", lambda tx: tx.running_organizations()
        plan = rng.choice(self.plans)
        yield "dials_on_their_way", lambda tx: tx.dials_on_their_way(org, plan.id)
        for one in silent[:2]:
            yield "check_later", lambda tx, one=one: tx.check_later(one.attempt_id, now + timedelta(seconds=9))
        yield "cancel_leftovers", lambda tx: tx.cancel_leftovers(now)

    # what others do, and what charges runs or tells customers

    async def report(self) -> Script:
        org, rng = self.organization_id, self.rng
        for run_id in self.some_runs(2):
            status = rng.choice(["ringing", "in_progress", "completed", "busy", "no_answer", "failed", "canceled"])
            outcome = rng.choice([None, None, "voicemail"])
            yield f"{status} of {run_id}", apply_status(org, run_id, status, outcome)

    async def status(self) -> Script:
        plan, now = self.rng.choice(self.plans), self.twins.clock.now()
        target = self.rng.choice(["paused", "paused", "paused", "completed", "failed"])
        if self.rng.random() < 0.5:
            yield "resume", resume(plan.id)
        else:
            yield f"set_status {target}", lambda tx: tx.set_status(plan.id, target, "because", now)

    async def refusal(self) -> Script:
        org, now = self.organization_id, self.twins.clock.now()
        for run_id in self.some_runs(1):
            dials = yield "dials_of_runs", lambda tx: tx.dials_of_runs([(org, run_id)])
            if dials:
                yield "settle", lambda tx: tx.settle([self.settled(dials[0], now)], now)
                yield "end_run", lambda tx: tx.end_run(org, run_id, "failed", "carrier_refused", now)

    # parts

    def some_runs(self, most: int) -> list[int]:
        known = sorted(self.twins.memory.tables["runs"])[-20:]
        return sorted(self.rng.sample(known, min(len(known), self.rng.randint(1, most)))) + [10**9]

    def refused(self, contact_id: int) -> Refused:
        if self.rng.random() < 0.5:
            return Refused(contact_id, "outside_callee_hours", until=self.twins.clock.now() + timedelta(seconds=5))
        return Refused(contact_id, "do_not_call", outcome="do_not_call")

    def settled(self, dial: Dial, now: datetime) -> Settled:
        outcome = self.rng.choice(OUTCOMES)
        if self.rng.random() < 0.4:
            return Settled(dial.id, dial.contact_id, outcome, "why")
        again = now + timedelta(seconds=self.rng.choice([0, 3]))
        return Settled(dial.id, dial.contact_id, outcome, None, again, outcome, was_dialled=self.rng.random() < 0.7)

    def route_of(self, plan: Any) -> Statement:
        async def statement(tx: Any) -> Any:
            return plain_route(await tx.route(plan))

        return statement

    def place(self, plan: Any, chosen: Any, ids: Any, until: datetime) -> Statement:
        async def statement(tx: Any) -> Any:
            return without_call(await tx.place(plan, await tx.route(plan), chosen, ids, until))

        return statement

    async def sorted(self, answer: Any) -> Any:
        return sorted(await answer, key=repr)


def apply_status(organization_id: int, run_id: int, status: str, outcome: str | None) -> Statement:
    async def statement(tx: Any) -> Any:
        if isinstance(tx, TwinTx):
            if run_id not in tx.memory.tables["runs"]:
                return None
            return await tx.apply_status(organization_id, run_id, status, outcome, None)
        news = runs.RunNews(organization_id, run_id, status, tx.clock.now(), outcome)
        return (await runs.apply_all(tx.session, [news]))[0]

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
