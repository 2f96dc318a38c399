"""An organization's tools and the credentials that they send."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class Credential(Base):
    """A credential. ``sealed`` is the secret as JSON, encrypted with the organization as associated data."""

    __tablename__ = "credentials"
    __table_args__ = (UniqueConstraint("organization_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    credential_uuid: Mapped[uuid.UUID] = mapped_column(unique=True, server_default=text("gen_random_uuid()"))
    name: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(Text)
    credential_type: Mapped[str] = mapped_column(String(32))
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    # Allowed hosts; null until the first use, which sets them to that server.
    allowed_hosts: Mapped[list[str] | None] = mapped_column(ARRAY(String(253)))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime | None]


class Tool(Base):
    """A tool. ``status``: active, draft or archived. ``definition`` is ``{schema_version, type, config}``."""

    __tablename__ = "tools"
    __table_args__ = (Index("ix_tools_org", "organization_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    tool_uuid: Mapped[uuid.UUID] = mapped_column(unique=True, server_default=text("gen_random_uuid()"))
    name: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(Text)
    category: Mapped[str] = mapped_column(String(32))
    icon: Mapped[str | None] = mapped_column(String(50))
    icon_color: Mapped[str | None] = mapped_column(String(7))
    status: Mapped[str] = mapped_column(String(16), server_default="active")
    definition: Mapped[dict[str, Any]]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime | None]
