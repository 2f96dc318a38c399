"""Campaigns, their contacts and every dial of a contact. No counters, which could drift."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, ForeignKey, Index, SmallInteger, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject

REMOVED: Final = "removed:"


class Campaign(Base):
    """A campaign. ``status``: draft, running, paused, completed, failed. ``failure_reason`` also gives the reason when
    a campaign paused itself.

    JSON columns hold the settings of the rules of the same name: ``calling_hours`` (None = any time), ``retry_config``,
    ``circuit_breaker``, ``destinations``, ``voicemail``. ``columns`` are the CSV's, in order.
    """

    __tablename__ = "campaigns"
    __table_args__ = (
        Index("ix_campaigns_org", "organization_id", "id"),
        # For workers: the few running campaigns.
        Index("ix_campaigns_running", "organization_id", "id", postgresql_where=text("status = 'running'")),
        # For the job that starts drafts when they are due.
        Index(
            "ix_campaigns_starts_at", "starts_at",
            postgresql_where=text("status = 'draft' AND starts_at IS NOT NULL AND start_problem IS NULL"),
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"), index=True)
    parent_campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaigns.id", ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(16), server_default="draft")
    failure_reason: Mapped[str | None] = mapped_column(String(500))
    max_concurrency: Mapped[int]
    telephony_configuration_id: Mapped[int | None]
    contacts_file_key: Mapped[str | None] = mapped_column(String(300))
    columns: Mapped[list[str]] = mapped_column(server_default=text("'[]'::jsonb"))
    calling_hours: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    retry_config: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    circuit_breaker: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    destinations: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    voicemail: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    spend_cap_cents: Mapped[int | None]
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # When a draft starts by itself, and the person or API key that set it: may they still start it then?
    starts_at: Mapped[datetime | None]
    start_set_by: Mapped[int | None]
    start_set_by_key: Mapped[int | None]
    # Why it did not. It is not tried again until another time is set.
    start_problem: Mapped[str | None] = mapped_column(String(500))
    started_at: Mapped[datetime | None]
    # The last start or resume: the circuit breaker ignores earlier calls.
    running_since: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    # When the contacts lost their numbers and variables, because the organization keeps them no longer.
    contacts_removed_at: Mapped[datetime | None]


class Contact(Base):
    """A contact. ``state``: pending (may be dialed from ``due_at`` on), calling (one attempt is not final), done
    (``outcome``).

    ``dials`` counts requests to the carrier, written with the attempt; ``hold`` is the reason for a later ``due_at``. The
    ``phone_number`` of one that is not kept any longer is :data:`REMOVED` and its id.
    """

    __tablename__ = "campaign_contacts"
    __table_args__ = (
        # Dialing takes the first due ones: its cost does not grow with the list.
        Index("ix_campaign_contacts_due", "campaign_id", "due_at", "id", postgresql_where=text("state = 'pending'")),
        # Progress is one index-only count.
        Index("ix_campaign_contacts_progress", "campaign_id", "state", "outcome", "dials"),
        Index("uq_campaign_contacts_number", "campaign_id", "phone_number", unique=True),
        Index("ix_campaign_contacts_row", "campaign_id", "row_number"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    organization_id: Mapped[int]
    row_number: Mapped[int]
    phone_number: Mapped[str] = mapped_column(String(32))
    variables: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    state: Mapped[str] = mapped_column(String(16), server_default="pending")
    outcome: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(String(64))
    dials: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    due_at: Mapped[datetime] = mapped_column(server_default=func.now())
    hold: Mapped[str | None] = mapped_column(String(64))
    done_at: Mapped[datetime | None]


class Attempt(Base):
    """One dial of a contact. ``state``: reserved → placing (committed before the carrier is asked) → placed → final.

    ``because`` says why a contact is dialed again: the outcome and reason of the attempt before. ``check_at``: when the
    carrier's silence is investigated. ``may_dial_until``: after it this dial may not begin any more.
    """

    __tablename__ = "campaign_attempts"
    __table_args__ = (
        # Never two live dials to one contact, whatever the code does.
        Index(
            "uq_campaign_attempts_live", "contact_id", unique=True, postgresql_where=text("state <> 'final'")
        ),
        Index("uq_campaign_attempts_number", "contact_id", "number", unique=True),
        Index("uq_campaign_attempts_run", "run_id", unique=True),
        Index(
            "ix_campaign_attempts_open", "organization_id", "campaign_id", "check_at",
            postgresql_where=text("state <> 'final'"),
        ),
        # The circuit breaker reads the latest few.
        Index("ix_campaign_attempts_ended", "campaign_id", "ended_at", postgresql_include=["outcome"]),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    contact_id: Mapped[int] = mapped_column(ForeignKey("campaign_contacts.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(SmallInteger)
    state: Mapped[str] = mapped_column(String(16))
    because: Mapped[str | None] = mapped_column(String(100))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"))
    outcome: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(String(64))
    reserved_at: Mapped[datetime]
    may_dial_until: Mapped[datetime]
    check_at: Mapped[datetime]
    placed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class DialBucket(Base):
    """The token bucket of one carrier account (``rules.rate``)."""

    __tablename__ = "campaign_dial_buckets"

    organization_id: Mapped[int] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(String(64), primary_key=True)
    tokens: Mapped[float]
    at: Mapped[datetime]


class DialPass(Base):
    """Counts an organization's dialing jobs since one last ended. A job that crashes its worker never ends, and the
    next worker takes it over: without a limit it would crash them all.
    """

    __tablename__ = "campaign_dial_passes"

    organization_id: Mapped[int] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    unfinished: Mapped[int] = mapped_column(server_default=text("0"))
