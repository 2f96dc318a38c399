"""The stored call policy of an organization; one without is open but for premium, satellite and high-risk ranges."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.call_policy import repository
from offhook.orgs.call_policy.rules import CallPolicy


async def load_policy(session: AsyncSession, organization_id: int) -> CallPolicy:
    stored = await repository.find_policy(session, organization_id)
    if stored is None:
        return CallPolicy()
    return CallPolicy(
        countries=frozenset(stored.countries) if stored.countries is not None else None,
        allows_premium=stored.allows_premium,
        allows_satellite=stored.allows_satellite,
        allows_high_risk=stored.allows_high_risk,
        max_cents_per_minute=stored.max_cents_per_minute,
        max_live_calls_per_caller=stored.max_live_calls_per_caller,
        max_hourly_calls_per_caller=stored.max_hourly_calls_per_caller,
    )


async def is_caller_blocked(session: AsyncSession, organization_id: int, number: str) -> bool:
    """Returns whether inbound calls of this number (E.164) are refused."""
    return await repository.is_blocked(session, organization_id, number)
