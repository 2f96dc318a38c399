"""Statements on how long agents keep their calls."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.privacy.tables import AgentRetention


async def find_agent_retention(session: AsyncSession, organization_id: int, workflow_id: int) -> AgentRetention | None:
    rows = select(AgentRetention).where(
        AgentRetention.organization_id == organization_id, AgentRetention.workflow_id == workflow_id
    )
    return (await session.scalars(rows)).one_or_none()


async def store_agent_retention(
    session: AsyncSession, organization_id: int, workflow_id: int, values: Mapping[str, Any], now: datetime
) -> AgentRetention:
    statement = insert(AgentRetention).values(
        organization_id=organization_id, workflow_id=workflow_id, **values, updated_at=now
    )
    stored = statement.on_conflict_do_update(
        index_elements=["workflow_id"], set_={**values, "updated_at": now}
    ).returning(AgentRetention)
    return (await session.scalars(stored, execution_options={"populate_existing": True})).one()


async def note_sweep(
    session: AsyncSession, organization_id: int, workflow_id: int, column: str, until: datetime
) -> None:
    """Stores how far one of the sweeps has come."""
    await session.execute(
        update(AgentRetention)
        .where(AgentRetention.organization_id == organization_id, AgentRetention.workflow_id == workflow_id)
        .values({column: until})
    )
