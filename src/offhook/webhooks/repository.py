"""Queries for webhooks. All take the organization, except those of jobs, which know only a delivery's id or a date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, any_, delete, func, literal, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.http.pagination import PageRequest
from offhook.kit.json_values import JsonObject
from offhook.webhooks.tables import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery with everything that an attempt needs."""

    delivery: WebhookDelivery
    endpoint: WebhookEndpoint
    event: WebhookEvent


async def list_endpoints(session: AsyncSession, organization_id: int) -> Sequence[WebhookEndpoint]:
    found = await session.scalars(
        select(WebhookEndpoint)
        .where(WebhookEndpoint.organization_id == organization_id)
        .order_by(WebhookEndpoint.id.desc())
    )
    return found.all()


async def find_endpoint(
    session: AsyncSession, organization_id: int, endpoint_id: int, *, lock: bool = False
) -> WebhookEndpoint | None:
    query = select(WebhookEndpoint).where(
        WebhookEndpoint.id == endpoint_id, WebhookEndpoint.organization_id == organization_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found: WebhookEndpoint | None = await session.scalar(query)
    return found


async def lock_order(session: AsyncSession, organization_id: int) -> None:
    """Locks until the transaction ends, so that an organization's events are committed in the order of their ids."""
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.webhook_events', :id))"), {"id": organization_id}
    )


async def insert_events(
    session: AsyncSession, organization_id: int, events: Sequence[tuple[str, str, Mapping[str, object]]], at: datetime
) -> dict[str, int]:
    """Inserts events ``(kind, key, columns of data)`` in order and returns new ids by key. Existing events are left
    out."""
    statement = (
        insert(WebhookEvent)
        .values(
            [
                {"organization_id": organization_id, "type": kind, "key": key, "created_at": at, **data}
                for kind, key, data in events
            ]
        )
        .on_conflict_do_nothing()
        .returning(WebhookEvent.key, WebhookEvent.id)
    )
    return {row[0]: row[1] for row in await session.execute(statement)}


async def number_endpoints(
    session: AsyncSession, organization_id: int, kinds: Sequence[str]
) -> list[list[tuple[int, int]]]:
    """Returns, per event kind in order, (endpoint, next sequence number) of each enabled, subscribed endpoint."""
    found = await session.execute(
        select(WebhookEndpoint.id, WebhookEndpoint.events, WebhookEndpoint.last_sequence)
        .where(WebhookEndpoint.organization_id == organization_id, WebhookEndpoint.status == "enabled")
        .where(
            or_(
                func.cardinality(WebhookEndpoint.events) == 0,
                or_(*(literal(kind) == any_(WebhookEndpoint.events) for kind in sorted(set(kinds)))),
            )
        )
        .order_by(WebhookEndpoint.id)
        .with_for_update()
    )
    wanting = found.all()
    last = {row.id: row.last_sequence for row in wanting}
    numbered: list[list[tuple[int, int]]] = []
    for kind in kinds:
        endpoint_ids = [row.id for row in wanting if not row.events or kind in row.events]
        for endpoint_id in endpoint_ids:
            last[endpoint_id] += 1
        numbered.append([(endpoint_id, last[endpoint_id]) for endpoint_id in endpoint_ids])
    for row in wanting:
        if last[row.id] != row.last_sequence:
            await session.execute(
                update(WebhookEndpoint)
                .where(WebhookEndpoint.id == row.id)
                .values(last_sequence=last[row.id])
                .execution_options(synchronize_session=False)
            )
    return numbered


async def events_after(
    session: AsyncSession, organization_id: int, *, after: int, kinds: Sequence[str], limit: int
) -> Sequence[WebhookEvent]:
    query = select(WebhookEvent).where(WebhookEvent.organization_id == organization_id, WebhookEvent.id > after)
    if kinds:
        query = query.where(WebhookEvent.type.in_(kinds))
    return (await session.scalars(query.order_by(WebhookEvent.id).limit(limit))).all()


async def list_deliveries(
    session: AsyncSession, organization_id: int, endpoint_id: int, *, status: str | None, page: PageRequest
) -> tuple[list[JsonObject], int]:
    """Returns deliveries with their event's type, newest first, and the total number."""
    conditions = [WebhookDelivery.organization_id == organization_id, WebhookDelivery.endpoint_id == endpoint_id]
    if status is not None:
        conditions.append(WebhookDelivery.status == status)
    total = await session.scalar(select(func.count()).select_from(WebhookDelivery).where(*conditions))
    rows = await session.execute(
        select(*WebhookDelivery.__table__.columns, WebhookEvent.type.label("event_type"))
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .where(*conditions)
        .order_by(WebhookDelivery.id.desc())
        .limit(page.limit)
        .offset(page.offset)
    )
    return [dict(row) for row in rows.mappings()], total or 0


async def find_delivery(
    session: AsyncSession, organization_id: int, delivery_id: int, *, lock: bool = False
) -> DueDelivery | None:
    """Returns a delivery with its endpoint and event; ``lock`` locks both rows of the delivery."""
    return await _load_delivery(session, delivery_id, WebhookDelivery.organization_id == organization_id, lock=lock)


async def find_delivery_of_job(session: AsyncSession, delivery_id: int, *, lock: bool = False) -> DueDelivery | None:
    """Returns the same for a job, which knows only the delivery's id."""
    return await _load_delivery(session, delivery_id, lock=lock)


async def _load_delivery(
    session: AsyncSession, delivery_id: int, *conditions: ColumnElement[bool], lock: bool
) -> DueDelivery | None:
    query = (
        select(WebhookDelivery, WebhookEndpoint, WebhookEvent)
        .join(WebhookEndpoint, WebhookEndpoint.id == WebhookDelivery.endpoint_id)
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .where(WebhookDelivery.id == delivery_id, *conditions)
    )
    if lock:
        # Lock the endpoint first, in the order of the transactions that number its deliveries or delete it with them.
        of_delivery = select(WebhookDelivery.endpoint_id).where(WebhookDelivery.id == delivery_id).scalar_subquery()
        await session.execute(select(WebhookEndpoint.id).where(WebhookEndpoint.id == of_delivery).with_for_update())
        query = query.with_for_update(of=[WebhookDelivery, WebhookEndpoint]).execution_options(populate_existing=True)
    row = (await session.execute(query)).first()
    return None if row is None else DueDelivery(row[0], row[1], row[2])


async def list_attempts(session: AsyncSession, organization_id: int, delivery_id: int) -> Sequence[WebhookAttempt]:
    found = await session.scalars(
        select(WebhookAttempt)
        .where(WebhookAttempt.organization_id == organization_id, WebhookAttempt.delivery_id == delivery_id)
        .order_by(WebhookAttempt.id)
    )
    return found.all()


async def dead_ids(session: AsyncSession, organization_id: int, endpoint_id: int, *, limit: int) -> Sequence[int]:
    found = await session.scalars(
        select(WebhookDelivery.id)
        .where(WebhookDelivery.organization_id == organization_id, WebhookDelivery.endpoint_id == endpoint_id)
        .where(WebhookDelivery.status == "dead")
        .order_by(WebhookDelivery.sequence)
        .limit(limit)
    )
    return found.all()


async def find_overdue(session: AsyncSession, before: datetime, *, limit: int) -> Sequence[Any]:
    """Returns (id, round, attempts) of all organizations' pending deliveries that are overdue because a job was
    lost."""
    rows = await session.execute(
        select(WebhookDelivery.id, WebhookDelivery.round, WebhookDelivery.attempts)
        .where(WebhookDelivery.status == "pending", WebhookDelivery.next_attempt_at < before)
        .order_by(WebhookDelivery.next_attempt_at)
        .limit(limit)
    )
    return rows.all()


async def delete_events_before(session: AsyncSession, before: datetime) -> None:
    """Deletes old events of all organizations with their deliveries and attempts."""
    await session.execute(delete(WebhookEvent).where(WebhookEvent.created_at < before))
