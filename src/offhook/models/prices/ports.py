"""Ports that the domains above implement for prices; they provide them to the root."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import settings_of


class BillingPolicy(Protocol):
    """Knows whose calls are paid from a balance."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        """Returns True when an empty balance blocks this organization's calls."""
        ...

    async def charge_request(self, session: AsyncSession, organization_id: int, note: str) -> None:
        """Charges a request to a model outside of a conversation. Raises a DomainError (402) when it cannot be paid."""
        ...


class InstallationBillingPolicy:
    """The policy of a process without balances for its organizations."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        return settings_of(session).billing_enforced

    async def charge_request(self, session: AsyncSession, organization_id: int, note: str) -> None:
        pass
