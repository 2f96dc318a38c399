"""Reads of the sweep, across organizations."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.privacy.tables import AgentRetention


async def list_all_agent_retention(session: AsyncSession) -> Sequence[AgentRetention]:
    """Returns the settings of the agents of all organizations."""
    return (await session.scalars(select(AgentRetention).order_by(AgentRetention.workflow_id))).all()
