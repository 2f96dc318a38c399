"""The queries of workflows. Every read takes the organisation, :func:`active_trigger` excepted, which finds it."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Text, func, select, update
from sqlalchemy import cast as cast_sql
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows.tables import Workflow, WorkflowTrigger, WorkflowVersion


async def by_id(
    session: AsyncSession, organization_id: int, workflow_id: int, *, for_update: bool = False
) -> Workflow | None:
    """``for_update`` waits for other editors of this workflow, and reads what they left."""
    query = select(Workflow).where(Workflow.id == workflow_id, Workflow.organization_id == organization_id)
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def latest_versions(
    session: AsyncSession, organization_id: int, workflow_id: int
) -> tuple[WorkflowVersion | None, WorkflowVersion | None]:
    """``(draft, published)``."""
    rows = await session.scalars(
        select(WorkflowVersion)
        .where(
            WorkflowVersion.organization_id == organization_id,
            WorkflowVersion.workflow_id == workflow_id,
            WorkflowVersion.status.in_(("draft", "published")),
        )
        .execution_options(populate_existing=True)
    )
    found = {row.status: row for row in rows}
    return found.get("draft"), found.get("published")


async def version_by_id(session: AsyncSession, organization_id: int, version_id: int) -> WorkflowVersion | None:
    return (
        await session.execute(
            select(WorkflowVersion).where(
                WorkflowVersion.id == version_id, WorkflowVersion.organization_id == organization_id
            )
        )
    ).scalar_one_or_none()


async def version_by_number(
    session: AsyncSession, organization_id: int, workflow_id: int, number: int
) -> WorkflowVersion | None:
    return (
        await session.execute(
            select(WorkflowVersion).where(
                WorkflowVersion.organization_id == organization_id,
                WorkflowVersion.workflow_id == workflow_id,
                WorkflowVersion.version_number == number,
            )
        )
    ).scalar_one_or_none()


async def versions(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[WorkflowVersion], int]:
    """Newest first, and how many there are in all."""
    mine = (WorkflowVersion.organization_id == organization_id, WorkflowVersion.workflow_id == workflow_id)
    query = select(WorkflowVersion).where(*mine).order_by(WorkflowVersion.version_number.desc())
    rows = (await session.scalars(query.limit(limit).offset(offset))).all()
    total = await session.scalar(select(func.count()).select_from(WorkflowVersion).where(*mine))
    return rows, total or 0


async def next_number(session: AsyncSession, organization_id: int, workflow_id: int) -> int:
    highest = await session.scalar(
        select(func.max(WorkflowVersion.version_number)).where(
            WorkflowVersion.organization_id == organization_id, WorkflowVersion.workflow_id == workflow_id
        )
    )
    return (highest or 0) + 1


async def listing(
    session: AsyncSession, organization_id: int, statuses: Collection[str], *, limit: int | None, offset: int
) -> Sequence[Row[Any]]:
    """Newest first, without definitions: id, name, status, folder_id, created_at, workflow_uuid,
    published_version_number, has_draft."""
    published = (
        select(WorkflowVersion.version_number)
        .where(WorkflowVersion.workflow_id == Workflow.id, WorkflowVersion.status == "published")
        .scalar_subquery()
    )
    has_draft = (
        select(WorkflowVersion.id)
        .where(WorkflowVersion.workflow_id == Workflow.id, WorkflowVersion.status == "draft")
        .exists()
    )
    query = select(
        Workflow.id,
        Workflow.name,
        Workflow.status,
        Workflow.folder_id,
        Workflow.created_at,
        Workflow.workflow_uuid,
        published.label("published_version_number"),
        has_draft.label("has_draft"),
    )
    query = query.where(*_mine(organization_id, statuses)).order_by(Workflow.id.desc()).limit(limit).offset(offset)
    return (await session.execute(query)).all()


async def names(session: AsyncSession, organization_id: int, statuses: Collection[str]) -> Sequence[Row[int, str]]:
    query = select(Workflow.id, Workflow.name).where(*_mine(organization_id, statuses)).order_by(Workflow.id.desc())
    return (await session.execute(query)).all()


async def names_of(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(
        select(Workflow.id, Workflow.name).where(
            Workflow.organization_id == organization_id, Workflow.id.in_(workflow_ids)
        )
    )
    return {row[0]: row[1] for row in rows}


async def names_with_text(session: AsyncSession, organization_id: int, text: str) -> list[str]:
    """Names of the workflows whose draft or published version holds this text (an id that is unique in the world)."""
    rows = await session.scalars(
        select(Workflow.name)
        .join(WorkflowVersion, WorkflowVersion.workflow_id == Workflow.id)
        .where(
            Workflow.organization_id == organization_id,
            WorkflowVersion.status.in_(("draft", "published")),
            cast_sql(WorkflowVersion.definition, Text).contains(text, autoescape=True),
        )
        .distinct()
        .order_by(Workflow.name)
        .limit(5)
    )
    return list(rows)


async def counts(session: AsyncSession, organization_id: int) -> dict[str, int]:
    """Workflows by status."""
    rows = await session.execute(
        select(Workflow.status, func.count())
        .where(Workflow.organization_id == organization_id)
        .group_by(Workflow.status)
    )
    return {row[0]: row[1] for row in rows}


def _mine(organization_id: int, statuses: Collection[str]) -> list[ColumnElement[bool]]:
    conditions = [Workflow.organization_id == organization_id]
    return [*conditions, Workflow.status.in_(statuses)] if statuses else conditions


async def lock_demo(session: AsyncSession, organization_id: int) -> None:
    """Wait until nobody else makes the demo of this organisation; held to the end of the transaction."""
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtext("offhook.workflows.demo"), organization_id)))


async def has_workflow(session: AsyncSession, organization_id: int) -> bool:
    found = await session.scalar(select(Workflow.id).where(Workflow.organization_id == organization_id).limit(1))
    return found is not None


async def foreign_paths(
    session: AsyncSession, organization_id: int, workflow_id: int, paths: Collection[str]
) -> set[str]:
    """Those of the paths that belong to another workflow, of whichever organisation: paths are unique in the world.

    ``organization_id`` is the asking one; nothing of the owner is told.
    """
    rows = await session.scalars(
        select(WorkflowTrigger.path).where(
            WorkflowTrigger.path.in_(paths),
            ~((WorkflowTrigger.workflow_id == workflow_id) & (WorkflowTrigger.organization_id == organization_id)),
        )
    )
    return set(rows)


async def claim_paths(
    session: AsyncSession, organization_id: int, workflow_id: int, paths: Collection[str], *, active: Collection[str]
) -> None:
    """Make ``paths`` this workflow's own where they are free; exactly those in ``active`` answer afterwards."""
    for path in sorted(paths):  # in one order, so that two publishers do not wait for each other crosswise
        values = {"organization_id": organization_id, "workflow_id": workflow_id, "path": path}
        await session.execute(insert(WorkflowTrigger).values(**values).on_conflict_do_nothing(index_elements=["path"]))
    await session.execute(
        update(WorkflowTrigger)
        .where(WorkflowTrigger.workflow_id == workflow_id, WorkflowTrigger.organization_id == organization_id)
        .values(is_active=WorkflowTrigger.path.in_(active))
        .execution_options(synchronize_session=False)
    )


async def active_trigger(session: AsyncSession, path: str) -> tuple[int, int] | None:
    """``(organization_id, workflow_id)`` of the active workflow whose published version answers at this path.

    The one read without an organisation: a public address is all that its caller knows.
    """
    row = (
        await session.execute(
            select(WorkflowTrigger.organization_id, WorkflowTrigger.workflow_id)
            .join(Workflow, Workflow.id == WorkflowTrigger.workflow_id)
            .where(WorkflowTrigger.path == path, WorkflowTrigger.is_active, Workflow.status == "active")
        )
    ).one_or_none()
    return cast(tuple[int, int], tuple(row)) if row else None


async def touch(session: AsyncSession, workflow: Workflow, at: datetime) -> None:
    workflow.updated_at = at
    await session.flush()
