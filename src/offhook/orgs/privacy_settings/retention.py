"""How long an organization keeps what its calls leave."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_numbers import reject_boolean
from offhook.orgs.audit_trail.recorder import write_change_entry
from offhook.orgs.caller import Caller
from offhook.orgs.privacy_settings import repository, superuser_queries
from offhook.orgs.tables import StoredPrivacySettings

RetainedKind = Literal["recordings", "transcripts", "runs"]
# Less than a day would delete what people are still working with; ten years is the longest duty to keep records.
MIN_DAYS: Final = 1
MAX_DAYS: Final = 3650
Days = Annotated[int, BeforeValidator(reject_boolean), Field(ge=MIN_DAYS, le=MAX_DAYS)]
# What somebody did stays on record for longer than it takes to notice it.
MIN_AUDIT_DAYS: Final = 90


@dataclass(frozen=True, slots=True)
class CallPeriods:
    """Days since the beginning of a run; None sets no period."""

    recordings_days: int | None = None
    transcripts_days: int | None = None
    runs_days: int | None = None

    def days_of(self, kind: RetainedKind) -> int | None:
        return {"recordings": self.recordings_days, "transcripts": self.transcripts_days, "runs": self.runs_days}[kind]


@dataclass(frozen=True, slots=True)
class RetentionPeriods(CallPeriods):
    """Besides calls, days since the end of a campaign (contacts) and since an audit entry; None keeps it."""

    contacts_days: int | None = None
    audit_days: int | None = None


@dataclass(frozen=True, slots=True)
class RetentionState:
    """The periods, and how far the sweep has come: runs created before ``…_swept_until`` are done."""

    organization_id: int
    periods: RetentionPeriods
    recordings_swept_until: datetime | None = None
    transcripts_swept_until: datetime | None = None
    runs_swept_until: datetime | None = None

    def swept_until(self, kind: RetainedKind) -> datetime | None:
        return {
            "recordings": self.recordings_swept_until,
            "transcripts": self.transcripts_swept_until,
            "runs": self.runs_swept_until,
        }[kind]


async def get_retention(session: AsyncSession, organization_id: int) -> RetentionState:
    """Returns the organization's own periods; everything is kept without any."""
    found = await repository.find_settings(session, organization_id)
    return RetentionState(organization_id, RetentionPeriods()) if found is None else _read_state(found)


async def change_retention(
    session: AsyncSession, caller: Caller, periods: RetentionPeriods, now: datetime
) -> RetentionState:
    """Stores the periods and records them in the audit log."""
    before = await get_retention(session, caller.organization_id)
    if before.periods == periods:
        return before
    stored = await repository.store_settings(session, caller.organization_id, asdict(periods), now)
    target = f"organization:{caller.organization_id}"
    await write_change_entry(session, caller, "retention.changed", target, asdict(periods))
    return _read_state(stored)


async def list_retention(session: AsyncSession) -> Sequence[RetentionState]:
    """Returns the states of all organizations that do not keep everything."""
    return [_read_state(row) for row in await superuser_queries.list_settings_with_an_end(session)]


async def note_sweep(session: AsyncSession, organization_id: int, kind: RetainedKind, until: datetime) -> None:
    """Stores how far the sweep of one kind has come."""
    await repository.note_sweep(session, organization_id, f"{kind}_swept_until", until)


def _read_state(row: StoredPrivacySettings) -> RetentionState:
    return RetentionState(
        row.organization_id,
        RetentionPeriods(row.recordings_days, row.transcripts_days, row.runs_days, row.contacts_days, row.audit_days),
        row.recordings_swept_until,
        row.transcripts_swept_until,
        row.runs_swept_until,
    )
