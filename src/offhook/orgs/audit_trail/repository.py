"""Statements on the audit log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Result, RowMapping, Select, and_, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from offhook.kit.filters.criteria import FilterField, parse_filters
from offhook.kit.http.pagination import PageRequest
from offhook.orgs.tables import ApiKey, AuditEntry, User

AUDIT_FILTERS: Final[dict[str, FilterField]] = {
    "id": FilterField.for_column(AuditEntry.id, "number"),
    "position": FilterField.for_column(AuditEntry.position, "number"),
    "action": FilterField.for_column(AuditEntry.action, "select", "text"),
    "target": FilterField.for_column(AuditEntry.target, "select", "text"),
    "actor_user_id": FilterField.for_column(AuditEntry.actor_user_id, "number", "select"),
    "actor_key_id": FilterField.for_column(AuditEntry.actor_key_id, "number", "select"),
    "impersonator_id": FilterField.for_column(AuditEntry.impersonator_id, "number", "select"),
    "ip": FilterField.for_column(AuditEntry.ip, "select", "text"),
    "created_at": FilterField.for_column(AuditEntry.created_at, "date"),
}


async def list_entries(
    session: AsyncSession, organization_id: int, filters: str | None, page: PageRequest
) -> tuple[Sequence[RowMapping], int]:
    """Returns a page of entries, newest first, and how many match in total. Raises ``FilterInvalid`` (422)."""
    conditions: list[Any] = [AuditEntry.organization_id == organization_id, *parse_filters(filters, AUDIT_FILTERS)]
    total = await session.scalar(select(func.count()).select_from(AuditEntry).where(*conditions))
    entries = _select_entries().where(*conditions).order_by(AuditEntry.id.desc())
    rows = await session.execute(entries.limit(page.limit).offset(page.offset))
    return rows.mappings().all(), total or 0


@dataclass(frozen=True, slots=True)
class ExportBounds:
    """Where the log ended when an export began: its last position and its last entry."""

    position: int
    entry_id: int


async def find_export_bounds(session: AsyncSession, organization_id: int) -> ExportBounds:
    last = select(func.max(AuditEntry.position), func.max(AuditEntry.id))
    row = (await session.execute(last.where(AuditEntry.organization_id == organization_id))).one()
    return ExportBounds(row[0] or 0, row[1] or 0)


async def list_export_page(
    session: AsyncSession,
    organization_id: int,
    filters: str | None,
    bounds: ExportBounds,
    *,
    is_sealed: bool,
    after: int,
    limit: int,
) -> Sequence[RowMapping]:
    """Returns the next entries within the bounds: those that were sealed at the beginning by their position, or the others
    by their number."""
    statement = _select_entries().where(
        AuditEntry.organization_id == organization_id, *parse_filters(filters, AUDIT_FILTERS)
    )
    if is_sealed:
        statement = statement.where(AuditEntry.position > after, AuditEntry.position <= bounds.position)
        statement = statement.order_by(AuditEntry.position)
    else:
        was_unsealed = or_(AuditEntry.position.is_(None), AuditEntry.position > bounds.position)
        statement = statement.where(AuditEntry.id > after, AuditEntry.id <= bounds.entry_id, was_unsealed)
        statement = statement.order_by(AuditEntry.id)
    rows: Result[Any] = await session.execute(statement.limit(limit))
    return rows.mappings().all()


async def list_entries_of_run(
    session: AsyncSession, organization_id: int, run_id: int, limit: int
) -> Sequence[RowMapping]:
    """Returns the first entries about a run, or that a call made itself."""
    is_about = or_(AuditEntry.target == f"run:{run_id}", AuditEntry.data.contains({"run_id": run_id}))
    statement = _select_entries().where(AuditEntry.organization_id == organization_id, is_about)
    rows: Result[Any] = await session.execute(statement.order_by(AuditEntry.id).limit(limit))
    return rows.mappings().all()


def parse_audit_filters(filters: str | None) -> None:
    """Raises ``FilterInvalid`` (422) unless the filters can be used."""
    parse_filters(filters, AUDIT_FILTERS)


def _select_entries() -> Select[Any]:
    impersonator = aliased(User)
    return (
        select(
            *AuditEntry.__table__.columns,
            User.email.label("actor_email"),
            ApiKey.name.label("actor_key_name"),
            impersonator.email.label("impersonator_email"),
        )
        .outerjoin(User, User.id == AuditEntry.actor_user_id)
        .outerjoin(
            ApiKey, and_(ApiKey.id == AuditEntry.actor_key_id, ApiKey.organization_id == AuditEntry.organization_id)
        )
        .outerjoin(impersonator, impersonator.id == AuditEntry.impersonator_id)
    )


async def has_written(session: AsyncSession) -> bool:
    """Returns whether the transaction has written: PostgreSQL numbers a transaction at its first write."""
    return bool(await session.scalar(text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")))
