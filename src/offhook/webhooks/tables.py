"""Customers' endpoints, the events of an organization, and every delivery of an event to an endpoint."""

from datetime import datetime
from typing import ClassVar, Final

from sqlalchemy import ARRAY, BigInteger, ForeignKey, Index, LargeBinary, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject
from offhook.orgs.data_keys.sealed_rows import SealedPart, SealedRow

# The events about a person's calls are found by the run and emptied.
EVENT_DATA: Final = SealedPart("webhook_events", ("data",), "key", plain_parts=frozenset({"run_id"}))
# Endpoints can answer with what they were sent.
ATTEMPT_ANSWER: Final = SealedPart("webhook_attempts", ("answer",), "delivery_id", level=38)


class WebhookEndpoint(Base):
    """``status``: ``enabled``, ``disabled`` (by a user), ``failing`` (switched off after long failure)."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (Index("ix_webhook_endpoints_org", "organization_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(String(2000))
    description: Mapped[str | None] = mapped_column(String(500))
    # Empty: every event, including those of later versions.
    events: Mapped[list[str]] = mapped_column(ARRAY(String(64)), server_default=text("'{}'"))
    status: Mapped[str] = mapped_column(String(16), server_default="enabled")
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    old_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    old_secret_until: Mapped[datetime | None]
    last_sequence: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    # The time since which every attempt has failed; null after a success.
    failing_since: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class WebhookEvent(SealedRow, Base):
    """Append-only; within an organization ids rise in commit order, so that a reader who asks for events after an
    id misses nothing. ``key`` makes an event that is published twice a single one. ``data`` can be encrypted."""

    sealed_parts: ClassVar = (EVENT_DATA,)
    __tablename__ = "webhook_events"
    __table_args__ = (
        UniqueConstraint("organization_id", "key"),
        Index("ix_webhook_events_org", "organization_id", "id"),
        Index("ix_webhook_events_created_at", "created_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    type: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(String(200))
    data: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class WebhookDelivery(Base):
    """One event for one endpoint. ``status``: ``pending``, ``delivered``, ``dead``; ``attempts`` counts since
    creation or since the last manual resend."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        UniqueConstraint("endpoint_id", "sequence"),
        UniqueConstraint("endpoint_id", "event_id"),
        Index("ix_webhook_deliveries_org", "organization_id", "endpoint_id", "id"),
        Index("ix_webhook_deliveries_event", "event_id"),
        Index("ix_webhook_deliveries_due", "next_attempt_at", postgresql_where=text("status = 'pending'")),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    endpoint_id: Mapped[int] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    event_id: Mapped[int] = mapped_column(ForeignKey("webhook_events.id", ondelete="CASCADE"))
    sequence: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(String(16), server_default="pending")
    # Incremented whenever the delivery restarts from the beginning, so that a job of an earlier round does nothing.
    round: Mapped[int] = mapped_column(server_default=text("1"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    next_attempt_at: Mapped[datetime | None]
    last_status_code: Mapped[int | None]
    last_error: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    delivered_at: Mapped[datetime | None]


class WebhookAttempt(SealedRow, Base):
    """The delivery log: the result of one attempt. ``answer`` is the beginning of the endpoint's response, which can be
    encrypted."""

    sealed_parts: ClassVar = (ATTEMPT_ANSWER,)
    __tablename__ = "webhook_attempts"
    __table_args__ = (Index("ix_webhook_attempts_delivery", "delivery_id", "id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    delivery_id: Mapped[int] = mapped_column(ForeignKey("webhook_deliveries.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    status_code: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(String(500))
    answer: Mapped[str | None] = mapped_column(String(1000))
    duration_ms: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
