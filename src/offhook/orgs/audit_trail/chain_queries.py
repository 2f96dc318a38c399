"""Statements on the chains of the audit log."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.audit_trail.chain import AUDIT_LOG_TRIMMED, AuditChain, ChainHead, EntryContent, Seal
from offhook.orgs.tables import AuditCheckpoint, AuditEntry

_PAGE = 500
_CONTENT = (
    AuditEntry.id,
    AuditEntry.organization_id,
    AuditEntry.actor_user_id,
    AuditEntry.actor_key_id,
    AuditEntry.impersonator_id,
    AuditEntry.action,
    AuditEntry.target,
    AuditEntry.ip,
    AuditEntry.data,
    AuditEntry.created_at,
)


def _belongs_to(chain: AuditChain) -> ColumnElement[bool]:
    # ``IS NOT DISTINCT FROM`` would not use the index.
    if chain.organization_id is None:
        return AuditEntry.organization_id.is_(None)
    return AuditEntry.organization_id == chain.organization_id


async def list_chains(session: AsyncSession) -> list[AuditChain]:
    """Returns the chains of all organizations, and that of the installation."""
    trimmed = select(AuditCheckpoint.organization_id)
    found = await session.scalars(select(AuditEntry.organization_id).distinct().union(trimmed))
    return sorted(
        (AuditChain(organization_id) for organization_id in found), key=lambda chain: chain.organization_id or 0
    )


async def list_unsealed_chains(session: AsyncSession) -> list[AuditChain]:
    """Returns the chains that have entries without a seal, of all organizations."""
    found = await session.scalars(select(AuditEntry.organization_id).where(AuditEntry.seal.is_(None)).distinct())
    return [AuditChain(organization_id) for organization_id in found]


async def try_lock_chain(session: AsyncSession, chain: AuditChain) -> bool:
    """Takes the chain's lock until the transaction ends; returns False if another process has it."""
    return bool(
        await session.scalar(
            text("SELECT pg_try_advisory_xact_lock(hashtextextended('offhook.audit_chain', :id))"),
            {"id": chain.organization_id or 0},
        )
    )


async def lock_chain(session: AsyncSession, chain: AuditChain) -> None:
    """Takes the chain's lock until the transaction ends; waits for the process that has it."""
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.audit_chain', :id))"),
        {"id": chain.organization_id or 0},
    )


async def unseal_from(session: AsyncSession, chain: AuditChain, entry_ids: Sequence[int]) -> int | None:
    """Removes the seals from the first of these entries on, and returns its position; None if none of them has one."""
    first = select(func.min(AuditEntry.position)).where(_belongs_to(chain), AuditEntry.id.in_(entry_ids))
    position = await session.scalar(first)
    if position is not None:
        await session.execute(
            update(AuditEntry)
            .where(_belongs_to(chain), AuditEntry.position >= position)
            .values(position=None, previous_seal=None, seal=None)
            .execution_options(synchronize_session=False)
        )
    return position


async def find_head(session: AsyncSession, chain: AuditChain) -> ChainHead:
    last = select(AuditEntry.position, AuditEntry.seal).where(_belongs_to(chain), AuditEntry.position.is_not(None))
    row = (await session.execute(last.order_by(AuditEntry.position.desc()).limit(1))).one_or_none()
    if row is None or row[0] is None or row[1] is None:
        return await find_checkpoint(session, chain)
    return ChainHead(row[0], row[1])


async def find_checkpoint(session: AsyncSession, chain: AuditChain) -> ChainHead:
    """Returns the last position and seal that were removed; those of an empty chain if nothing was."""
    found = None
    if chain.organization_id is not None:
        found = await session.get(AuditCheckpoint, chain.organization_id, populate_existing=True)
    return ChainHead() if found is None else ChainHead(found.last_position, found.last_seal)


async def store_checkpoint(
    session: AsyncSession, organization_id: int, last: ChainHead, entries: int, now: datetime
) -> None:
    values = {"last_position": last.position, "last_seal": last.seal, "trimmed_at": now}
    statement = insert(AuditCheckpoint).values(organization_id=organization_id, entries=entries, **values)
    more = {**values, "entries": AuditCheckpoint.entries + entries}
    await session.execute(statement.on_conflict_do_update(index_elements=["organization_id"], set_=more))


async def explains_checkpoint(session: AsyncSession, chain: AuditChain, checkpoint: ChainHead) -> bool:
    """Returns whether an entry of the log says that it was trimmed up to the checkpoint."""
    said = {"last_position": checkpoint.position, "last_seal": checkpoint.seal.hex()}
    is_said = AuditEntry.data.contains(said)
    rows = select(AuditEntry.id).where(_belongs_to(chain), AuditEntry.action == AUDIT_LOG_TRIMMED, is_said)
    return await session.scalar(rows.limit(1)) is not None


async def list_first_sealed(session: AsyncSession, chain: AuditChain, limit: int) -> list[tuple[EntryContent, Seal]]:
    """Returns the first sealed entries in the order of their positions."""
    rows = await session.execute(_select_sealed(chain).limit(limit))
    values: list[tuple[Any, ...]] = [tuple(row) for row in rows]
    return [(EntryContent(*row[:-3]), Seal(*row[-3:])) for row in values]


async def delete_entries(session: AsyncSession, chain: AuditChain, entry_ids: Sequence[int]) -> None:
    await session.execute(
        delete(AuditEntry)
        .where(_belongs_to(chain), AuditEntry.id.in_(entry_ids))
        .execution_options(synchronize_session=False)
    )


def _select_sealed(chain: AuditChain) -> Select[*tuple[Any, ...]]:
    return (
        select(*_CONTENT, AuditEntry.position, AuditEntry.previous_seal, AuditEntry.seal)
        .where(_belongs_to(chain), AuditEntry.position.is_not(None))
        .order_by(AuditEntry.position, AuditEntry.id)
    )


async def find_unsealed(session: AsyncSession, chain: AuditChain, limit: int) -> list[EntryContent]:
    """Returns the next entries to seal, lowest number first, locked. An entry with a lower number that is committed
    later comes with a later batch."""
    rows = await session.execute(
        select(*_CONTENT)
        .where(_belongs_to(chain), AuditEntry.seal.is_(None))
        .order_by(AuditEntry.id)
        .limit(limit)
        .with_for_update()
    )
    values: list[tuple[Any, ...]] = [tuple(row) for row in rows]
    return [EntryContent(*row) for row in values]


async def write_seals(session: AsyncSession, chain: AuditChain, seals: Sequence[tuple[int, Seal]]) -> None:
    """Writes the seals of a chain's entries, by their number."""
    await session.execute(
        text(
            "UPDATE audit_entries entry SET position = made.position, previous_seal = made.previous_seal,"
            " seal = made.seal FROM unnest(CAST(:ids AS bigint[]), CAST(:positions AS bigint[]),"
            " CAST(:previous AS bytea[]), CAST(:seals AS bytea[])) AS made (id, position, previous_seal, seal)"
            " WHERE entry.id = made.id AND entry.seal IS NULL"
            " AND entry.organization_id IS NOT DISTINCT FROM CAST(:organization_id AS integer)"
        ),
        {
            "ids": [entry_id for entry_id, _ in seals],
            "positions": [seal.position for _, seal in seals],
            "previous": [seal.previous_seal for _, seal in seals],
            "seals": [seal.seal for _, seal in seals],
            "organization_id": chain.organization_id,
        },
    )


async def stream_sealed(session: AsyncSession, chain: AuditChain) -> AsyncIterator[tuple[EntryContent, Seal]]:
    """Yields the sealed entries in the order of their positions, from a cursor of the server."""
    rows = await session.stream(_select_sealed(chain).execution_options(yield_per=_PAGE))
    async for row in rows:
        values: tuple[Any, ...] = tuple(row)
        yield EntryContent(*values[:-3]), Seal(*values[-3:])


async def count_unsealed(session: AsyncSession, chain: AuditChain) -> int:
    statement = select(func.count()).select_from(AuditEntry).where(_belongs_to(chain), AuditEntry.seal.is_(None))
    return await session.scalar(statement) or 0
