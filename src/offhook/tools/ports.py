"""Ports that the domains above tools implement; they provide them to the root."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession


class ReferenceFinder(Protocol):
    """Finds agents whose current versions refer to this domain's objects; the workflows domain implements it."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        """Returns names of workflows whose draft or published version contains this id."""
        ...


class NoWorkflows:
    """The finder of a process without workflows."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        return []
