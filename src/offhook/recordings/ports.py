"""What this domain asks of the workflows, which stand above it; they provide it to the root."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession


class RecordingUsers(Protocol):
    """Those who name recordings in their definitions."""

    async def has_workflow(self, session: AsyncSession, organization_id: int, workflow_id: int) -> bool: ...

    async def rename_recording(self, session: AsyncSession, organization_id: int, old: str, new: str) -> int:
        """Name it anew wherever it is used; how many versions were changed."""
        ...
