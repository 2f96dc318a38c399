"""Plays of an agent's scenarios, with what came of each."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    Numeric,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base

# How scenarios are played.
TEXT: Final = "text"
SOUND: Final = "sound"


class ScenarioPlay(Base):
    """One request to play scenarios with one version, as a job.

    ``content_hash`` names what was played: the version, its tools and documents, its scenarios, what the agent demands
    before it is published, and the published version. ``verdict`` is the publish gate's, for plays of all scenarios.
    ``scenario_names`` is empty for all of them. ``mode`` is text or sound.
    ``answers`` says where the answers of models come from; ``records``: those that are not recorded are asked for and kept.
    ``cost_cents`` is what asking cost, as far as prices are known; ``usage`` is in the shape of the ``usage_counted`` event.
    """

    __tablename__ = "scenario_plays"
    __table_args__ = (
        CheckConstraint(
            "state IN ('queued','running','passed','failed','canceled','out_of_budget','broken')", name="state"
        ),
        CheckConstraint("mode IN ('text','sound')", name="mode"),
        CheckConstraint("answers IN ('built-in','recorded','live')", name="answers"),
        Index("ix_scenario_plays_workflow", "organization_id", "workflow_id", "id"),
        Index("ix_scenario_plays_open", "organization_id", postgresql_where=text("state IN ('queued','running')")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    version_id: Mapped[int] = mapped_column(ForeignKey("workflow_versions.id", ondelete="CASCADE"))
    version_number: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), server_default="queued")
    scenario_names: Mapped[list[str]] = mapped_column(server_default=text("'[]'::jsonb"))
    seeds: Mapped[list[Any]] = mapped_column(server_default=text("'[0]'::jsonb"))
    mode: Mapped[str] = mapped_column(String(8), server_default=TEXT)
    answers: Mapped[str] = mapped_column(String(8), server_default="built-in")
    records: Mapped[bool] = mapped_column(server_default=text("false"))
    cpu_budget_s: Mapped[int]
    cost_budget_cents: Mapped[int] = mapped_column(server_default=text("100"))
    cost_cents: Mapped[Decimal | None] = mapped_column(Numeric(14, 8))
    usage: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    total: Mapped[int] = mapped_column(server_default=text("0"))
    done: Mapped[int] = mapped_column(server_default=text("0"))
    passed: Mapped[int] = mapped_column(server_default=text("0"))
    content_hash: Mapped[str | None] = mapped_column(String(64))
    result_hash: Mapped[str | None] = mapped_column(String(64))
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    error: Mapped[str | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class PlayedScenarioResult(Base):
    """The result of one scenario with one seed. ``turns`` is its transcript."""

    __tablename__ = "scenario_results"
    __table_args__ = (UniqueConstraint("play_id", "seed", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), index=True)
    play_id: Mapped[int] = mapped_column(ForeignKey("scenario_plays.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(60))
    title: Mapped[str]
    seed: Mapped[int]
    has_passed: Mapped[bool]
    hash: Mapped[str] = mapped_column(String(64))
    faults: Mapped[list[Any]]
    turns: Mapped[list[Any]]
    outcome: Mapped[dict[str, Any]]


class ScenarioAnswer(Base):
    """A model's recorded answer to a request in scenarios of an agent, encrypted with this data key of the organization.

    ``occurrence`` counts equal requests of one conversation. ``asked`` says who was asked, ``model`` how it was configured,
    without its key.
    """

    __tablename__ = "scenario_answers"
    __table_args__ = (
        UniqueConstraint("workflow_id", "request_hash", "occurrence"),
        Index("ix_scenario_answers_key", "organization_id", "key_number"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    request_hash: Mapped[str] = mapped_column(String(64))
    occurrence: Mapped[int]
    asked: Mapped[str] = mapped_column(String(200))
    model: Mapped[dict[str, Any]]
    key_number: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
