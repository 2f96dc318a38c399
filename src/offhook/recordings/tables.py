"""An organization's recordings: files that agents play instead of speaking."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import ForeignKey, Index, Numeric, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class WorkflowRecording(Base):
    """A recording. Definitions name ``recording_id``; ``tts_*`` is the matching voice, for information only.

    ``storage_key`` is a WAV that we made; copies of a recording share it.
    """

    __tablename__ = "workflow_recordings"
    __table_args__ = (
        UniqueConstraint("organization_id", "recording_id"),
        Index("ix_workflow_recordings_workflow", "workflow_id"),
        Index("ix_workflow_recordings_storage_key", "storage_key"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    recording_id: Mapped[str] = mapped_column(String(64))
    workflow_id: Mapped[int | None] = mapped_column(ForeignKey("workflows.id", ondelete="SET NULL"))
    tts_provider: Mapped[str | None] = mapped_column(String(64))
    tts_model: Mapped[str | None] = mapped_column(String(128))
    tts_voice_id: Mapped[str | None] = mapped_column(String(128))
    transcript: Mapped[str]
    storage_key: Mapped[str] = mapped_column(String(200))
    details: Mapped[JsonObject] = mapped_column("metadata", server_default=text("'{}'::jsonb"))
    duration_s: Mapped[Decimal] = mapped_column(Numeric(8, 3))
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
