"""The queries on carrier accounts; every read takes the organisation."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.tables import TelephonyConfiguration


async def configuration(
    session: AsyncSession, organization_id: int, configuration_id: int
) -> TelephonyConfiguration | None:
    found = await session.execute(
        select(TelephonyConfiguration).where(
            TelephonyConfiguration.id == configuration_id, TelephonyConfiguration.organization_id == organization_id
        )
    )
    return found.scalar_one_or_none()


async def default_for_dialling(session: AsyncSession, organization_id: int) -> TelephonyConfiguration | None:
    """The account that is marked as default; the oldest when several are."""
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(
            TelephonyConfiguration.organization_id == organization_id,
            TelephonyConfiguration.is_default_outbound.is_(True),
        )
        .order_by(TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def oldest_of(session: AsyncSession, organization_id: int, provider: str) -> TelephonyConfiguration | None:
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(TelephonyConfiguration.organization_id == organization_id, TelephonyConfiguration.provider == provider)
        .order_by(TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()
