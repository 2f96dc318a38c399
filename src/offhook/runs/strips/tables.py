"""Answer times of many calls."""

from datetime import date

from sqlalchemy import ForeignKey, Integer, String
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class AnswerHistogram(Base):
    """How long callers waited for answers in the recorded calls of one day, agent, language model and carrier.

    ``day`` is that of the beginning of the calls in the organization's time zone when they were measured; ``model`` is
    ``vendor/model``, empty for calls without one; ``carrier`` is the mode of the run. ``counts`` are turns by the
    buckets of ``answer_histograms``. Nothing points to runs or workflows: counts remain when they are deleted.
    """

    __tablename__ = "answer_histograms"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    workflow_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    model: Mapped[str] = mapped_column(String(97), primary_key=True)
    carrier: Mapped[str] = mapped_column(String(32), primary_key=True)
    calls: Mapped[int]
    turns: Mapped[int]
    counts: Mapped[list[int]] = mapped_column(ARRAY(Integer))
