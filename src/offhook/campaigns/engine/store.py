"""The engine's store on PostgreSQL."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from sqlalchemy import Row, TextClause
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.campaigns import repository
from offhook.campaigns.engine import statements as sql
from offhook.campaigns.engine.placements import describe_placement
from offhook.campaigns.engine.ports import (
    AcceptedCall,
    AttemptResult,
    AttemptRunState,
    CampaignPlan,
    ClaimedContact,
    CommittedDial,
    ContactRefusal,
    DialRoute,
    NoRoute,
    OpenAttempt,
    RemainingWork,
    StaleAttempt,
    Target,
)
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.rules.breaker import parse_breaker_config
from offhook.campaigns.rules.destinations import parse_destinations
from offhook.campaigns.rules.hours import parse_calling_hours
from offhook.campaigns.rules.rate import TokenBucket, take_tokens
from offhook.campaigns.rules.retry import retry_policy
from offhook.campaigns.rules.voicemail import voicemail_overrides
from offhook.campaigns.webhook_events import publish_status_changed
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.group_commit import GroupCommit
from offhook.kit.event_bus import EventBus
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs import service as runs
from offhook.runs.call_limits import call_capacity, free_places
from offhook.runs.queries import count_calls_of_account, lock_call_slots
from offhook.runs.records import bulk
from offhook.telephony import OutboundCalls, destinations
from offhook.telephony.calls.outbound import BatchCall, CarrierRoute
from offhook.telephony.errors import CarrierCannotDial, ConfigurationNotFound
from offhook.usage import service as usage
from offhook.usage.errors import DailySpendLimitReached, OutOfCredit

DIAL_JOB: Final = "campaign.dial"
# Later passes are scheduled to a tenth of a second, so that a hundred requests share one job.
WAKES_PER_S: Final = 10
# Delay before a job looks for free slots in place of a process that may have crashed before dialing them.
CRASH_RECOVERY_DELAY: Final = timedelta(seconds=1)
MAX_OPEN_ATTEMPTS: Final = 5000


@dataclass(slots=True)
class PostgresTransaction:
    """Implements ``ports.CampaignTransaction`` in one session."""

    session: AsyncSession
    outbound: OutboundCalls
    clock: Clock
    pending_events: list[object] = field(default_factory=list)
    is_dialing_here: bool = False
    organizations_to_wake: set[int] = field(default_factory=set)

    async def fetch_rows(self, statement: TextClause, **values: Any) -> Sequence[Row[Any]]:
        return (await self.session.execute(statement, values)).all()

    async def execute_update(self, statement: TextClause, **values: Any) -> bool:
        done: Any = await self.session.execute(statement, values)
        return bool(done.rowcount)

    async def lock_slots(self, organization_id: int) -> None:
        await lock_call_slots(self.session, organization_id)

    async def lock_running_campaigns(self, organization_id: int, only: int | None = None) -> list[CampaignPlan]:
        return [
            plan_from_row(row)
            for row in await self.fetch_rows(sql.LOCK_RUNNING, organization_id=organization_id, only=only)
        ]

    async def list_running_ids(self, organization_id: int) -> list[int]:
        return [row.id for row in await self.fetch_rows(sql.LIST_RUNNING, organization_id=organization_id)]

    async def slot_capacity(self, organization_id: int) -> tuple[int, int]:
        room = await call_capacity(self.session, organization_id)
        return room.limit, await free_places(self.session, room, room.free_slots)

    async def affordable_calls(self, organization_id: int, wanted: int) -> int:
        try:
            return await usage.affordable_calls(self.session, organization_id, wanted)
        except (OutOfCredit, DailySpendLimitReached):
            return 0

    async def remaining_work(self, plan: CampaignPlan) -> RemainingWork:
        row = (await self.fetch_rows(sql.REMAINING_WORK, campaign_id=plan.id, organization_id=plan.organization_id))[0]
        return RemainingWork(row.next_due, row.open_attempts)

    async def find_route(self, plan: CampaignPlan) -> DialRoute | NoRoute:
        try:
            found = await self.outbound.find_route(
                self.session, plan.organization_id, plan.workflow_id, plan.configuration_id
            )
        except (ConfigurationNotFound, CarrierCannotDial) as error:
            return NoRoute(error.code, error.message, is_fatal=True)
        except DomainError as error:
            return NoRoute(error.code, error.message, is_fatal=False)
        account = f"{found.account.provider}:{found.account.id or 0}"
        return DialRoute(account, found.numbers, found.calls_per_second, found)

    async def count_account_calls(self, organization_id: int, route: DialRoute) -> int:
        found: CarrierRoute = route.token
        return await count_calls_of_account(self.session, organization_id, found.account.provider, found.account.id)

    async def recent_outcomes(self, campaign_id: int, since: datetime, limit: int) -> list[str]:
        rows = await self.fetch_rows(sql.RECENT_OUTCOMES, campaign_id=campaign_id, since=since, limit=limit)
        return [row.outcome for row in rows]

    async def spent_cents(self, plan: CampaignPlan) -> int:
        return await usage.campaign_spend_cents(self.session, plan.organization_id, plan.id)

    async def claim_contacts(
        self, campaign_id: int, now: datetime, limit: int, excluded_ids: Sequence[int]
    ) -> list[ClaimedContact]:
        rows = await self.fetch_rows(
            sql.CLAIM_CONTACTS, campaign_id=campaign_id, now=now, limit=limit, excluded_ids=list(excluded_ids)
        )
        return [ClaimedContact(row.id, row.phone_number, row.variables, row.dials, row.reason) for row in rows]

    async def filter_do_not_call(self, organization_id: int, numbers: Sequence[str]) -> set[str]:
        return await do_not_call_list.listed_numbers(self.session, organization_id, numbers)

    async def filter_blocked(self, organization_id: int, route: DialRoute, numbers: Sequence[str]) -> set[str]:
        found: CarrierRoute = route.token
        return set(
            await destinations.refused_destinations(self.session, organization_id, found.account.provider, numbers)
        )

    async def take_tokens(
        self, organization_id: int, account: str, wanted: int, per_second: float, now: datetime
    ) -> tuple[int, datetime | None]:
        burst = max(1, ceil(per_second))
        key = {"organization_id": organization_id, "account": account}
        row = (await self.fetch_rows(sql.LOCK_BUCKET, **key, burst=float(burst), now=now))[0]
        grant = take_tokens(TokenBucket(row.tokens, row.at), wanted, per_second=per_second, burst=burst, now=now)
        await self.execute_update(sql.SAVE_BUCKET, **key, tokens=grant.bucket.tokens, at=grant.bucket.at)
        return grant.taken, grant.next_at

    async def create_attempts(
        self,
        plan: CampaignPlan,
        contacts: Sequence[ClaimedContact],
        *,
        now: datetime,
        may_dial_until: datetime,
        check_at: datetime,
    ) -> list[int]:
        rows = await self.fetch_rows(
            sql.CREATE_ATTEMPTS,
            organization_id=plan.organization_id,
            campaign_id=plan.id,
            contact_ids=[contact.id for contact in contacts],
            because=[contact.retry_reason for contact in contacts],
            now=now,
            may_dial_until=may_dial_until,
            check_at=check_at,
        )
        made = {row.contact_id: row.id for row in rows}
        return [made[contact.id] for contact in contacts]

    async def start_placing(
        self,
        plan: CampaignPlan,
        route: DialRoute,
        contacts: Sequence[ClaimedContact],
        attempt_ids: Sequence[int],
        until: datetime,
    ) -> list[CommittedDial]:
        found: CarrierRoute = route.token
        overrides = voicemail_overrides(plan.voicemail)
        calls = [
            BatchCall(
                name=f"WR-CAMPAIGN-{plan.id}-{contact.id}",
                to_number=contact.phone_number,
                context=dict(contact.variables),
                platform_context={
                    **({"runtime_configuration": overrides} if overrides else {}),
                    **({"is_retry": True, "retry_reason": contact.retry_reason} if contact.retry_reason else {}),
                },
                placement=describe_placement(plan, contact, self.clock.now()),
            )
            for contact in contacts
        ]
        prepared = await self.outbound.prepare_calls(self.session, found, plan.id, calls)
        run_ids = [call.run_id for call in prepared]
        await self.execute_update(sql.START_PLACING, attempt_ids=list(attempt_ids), run_ids=run_ids)
        return [
            CommittedDial(attempt_id, contact.id, plan.organization_id, call.run_id, until, call)
            for attempt_id, contact, call in zip(attempt_ids, contacts, prepared, strict=True)
        ]

    async def refuse_contacts(self, refused: Sequence[ContactRefusal], now: datetime) -> None:
        await self.execute_update(
            sql.REFUSE_CONTACTS,
            contact_ids=[one.contact_id for one in refused],
            outcomes=[one.outcome for one in refused],
            reasons=[_truncate_reason(one.reason) for one in refused],
            until=[one.until for one in refused],
            now=now,
        )

    async def set_status(self, campaign_id: int, target: Target, reason: str | None, now: datetime) -> bool:
        changed = await self.fetch_rows(
            sql.SET_STATUS,
            id=campaign_id,
            target=target,
            reason=reason[:500] if reason else None,
            completed_at=None if target == "paused" else now,
        )
        for row in changed:
            if target == "failed":
                await repository.cancel_pending(self.session, row.organization_id, row.id, now)
            event = CampaignStatusChanged(row.organization_id, row.id, row.name, "running", target, reason)
            await publish_status_changed(self.session, event)
            self.pending_events.append(event)
        return bool(changed)

    async def lock_open_attempts(self, runs: Sequence[tuple[int, int]]) -> list[OpenAttempt]:
        organization_ids, run_ids = [one for one, _ in runs], [run_id for _, run_id in runs]
        rows = await self.fetch_rows(sql.LOCK_OPEN_ATTEMPTS, organization_ids=organization_ids, run_ids=run_ids)
        wanted = set(runs)
        attempts = []
        for row in rows:
            fields = dict(row._asdict())
            retry = retry_policy(fields.pop("retry_config"))
            if (row.organization_id, row.run_id) in wanted:
                attempts.append(OpenAttempt(**fields, retry=retry))
        return attempts

    async def load_run_states(self, runs: Sequence[tuple[int, int]]) -> dict[int, AttemptRunState]:
        found = {}
        for organization_id in sorted({one for one, _ in runs}):
            run_ids = [run_id for owner_id, run_id in runs if owner_id == organization_id]
            for end in await bulk.load_run_ends(self.session, organization_id, run_ids):
                found[end.run_id] = AttemptRunState(end.status, end.outcome, end.end_reason, end.is_carried)
        return found

    async def mark_placed(self, taken: Sequence[AcceptedCall], now: datetime) -> None:
        await self.execute_update(sql.MARK_PLACED, ids=[one.attempt_id for one in taken], now=now)
        await runs.set_call_ids(self.session, [(one.organization_id, one.run_id, one.call_id) for one in taken])

    async def end_run(self, organization_id: int, run_id: int, status: str, reason: str, now: datetime) -> None:
        await runs.apply_status(
            self.session, organization_id, run_id, status, end_reason=_truncate_reason(reason), at=now
        )

    async def finalize_attempts(self, settled: Sequence[AttemptResult], now: datetime) -> None:
        await self.execute_update(
            sql.FINALIZE_ATTEMPTS,
            attempt_ids=[one.attempt_id for one in settled],
            contact_ids=[one.contact_id for one in settled],
            outcomes=[one.outcome for one in settled],
            reasons=[_truncate_reason(one.reason) for one in settled],
            again_at=[one.again_at for one in settled],
            because=[_truncate_reason(one.retry_reason) for one in settled],
            were_dialed=[one.was_dialed for one in settled],
            now=now,
        )

    async def postpone_check(self, attempt_id: int, check_at: datetime) -> None:
        await self.execute_update(sql.POSTPONE_CHECK, id=attempt_id, check_at=check_at)

    async def count_placing_dials(self, organization_id: int, campaign_id: int) -> int:
        return await repository.count_placing_dials(self.session, organization_id, campaign_id)

    async def has_running_campaign(self, organization_id: int) -> bool:
        return bool(await self.list_running_ids(organization_id))

    async def begin_pass(self, organization_id: int) -> int:
        rows = await self.fetch_rows(sql.BEGIN_PASS, organization_id=organization_id)
        return int(rows[0].unfinished) if rows else 0

    async def end_pass(self, organization_id: int) -> None:
        await self.execute_update(sql.END_PASS, organization_id=organization_id)

    async def schedule_dialing(self, organization_id: int, at: datetime | None) -> None:
        now = self.clock.now()
        if self.is_dialing_here and (at is None or at <= now):
            # This process dials right away; the job covers a crash before that.
            self.organizations_to_wake.add(organization_id)
            await enqueue_dial_job(self.session, organization_id, now + CRASH_RECOVERY_DELAY, now, per_s=1)
            return
        await enqueue_dial_job(self.session, organization_id, at, now)

    async def cancel_pending_of_failed(self, now: datetime) -> None:
        for row in await self.fetch_rows(sql.FAILED_WITH_PENDING):
            await repository.cancel_pending(self.session, row.organization_id, row.id, now)

    async def list_running_organizations(self) -> list[int]:
        return [row.organization_id for row in await self.fetch_rows(sql.RUNNING_ORGANIZATIONS)]

    async def find_stale_attempts(self, now: datetime, limit: int) -> list[StaleAttempt]:
        rows = await self.fetch_rows(sql.OPEN_ATTEMPTS, now=now, limit=MAX_OPEN_ATTEMPTS)
        over: set[int] = set()
        for organization_id in {row.organization_id for row in rows}:
            run_ids = [row.run_id for row in rows if row.organization_id == organization_id]
            ends = await bulk.load_run_ends(self.session, organization_id, run_ids)
            over |= {end.run_id for end in ends if end.status is not None}
        due = [row for row in rows if row.run_id in over or row.is_silent]
        return [StaleAttempt(row.id, row.organization_id, row.run_id, row.campaign_id) for row in due[:limit]]


class PostgresCampaignStore:
    """Implements ``ports.CampaignStore``; a transaction's events are published after its commit."""

    def __init__(self, db: Database, outbound: OutboundCalls, events: EventBus, clock: Clock) -> None:
        self._db = db
        self._outbound = outbound
        self._events = events
        self._clock = clock
        self._placing: GroupCommit[tuple[AcceptedCall, datetime], None] = GroupCommit(self._mark_placed_batch)
        # Set in a process that dials: gets organizations that may have free slots, without the job queue.
        self.wake_here: Callable[[int], None] | None = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresTransaction]:
        async with self._db.transaction() as session:
            tx = PostgresTransaction(session, self._outbound, self._clock, is_dialing_here=self.wake_here is not None)
            yield tx
        if self.wake_here is not None:
            for organization_id in sorted(tx.organizations_to_wake):
                self.wake_here(organization_id)
        for event in tx.pending_events:
            await self._events.publish(event)

    async def mark_placed(self, taken: AcceptedCall, now: datetime) -> None:
        await self._placing.submit((taken, now))

    async def _mark_placed_batch(self, calls: Sequence[tuple[AcceptedCall, datetime]]) -> list[None]:
        async with self.transaction() as tx:
            await tx.mark_placed([taken for taken, _ in calls], max(now for _, now in calls))
        return [None] * len(calls)


async def enqueue_dial_job(
    session: AsyncSession, organization_id: int, at: datetime | None, now: datetime, *, per_s: int = WAKES_PER_S
) -> None:
    """Enqueues a dialing job for the organization with this transaction, for now or not before ``at``.

    Delayed jobs are rounded to ``per_s`` a second, so that many requests share one.
    """
    payload = {"organization_id": organization_id}
    if at is None or at <= now:
        await jobs.enqueue(session, DIAL_JOB, payload)
        return
    slot = ceil(at.timestamp() * per_s)
    delay_s = max(0.0, slot / per_s - now.timestamp())
    await jobs.enqueue(
        session, DIAL_JOB, payload, delay_s=delay_s, dedupe_key=f"{DIAL_JOB}:{organization_id}:{slot}/{per_s}"
    )


def plan_from_row(row: Any) -> CampaignPlan:
    """Returns a row of ``campaigns`` as the engine reads it."""
    return CampaignPlan(
        id=row.id,
        organization_id=row.organization_id,
        workflow_id=row.workflow_id,
        max_concurrency=row.max_concurrency,
        running_since=row.running_since,
        configuration_id=row.telephony_configuration_id,
        hours=parse_calling_hours(row.calling_hours),
        retry=retry_policy(row.retry_config),
        breaker=parse_breaker_config(row.circuit_breaker),
        destinations=parse_destinations(row.destinations),
        voicemail=row.voicemail,
        spend_cap_cents=row.spend_cap_cents,
    )


def _truncate_reason(reason: str | None) -> str | None:
    return reason[:64] if reason else reason
