"""Tables of the installation's processes."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class NodeRow(Base):
    """One running process. Its own beats keep the row; all times are the database's."""

    __tablename__ = "nodes"
    __table_args__ = (CheckConstraint("kind IN ('serve','worker')", name="kind"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    # Where other processes reach this one.
    address: Mapped[str | None] = mapped_column(String(255))
    # Where carriers reach this one past the balancer; none: only through the balancer.
    public_url: Mapped[str | None] = mapped_column(String(255))
    version: Mapped[str] = mapped_column(String(32))
    call_limit: Mapped[int] = mapped_column(server_default=text("0"))
    live_calls: Mapped[int] = mapped_column(server_default=text("0"))
    lateness_ms: Mapped[int] = mapped_column(server_default=text("0"))
    is_draining: Mapped[bool] = mapped_column(server_default=text("false"))
    is_accepting: Mapped[bool] = mapped_column(server_default=text("true"))
    # Processes from before 0031 leave it: they would take encrypted words of calls for missing ones.
    reads_encrypted_words: Mapped[bool] = mapped_column(server_default=text("false"))
    # Processes from before 0036 leave it: of encrypted summaries, reviews and bodies of webhooks they would see numbers only.
    reads_sealed_rows: Mapped[bool] = mapped_column(server_default=text("false"))
    # The newest encrypted columns that it reads, by their migration. Processes from before 0038 leave it.
    sealed_level: Mapped[int] = mapped_column(server_default=text("0"))
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    beat_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Installation(Base):
    """The one row that all processes share."""

    __tablename__ = "installation"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(primary_key=True, server_default=text("1"))
    key_fingerprint: Mapped[str] = mapped_column(String(64))
    # Where its files are; none before the first start of a process from 0039 on.
    storage: Mapped[str | None] = mapped_column(String(1024))
    # Stands in its bucket as well: a bucket has the files of one installation.
    identity: Mapped[str] = mapped_column(String(36), server_default=text("(gen_random_uuid())::text"))


class RecordingSpoolRow(Base):
    """A folder of one machine in which recordings wait for upload. Its process writes the row while any wait; the row stays
    when the process or the machine is gone. ``place``: ``machine:folder``."""

    __tablename__ = "recording_spools"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    # The process that reported last.
    node_id: Mapped[str] = mapped_column(String(64))
    place: Mapped[str] = mapped_column(String(512))
    files: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)
    oldest_at: Mapped[datetime]
    error: Mapped[str | None] = mapped_column(String(500))
    failed_at: Mapped[datetime | None]
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
