"""How long an agent's calls are kept: never for longer than its organization keeps calls."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import Caller, write_audit_entry
from offhook.orgs.privacy_settings import retention
from offhook.orgs.privacy_settings.retention import CallPeriods, RetainedKind, RetentionPeriods
from offhook.privacy.retention import repository, superuser_queries
from offhook.privacy.tables import AgentRetention
from offhook.workflows import service as workflows


@dataclass(frozen=True, slots=True)
class AgentPeriods(CallPeriods):
    """The periods of an agent; None leaves it to the organization."""


@dataclass(frozen=True, slots=True)
class AgentRetentionState:
    """The periods of an agent, and how far their sweep has come."""

    organization_id: int
    workflow_id: int
    periods: AgentPeriods
    recordings_swept_until: datetime | None = None
    transcripts_swept_until: datetime | None = None
    runs_swept_until: datetime | None = None

    def swept_until(self, kind: RetainedKind) -> datetime | None:
        return {
            "recordings": self.recordings_swept_until,
            "transcripts": self.transcripts_swept_until,
            "runs": self.runs_swept_until,
        }[kind]


@dataclass(frozen=True, slots=True)
class AgentRetentionView:
    """The agent's own periods, and those that apply: the shorter of its and its organization's."""

    own: AgentPeriods
    applied: AgentPeriods


async def get_agent_retention(session: AsyncSession, organization_id: int, workflow_id: int) -> AgentRetentionView:
    """Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, organization_id, workflow_id)
    found = await repository.find_agent_retention(session, organization_id, workflow_id)
    own = AgentPeriods() if found is None else _read_state(found).periods
    common = (await retention.get_retention(session, organization_id)).periods
    return AgentRetentionView(own, _apply(own, common))


async def change_agent_retention(
    session: AsyncSession, caller: Caller, workflow_id: int, periods: AgentPeriods, now: datetime
) -> AgentRetentionView:
    """Stores the periods and records them in the audit log. Raises WorkflowNotFound (404)."""
    before = await get_agent_retention(session, caller.organization_id, workflow_id)
    if before.own == periods:
        return before
    await repository.store_agent_retention(session, caller.organization_id, workflow_id, asdict(periods), now)
    await write_audit_entry(session, caller, "retention.changed", f"workflow:{workflow_id}", asdict(periods))
    return await get_agent_retention(session, caller.organization_id, workflow_id)


async def list_agent_periods(session: AsyncSession) -> Sequence[AgentRetentionState]:
    """Returns the states of agents of all organizations."""
    return [_read_state(row) for row in await superuser_queries.list_all_agent_retention(session)]


async def note_sweep(
    session: AsyncSession, organization_id: int, workflow_id: int, kind: RetainedKind, until: datetime
) -> None:
    """Stores how far the sweep of one kind has come."""
    await repository.note_sweep(session, organization_id, workflow_id, f"{kind}_swept_until", until)


def _apply(own: AgentPeriods, common: RetentionPeriods) -> AgentPeriods:
    def shorter(kind: RetainedKind) -> int | None:
        return min((days for days in (own.days_of(kind), common.days_of(kind)) if days is not None), default=None)

    return AgentPeriods(shorter("recordings"), shorter("transcripts"), shorter("runs"))


def _read_state(row: AgentRetention) -> AgentRetentionState:
    return AgentRetentionState(
        row.organization_id,
        row.workflow_id,
        AgentPeriods(row.recordings_days, row.transcripts_days, row.runs_days),
        row.recordings_swept_until,
        row.transcripts_swept_until,
        row.runs_swept_until,
    )
