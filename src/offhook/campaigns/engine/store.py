"""The engine's store on PostgreSQL. Each statement touches a bounded number of rows, however long the list is."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.campaigns import repository
from offhook.campaigns.engine import statements as sql
from offhook.campaigns.engine.ports import (
    Dial,
    Ending,
    NoRoute,
    Placing,
    Plan,
    Refused,
    Route,
    Settled,
    Silent,
    Taken,
    Target,
    Waiting,
    Work,
)
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.rules.breaker import breaker_config
from offhook.campaigns.rules.destinations import destinations
from offhook.campaigns.rules.hours import calling_hours
from offhook.campaigns.rules.rate import Bucket, take
from offhook.campaigns.rules.retry import retry_policy
from offhook.campaigns.rules.voicemail import call_configuration
from offhook.campaigns.webhook_events import tell
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.group_commit import Batcher
from offhook.kit.event_bus import EventBus
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs import service as runs
from offhook.runs.call_limits import call_room, calls_of_account, lock_call_slots
from offhook.runs.records import bulk
from offhook.telephony import Outbound
from offhook.telephony.calls.outbound import BatchCall
from offhook.telephony.calls.outbound import Route as CarrierRoute
from offhook.telephony.errors import CarrierCannotDial, ConfigurationNotFound
from offhook.usage import service as usage

DIAL_JOB: Final = "campaign.dial"
# A later pass is wished for to a tenth of a second, so that a hundred wishes are one job.
WAKES_PER_S: Final = 10
# When somebody looks for free slots, whose finder dialled itself and may have died before it could.
IF_WE_DIE: Final = timedelta(seconds=1)
MAX_OPEN_LOOKS: Final = 5000


@dataclass(slots=True)
class PgTx:
    """Implements ``ports.Tx`` in one session."""

    session: AsyncSession
    outbound: Outbound
    clock: Clock
    news: list[object] = field(default_factory=list)
    is_dialling_here: bool = False
    awake: set[int] = field(default_factory=set)

    async def _run(self, statement: TextClause, **values: Any) -> Sequence[Row[Any]]:
        return (await self.session.execute(statement, values)).all()

    async def _changed(self, statement: TextClause, **values: Any) -> bool:
        done: Any = await self.session.execute(statement, values)
        return bool(done.rowcount)

    async def lock_slots(self, organization_id: int) -> None:
        await lock_call_slots(self.session, organization_id)

    async def running(self, organization_id: int, only: int | None = None) -> list[Plan]:
        return [plan_of(row) for row in await self._run(sql.RUNNING, organization_id=organization_id, only=only)]

    async def running_ids(self, organization_id: int) -> list[int]:
        found = text("SELECT id FROM campaigns WHERE organization_id = :id AND status = 'running' ORDER BY id")
        return [row.id for row in await self._run(found, id=organization_id)]

    async def room(self, organization_id: int) -> tuple[int, int]:
        room = await call_room(self.session, organization_id)
        return room.limit, room.free

    async def credit_refusal(self, organization_id: int) -> str | None:
        return None if await usage.may_start(self.session, organization_id) else "out_of_credit"

    async def work(self, plan: Plan) -> Work:
        row = (await self._run(sql.WORK, campaign_id=plan.id, organization_id=plan.organization_id))[0]
        return Work(row.next_due, row.open_attempts)

    async def route(self, plan: Plan) -> Route | NoRoute:
        try:
            found = await self.outbound.route(
                self.session, plan.organization_id, plan.workflow_id, plan.configuration_id
            )
        except (ConfigurationNotFound, CarrierCannotDial) as error:
            return NoRoute(error.code, error.message, is_fatal=True)
        except DomainError as error:
            return NoRoute(error.code, error.message, is_fatal=False)
        account = f"{found.account.provider}:{found.account.id or 0}"
        return Route(account, found.numbers, found.calls_per_second, found)

    async def account_calls(self, organization_id: int, route: Route) -> int:
        found: CarrierRoute = route.token
        return await calls_of_account(self.session, organization_id, found.account.provider, found.account.id)

    async def ended_since(self, campaign_id: int, since: datetime, limit: int) -> list[str]:
        rows = await self._run(
            text(
                "SELECT outcome FROM campaign_attempts WHERE campaign_id = :campaign_id AND ended_at >= :since"
                " ORDER BY ended_at DESC LIMIT :limit"
            ),
            campaign_id=campaign_id,
            since=since,
            limit=limit,
        )
        return [row.outcome for row in rows]

    async def spent_cents(self, plan: Plan) -> int:
        return await usage.campaign_spend_cents(self.session, plan.organization_id, plan.id)

    async def claim(self, campaign_id: int, now: datetime, limit: int, but: Sequence[int]) -> list[Waiting]:
        rows = await self._run(sql.CLAIM, campaign_id=campaign_id, now=now, limit=limit, but=list(but))
        return [Waiting(row.id, row.phone_number, row.variables, row.dials, row.reason) for row in rows]

    async def do_not_call(self, organization_id: int, numbers: Sequence[str]) -> set[str]:
        return await do_not_call_list.is_listed(self.session, organization_id, numbers)

    async def take_tokens(
        self, organization_id: int, account: str, wanted: int, per_second: float, now: datetime
    ) -> tuple[int, datetime | None]:
        burst = max(1, ceil(per_second))
        key = {"organization_id": organization_id, "account": account}
        row = (await self._run(sql.TOKENS, **key, burst=float(burst), now=now))[0]
        grant = take(Bucket(row.tokens, row.at), wanted, per_second=per_second, burst=burst, now=now)
        await self._changed(sql.SAVE_TOKENS, **key, tokens=grant.bucket.tokens, at=grant.bucket.at)
        return grant.taken, grant.next_at

    async def reserve(
        self, plan: Plan, contacts: Sequence[Waiting], *, now: datetime, may_dial_until: datetime, check_at: datetime
    ) -> list[int]:
        rows = await self._run(
            sql.RESERVE,
            organization_id=plan.organization_id,
            campaign_id=plan.id,
            contact_ids=[contact.id for contact in contacts],
            because=[contact.because for contact in contacts],
            now=now,
            may_dial_until=may_dial_until,
            check_at=check_at,
        )
        made = {row.contact_id: row.id for row in rows}
        return [made[contact.id] for contact in contacts]

    async def place(
        self, plan: Plan, route: Route, contacts: Sequence[Waiting], attempt_ids: Sequence[int], until: datetime
    ) -> list[Placing]:
        found: CarrierRoute = route.token
        overrides = call_configuration(plan.voicemail)
        calls = [
            BatchCall(
                name=f"WR-CAMPAIGN-{plan.id}-{contact.id}",
                to_number=contact.phone_number,
                context=dict(contact.variables),
                platform_context={
                    **({"runtime_configuration": overrides} if overrides else {}),
                    **({"is_retry": True, "retry_reason": contact.because} if contact.because else {}),
                },
            )
            for contact in contacts
        ]
        prepared = await self.outbound.prepare(self.session, found, plan.id, calls)
        run_ids = [call.run_id for call in prepared]
        await self._changed(sql.PLACING, attempt_ids=list(attempt_ids), run_ids=run_ids)
        return [
            Placing(attempt_id, contact.id, plan.organization_id, call.run_id, until, call)
            for attempt_id, contact, call in zip(attempt_ids, contacts, prepared, strict=True)
        ]

    async def refuse(self, refused: Sequence[Refused], now: datetime) -> None:
        await self._changed(
            sql.REFUSE,
            contact_ids=[one.contact_id for one in refused],
            outcomes=[one.outcome for one in refused],
            reasons=[_short(one.reason) for one in refused],
            until=[one.until for one in refused],
            now=now,
        )

    async def set_status(self, campaign_id: int, target: Target, reason: str | None, now: datetime) -> bool:
        changed = await self._run(
            text(
                "UPDATE campaigns SET status = :target, failure_reason = CAST(:reason AS varchar),"
                " completed_at = :completed_at"
                " WHERE id = :id AND status = 'running' RETURNING id, organization_id, name"
            ),
            id=campaign_id,
            target=target,
            reason=reason[:500] if reason else None,
            completed_at=None if target == "paused" else now,
        )
        for row in changed:
            if target == "failed":
                await repository.cancel_pending(self.session, row.organization_id, row.id, now)
            news = CampaignStatusChanged(row.organization_id, row.id, row.name, "running", target, reason)
            await tell(self.session, news)
            self.news.append(news)
        return bool(changed)

    async def dials_of_runs(self, runs: Sequence[tuple[int, int]]) -> list[Dial]:
        organization_ids, run_ids = [one for one, _ in runs], [run_id for _, run_id in runs]
        rows = await self._run(sql.DIALS, organization_ids=organization_ids, run_ids=run_ids)
        wanted = set(runs)
        return [_dial(row) for row in rows if (row.organization_id, row.run_id) in wanted]

    async def endings(self, runs: Sequence[tuple[int, int]]) -> dict[int, Ending]:
        found = {}
        for organization_id in sorted({one for one, _ in runs}):
            theirs = [run_id for one, run_id in runs if one == organization_id]
            for end in await bulk.endings(self.session, organization_id, theirs):
                found[end.run_id] = Ending(end.status, end.outcome, end.end_reason, end.is_carried)
        return found

    async def placed(self, taken: Sequence[Taken], now: datetime) -> None:
        await self._changed(sql.PLACED, ids=[one.attempt_id for one in taken], now=now)
        await runs.set_call_ids(self.session, [(one.organization_id, one.run_id, one.call_id) for one in taken])

    async def end_run(self, organization_id: int, run_id: int, status: str, reason: str, now: datetime) -> None:
        await runs.apply_status(self.session, organization_id, run_id, status, end_reason=_short(reason), at=now)

    async def settle(self, settled: Sequence[Settled], now: datetime) -> None:
        await self._changed(
            sql.SETTLE,
            attempt_ids=[one.attempt_id for one in settled],
            contact_ids=[one.contact_id for one in settled],
            outcomes=[one.outcome for one in settled],
            reasons=[_short(one.reason) for one in settled],
            again_at=[one.again_at for one in settled],
            because=[_short(one.because) for one in settled],
            were_dialled=[one.was_dialled for one in settled],
            now=now,
        )

    async def check_later(self, attempt_id: int, check_at: datetime) -> None:
        await self._changed(
            text("UPDATE campaign_attempts SET check_at = :check_at WHERE id = :id"), id=attempt_id, check_at=check_at
        )

    async def dials_on_their_way(self, organization_id: int, campaign_id: int) -> int:
        return await repository.dials_on_their_way(self.session, organization_id, campaign_id)

    async def has_running(self, organization_id: int) -> bool:
        found = text("SELECT 1 FROM campaigns WHERE organization_id = :id AND status = 'running' LIMIT 1")
        return bool(await self._run(found, id=organization_id))

    async def pass_begins(self, organization_id: int) -> int:
        rows = await self._run(sql.PASS_BEGINS, organization_id=organization_id)
        return int(rows[0].unfinished) if rows else 0

    async def pass_ended(self, organization_id: int) -> None:
        await self._changed(sql.PASS_ENDED, organization_id=organization_id)

    async def wake(self, organization_id: int, at: datetime | None) -> None:
        now = self.clock.now()
        if self.is_dialling_here and (at is None or at <= now):
            # This process looks itself, at once; the job is for the case that it dies before it has.
            self.awake.add(organization_id)
            await wake(self.session, organization_id, now + IF_WE_DIE, now, per_s=1)
            return
        await wake(self.session, organization_id, at, now)

    async def cancel_leftovers(self, now: datetime) -> None:
        found = await self._run(
            text(
                "SELECT organization_id, id FROM campaigns WHERE status = 'failed' AND EXISTS (SELECT FROM campaign_contacts"
                " WHERE campaign_id = campaigns.id AND state = 'pending')"
            )
        )
        for row in found:
            await repository.cancel_pending(self.session, row.organization_id, row.id, now)

    async def running_organizations(self) -> list[int]:
        found = text("SELECT DISTINCT organization_id FROM campaigns WHERE status = 'running' ORDER BY 1")
        return [row.organization_id for row in await self._run(found)]

    async def silent(self, now: datetime, limit: int) -> list[Silent]:
        rows = await self._run(sql.OPEN, now=now, limit=MAX_OPEN_LOOKS)
        over: set[int] = set()
        for organization_id in {row.organization_id for row in rows}:
            theirs = [row.run_id for row in rows if row.organization_id == organization_id]
            ends = await bulk.endings(self.session, organization_id, theirs)
            over |= {end.run_id for end in ends if end.status is not None}
        due = [row for row in rows if row.run_id in over or row.is_silent]
        return [Silent(row.id, row.organization_id, row.run_id, row.campaign_id) for row in due[:limit]]


class PgStore:
    """Implements ``ports.Store``; news of a transaction is published after its commit."""

    def __init__(self, db: Database, outbound: Outbound, events: EventBus, clock: Clock) -> None:
        self._db = db
        self._outbound = outbound
        self._events = events
        self._clock = clock
        self._placing: Batcher[tuple[Taken, datetime], None] = Batcher(self._placed)
        self._wake_here: Callable[[int], None] | None = None

    def dials_here(self, wake_here: Callable[[int], None]) -> None:
        """This process dials: it is told which organization may have free slots, without the way through the queue."""
        self._wake_here = wake_here

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PgTx]:
        async with self._db.transaction() as session:
            tx = PgTx(session, self._outbound, self._clock, is_dialling_here=self._wake_here is not None)
            yield tx
        if self._wake_here is not None:
            for organization_id in sorted(tx.awake):
                self._wake_here(organization_id)
        for event in tx.news:
            await self._events.publish(event)

    async def placed(self, taken: Taken, now: datetime) -> None:
        await self._placing.do((taken, now))

    async def _placed(self, calls: Sequence[tuple[Taken, datetime]]) -> list[None]:
        async with self.transaction() as tx:
            await tx.placed([taken for taken, _ in calls], max(now for _, now in calls))
        return [None] * len(calls)


async def wake(
    session: AsyncSession, organization_id: int, at: datetime | None, now: datetime, *, per_s: int = WAKES_PER_S
) -> None:
    """A dialling job for the organization exists once this commits; now, or not before ``at``, of which there are as
    many as ``per_s`` a second."""
    payload = {"organization_id": organization_id}
    if at is None or at <= now:
        await jobs.enqueue(session, DIAL_JOB, payload)
        return
    slot = ceil(at.timestamp() * per_s)
    delay_s = max(0.0, slot / per_s - now.timestamp())
    await jobs.enqueue(
        session, DIAL_JOB, payload, delay_s=delay_s, dedupe_key=f"{DIAL_JOB}:{organization_id}:{slot}/{per_s}"
    )


def plan_of(row: Any) -> Plan:
    """A row of ``campaigns`` as the engine reads it."""
    return Plan(
        id=row.id,
        organization_id=row.organization_id,
        workflow_id=row.workflow_id,
        max_concurrency=row.max_concurrency,
        running_since=row.running_since,
        configuration_id=row.telephony_configuration_id,
        hours=calling_hours(row.calling_hours),
        retry=retry_policy(row.retry_config),
        breaker=breaker_config(row.circuit_breaker),
        destinations=destinations(row.destinations),
        voicemail=row.voicemail,
        spend_cap_cents=row.spend_cap_cents,
    )


def _dial(row: Row[Any]) -> Dial:
    plain = {name: value for name, value in row._asdict().items() if name != "retry_config"}
    return Dial(**plain, retry=retry_policy(row.retry_config))


def _short(reason: str | None) -> str | None:
    return reason[:64] if reason else reason
