"""Workflows (called agents in the interface), their folders, versions and public triggers."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, func, text
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
    """One version, draft, published or archived; partial indexes allow one draft and one published version."""

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
