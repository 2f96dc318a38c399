"""Audits a campaign: checks every invariant of the engine against the database, with evidence."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.engine.settlement import NEVER_DIALED, NEVER_REACHED
from offhook.campaigns.reports.progress import load_progress
from offhook.campaigns.reports.queries import INVARIANT_QUERIES, find_violating_rows
from offhook.campaigns.rules.destinations import check_destination, parse_destinations
from offhook.campaigns.rules.hours import calling_window, parse_calling_hours
from offhook.campaigns.tables import REMOVED, Campaign
from offhook.runs.records import bulk
from offhook.telephony.carriers import count_recorded_calls

ATTEMPT_BATCH: Final = 5000
MAX_EVIDENCE: Final = 20
# The engine settles within a tick or two; younger rows may be in progress.
SETTLED_AFTER: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class InvariantViolation:
    """A broken rule; ``evidence`` names the rows."""

    rule: str
    evidence: str


@dataclass(frozen=True, slots=True)
class CampaignAudit:
    """The result of an audit. ``checks`` are the rules; ``contacts`` and ``attempts`` count the checked rows."""

    campaign_id: int
    status: str
    contacts: int
    attempts: int
    checks: tuple[str, ...]
    violations: tuple[InvariantViolation, ...]


async def audit_campaign(session: AsyncSession, campaign: Campaign, now: datetime) -> CampaignAudit:
    """Checks every invariant of one campaign. Hours and caps are judged by its current settings.

    ``session`` is a :meth:`Database.snapshot_transaction`: counts of a running campaign would not add up otherwise.
    """
    found: list[InvariantViolation] = []
    for rule, (query, sentence) in INVARIANT_QUERIES.items():
        rows = await find_violating_rows(
            session, query, campaign.organization_id, campaign.id, [NEVER_DIALED, NEVER_REACHED], MAX_EVIDENCE
        )
        found += [InvariantViolation(rule, sentence.format(**row._asdict())) for row in rows]
    more = _AttemptInvariants(campaign)
    async for batch in _iterate_attempts(session, campaign):
        await more.check_batch(session, batch, now)
    found += more.collect_violations()
    reached = await load_progress(session, campaign.organization_id, campaign.id)
    if reached.total_contacts != reached.pending + reached.in_progress + reached.completed:
        found.append(InvariantViolation(_PROGRESS, f"{reached}"))
    checks = (*INVARIANT_QUERIES, *_STREAMED, _PROGRESS)
    return CampaignAudit(campaign.id, campaign.status, reached.total_contacts, more.seen, checks, tuple(found))


_PROGRESS: Final = "progress adds up"
_HOURS: Final = "never outside calling hours"
_CAP: Final = "never above the campaign's cap"
_SLOT: Final = "no slot outlives its call"
_RUN: Final = "every dial has its own run"
_SANDBOX: Final = "the sandbox rang once for every dial"
_STREAMED: Final = (_HOURS, _CAP, _SLOT, _RUN, _SANDBOX)


async def _iterate_attempts(session: AsyncSession, campaign: Campaign) -> AsyncIterator[Sequence[Any]]:
    """Yields all attempts in the order of their ids, in batches."""
    after = 0
    while True:
        rows = await repository.attempts_after(session, campaign.organization_id, campaign.id, after, ATTEMPT_BATCH)
        if not rows:
            return
        yield rows
        after = rows[-1].id


class _AttemptInvariants:
    """Checks that need more than one statement: attempts against hours, runs and the sandbox's calls."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._hours = parse_calling_hours(campaign.calling_hours)
        self._found: dict[str, list[str]] = defaultdict(list)
        self._changes: list[tuple[datetime, int]] = []
        self.seen = 0

    async def check_batch(self, session: AsyncSession, rows: Sequence[Any], now: datetime) -> None:
        self.seen += len(rows)
        for row in rows:
            self._changes.append((row.reserved_at, 1))
            self._changes.append((row.ended_at or datetime.max.replace(tzinfo=UTC), -1))
            self._check_hours(row)
        organization_id = self._campaign.organization_id
        run_ids = [row.run_id for row in rows if row.run_id is not None]
        ends = {end.run_id: end for end in await bulk.load_run_ends(session, organization_id, run_ids)}
        rang = await count_recorded_calls(session, organization_id, run_ids)
        for row in rows:
            self._check_run(row, ends.get(row.run_id), rang.get(row.run_id, 0), now)

    def _check_hours(self, row: Any) -> None:
        # without the number nothing tells where the phone rang
        if self._hours is None or row.reason == NEVER_DIALED or row.phone_number.startswith(REMOVED):
            return
        zones = check_destination(parse_destinations(None), row.phone_number).zones
        if not calling_window(self._hours, row.reserved_at, zones).is_open:
            self._record_violation(_HOURS, f"attempt {row.id} was dialed at {row.reserved_at.isoformat()}")

    def _check_run(self, row: Any, end: bulk.RunEnd | None, rang: int, now: datetime) -> None:
        if row.run_id is None:
            if row.state != "final":
                self._record_violation(_RUN, f"attempt {row.id} is {row.state} and has no run")
            return
        if end is None:
            return
        is_over = end.status is not None
        if row.state != "final" and is_over and now - row.reserved_at > SETTLED_AFTER:
            self._record_violation(
                _SLOT, f"attempt {row.id} is {row.state}, its run {row.run_id} ended as {end.status}"
            )
        if row.state == "final" and not is_over and now - row.ended_at > SETTLED_AFTER:
            self._record_violation(_SLOT, f"run {row.run_id} is live, its attempt {row.id} ended as {row.outcome}")
        if rang > 1:
            self._record_violation(_SANDBOX, f"{rang} phones rang for attempt {row.id}")
        if rang and row.reason in {NEVER_DIALED, NEVER_REACHED}:
            self._record_violation(_SANDBOX, f"attempt {row.id} is {row.reason}, and a phone rang for it")

    def collect_violations(self) -> Iterable[InvariantViolation]:
        live = peak = 0
        at = None
        for when, change in sorted(self._changes):
            live += change
            if live > peak:
                peak, at = live, when
        if at is not None and peak > self._campaign.max_concurrency:
            self._record_violation(
                _CAP, f"{peak} calls at {at.isoformat()}, {self._campaign.max_concurrency} are allowed"
            )
        return [InvariantViolation(rule, evidence) for rule, listed in self._found.items() for evidence in listed]

    def _record_violation(self, rule: str, evidence: str) -> None:
        if len(self._found[rule]) < MAX_EVIDENCE:
            self._found[rule].append(evidence)
