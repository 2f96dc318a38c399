"""Workflows (called agents in the interface), their folders, versions and public triggers."""

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    Numeric,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class WorkflowFolder(Base):
    __tablename__ = "workflow_folders"
    __table_args__ = (UniqueConstraint("organization_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Workflow(Base):
    """A workflow. ``status``: active, archived, or deleted: hidden everywhere while a job removes its history.

    ``revision`` counts changes of its name and its versions, so that an editor can detect a concurrent change.
    """

    __tablename__ = "workflows"
    __table_args__ = (
        Index("ix_workflows_org", "organization_id", "id"),
        Index("ix_workflows_folder", "folder_id", postgresql_where=text("folder_id IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_uuid: Mapped[uuid.UUID] = mapped_column(unique=True, server_default=text("gen_random_uuid()"))
    name: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(16), server_default="active")
    folder_id: Mapped[int | None] = mapped_column(ForeignKey("workflow_folders.id", ondelete="SET NULL"))
    revision: Mapped[int] = mapped_column(server_default=text("1"))
    # What must hold before a draft is published; empty: nothing. Not of a version, or a draft could free itself of it.
    publish_gate: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class WorkflowVersion(Base):
    """One version: draft, published, canary (while it takes a share of calls) or archived; partial indexes allow one draft
    and one published version."""

    __tablename__ = "workflow_versions"
    __table_args__ = (
        UniqueConstraint("workflow_id", "version_number"),
        Index("uq_workflow_versions_draft", "workflow_id", unique=True, postgresql_where=text("status = 'draft'")),
        Index(
            "uq_workflow_versions_published", "workflow_id", unique=True, postgresql_where=text("status = 'published'")
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    version_number: Mapped[int]
    status: Mapped[str] = mapped_column(String(16))
    definition: Mapped[dict[str, Any]]
    configurations: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    template_context_variables: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    # Read by those who test an agent, not when a call begins: up to a megabyte.
    scenarios: Mapped[list[Any]] = mapped_column(server_default=text("'[]'::jsonb"), deferred=True)
    note: Mapped[str | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    published_at: Mapped[datetime | None]


class WorkflowTrigger(Base):
    """A public trigger path of a published version; a path belongs to one workflow forever."""

    __tablename__ = "workflow_triggers"

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"), index=True)
    path: Mapped[str] = mapped_column(String(36), unique=True)
    is_active: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class WorkflowCanary(Base):
    """A version that takes ``share`` percent of the calls of its workflow beside the published one, until it is rolled
    forward or back. A partial index allows one that runs.

    ``salt`` keys the hash of callers. ``settings`` are those of the comparison, ``evidence`` what it said last.
    ``counted_calls`` have a position, ``judged_calls`` of them were looked at. ``reason`` is a code.
    """

    __tablename__ = "workflow_canaries"
    __table_args__ = (
        CheckConstraint("state IN ('running','rolled_back','rolled_forward')", name="state"),
        CheckConstraint("share BETWEEN 1 AND 50", name="share"),
        Index("ix_workflow_canaries_workflow", "organization_id", "workflow_id", "id"),
        Index("uq_workflow_canaries_running", "workflow_id", unique=True, postgresql_where=text("state = 'running'")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    old_version_id: Mapped[int] = mapped_column(ForeignKey("workflow_versions.id", ondelete="CASCADE"))
    new_version_id: Mapped[int] = mapped_column(ForeignKey("workflow_versions.id", ondelete="CASCADE"))
    old_number: Mapped[int]
    new_number: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), server_default="running")
    share: Mapped[int]
    salt: Mapped[bytes] = mapped_column(LargeBinary)
    settings: Mapped[dict[str, Any]]
    evidence: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    counted_calls: Mapped[int] = mapped_column(server_default=text("0"))
    judged_calls: Mapped[int] = mapped_column(server_default=text("0"))
    reason: Mapped[str | None] = mapped_column(String(32))
    explanation: Mapped[str | None]
    started_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    ended_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    started_at: Mapped[datetime]
    looked_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class CanaryCall(Base):
    """A call that began while a canary took calls, or an earlier one of the old version.

    ``position``: None until the call is over, then its place in the comparison; 0: it does not count. ``caller_key`` is the
    keyed hash of the caller's number.
    """

    __tablename__ = "canary_calls"
    __table_args__ = (
        Index("ix_canary_calls_run", "run_id"),
        Index("ix_canary_calls_open", "canary_id", "run_id", postgresql_where=text("position IS NULL")),
        Index("ix_canary_calls_counted", "canary_id", "position", postgresql_where=text("position > 0")),
        Index("ix_canary_calls_caller", "canary_id", "caller_key", postgresql_where=text("caller_key IS NOT NULL")),
    )

    canary_id: Mapped[int] = mapped_column(ForeignKey("workflow_canaries.id", ondelete="CASCADE"), primary_key=True)
    run_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    is_new: Mapped[bool]
    is_earlier: Mapped[bool] = mapped_column(server_default=text("false"))
    caller_key: Mapped[int | None] = mapped_column(BigInteger)
    position: Mapped[int | None]
    is_success: Mapped[bool | None]
    has_failed: Mapped[bool | None]
    has_complained: Mapped[bool | None]
    seconds: Mapped[Decimal | None] = mapped_column(Numeric(10, 3))
    answer_ms: Mapped[int | None]
    cost_cents: Mapped[int | None]
