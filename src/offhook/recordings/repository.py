"""The queries for recordings; every read takes the organization."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.recordings.tables import WorkflowRecording as Row


async def find_by_recording_id(
    session: AsyncSession, organization_id: int, recording_id: str, *, lock: bool = False
) -> Row | None:
    query = select(Row).where(Row.organization_id == organization_id, Row.recording_id == recording_id)
    if lock:
        query = query.with_for_update()
    return (await session.execute(query)).scalar_one_or_none()


async def find_by_id(session: AsyncSession, organization_id: int, row_id: int) -> Row | None:
    """Finds a recording, locked for an exclusive rename."""
    found = await session.execute(
        select(Row).where(Row.organization_id == organization_id, Row.id == row_id).with_for_update()
    )
    return found.scalar_one_or_none()


async def list_recordings(
    session: AsyncSession, organization_id: int, filters: Mapping[str, Any], *, limit: int | None, offset: int
) -> tuple[list[Row], int]:
    """Returns recordings, newest first, and the total count; a filter that is None matches everything."""
    wanted = [Row.organization_id == organization_id]
    wanted += [getattr(Row, name) == value for name, value in filters.items() if value is not None]
    rows = await session.execute(select(Row).where(*wanted).order_by(Row.id.desc()).limit(limit).offset(offset))
    count = await session.execute(select(func.count()).select_from(Row).where(*wanted))
    return list(rows.scalars()), count.scalar_one()


async def known_ids(session: AsyncSession, organization_id: int, recording_ids: Collection[str]) -> set[str]:
    found = await session.execute(
        select(Row.recording_id).where(Row.organization_id == organization_id, Row.recording_id.in_(recording_ids))
    )
    return set(found.scalars())


async def of_workflow(session: AsyncSession, organization_id: int, workflow_id: int) -> list[Row]:
    """Returns a workflow's recordings, locked against deletion: copies share their files."""
    found = await session.execute(
        select(Row)
        .where(Row.organization_id == organization_id, Row.workflow_id == workflow_id)
        .order_by(Row.id)
        .with_for_update(read=True)
    )
    return list(found.scalars())


async def lock_keys(session: AsyncSession, organization_id: int, keys: Collection[str]) -> None:
    """Locks the files under these keys against writing, naming and removal until the transaction ends."""
    for key in sorted(set(keys)):
        await session.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.recording:' || :key, :id))"),
            {"key": key, "id": organization_id},
        )


async def used_keys(session: AsyncSession, organization_id: int, keys: Collection[str]) -> set[str]:
    """Returns the keys that recordings use."""
    found = await session.execute(
        select(Row.storage_key).where(Row.organization_id == organization_id, Row.storage_key.in_(keys))
    )
    return set(found.scalars())
