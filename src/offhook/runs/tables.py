"""Runs (one conversation on any channel), their events, their cost lines and their media tokens."""

from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar

from sqlalchemy import (
    BigInteger,
    Computed,
    ForeignKey,
    Index,
    LargeBinary,
    Numeric,
    String,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import ASCII_COLUMN, Base
from offhook.kit.json_values import JsonObject
from offhook.orgs.data_keys.sealed_rows import SealedPart, SealedRow
from offhook.runs.sealed_columns import SealedRunColumns

# Columns that lists filter and sort by: the indexes include them, so that 100,000 rows are counted and sorted without
# touching the rows themselves, which are thirty times as wide.
_LISTED = ["status", "outcome", "direction", "mode", "duration", "campaign_id", "phone_number", "call_id_lower"]
# Columns with few distinct values have an index of their own that stores each value once (B-tree deduplication: 7 bytes
# a run): counting 8,000 of 100,000 runs takes 1 ms, and 40 with a wide index.
_COUNTED = ["status", "outcome", "direction", "mode", "campaign_id", "result", "is_success"]
# Index-only scans need vacuumed pages: vacuum after 2 % of new or changed rows instead of 20 %.
VACUUMED_OFTEN = {"autovacuum_vacuum_insert_scale_factor": 0.02, "autovacuum_vacuum_scale_factor": 0.02}


class Run(SealedRunColumns, Base):
    """``status``: initiated, ringing, in_progress, completed, busy, no_answer, failed, canceled; final is final.

    ``carrier_bill``: ``duration_s``, ``billed_s``, ``cost`` (texts) and ``currency``, as far as the carrier
    reported them; ``legs``: the same for other legs, by the carrier's id.
    """

    __tablename__ = "runs"
    __table_args__ = (
        # Columns for substring search, as narrow as possible: the wide indexes take twice as long to read.
        Index("ix_runs_org", "organization_id", "id", postgresql_include=["phone_number", "call_id_lower"]),
        *(Index(f"ix_runs_org_{column}", "organization_id", column) for column in _COUNTED),
        Index("ix_runs_tags", "tags", postgresql_using="gin"),
        # Campaigns and charts count results without reading the rows.
        Index(
            "ix_runs_campaign_results",
            "organization_id",
            "campaign_id",
            "id",
            postgresql_include=["result", "is_success"],
            postgresql_where=text("result IS NOT NULL AND campaign_id IS NOT NULL"),
        ),
        Index(
            "ix_runs_results",
            "organization_id",
            "created_at",
            postgresql_include=["workflow_id", "result", "is_success"],
            postgresql_where=text("result IS NOT NULL OR is_success IS NOT NULL"),
        ),
        # Superusers list the runs of all organizations.
        Index(
            "ix_runs_created",
            "created_at",
            "id",
            postgresql_include=["organization_id", "workflow_id", *_LISTED, "call_id"],
        ),
        Index("ix_runs_duration_desc", text("duration DESC NULLS LAST"), text("id DESC")),
        Index("ix_runs_duration_asc", "duration", "id"),
        Index("ix_runs_workflow", "organization_id", "workflow_id", "id"),
        Index(
            "ix_runs_org_created",
            "organization_id",
            "created_at",
            "id",
            postgresql_include=["workflow_id", *_LISTED, "answer_ms"],
        ),
        Index(
            "ix_runs_workflow_created",
            "organization_id",
            "workflow_id",
            "created_at",
            "id",
            postgresql_include=[*_LISTED, "answer_ms"],
        ),
        # Longest or shortest calls first; runs without a duration come last either way.
        Index("ix_runs_org_duration_desc", "organization_id", text("duration DESC NULLS LAST"), text("id DESC")),
        Index("ix_runs_org_duration_asc", "organization_id", "duration", "id"),
        # A carrier's call is one run. The organization stands for its accounts: what a carrier calls its calls is
        # unguessable, and one organization cannot keep another from its own.
        Index(
            "uq_runs_call_id",
            "call_id",
            "mode",
            "organization_id",
            unique=True,
            postgresql_where=text("call_id IS NOT NULL"),
        ),
        Index(
            "ix_runs_live",
            "organization_id",
            "id",
            postgresql_where=text("status IN ('initiated','ringing','in_progress')"),
        ),
        # A worker that dies after the carrier said "completed" leaves a final run with a lease. No index has
        # lease_until itself, not even as a condition: a lease is renewed every few seconds, and each renewal would
        # write an entry into every index of this table.
        Index("ix_runs_leased", "id", postgresql_where=text("is_leased")),
        # Free space for another version of a row beside it, which makes renewing a lease cheap.
        {"postgresql_with": {"fillfactor": 85, **VACUUMED_OFTEN}},
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    workflow_id: Mapped[int] = mapped_column(ForeignKey("workflows.id", ondelete="CASCADE"))
    version_id: Mapped[int] = mapped_column(ForeignKey("workflow_versions.id", ondelete="CASCADE"))
    version_number: Mapped[int]
    name: Mapped[str] = mapped_column(String(200))
    mode: Mapped[str] = mapped_column(String(32))
    direction: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16), server_default="initiated")
    outcome: Mapped[str | None] = mapped_column(String(32))
    # What the call came to, by the agent's own definition, and whether that was a success.
    result: Mapped[str | None] = mapped_column(String(40))
    is_success: Mapped[bool | None]
    phone_number: Mapped[str | None] = mapped_column(String(32), info=ASCII_COLUMN)
    caller_number: Mapped[str | None] = mapped_column(String(32))
    called_number: Mapped[str | None] = mapped_column(String(32))
    call_id: Mapped[str | None] = mapped_column(String(128), info=ASCII_COLUMN | {"lowered": "call_id_lower"})
    # Lists search for text in it: lower-casing 100,000 of them takes a third of such a request.
    call_id_lower: Mapped[str | None] = mapped_column(
        String(128, collation="C"), Computed('lower(call_id COLLATE "C")', persisted=True)
    )
    campaign_id: Mapped[int | None]
    initial_context: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    gathered_context: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    usage: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    latency: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    # The median response time of its turns, where indexes can include it.
    answer_ms: Mapped[int | None] = mapped_column(
        Computed("((latency ->> 'p50_ms')::numeric)::integer", persisted=True)
    )
    tags: Mapped[list[str]] = mapped_column(ARRAY(String(64)), server_default=text("'{}'"))
    # What people wrote about it.
    note: Mapped[str | None] = mapped_column(Text)
    chat_state: Mapped[JsonObject | None]
    carrier_bill: Mapped[JsonObject | None]
    # Of calls that Offhook placed; see ``records.placement``.
    placement: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    recording_key: Mapped[str | None] = mapped_column(String(200))
    end_reason: Mapped[str | None] = mapped_column(String(64))
    cost_cents: Mapped[int] = mapped_column(server_default=text("0"))
    duration: Mapped[Decimal | None] = mapped_column(Numeric(10, 3))
    worker_id: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[datetime | None]
    is_leased: Mapped[bool] = mapped_column(Computed("lease_until IS NOT NULL", persisted=True))
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    answered_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class RunValue(Base):
    """A text, number or boolean of a run's contexts, under its filter name (``context.city``, ``gathered.age``). A
    trigger on ``runs`` maintains it (the first 100 names of each context, the first 300 characters), so that no
    writer can forget it.

    Partitioned by run, as events are. A list filter reads the index of every partition."""

    __tablename__ = "run_values"
    __table_args__ = (
        # Everything that a count or a page by time needs, so that neither reads the rows.
        Index(
            "ix_run_values_value",
            "organization_id",
            "name",
            "value",
            "created_at",
            "run_id",
            postgresql_include=["workflow_id"],
        ),
        Index(
            "ix_run_values_number",
            "organization_id",
            "name",
            "number",
            "created_at",
            "run_id",
            postgresql_include=["workflow_id"],
            postgresql_where=text("number IS NOT NULL"),
        ),
        {"postgresql_partition_by": "RANGE (run_id)"},
    )

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    organization_id: Mapped[int]
    workflow_id: Mapped[int]
    created_at: Mapped[datetime]
    value: Mapped[str] = mapped_column(Text(collation="C"))
    number: Mapped[Decimal | None] = mapped_column(Numeric())


class RunEvent(Base):
    """Append-only; ``seq`` counts from 1 in each run, ``at_ms`` is on the run's audio clock. ``sealed``: all of the data,
    encrypted with the organization's key of this number; ``data`` has only its facts then.

    Partitioned by run: statements that name no runs read every partition."""

    __tablename__ = "run_events"
    __table_args__ = ({"postgresql_partition_by": "RANGE (run_id)"},)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int]
    type: Mapped[str] = mapped_column(String(48))
    at_ms: Mapped[int]
    data: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    key_number: Mapped[int | None]
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)


class LiveCallState(Base):
    """What another process needs to go on with a live call, encrypted; deleted at its end. ``sealed`` is None where the
    words of calls are not kept. ``is_over``: our side has ended the call, which nobody may take up again."""

    __tablename__ = "call_states"
    __table_args__ = ({"postgresql_with": {"fillfactor": 50}},)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int]
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)
    is_over: Mapped[bool] = mapped_column(server_default=text("false"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RunJournal(Base):
    """What reached a call from outside, for replays, encrypted with this data key of the organization; or why there is none."""

    __tablename__ = "run_journals"
    __table_args__ = (Index("ix_run_journals_key", "organization_id", "key_number"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int]
    key_number: Mapped[int | None]
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)
    omitted: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RunText(Base):
    """The words of a finished run's transcript, for searching. ``words`` also holds one lexeme for the organization, so
    that the index finds only its own runs. With ``key_number`` they are tokens of the words under this key, without
    their places."""

    __tablename__ = "run_texts"
    __table_args__ = (Index("ix_run_texts_words", "words", postgresql_using="gin"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int]
    words: Mapped[str] = mapped_column(TSVECTOR)
    key_number: Mapped[int | None]


class RunStrip(Base):
    """What the strip of a finished run shows, measured once: ``caller`` and ``agent`` are the loudness of the recording
    in bars of equal length, one byte each (empty without one); ``timeline`` holds ``steps``, ``marks`` and, with a
    recording, ``answer_times``."""

    __tablename__ = "run_strips"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int]
    seconds: Mapped[Decimal] = mapped_column(Numeric(10, 3))
    caller: Mapped[bytes] = mapped_column(LargeBinary)
    agent: Mapped[bytes] = mapped_column(LargeBinary)
    timeline: Mapped[JsonObject]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RunView(Base):
    """A saved view of the list of runs: ``search`` is what stands in the page's address. ``user_id`` None: saved by an API
    key; a person's own views go with the person."""

    __tablename__ = "run_views"
    __table_args__ = (Index("ix_run_views_org", "organization_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(80))
    search: Mapped[JsonObject]
    is_shared: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class RunCostLine(Base):
    """The cost of one item: ``quantity`` times ``unit_price_cents`` from the price table of ``price_date``."""

    __tablename__ = "run_cost_lines"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    organization_id: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16))
    provider: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(String(64))
    unit: Mapped[str] = mapped_column(String(16))
    quantity: Mapped[Decimal] = mapped_column(Numeric(14, 4))
    unit_price_cents: Mapped[Decimal] = mapped_column(Numeric(14, 8))
    price_date: Mapped[date]


class MediaToken(Base):
    """Opens one media socket of one run once; spent by an UPDATE … WHERE used_at IS NULL."""

    __tablename__ = "media_tokens"

    token_sha256: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    mode: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class RunReview(SealedRow, Base):
    """One QA node's review of a finished run. ``status``: pending, done, skipped or failed; ``result`` as displayed."""

    sealed_parts: ClassVar = (SealedPart("run_reviews", ("result",), "id"),)
    __tablename__ = "run_reviews"
    __table_args__ = (UniqueConstraint("run_id", "node_id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    node_id: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(16), server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    result: Mapped[JsonObject | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime | None]


class RunAnalysis(SealedRow, Base):
    """The summary of a finished run and its success criteria. ``status``: pending, done, skipped or failed; ``judged_by``:
    model or rules; ``criteria``: ``[{name, passed, reason}]``, in the agent's order; ``error``: why there is none."""

    sealed_parts: ClassVar = (SealedPart("run_analyses", ("summary", "criteria"), "run_id"),)
    __tablename__ = "run_analyses"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(String(16), server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    judged_by: Mapped[str | None] = mapped_column(String(16))
    model: Mapped[str | None] = mapped_column(String(120))
    summary: Mapped[str | None] = mapped_column(Text)
    criteria: Mapped[list[JsonObject]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime | None]


class NodeWebhookDelivery(SealedRow, Base):
    """One webhook node's delivery for one finished run. ``status``: pending, delivered or dead_letter; ``payload``
    as first sent."""

    sealed_parts: ClassVar = (SealedPart("node_webhook_deliveries", ("payload",), "id"),)
    __tablename__ = "node_webhook_deliveries"
    __table_args__ = (UniqueConstraint("run_id", "node_id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    node_id: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(16), server_default="pending")
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    payload: Mapped[JsonObject | None]
    response_status: Mapped[int | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime | None]
