"""What this domain asks of domains above it; they provide it to the root."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession


class RunCounter(Protocol):
    """Counts conversations; the runs domain implements it."""

    async def count(self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, int]:
        """Runs by workflow id; a workflow without runs may be left out."""
        ...


class NoRuns:
    """The counter of a process that has no runs domain."""

    async def count(self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, int]:
        return {}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What validation must know of a custom tool. ``timeout_s`` is None when the tool may wait for ever."""

    name: str
    timeout_s: float | None = None
    is_transfer: bool = False
    has_fallback: bool = False
    ends_call: bool = False


class ToolCatalogue(Protocol):
    """Knows the custom tools of an organisation; the domain that owns tools implements it."""

    async def facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        """Facts by tool id; ids that are no tool of the organisation are left out."""
        ...


class NoTools:
    """The catalogue of a process that has no tools."""

    async def facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        return {}
