"""Requests about the data of one person, who is known by a phone number, and deletions of organizations."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class PersonDataRequest(Base):
    """``kind``: erasure or export. ``state``: waiting, running, done. ``phone_number`` is null once an erasure is done;
    ``number_hash`` stays. ``counts`` are those of the receipt and grow as the job proceeds."""

    __tablename__ = "person_data_requests"
    __table_args__ = (
        Index("ix_person_data_requests_org", "organization_id", "id"),
        Index("ix_person_data_requests_open", "id", postgresql_where=text("state <> 'done'")),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16), server_default="waiting")
    step: Mapped[str | None] = mapped_column(String(64))
    phone_number: Mapped[str | None] = mapped_column(String(32))
    number_hash: Mapped[str] = mapped_column(String(64))
    counts: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    archive_key: Mapped[str | None] = mapped_column(String(200))
    archive_expires_at: Mapped[datetime | None]
    created_by: Mapped[int | None]
    created_by_key: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class AgentRetention(Base):
    """How many days an agent's calls are kept, where its organization does not keep them for less; null leaves it to the
    organization. ``…_swept_until`` as in ``privacy_settings``."""

    __tablename__ = "agent_retention"

    workflow_id: Mapped[int] = mapped_column(
        ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    recordings_days: Mapped[int | None]
    transcripts_days: Mapped[int | None]
    runs_days: Mapped[int | None]
    recordings_swept_until: Mapped[datetime | None]
    transcripts_swept_until: Mapped[datetime | None]
    runs_swept_until: Mapped[datetime | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class OrganizationDeletion(Base):
    """The deletion of an organization, and its receipt once ``state`` is done (before: waiting, running).

    No foreign key: it stays. ``counts``: the rows that the organization had when it was closed, by table. ``books``: the sums of
    its ledger by month and kind. Both null until the job has read them. Nothing in it has a name.
    """

    __tablename__ = "organization_deletions"
    __table_args__ = (
        UniqueConstraint("organization_id"),
        Index("ix_organization_deletions_open", "id", postgresql_where=text("state <> 'done'")),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int]
    requested_by: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), server_default="waiting")
    step: Mapped[str | None] = mapped_column(String(32))
    counts: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    books: Mapped[list[JsonObject] | None] = mapped_column(JSONB(none_as_null=True))
    requested_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
