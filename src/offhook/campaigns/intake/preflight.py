"""Predicts a campaign that starts now: contacts that it reaches and misses, and its duration."""

import json
import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository, service
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.creation import get_runnable_version
from offhook.campaigns.intake.estimate import CallEstimate, PastCalls, estimate_calls
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.rules.destinations import parse_destinations
from offhook.campaigns.rules.hours import CallingSchedule, calling_window, parse_calling_hours
from offhook.campaigns.rules.retry import retry_policy
from offhook.campaigns.rules.slots import effective_cap
from offhook.campaigns.schemas import PreflightResponse, VariableCount, ZoneCount
from offhook.campaigns.tables import Campaign
from offhook.errors import NotReady
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.processes.limited_programs import InputFile, ProcessLimits, SandboxedProcessRunner
from offhook.kit.tasks import SharedWork
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs.call_limits import call_capacity
from offhook.runs.lists import queries as run_queries
from offhook.workflows.validation.references import needed_variables

PROGRAM: Final = Path(__file__).with_name("preflight_program.py")
# A million numbers take half a minute; there are some thousand kinds of them.
LIMITS: Final = ProcessLimits(timeout_s=120.0, cpu_s=90, memory_bytes=1 << 30, file_bytes=0, output_bytes=4 << 20)
MAX_CONCURRENT: Final = 2
_BATCH: Final = 5000
_MAX_WINDOWS: Final = 1000
_UNKNOWN: Final = "unknown"
log = structlog.get_logger(__name__)


class PreflightFailed(NotReady):
    """The contact numbers could not be checked. Try again."""

    code = "preflight_failed"


# Time zones, country, line type, and the count of numbers of this kind.
NumberKind = tuple[tuple[str, ...], str | None, str, int]


@dataclass(frozen=True, slots=True)
class _CountedContacts:
    """What depends on the contacts: their kinds, how many are on the do-not-call list, and how many miss a value."""

    kinds: list[NumberKind]
    listed: int
    missing: dict[str, int]


class CampaignPreflight:
    """Builds preflight reports. One per process."""

    def __init__(
        self,
        db: Database,
        files: ContactFiles,
        presenter: CampaignPresenter,
        clock: Clock,
        *,
        limits: ProcessLimits = LIMITS,
    ) -> None:
        self._db = db
        self._files = files
        self._presenter = presenter
        self._clock = clock
        self._programs = SandboxedProcessRunner(limits, max_concurrent=MAX_CONCURRENT)
        self._counting: SharedWork[tuple[int, int, tuple[str, ...]], _CountedContacts] = SharedWork()

    async def build_report(self, organization_id: int, campaign_id: int) -> PreflightResponse:
        """Returns the effects of a start now. Raises CampaignNotFound, workflow_not_found (404); 409 for an archived or
        unpublished workflow; 429 while the organization has too many of other campaigns waiting.
        """
        async with self._db.transaction() as session:
            campaign = await service.get_campaign(session, organization_id, campaign_id)
            version = await get_runnable_version(session, organization_id, campaign.workflow_id)
        needed = tuple(needed_variables(version.definition, version.template_context_variables))
        # The rules may change while the contacts are counted, so they are not part of what reports share.
        counted = await self._counting.join(
            (organization_id, campaign_id, needed), lambda: self._count_contacts(organization_id, campaign_id, needed)
        )
        async with self._db.transaction() as session:
            line = await self._load_line(session, campaign)
            rows = await run_queries.load_past_calls(session, organization_id, campaign.workflow_id)
        past = [PastCalls(row.status, row.outcome, row.calls, float(row.talked_s), row.cost_cents) for row in rows]
        return _render_report(campaign, counted, line, past, self._clock.now())

    async def _count_contacts(
        self, organization_id: int, campaign_id: int, needed: tuple[str, ...]
    ) -> _CountedContacts:
        self._programs.require_room(organization_id)
        numbers_file = self._files.scratch_path()
        try:
            async with self._db.transaction() as session:
                missing = await repository.count_missing_values(session, organization_id, campaign_id, needed)
                await repository.write_numbers(session, organization_id, campaign_id, numbers_file)
            kinds = await self._classify_numbers(organization_id, numbers_file)
            listed = 0
            with numbers_file.open(encoding="utf-8") as file:
                while batch := [line.strip() for line in islice(file, _BATCH)]:
                    async with self._db.transaction() as session:
                        listed += len(await do_not_call_list.listed_numbers(session, organization_id, batch))
        finally:
            numbers_file.unlink(missing_ok=True)
        return _CountedContacts(kinds, listed, missing)

    async def _classify_numbers(self, organization_id: int, numbers_file: Path) -> list[NumberKind]:
        done = await self._programs.run(PROGRAM, InputFile(numbers_file), owner=organization_id)
        if done.exit_code != 0:
            log.warning("contact_numbers_unreadable", code=done.exit_code)
            raise PreflightFailed
        return [
            (tuple(zones), country, line_type, count) for zones, country, line_type, count in json.loads(done.stdout)
        ]

    async def _load_line(self, session: AsyncSession, campaign: Campaign) -> tuple[int, float | None]:
        """Returns how many calls can run at once, and how many can begin per second (None: any number)."""
        capacity = await self._presenter.load_capacity(
            session, campaign.organization_id, campaign.telephony_configuration_id
        )
        limit = (await call_capacity(session, campaign.organization_id)).limit
        return effective_cap(campaign.max_concurrency, limit, capacity.numbers), capacity.calls_per_second


def _render_report(
    campaign: Campaign,
    counted: _CountedContacts,
    line: tuple[int, float | None],
    past: list[PastCalls],
    now: datetime,
) -> PreflightResponse:
    hours, allowed = parse_calling_hours(campaign.calling_hours), parse_destinations(campaign.destinations)
    zones: Counter[str] = Counter()
    closed = blocked = invalid = 0
    for kind_zones, country, line_type, count in counted.kinds:
        zones[kind_zones[0] if kind_zones else _UNKNOWN] += count
        if line_type == "invalid":
            invalid += count
        elif (line_type == "premium" and not allowed.allows_premium) or not (
            allowed.countries is None or country in allowed.countries
        ):
            blocked += count
        elif not calling_window(hours, now, kind_zones).is_open:
            closed += count
    total = sum(count for *_, count in counted.kinds)
    # A contact can be both listed and blocked, so this is a lower bound.
    callable_ = max(0, total - invalid - blocked - counted.listed)
    estimate = estimate_calls(past, retry_policy(campaign.retry_config), callable_)
    calls = round(callable_ * estimate.calls)
    dialing_s = _dialing_seconds(line, callable_, estimate)
    cost = estimate.cost_cents
    return PreflightResponse(
        campaign_id=campaign.id,
        total_contacts=total,
        contacts_by_zone=[ZoneCount(zone=zone, contacts=count) for zone, count in zones.most_common()],
        closed_now=closed,
        on_do_not_call_list=counted.listed,
        invalid_numbers=invalid,
        blocked_destinations=blocked,
        missing_values=[
            VariableCount(variable=name, contacts=count) for name, count in counted.missing.items() if count
        ],
        callable_contacts=callable_,
        estimated_calls=calls,
        estimated_dialling_seconds=dialing_s,
        estimated_end_at=(
            None
            if dialing_s is None
            else estimate_end(
                hours, max(now, campaign.starts_at or now), dialing_s + (estimate.retry_wait_s if callable_ else 0)
            )
        ),
        estimated_cost_cents=None if cost is None else math.ceil(cost * calls),
        is_estimate_measured=estimate.is_known,
    )


def _dialing_seconds(line: tuple[int, float | None], contacts: int, estimate: CallEstimate) -> float | None:
    """Returns the open time that all calls take; None when no call can be placed."""
    slots, per_second = line
    if not slots:
        return None
    pace_s = max(estimate.line_s / slots, estimate.calls / per_second if per_second else 0.0)
    return round(contacts * pace_s, 1)


def estimate_end(hours: CallingSchedule | None, now: datetime, dialing_s: float) -> datetime | None:
    """Returns when this much open time (in the campaign's own zone) has passed; None if it never opens that long."""
    at, left = now, timedelta(seconds=dialing_s)
    own = None if hours is None else CallingSchedule(hours.zone, hours.slots, hours.holidays)
    for _ in range(_MAX_WINDOWS):
        window = calling_window(own, at)
        if window.is_open and (window.until is None or at + left <= window.until):
            return at + left
        if window.until is None:
            return None
        if window.is_open:
            left -= window.until - at
        at = window.until
    return None
