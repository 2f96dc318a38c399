"""Superusers' queries about workflows, across all organizations."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.sql_json import (
    json_number,
    json_object,
    json_plain_text,
    json_text,
    json_time,
    rows_as_arrays,
)
from offhook.workflows.repository import DELETED
from offhook.workflows.tables import Workflow


class WorkflowListItem(NamedTuple):
    """A row of the list. ``json`` is an object of id, name, status, organization_id, workflow_uuid, folder_id,
    created_at, updated_at. A tuple, because thousands are created at once.
    """

    id: int
    organization_id: int
    json: str


async def list_workflows(
    session: AsyncSession, organization_id: int | None, statuses: Collection[str], *, limit: int | None, offset: int
) -> tuple[list[WorkflowListItem], int]:
    """Returns workflows, newest first, of one organization or of all, and the total count."""
    conditions = [Workflow.status != DELETED]
    if organization_id is not None:
        conditions.append(Workflow.organization_id == organization_id)
    if statuses:
        conditions.append(Workflow.status.in_(statuses))
    total = await session.scalar(select(func.count()).select_from(Workflow).where(*conditions))
    shown = json_object(
        {
            "id": json_number(Workflow.id),
            "name": json_text(Workflow.name),
            "status": json_plain_text(Workflow.status),
            "organization_id": json_number(Workflow.organization_id),
            "workflow_uuid": json_plain_text(Workflow.workflow_uuid),
            "folder_id": json_number(Workflow.folder_id),
            "created_at": json_time(Workflow.created_at),
            "updated_at": json_time(Workflow.updated_at),
        }
    )
    listed = select(Workflow.id, Workflow.organization_id, shown.label("json")).where(*conditions)
    found = await session.execute(rows_as_arrays(listed.order_by(Workflow.id.desc()).limit(limit).offset(offset)))
    ids, organizations, texts = (values or () for values in found.one())
    return list(map(WorkflowListItem._make, zip(ids, organizations, texts, strict=True))), total or 0


async def count_by_organization(session: AsyncSession, organization_ids: Collection[int]) -> dict[int, int]:
    """Counts the workflows of these organizations, omitting organizations without any."""
    rows = await session.execute(
        select(Workflow.organization_id, func.count())
        .where(Workflow.organization_id.in_(organization_ids), Workflow.status != DELETED)
        .group_by(Workflow.organization_id)
    )
    return {row[0]: row[1] for row in rows}


async def names_by_id(session: AsyncSession, ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(select(Workflow.id, Workflow.name).where(Workflow.id.in_(ids)))
    return {row[0]: row[1] for row in rows}
