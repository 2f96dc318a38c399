"""Request and response bodies of runs."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, StringConstraints

from offhook.kit.schema import Schema

# Every run list shows each run's context.
MAX_CONTEXT_BYTES: Final = 64 * 1024


def _check_context_size(context: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(context)) > MAX_CONTEXT_BYTES:
        raise ValueError(f"initial_context is limited to {MAX_CONTEXT_BYTES} bytes")
    return context


InitialContext = Annotated[dict[str, JsonValue], AfterValidator(_check_context_size)]
RunName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class CreateWorkflowRunRequest(Schema):
    """``mode``: ``browser``, ``textchat`` or a carrier (``twilio``, ``sandbox``, …)."""

    mode: str = Field(max_length=32)
    name: RunName | None = None
    initial_context: InitialContext = Field(default_factory=dict)


class CreateWorkflowRunResponse(Schema):
    """``media_url`` holds the single-use ``media_token``; both are null for modes without a socket."""

    id: int
    workflow_run_id: int
    workflow_id: int
    name: str
    workflow_run_name: str
    mode: str
    status: str
    created_at: datetime
    definition_id: int
    initial_context: Mapping[str, object]
    media_url: str | None = None
    media_token: str | None = None


class Latency(Schema):
    """Caller stopped talking → first frame of the answer."""

    p50_ms: int | None = None
    p95_ms: int | None = None
    turns: int = 0


class RunRecord(Schema):
    id: int
    workflow_run_id: int
    workflow_id: int
    workflow_name: str
    name: str
    mode: str
    direction: str
    status: str
    outcome: str | None
    result: str | None = Field(description="The call's result, by the agent's definition of results")
    is_success: bool | None = Field(
        description="Whether it met the agent's success criteria, or its result counts as one"
    )
    phone_number: str | None
    caller_number: str | None
    called_number: str | None
    call_id: str | None
    campaign_id: int | None
    version_number: int
    created_at: datetime
    started_at: datetime | None
    answered_at: datetime | None
    ended_at: datetime | None
    duration: float | None = Field(description="Seconds of conversation")
    cost_cents: int
    end_reason: str | None
    initial_context: Mapping[str, object]
    gathered_context: Mapping[str, object]
    transcript_url: str | None = Field(description="A signed link, valid for a day")
    recording_url: str | None = Field(description="A signed link, valid for a day; plays while the call runs")
    usage: Mapping[str, object]
    latency: Latency
    tags: list[str]


class RunEventItem(Schema):
    seq: int
    type: str
    at_ms: int
    data: Mapping[str, object]
    created_at: datetime


class TranscriptItem(Schema):
    role: str
    text: str
    start_s: float
    end_s: float
    interrupted: bool
    node_id: str | None
    understood: bool


class Progress(Schema):
    node: str | None
    turns: int
    last_at_ms: int
    events: int


class CostLine(Schema):
    kind: str
    provider: str
    model: str
    unit: str
    quantity: float
    unit_price_cents: float
    cost_cents: float
    price_date: str


class UnpricedService(Schema):
    """Usage without a known price; it is not part of ``cost_cents``."""

    kind: str
    provider: str
    model: str
    unit: str
    quantity: float


class LegBill(Schema):
    """The carrier's own figures for one leg, as exact texts; null where it reports none."""

    duration_s: str | None = None
    billed_s: str | None = None
    cost: str | None = Field(default=None, description="In units of `currency`, not cents")
    currency: str = Field(
        default="USD", description="ISO 4217; amounts in currencies other than USD are shown but not charged"
    )


class CarrierBill(LegBill):
    """The carrier's bill for the call and for the legs that it led to."""

    legs: dict[str, LegBill] = Field(default_factory=dict, description="Destinations of transfers by the carrier's id")


class CriterionResult(Schema):
    name: str
    passed: bool | None = Field(description="null: it could not be judged")
    reason: str


class RunAnalysisRecord(Schema):
    """The analysis of a finished call: its summary and its success criteria."""

    model_config = ConfigDict(from_attributes=True)

    status: str = Field(description="`pending` or `done`")
    judged_by: str | None = Field(description="`model`, or `rules` when no language model was asked")
    model: str | None = Field(description="The vendor and the model")
    summary: str | None
    criteria: list[CriterionResult]
    error: str | None = Field(description="Why the last attempt to ask the model failed")


class RunDetail(RunRecord):
    events: list[RunEventItem]
    transcript: list[TranscriptItem]
    progress: Progress
    cost_lines: list[CostLine]
    carrier_bill: CarrierBill | None
    unpriced: list[UnpricedService]
    annotations: Mapping[str, object] = Field(
        description="By QA node: its status (pending, done, skipped, failed), and score, passed, summary and issues"
    )
    analysis: RunAnalysisRecord | None = Field(description="null for an agent without summary and success criteria")
    note: str | None
    waits_until: datetime | None = Field(
        description="When a text chat in progress ends if no message arrives; null for other runs"
    )
    prompts: Mapping[str, str] = Field(description="The prompt of each step of this run's version, by node id")
    has_journal: bool = Field(description="Whether the call can be replayed, as far as its journal is concerned")
    previous_run_id: int | None = Field(description="The run of the same agent before this one")
    next_run_id: int | None


RunNote = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]
RunTag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class UpdateRunRequest(Schema):
    """What is left out stays as it is. An empty ``note`` removes the note; ``tags`` replaces all of them."""

    note: RunNote | None = None
    tags: list[RunTag] | None = Field(default=None, max_length=20)


class RunNotes(Schema):
    workflow_run_id: int
    note: str | None
    tags: list[str]


class RunDeleted(Schema):
    """The receipt of a deletion; the audit log has the same under the action `run.deleted`."""

    workflow_run_id: int
    events: int = Field(description="How many events were deleted; the transcript is made of them")
    has_recording: bool = Field(description="Whether a recording was deleted")
    deleted_at: datetime


class RunList(Schema):
    runs: list[RunRecord]
    total_count: int
    page: int
    limit: int
    total_pages: int


class TranscriptResponse(Schema):
    workflow_run_id: int
    status: str
    lines: list[TranscriptItem]


class PassagePart(Schema):
    text: str
    is_match: bool = Field(description="Whether these are words that were looked for")


class RunPassage(Schema):
    """What was said with the words of a search."""

    role: str = Field(description="agent or caller")
    start_s: float = Field(description="When it was said, in seconds of the call")
    parts: list[PassagePart] = Field(description="The text in order, cut around the first match")


class UsageRunItem(Schema):
    run_id: int
    id: int = Field(description="The same as run_id")
    workflow_id: int
    workflow_name: str
    name: str
    campaign_id: int | None
    phone_number: str | None
    caller_number: str | None
    called_number: str | None
    direction: str
    mode: str
    status: str
    outcome: str | None
    result: str | None
    is_success: bool | None
    summary: str | None = Field(description="The summary written after the call")
    end_reason: str | None
    tags: list[str]
    answer_ms: int | None = Field(description="The median response time of its turns")
    last_step: str | None = Field(description="The step in which the conversation ended")
    is_sample_call: bool = Field(description="True for the call with a simulated caller that the first start records")
    passage: RunPassage | None = Field(
        description="Where the words of `search` were said; null without them, and for runs that match by `-word` alone"
    )
    created_at: datetime
    started_at: datetime | None
    duration_seconds: float
    cost_cents: int


class UsageRunList(Schema):
    """``total_duration_seconds`` is the sum over this page. ``total_count`` equals ``total``."""

    items: list[UsageRunItem]
    total: int
    limit: int
    offset: int
    total_count: int
    page: int
    total_pages: int
    total_duration_seconds: float


class _InsightTotals(Schema):
    call_count: int
    total_minutes: float
    total_cost_cents: int
    outcomes: dict[str, int] = Field(description="Finished runs by outcome, the most frequent first")
    results: dict[str, int] = Field(description="Finished runs by result, the most frequent first")
    success_count: int
    judged_count: int = Field(description="Runs that are known to be a success or a failure")
    p50_ms: int | None = Field(description="The median of the runs' median answer times; null without a spoken turn")
    p95_ms: int | None = Field(description="Their 95th percentile")


class DayInsight(_InsightTotals):
    """``date`` is a day in the organization's time zone."""

    date: date


class AgentInsight(_InsightTotals):
    workflow_id: int
    workflow_name: str


class InsightsResponse(Schema):
    """Finished runs by day, the oldest first, days without runs included; and by agent, the busiest first."""

    days: list[DayInsight]
    agents: list[AgentInsight]
