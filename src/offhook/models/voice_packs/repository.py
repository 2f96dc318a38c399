"""Statements on the installation's mirrors, and on who uses a voice pack."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.models.tables import VoiceMirrors


async def load_addresses(session: AsyncSession) -> list[str]:
    """Returns the stored addresses; empty where none are."""
    return (await session.execute(select(VoiceMirrors.addresses))).scalar_one_or_none() or []


async def store_addresses(session: AsyncSession, addresses: Sequence[str]) -> None:
    """Replaces the stored addresses; without any, the environment's apply again."""
    if not addresses:
        await session.execute(delete(VoiceMirrors))
        return
    statement = insert(VoiceMirrors).values(id=1, addresses=list(addresses))
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=[VoiceMirrors.id], set_={"addresses": statement.excluded.addresses, "updated_at": func.now()}
        )
    )


async def count_organizations_by_pack(session: AsyncSession) -> dict[str, int]:
    """Returns how many organizations have chosen each pack as their voice, recognizer or fallback."""
    rows = await session.execute(
        text(
            "SELECT service ->> 'model' AS pack, count(DISTINCT organization_id) AS organizations"
            " FROM model_configurations,"
            """ jsonb_path_query(configuration, 'strict $.** ? (@.type() == "object" && @.provider == "voice_pack")')"""
            " AS service GROUP BY 1"
        )
    )
    return {row.pack: row.organizations for row in rows if row.pack is not None}
