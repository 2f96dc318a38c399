"""Statements on the nodes and the installation. They are of no organization."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.nodes.tables import Installation, NodeRow


async def write_beat(session: AsyncSession, node_id: str, values: Mapping[str, Any]) -> None:
    """Writes the node's row; ``values`` are its columns."""
    beat = insert(NodeRow).values(id=node_id, **values)
    await session.execute(
        beat.on_conflict_do_update(index_elements=[NodeRow.id], set_={**values, "beat_at": func.clock_timestamp()})
    )


async def remove_node(session: AsyncSession, node_id: str) -> None:
    await session.execute(delete(NodeRow).where(NodeRow.id == node_id))


async def remove_silent_nodes(session: AsyncSession, older_than: timedelta) -> None:
    """Deletes nodes whose last beat is longer ago."""
    await session.execute(delete(NodeRow).where(NodeRow.beat_at < func.clock_timestamp() - older_than))


async def find_fingerprint(session: AsyncSession) -> str | None:
    return (await session.execute(select(Installation.key_fingerprint))).scalar_one_or_none()


async def adopt_fingerprint(session: AsyncSession, fingerprint: str) -> str:
    """Stores the fingerprint if none is stored, and returns the stored one."""
    await session.execute(insert(Installation).values(id=1, key_fingerprint=fingerprint).on_conflict_do_nothing())
    return (await session.execute(select(Installation.key_fingerprint))).scalar_one()


async def replace_fingerprint(session: AsyncSession, fingerprint: str) -> None:
    await session.execute(update(Installation).values(key_fingerprint=fingerprint))


async def find_storage(session: AsyncSession) -> str | None:
    return (await session.execute(select(Installation.storage))).scalar_one_or_none()


async def adopt_storage(session: AsyncSession, storage: str) -> str:
    """Stores where the files are if nothing is stored, and returns what is stored."""
    await session.execute(update(Installation).where(Installation.storage.is_(None)).values(storage=storage))
    return (await session.execute(select(Installation.storage))).scalar_one() or storage


async def replace_storage(session: AsyncSession, storage: str) -> None:
    await session.execute(update(Installation).values(storage=storage))


async def get_identity(session: AsyncSession) -> str:
    return (await session.execute(select(Installation.identity))).scalar_one()
