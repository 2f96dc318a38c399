"""How many runs each workflow has, kept so that lists need not count them."""

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base


class RunCount(Base):
    """A workflow's number of runs when changes were last folded in; see ``run_count_queries``. Without foreign
    keys, because it is deleted with its last run."""

    __tablename__ = "run_counts"
    __table_args__ = (Index("ix_run_counts_org", "organization_id"),)

    workflow_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    organization_id: Mapped[int]
    runs: Mapped[int] = mapped_column(BigInteger)


class RunCountChange(Base):
    """One statement's change to a workflow's number of runs; a trigger on ``runs`` writes it."""

    __tablename__ = "run_count_changes"
    __table_args__ = (Index("ix_run_count_changes_org", "organization_id", "workflow_id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int]
    workflow_id: Mapped[int]
    change: Mapped[int]
