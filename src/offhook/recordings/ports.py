"""Ports of the domains above this one, which add their implementations to ``RecordingServices.users``."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession


class RecordingUsers(Protocol):
    """Domains whose definitions name recordings."""

    async def has_workflow(self, session: AsyncSession, organization_id: int, workflow_id: int) -> bool: ...

    async def rename_recording(self, session: AsyncSession, organization_id: int, old: str, new: str) -> int:
        """Renames a recording everywhere; returns the number of changed versions."""
        ...
