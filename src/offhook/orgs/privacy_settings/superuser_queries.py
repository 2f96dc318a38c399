"""Reads of the sweep, across organizations."""

from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import StoredPrivacySettings


async def list_settings_with_an_end(session: AsyncSession) -> Sequence[StoredPrivacySettings]:
    """Returns the settings of all organizations that do not keep everything."""
    rows = select(StoredPrivacySettings).where(
        or_(
            StoredPrivacySettings.recordings_days.is_not(None),
            StoredPrivacySettings.transcripts_days.is_not(None),
            StoredPrivacySettings.runs_days.is_not(None),
            StoredPrivacySettings.contacts_days.is_not(None),
            StoredPrivacySettings.audit_days.is_not(None),
        )
    )
    return (await session.scalars(rows.order_by(StoredPrivacySettings.organization_id))).all()
