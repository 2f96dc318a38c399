"""When each schedule is next due: one row per schedule, so that it starts once across all workers."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class JobSchedule(Base):
    __tablename__ = "job_schedules"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    next_at: Mapped[datetime]
