"""What prices ask of the domains above; they provide it to the root."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import settings_of


class BillingPolicy(Protocol):
    """Knows whose calls are paid from a balance."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        """Returns whether an empty balance refuses calls of this organization."""
        ...


class InstallationBillingPolicy:
    """Of a process that keeps no accounts of its organizations."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        return settings_of(session).billing_enforced
