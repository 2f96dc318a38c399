"""Ports that the domains above workflows implement; they set them in ``WorkflowServices``."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.workflows.errors import AgentFileInvalid
from offhook.workflows.tool_facts import ToolFacts

__all__ = ["NoTools", "RunCounter", "ScenarioReader", "ToolCatalog", "ToolFacts", "count_no_runs", "refuse_scenarios"]


# Returns the number of runs by workflow id, for these workflows of the organization; those without runs may be missing.
RunCounter = Callable[[AsyncSession, int, Collection[int]], Awaitable[dict[int, int]]]


async def count_no_runs(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, int]:
    """Implements ``RunCounter`` for a process without a runs domain."""
    return {}


# Returns the scenarios of a file of an agent, of this organization, as they are stored. Raises a DomainError that names
# what is wrong.
ScenarioReader = Callable[[int, Sequence[Any]], Awaitable[list[JsonObject]]]


async def refuse_scenarios(organization_id: int, raw: Sequence[Any]) -> list[JsonObject]:
    """Implements ``ScenarioReader`` for a process without a scenarios domain."""
    if raw:
        raise AgentFileInvalid("This process reads no scenarios.")
    return []


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
