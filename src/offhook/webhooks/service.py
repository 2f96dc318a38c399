"""Webhooks: customers' endpoints and their events. Other domains call ``publish_event`` in their own transaction."""

import base64
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs import enqueue
from offhook.kit.crypto import Keyring
from offhook.kit.database.database_clock import time_of
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.orgs.data_keys.sealed_rows import seal_values
from offhook.webhooks import repository
from offhook.webhooks.errors import DeliveryNotFound, TooManyWebhooks, WebhookDisabled, WebhookNotFound
from offhook.webhooks.repository import DueDelivery
from offhook.webhooks.tables import EVENT_DATA, WebhookDelivery, WebhookEndpoint

DELIVER_JOB: Final = "webhook.deliver"
TEST_EVENT: Final = "webhook.test"
ENABLED: Final = "enabled"
DISABLED: Final = "disabled"
FAILING: Final = "failing"
PENDING: Final = "pending"
DELIVERED: Final = "delivered"
DEAD: Final = "dead"

EventType = Literal[
    "run.started",
    "run.completed",
    "run.failed",
    "campaign.status_changed",
    "campaign.completed",
    "campaign.not_started",
    "document.ready",
    "document.failed",
    "scenarios.played",
    "canary.ended",
]
EVENT_TYPES: Final[tuple[str, ...]] = get_args(EventType)
MAX_ENDPOINTS: Final = 20
MAX_RESEND: Final = 1000
OLD_SECRET_TTL: Final = timedelta(hours=24)
_SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the scheme's prefix, no secret
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class NewEndpoint:
    """A new endpoint; ``secret`` is shown only now."""

    record: WebhookEndpoint
    secret: str


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """An event to publish. ``data`` is plain JSON without secrets. ``key`` identifies it within the organization
    (``"run.completed:12"``): an event with the same key is published only once."""

    event_type: str
    data: Mapping[str, object]
    key: str | None = None


async def publish_event(
    session: AsyncSession, organization_id: int, event_type: str, data: Mapping[str, object], *, key: str | None = None
) -> int | None:
    """Publishes one event as :func:`publish_events` does; returns its id, or None if it was published before."""
    return (await publish_events(session, organization_id, [OutgoingEvent(event_type, data, key)]))[0]


async def publish_events(
    session: AsyncSession, organization_id: int, events: Sequence[OutgoingEvent]
) -> list[int | None]:
    """Publishes events in the caller's transaction: they are sent once it commits, and not if it rolls back.

    Returns each event's id, or None where it was published before. Call it near the end of the transaction: until
    that ends, other events of the organization wait.
    """
    for event in events:
        if event.event_type not in EVENT_TYPES:
            raise ValueError(f"{event.event_type!r} is not an event type")
    if not events:
        return []
    now = time_of(session)
    await repository.lock_order(session, organization_id)
    keyed = {event.key or f"{event.event_type}:{secrets.token_hex(8)}": event for event in reversed(events)}
    named = [(key, {"data": dict(event.data)}) for key, event in reversed(keyed.items())]
    stored = await seal_values(session, EVENT_DATA, organization_id, named)
    rows = [(keyed[key].event_type, key, data) for (key, _), data in zip(named, stored, strict=True)]
    ids = await repository.insert_events(session, organization_id, rows, now)
    fresh = [(kind, ids[key]) for kind, key, _ in rows if key in ids]
    if fresh:
        await _create_deliveries(session, organization_id, fresh, now)
    id_of_event = {id(event): ids.get(key) for key, event in keyed.items()}
    return [id_of_event.get(id(event)) for event in events]


async def _create_deliveries(
    session: AsyncSession, organization_id: int, events: Sequence[tuple[str, int]], now: datetime
) -> None:
    """Creates deliveries of new events ``(kind, id)`` for every subscribed endpoint."""
    numbered = await repository.number_endpoints(session, organization_id, [kind for kind, _ in events])
    deliveries = [
        WebhookDelivery(
            organization_id=organization_id,
            endpoint_id=endpoint_id,
            event_id=event_id,
            sequence=sequence,
            next_attempt_at=now,
        )
        for (_, event_id), endpoints in zip(events, numbered, strict=True)
        for endpoint_id, sequence in endpoints
    ]
    if not deliveries:
        return
    session.add_all(deliveries)
    await session.flush()
    for delivery in deliveries:
        await enqueue_attempt(session, delivery.id, 1, 0)


async def enqueue_attempt(
    session: AsyncSession, delivery_id: int, in_round: int, after_attempts: int, *, delay_s: float = 0
) -> None:
    """Enqueues a job for the next attempt; the job does nothing if another one made that attempt."""
    await enqueue(
        session,
        DELIVER_JOB,
        {"delivery_id": delivery_id, "round": in_round, "attempts": after_attempts},
        delay_s=delay_s,
    )


def new_secret() -> str:
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def seal_secret(keyring: Keyring, organization_id: int, secret: str) -> bytes:
    return keyring.seal(secret.encode(), _associated_data(organization_id))


def open_secret(keyring: Keyring, organization_id: int, sealed: bytes) -> str:
    """Raises :class:`SecretUnreadable` when the key that sealed it is gone."""
    return keyring.open(sealed, _associated_data(organization_id)).decode()


def _associated_data(organization_id: int) -> bytes:
    return f"webhook:{organization_id}".encode()


async def create_endpoint(
    session: AsyncSession, keyring: Keyring, caller: Caller, values: Mapping[str, object]
) -> NewEndpoint:
    """Creates an endpoint from checked ``values`` (url, events, description). Raises :class:`TooManyWebhooks` (409)."""
    # counted under a lock, so that concurrent additions cannot exceed the limit
    await repository.lock_order(session, caller.organization_id)
    if len(await repository.list_endpoints(session, caller.organization_id)) >= MAX_ENDPOINTS:
        raise TooManyWebhooks
    secret = new_secret()
    record = WebhookEndpoint(
        organization_id=caller.organization_id,
        secret=seal_secret(keyring, caller.organization_id, secret),
        created_by=caller.user_id,
        **values,
    )
    session.add(record)
    await session.flush()
    await session.refresh(record)
    await write_audit_entry(session, caller, "webhook.created", f"webhook:{record.id}", {"url": record.url})
    return NewEndpoint(record, secret)


async def get_endpoint(
    session: AsyncSession, organization_id: int, endpoint_id: int, *, lock: bool = False
) -> WebhookEndpoint:
    """Returns the endpoint. Raises :class:`WebhookNotFound` (404)."""
    found = await repository.find_endpoint(session, organization_id, endpoint_id, lock=lock)
    if found is None:
        raise WebhookNotFound
    return found


async def update_endpoint(
    session: AsyncSession, caller: Caller, endpoint_id: int, values: dict[str, object]
) -> WebhookEndpoint:
    """Sets the fields in ``values``; ``is_enabled`` true also clears a long failure."""
    record = await get_endpoint(session, caller.organization_id, endpoint_id, lock=True)
    if "is_enabled" in values:
        is_enabled = values.pop("is_enabled")
        if is_enabled and record.status != ENABLED:
            values |= {"status": ENABLED, "failing_since": None}
        elif not is_enabled and record.status == ENABLED:
            values |= {"status": DISABLED}
    changed = sorted(name for name, value in values.items() if getattr(record, name) != value)
    for name in changed:
        setattr(record, name, values[name])
    if changed:
        record.updated_at = time_of(session)
        await write_audit_entry(session, caller, "webhook.updated", f"webhook:{endpoint_id}", {"fields": changed})
    else:
        skip_audit_entry(session)
    return record


async def delete_endpoint(session: AsyncSession, caller: Caller, endpoint_id: int) -> None:
    """Deletes an endpoint with its deliveries; the events stay readable."""
    record = await get_endpoint(session, caller.organization_id, endpoint_id, lock=True)
    await session.delete(record)
    await write_audit_entry(session, caller, "webhook.deleted", f"webhook:{endpoint_id}", {"url": record.url})


async def rotate_secret(
    session: AsyncSession, keyring: Keyring, caller: Caller, endpoint_id: int, now: datetime
) -> NewEndpoint:
    """Creates a new secret; for 24 hours deliveries also carry a signature by the old one."""
    record = await get_endpoint(session, caller.organization_id, endpoint_id, lock=True)
    secret = new_secret()
    record.old_secret, record.old_secret_until = record.secret, now + OLD_SECRET_TTL
    record.secret = seal_secret(keyring, caller.organization_id, secret)
    record.updated_at = now
    await write_audit_entry(session, caller, "webhook.secret_rotated", f"webhook:{endpoint_id}")
    return NewEndpoint(record, secret)


async def get_delivery(
    session: AsyncSession, organization_id: int, endpoint_id: int, delivery_id: int, *, lock: bool = False
) -> DueDelivery:
    """Returns the delivery. Raises :class:`DeliveryNotFound` (404)."""
    found = await repository.find_delivery(session, organization_id, delivery_id, lock=lock)
    if found is None or found.endpoint.id != endpoint_id:
        raise DeliveryNotFound
    return found


async def resend_delivery(session: AsyncSession, caller: Caller, endpoint_id: int, delivery_id: int) -> DueDelivery:
    """Resends a delivery from the first attempt, whatever its status: now, with the same id and sequence number."""
    found = await get_delivery(session, caller.organization_id, endpoint_id, delivery_id, lock=True)
    if found.endpoint.status != ENABLED:
        raise WebhookDisabled
    await _restart_delivery(session, found.delivery)
    await write_audit_entry(session, caller, "webhook.resent", f"webhook:{endpoint_id}", {"delivery_id": delivery_id})
    return found


async def resend_dead_deliveries(session: AsyncSession, caller: Caller, endpoint_id: int) -> int:
    """Resends an endpoint's dead deliveries, at most the oldest 1000; returns their number."""
    record = await get_endpoint(session, caller.organization_id, endpoint_id, lock=True)
    if record.status != ENABLED:
        raise WebhookDisabled
    ids: Sequence[int] = await repository.dead_ids(session, caller.organization_id, endpoint_id, limit=MAX_RESEND)
    count = 0
    for delivery_id in ids:
        found = await repository.find_delivery(session, caller.organization_id, delivery_id, lock=True)
        if found is not None and found.delivery.status == DEAD:
            await _restart_delivery(session, found.delivery)
            count += 1
    if count:
        await write_audit_entry(session, caller, "webhook.resent", f"webhook:{endpoint_id}", {"deliveries": count})
    else:
        skip_audit_entry(session)
    return count


async def _restart_delivery(session: AsyncSession, record: WebhookDelivery) -> None:
    record.status, record.attempts, record.round = PENDING, 0, record.round + 1
    record.next_attempt_at = time_of(session)
    await session.flush()
    await enqueue_attempt(session, record.id, record.round, 0)
