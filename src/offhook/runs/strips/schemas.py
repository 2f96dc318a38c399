"""Answers about call strips."""

from typing import Literal

from pydantic import Field

from offhook.kit.schema import Schema

MarkKind = Literal["barge_in", "talked_through", "not_understood", "tool_call", "slow_answer", "failure"]


class StripStep(Schema):
    """A step of the conversation, from its entry to that of the next one."""

    node_id: str
    name: str
    kind: str
    start_s: float
    end_s: float


class StripMark(Schema):
    """A moment worth a look. ``label``: the tool's name, what failed, or why the agent kept talking."""

    kind: MarkKind
    label: str
    start_s: float
    end_s: float
    is_ok: bool | None = Field(default=None, description="Of a tool call: whether it succeeded; null without an answer")


class CallStrip(Schema):
    """Times are seconds on the run's audio clock, which is also the recording's."""

    workflow_run_id: int
    seconds: float
    caller: list[int] = Field(
        description="Loudness of the caller, 0 to 255 (255 is full scale, 128 a quarter of it), in bars of equal length; empty without a recording"
    )
    agent: list[int] = Field(description="Loudness of the agent, likewise")
    steps: list[StripStep]
    marks: list[StripMark]


class AnswerTime(Schema):
    """A silence between the caller's speech and the agent's."""

    caller_stopped_s: float
    agent_audible_s: float
    silence_ms: int


class AnswerTimes(Schema):
    """Answer times measured in the recording, to 10 ms. Where both sides speak at once, there is none."""

    p50_ms: int | None = Field(description="The median; null without an answer")
    p95_ms: int | None
    answers: list[AnswerTime] = Field(description="In order; at most the first 500")


class MeasuredCallStrip(CallStrip):
    answer_times: AnswerTimes | None = Field(
        default=None, description="Null without a recording, and for strips that were measured without them"
    )


class CallStripList(Schema):
    strips: list[CallStrip]
    pending: list[int] = Field(description="Runs that are over and not measured yet: ask again for these")


class AnswerTimeFigures(Schema):
    """Percentiles of the silences between callers' speech and agents', as in ``AnswerTimes`` for one call; within 5 %
    of the exact figures. Null without a turn."""

    call_count: int = Field(description="Recorded calls with at least one answer")
    turn_count: int
    p50_ms: int | None
    p90_ms: int | None
    p95_ms: int | None
    p99_ms: int | None


class AnswerTimeGroup(AnswerTimeFigures):
    key: str = Field(
        description="The agent's id, `vendor/model` (empty for calls without a language model), the carrier as in a run's mode, or the date"
    )
    workflow_name: str | None = Field(
        description="The agent's name in groups by agent; null in other groups, and after the agent was deleted"
    )


class AnswerTimeStatistics(Schema):
    group_by: Literal["agent", "model", "carrier", "day"]
    total: AnswerTimeFigures
    groups: list[AnswerTimeGroup] = Field(description="Most turns first, at most 50; by day: every day, oldest first")
