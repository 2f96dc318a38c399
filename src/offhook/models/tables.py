"""Model configurations of organizations; keys are sealed apart from the visible part."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary, SmallInteger, func, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class ModelConfiguration(Base):
    """A model configuration; ``version`` is its format: 1 has flat keys, 2 has services.

    ``sealed_keys`` is a sealed JSON object: place of a service (``llm``, ``fallbacks.tts.0``) → its key.
    """

    __tablename__ = "model_configurations"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(SmallInteger)
    configuration: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    sealed_keys: Mapped[bytes | None] = mapped_column(LargeBinary)
    updated_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class VoiceMirrors(Base):
    """Where the installation's voice packs come from, in order. Without the one row, the environment says it."""

    __tablename__ = "voice_mirrors"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(primary_key=True, server_default=text("1"))
    addresses: Mapped[list[str]]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
