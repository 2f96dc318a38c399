"""The queries of canaries and of their calls."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows import repository
from offhook.workflows.tables import CanaryCall, Workflow, WorkflowCanary, WorkflowVersion

RUNNING: Final = "running"


async def find_running(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowCanary | None:
    """Returns the canary that takes calls of this workflow."""
    found = select(WorkflowCanary).where(
        WorkflowCanary.organization_id == organization_id,
        WorkflowCanary.workflow_id == workflow_id,
        WorkflowCanary.state == RUNNING,
    )
    return (await session.scalars(found.execution_options(populate_existing=True))).one_or_none()


async def find_latest(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowCanary | None:
    found = select(WorkflowCanary).where(
        WorkflowCanary.organization_id == organization_id, WorkflowCanary.workflow_id == workflow_id
    )
    newest = found.order_by(WorkflowCanary.id.desc()).limit(1).execution_options(populate_existing=True)
    return (await session.scalars(newest)).one_or_none()


async def list_running(session: AsyncSession) -> Sequence[Row[int, int]]:
    """Returns (organization, id) of the canaries that take calls, of all organizations, for the job."""
    found = (
        select(WorkflowCanary.organization_id, WorkflowCanary.id)
        .join(Workflow, Workflow.id == WorkflowCanary.workflow_id)
        .where(WorkflowCanary.state == RUNNING, Workflow.status != repository.DELETED)
    )
    return (await session.execute(found.order_by(WorkflowCanary.id))).all()


async def lock_running(session: AsyncSession, organization_id: int, canary_id: int) -> WorkflowCanary | None:
    """Returns a canary that takes calls, locked; None when it has ended. Calls can begin in the meantime."""
    found = (
        select(WorkflowCanary)
        .where(
            WorkflowCanary.id == canary_id,
            WorkflowCanary.organization_id == organization_id,
            WorkflowCanary.state == RUNNING,
        )
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(found)).one_or_none()


async def end_running(
    session: AsyncSession, organization_id: int, canary_id: int, values: Mapping[str, Any]
) -> WorkflowCanary | None:
    """Ends a canary that takes calls; None when it has ended: of two who end it, one does."""
    ended = (
        update(WorkflowCanary)
        .where(
            WorkflowCanary.id == canary_id,
            WorkflowCanary.organization_id == organization_id,
            WorkflowCanary.state == RUNNING,
        )
        .values(dict(values))
        .returning(WorkflowCanary)
        .execution_options(populate_existing=True, synchronize_session=False)
    )
    return (await session.scalars(ended)).one_or_none()


async def store_evidence(
    session: AsyncSession, organization_id: int, canary_id: int, judged_calls: int, values: Mapping[str, Any]
) -> bool:
    """Stores what a look at so many calls said, unless a later look has covered more or the canary has ended."""
    stored = (
        update(WorkflowCanary)
        .where(
            WorkflowCanary.id == canary_id,
            WorkflowCanary.organization_id == organization_id,
            WorkflowCanary.state == RUNNING,
            WorkflowCanary.judged_calls <= judged_calls,
        )
        .values(judged_calls=judged_calls, **values)
        .returning(WorkflowCanary.id)
        .execution_options(synchronize_session=False)
    )
    return (await session.scalar(stored)) is not None


async def current_version(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowVersion | None:
    """Returns the version that takes a share of calls."""
    found = (
        select(WorkflowVersion)
        .join(WorkflowCanary, WorkflowCanary.new_version_id == WorkflowVersion.id)
        .where(
            WorkflowCanary.organization_id == organization_id,
            WorkflowCanary.workflow_id == workflow_id,
            WorkflowCanary.state == RUNNING,
        )
    )
    return (await session.scalars(found.execution_options(populate_existing=True))).one_or_none()


async def draft_and_base(
    session: AsyncSession, organization_id: int, workflow_id: int
) -> tuple[WorkflowVersion | None, WorkflowVersion | None]:
    """Returns the draft, and the version that a new one begins from: the newest that takes calls. A draft made from
    an older one would undo the canary when it is published."""
    draft, published = await repository.latest_versions(session, organization_id, workflow_id)
    return draft, await current_version(session, organization_id, workflow_id) or published


async def shown_version(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowVersion | None:
    """Returns what an editor shows and tests try: the draft, else the newest version that takes calls."""
    draft, base = await draft_and_base(session, organization_id, workflow_id)
    return draft or base


async def add_calls(session: AsyncSession, organization_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds calls of a canary; those that it has stay as they are."""
    if not rows:
        return
    # 13 columns a row, and at most 32,767 parameters in a statement
    for first in range(0, len(rows), 2_000):
        part = [{"organization_id": organization_id, **row} for row in rows[first : first + 2_000]]
        await session.execute(insert(CanaryCall).values(part).on_conflict_do_nothing())


async def list_open_calls(session: AsyncSession, organization_id: int, canary_id: int, *, limit: int) -> Sequence[int]:
    """Returns the runs of a canary that have no position, oldest first."""
    rows = await session.scalars(
        select(CanaryCall.run_id)
        .where(
            CanaryCall.canary_id == canary_id,
            CanaryCall.organization_id == organization_id,
            CanaryCall.position.is_(None),
        )
        .order_by(CanaryCall.run_id)
        .limit(limit)
    )
    return rows.all()


async def counted_callers(
    session: AsyncSession, organization_id: int, canary_id: int, run_ids: Collection[int]
) -> dict[int, tuple[int | None, bool]]:
    """Returns, for each of these runs, its caller's key and whether a call of this caller counts already."""
    other = CanaryCall.__table__.alias("other")
    is_counted = (
        select(other.c.run_id)
        .where(
            other.c.canary_id == canary_id,
            other.c.caller_key == CanaryCall.caller_key,
            other.c.position > 0,
            ~other.c.is_earlier,
        )
        .exists()
    )
    rows = await session.execute(
        select(CanaryCall.run_id, CanaryCall.caller_key, is_counted).where(
            CanaryCall.canary_id == canary_id,
            CanaryCall.organization_id == organization_id,
            CanaryCall.run_id.in_(run_ids),
        )
    )
    return {run_id: (key, has_counted) for run_id, key, has_counted in rows}


async def settle_calls(
    session: AsyncSession, organization_id: int, canary_id: int, measures: Mapping[int, Mapping[str, Any]]
) -> None:
    """Writes the position and the measures of calls that are over, by run; the caller holds the canary's lock."""
    for run_id, values in measures.items():
        await session.execute(
            update(CanaryCall)
            .where(
                CanaryCall.canary_id == canary_id,
                CanaryCall.organization_id == organization_id,
                CanaryCall.run_id == run_id,
                CanaryCall.position.is_(None),
            )
            .values(dict(values))
            .execution_options(synchronize_session=False)
        )


async def list_counted(
    session: AsyncSession, organization_id: int, canary_id: int, *, is_earlier: bool, limit: int
) -> Sequence[Any]:
    """Returns (is_new, is_success, has_failed, has_complained, seconds, answer_ms, cost_cents) of the calls that count, in
    their order."""
    rows = await session.execute(
        select(
            CanaryCall.is_new,
            CanaryCall.is_success,
            CanaryCall.has_failed,
            CanaryCall.has_complained,
            CanaryCall.seconds,
            CanaryCall.answer_ms,
            CanaryCall.cost_cents,
        )
        .where(
            CanaryCall.canary_id == canary_id,
            CanaryCall.organization_id == organization_id,
            CanaryCall.position > 0,
            CanaryCall.is_earlier.is_(is_earlier),
        )
        .order_by(CanaryCall.position)
        .limit(limit)
    )
    return rows.all()
