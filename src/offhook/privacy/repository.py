"""Statements on the requests themselves."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.privacy.tables import PersonDataRequest


async def find_request(
    session: AsyncSession, organization_id: int, request_id: int, *, is_locked: bool = False
) -> PersonDataRequest | None:
    statement = select(PersonDataRequest).where(
        PersonDataRequest.organization_id == organization_id, PersonDataRequest.id == request_id
    )
    return await session.scalar(statement.with_for_update() if is_locked else statement)


async def find_open_request(
    session: AsyncSession, organization_id: int, kind: str, number_hash: str
) -> PersonDataRequest | None:
    """Returns a request of this kind about this number that is not done."""
    return await session.scalar(
        select(PersonDataRequest)
        .where(
            PersonDataRequest.organization_id == organization_id,
            PersonDataRequest.kind == kind,
            PersonDataRequest.number_hash == number_hash,
            PersonDataRequest.state != "done",
        )
        .limit(1)
    )


async def list_requests(
    session: AsyncSession, organization_id: int, number_hash: str | None, *, limit: int, offset: int
) -> tuple[Sequence[PersonDataRequest], int]:
    """Returns a page of requests, newest first, and the total count."""
    conditions = [PersonDataRequest.organization_id == organization_id]
    if number_hash is not None:
        conditions.append(PersonDataRequest.number_hash == number_hash)
    total = await session.scalar(select(func.count()).select_from(PersonDataRequest).where(*conditions))
    rows = select(PersonDataRequest).where(*conditions).order_by(PersonDataRequest.id.desc())
    return (await session.scalars(rows.limit(limit).offset(offset))).all(), total or 0


async def list_archives(session: AsyncSession, organization_id: int, number_hash: str) -> Sequence[PersonDataRequest]:
    """Returns the exports about this number whose archive still exists."""
    rows = await session.scalars(
        select(PersonDataRequest).where(
            PersonDataRequest.organization_id == organization_id,
            PersonDataRequest.number_hash == number_hash,
            PersonDataRequest.archive_key.is_not(None),
        )
    )
    return rows.all()
