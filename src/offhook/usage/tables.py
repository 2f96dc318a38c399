"""Usage by run and by quarter of an hour, and the balance of an organization.

No foreign keys point to runs or workflows: usage remains when they are deleted.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Numeric, PrimaryKeyConstraint, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base

_ORGANIZATION = "organizations.id"


class BillingAccount(Base):
    """An organization's terms and balance; ``balance_cents`` always equals the sum of its ledger.

    Null terms are the installation's. Its row lock serializes the organization's charges. ``daily_limit_cents`` is the
    operator's limit of one day's spend, ``own_daily_limit_cents`` a lower one that the organization sets itself.
    """

    __tablename__ = "billing_accounts"

    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"), primary_key=True)
    balance_cents: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    platform_cents_per_minute: Mapped[Decimal | None] = mapped_column(Numeric(10, 4))
    included_minutes: Mapped[int | None]
    is_enforced: Mapped[bool | None]
    daily_limit_cents: Mapped[int | None] = mapped_column(BigInteger)
    own_daily_limit_cents: Mapped[int | None] = mapped_column(BigInteger)


class CreditHold(Base):
    """Money that a conversation may still cost, set aside from its beginning until it is charged."""

    __tablename__ = "credit_holds"
    __table_args__ = (Index("ix_credit_holds_org", "organization_id", postgresql_include=["cents"]),)

    run_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"))
    cents: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class LedgerEntry(Base):
    """Append-only. ``kind``: credit, run, charge, adjustment. ``balance_cents`` is the balance after it."""

    __tablename__ = "ledger_entries"
    __table_args__ = (
        Index("ix_ledger_entries_org", "organization_id", "id"),
        # What was spent today besides runs.
        Index(
            "ix_ledger_entries_charges",
            "organization_id",
            "created_at",
            postgresql_include=["amount_cents"],
            postgresql_where=text("kind = 'charge'"),
        ),
        Index("uq_ledger_entries_run", "run_id", unique=True, postgresql_where=text("kind = 'run'")),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    amount_cents: Mapped[int] = mapped_column(BigInteger)
    balance_cents: Mapped[int] = mapped_column(BigInteger)
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    note: Mapped[str | None] = mapped_column(String(500))
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RunUsage(Base):
    """One finished run's contribution to the sums, so that recording it again adds only the difference.

    ``models``: a list of the sums' columns by kind, provider and model.
    """

    __tablename__ = "run_usage"
    __table_args__ = (
        Index(
            "ix_run_usage_campaign",
            "campaign_id",
            postgresql_include=["organization_id", "cost_cents"],
            postgresql_where=text("campaign_id IS NOT NULL"),
        ),
        Index("ix_run_usage_org", "organization_id"),
    )

    run_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"))
    workflow_id: Mapped[int]
    campaign_id: Mapped[int | None]
    bucket_at: Mapped[datetime]
    duration_ms: Mapped[int] = mapped_column(BigInteger)
    billable_ms: Mapped[int] = mapped_column(BigInteger)
    cost_cents: Mapped[int] = mapped_column(BigInteger)
    outcome: Mapped[str] = mapped_column(String(32), server_default=text("'unknown'"))
    models: Mapped[list[Any]] = mapped_column(server_default=text("'[]'::jsonb"))


class UsageBucket(Base):
    """Sums over the runs created in one quarter of an hour: the finest offset between time zones."""

    __tablename__ = "usage_buckets"
    # Includes the summed columns, so that sums of thousands of rows need not read the rows.
    __table_args__ = (
        PrimaryKeyConstraint("organization_id", "bucket_at", postgresql_include=["calls", "duration_ms", "cost_cents"]),
    )

    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"), primary_key=True)
    bucket_at: Mapped[datetime] = mapped_column(primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)
    duration_ms: Mapped[int] = mapped_column(BigInteger)
    billable_ms: Mapped[int] = mapped_column(BigInteger)
    cost_cents: Mapped[int] = mapped_column(BigInteger)


class OutcomeBucket(Base):
    """The number of runs per outcome in a quarter of an hour."""

    __tablename__ = "outcome_buckets"
    # Includes the summed columns, so that sums of thousands of rows need not read the rows.
    __table_args__ = (PrimaryKeyConstraint("organization_id", "bucket_at", "outcome", postgresql_include=["calls"]),)

    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"), primary_key=True)
    bucket_at: Mapped[datetime] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(String(32), primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)


class AgentDay(Base):
    """An agent's activity in one UTC day: quarters of an hour per agent would be as many rows as runs."""

    __tablename__ = "agent_days"
    # Includes the summed columns, so that sums of thousands of rows need not read the rows.
    __table_args__ = (
        PrimaryKeyConstraint(
            "organization_id",
            "day",
            "workflow_id",
            "outcome",
            postgresql_include=["calls", "duration_ms", "cost_cents"],
        ),
    )

    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    workflow_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    outcome: Mapped[str] = mapped_column(String(32), primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)
    duration_ms: Mapped[int] = mapped_column(BigInteger)
    cost_cents: Mapped[int] = mapped_column(BigInteger)


class ModelUsageBucket(Base):
    """The same sums by model. ``calls`` are language model requests, ``unpriced_runs`` those with an unknown price."""

    __tablename__ = "model_usage_buckets"

    organization_id: Mapped[int] = mapped_column(ForeignKey(_ORGANIZATION, ondelete="CASCADE"), primary_key=True)
    bucket_at: Mapped[datetime] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    provider: Mapped[str] = mapped_column(String(32), primary_key=True)
    model: Mapped[str] = mapped_column(String(64), primary_key=True)
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    characters: Mapped[int] = mapped_column(BigInteger)
    seconds: Mapped[Decimal] = mapped_column(Numeric(16, 3))
    calls: Mapped[int] = mapped_column(BigInteger)
    runs: Mapped[int] = mapped_column(BigInteger)
    unpriced_runs: Mapped[int] = mapped_column(BigInteger)
    cost_cents: Mapped[Decimal] = mapped_column(Numeric(20, 8))
