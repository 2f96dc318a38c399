"""Statements on the settings of privacy."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import StoredPrivacySettings


async def find_settings(session: AsyncSession, organization_id: int) -> StoredPrivacySettings | None:
    return await session.get(StoredPrivacySettings, organization_id)


async def store_settings(
    session: AsyncSession, organization_id: int, values: Mapping[str, Any], now: datetime
) -> StoredPrivacySettings:
    statement = insert(StoredPrivacySettings).values(organization_id=organization_id, **values, updated_at=now)
    stored = statement.on_conflict_do_update(
        index_elements=["organization_id"], set_={**values, "updated_at": now}
    ).returning(StoredPrivacySettings)
    return (await session.scalars(stored, execution_options={"populate_existing": True})).one()


async def note_sweep(session: AsyncSession, organization_id: int, column: str, until: datetime) -> None:
    """Stores how far one of the sweeps has come."""
    await session.execute(
        update(StoredPrivacySettings)
        .where(StoredPrivacySettings.organization_id == organization_id)
        .values({column: until})
    )
