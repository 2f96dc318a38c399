"""What this domain asks of domains above it; they provide it to the root."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession


class ReferenceFinder(Protocol):
    """Finds agents whose current versions name something of this domain; the workflows domain implements it."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        """Names of workflows whose draft or published version holds this id."""
        ...


class NoWorkflows:
    """The finder of a process that has no workflows."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        return []
