"""Prices of an organization's own contracts."""

from datetime import date
from typing import Any

from sqlalchemy import ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class OwnPrice(Base):
    """An own price. ``dollars``: amounts as text by price key. Valid from ``valid_from`` to the model's next one."""

    __tablename__ = "own_prices"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    provider: Mapped[str] = mapped_column(String(32), primary_key=True)
    model: Mapped[str] = mapped_column(String(64), primary_key=True)
    valid_from: Mapped[date] = mapped_column(primary_key=True)
    dollars: Mapped[dict[str, Any]]
    step: Mapped[int] = mapped_column(server_default=text("1"))
