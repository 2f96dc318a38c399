"""Carrier accounts of organisations; the sandbox carrier is there without a row and may have one to set its mix."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.db import Base


class TelephonyConfiguration(Base):
    """``config`` holds what is not secret (for sandbox: ``{"mix": {"talks": 0.7, …}}``)."""

    __tablename__ = "telephony_configurations"
    __table_args__ = (UniqueConstraint("organization_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    provider: Mapped[str] = mapped_column(String(32))
    config: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    is_default_outbound: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SandboxCall(Base):
    """The sandbox network's own record of a call, as every carrier keeps one: written before the phone rings.

    It is not the platform's: campaigns are checked against it, and it is what the sandbox answers when it is asked
    what became of a call. ``status`` is the last that was reported.
    """

    __tablename__ = "sandbox_calls"

    call_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    run_id: Mapped[int] = mapped_column(BigInteger, index=True)
    organization_id: Mapped[int]
    to_number: Mapped[str] = mapped_column(String(32))
    process: Mapped[str] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16))
    dialled_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
    ended_at: Mapped[datetime | None]
