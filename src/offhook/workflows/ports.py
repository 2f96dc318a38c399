"""Ports that the domains above workflows implement; they provide them to the root."""

from collections.abc import Collection, Mapping
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows.tool_facts import ToolFacts

__all__ = ["NoRuns", "NoTools", "RunCounter", "ToolCatalog", "ToolFacts"]


class RunCounter(Protocol):
    """Counts conversations; the runs domain implements it."""

    async def count_runs(
        self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]
    ) -> dict[int, int]:
        """Returns runs by workflow id; workflows without runs may be missing."""
        ...


class NoRuns:
    """The counter of a process without a runs domain."""

    async def count_runs(
        self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]
    ) -> dict[int, int]:
        return {}


class ToolCatalog(Protocol):
    """Knows the custom tools of an organization; the domain that owns tools implements it."""

    async def get_tool_facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        """Returns facts by tool id, omitting ids that are not tools of the organization."""
        ...


class NoTools:
    """The catalog of a process without tools."""

    async def get_tool_facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        return {}
