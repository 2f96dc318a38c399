"""What this domain asks of domains above it; they provide it to the root."""

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
        """Runs by workflow id; a workflow without runs may be left out."""
        ...


class NoRuns:
    """The counter of a process that has no runs domain."""

    async def count_runs(
        self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]
    ) -> dict[int, int]:
        return {}


class ToolCatalog(Protocol):
    """Knows the custom tools of an organization; the domain that owns tools implements it."""

    async def get_tool_facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        """Facts by tool id; ids that are no tool of the organization are left out."""
        ...


class NoTools:
    """The catalog of a process that has no tools."""

    async def get_tool_facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        return {}
