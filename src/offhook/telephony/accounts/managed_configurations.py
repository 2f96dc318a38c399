"""Adds the managed accounts of an organization: the platform's own, and the organization's sub-account of it."""

from itertools import chain, count
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.accounts import repository
from offhook.telephony.tables import TelephonyConfiguration

ACCOUNT_NAME: Final = "Platform numbers"


async def add_managed_configuration(
    session: AsyncSession, organization_id: int, **values: Any
) -> TelephonyConfiguration:
    """Adds a managed account with a name that the organization has not given to another one."""
    names = {row.name for row in await repository.list_configurations(session, organization_id)}
    numbered = (f"{ACCOUNT_NAME} {number}" for number in count(2))
    name = next(name for name in chain([ACCOUNT_NAME], numbered) if name not in names)
    row = TelephonyConfiguration(organization_id=organization_id, name=name, is_managed=True, **values)
    session.add(row)
    await session.flush()
    await session.refresh(row)
    return row
