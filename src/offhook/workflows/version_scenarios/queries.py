"""Reads the scenarios of one version, which its row leaves out."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows.tables import WorkflowVersion


async def read_scenarios(session: AsyncSession, organization_id: int, version_id: int) -> Sequence[Any]:
    """Returns the scenarios of a version of the organization; none for an unknown one."""
    found = await session.scalar(
        select(WorkflowVersion.scenarios).where(
            WorkflowVersion.id == version_id, WorkflowVersion.organization_id == organization_id
        )
    )
    return found or ()
