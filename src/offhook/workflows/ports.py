"""Ports that the domains above workflows implement; they set them in ``WorkflowServices``."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows.tool_facts import ToolFacts

__all__ = ["NoTools", "RunCounter", "ToolCatalog", "ToolFacts", "count_no_runs"]


# Returns the number of runs by workflow id, for these workflows of the organization; those without runs may be missing.
RunCounter = Callable[[AsyncSession, int, Collection[int]], Awaitable[dict[int, int]]]


async def count_no_runs(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, int]:
    """Implements ``RunCounter`` for a process without a runs domain."""
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
