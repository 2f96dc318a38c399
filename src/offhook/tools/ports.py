"""Ports that the domains above tools implement; they set them in ``ToolServices``."""

from collections.abc import Awaitable, Callable

from sqlalchemy.ext.asyncio import AsyncSession

# Returns the names of workflows (of this organization) whose draft or published version contains this id.
ReferenceFinder = Callable[[AsyncSession, int, str], Awaitable[list[str]]]


async def find_no_references(session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
    """Implements ``ReferenceFinder`` for a process without workflows."""
    return []
