"""The simulated network's own records: the numbers that it sold, and its calls."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, func
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class SandboxNumber(Base):
    """A number that the simulated network has sold."""

    __tablename__ = "sandbox_numbers"

    phone_number: Mapped[str] = mapped_column(String(32), primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), index=True)
    carrier_id: Mapped[str] = mapped_column(String(40))
    bought_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SandboxCall(Base):
    """The sandbox network's record of a call, written before the phone rings.

    It is not the platform's: campaigns are checked against it, and the sandbox answers from it when the platform
    searches for a lost call. ``status`` is the last one reported.
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
