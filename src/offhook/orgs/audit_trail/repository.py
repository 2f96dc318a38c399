"""Statements on the audit log."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import RowMapping, and_, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from offhook.kit.filters.criteria import FilterField, parse_filters
from offhook.kit.http.pagination import PageRequest
from offhook.orgs.tables import ApiKey, AuditEntry, User

AUDIT_FILTERS: Final[dict[str, FilterField]] = {
    "id": FilterField.for_column(AuditEntry.id, "number"),
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
    impersonator = aliased(User)
    rows = await session.execute(
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
        .where(*conditions)
        .order_by(AuditEntry.id.desc())
        .limit(page.limit)
        .offset(page.offset)
    )
    return rows.mappings().all(), total or 0


async def has_written(session: AsyncSession) -> bool:
    """Returns whether the transaction has written: PostgreSQL numbers a transaction at its first write."""
    return bool(await session.scalar(text("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")))
