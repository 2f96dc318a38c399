"""Requests and responses of plays and of the publish gate."""

from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.schema import Schema
from offhook.runs.strips.schemas import StripMark, StripStep
from offhook.scenarios.plays.publish_gate import REQUIRED, GateState
from offhook.scenarios.plays.service import (
    DEFAULT_COST_CENTS,
    DEFAULT_CPU_S,
    MAX_COST_CENTS,
    MAX_CPU_S,
    MAX_SEEDS,
    WantedPlay,
)
from offhook.scenarios.tables import PlayedScenarioResult, ScenarioPlay

State = Literal["queued", "running", "passed", "failed", "canceled", "out_of_budget", "broken"]
Mode = Literal["text", "sound"]
Answers = Literal["built-in", "recorded", "live"]
Seed = Annotated[WholeNumber, Field(ge=0, le=2**31 - 1)]


class OrderPlayRequest(Schema):
    """Plays the draft's scenarios, or those of a version by its number, with each of the seeds."""

    version: Annotated[WholeNumber, Field(ge=1, le=2**31 - 1)] | None = None
    scenarios: Annotated[list[str], Field(max_length=200, description="Names; empty: all of them")] = Field(
        default_factory=list
    )
    seeds: Annotated[list[Seed], Field(min_length=1, max_length=MAX_SEEDS)] = Field(default_factory=lambda: [0])
    cpu_budget_s: Annotated[WholeNumber, Field(ge=1, le=MAX_CPU_S)] = DEFAULT_CPU_S
    mode: Mode = Field(default="text", description="`sound`: whole calls with voices")
    answers: Answers = Field(
        default="built-in",
        description="Who answers: the built-in model at no cost, recorded answers of the agent's model, or the model itself",
    )
    record: bool = Field(
        default=False, description="With `recorded`: ask the model for answers that are not recorded, and record them"
    )
    cost_budget_cents: Annotated[
        WholeNumber, Field(ge=1, le=MAX_COST_CENTS, description="What the models may cost before the play is stopped")
    ] = DEFAULT_COST_CENTS

    def to_wanted(self) -> WantedPlay:
        return WantedPlay(
            self.version,
            self.scenarios,
            self.seeds,
            self.cpu_budget_s,
            self.mode,
            self.answers,
            self.record,
            self.cost_budget_cents,
        )


class ScenarioPlayResponse(Schema):
    """``content_hash`` identifies what was played, ``result_hash`` its results: the same seed gives the same hash.
    ``verdict`` is the publish gate's, for plays of all scenarios in the mode that it requires."""

    id: int
    version_number: int
    state: State
    scenarios: list[str]
    seeds: list[int]
    mode: Mode
    answers: Answers
    record: bool
    cpu_budget_s: int
    cost_budget_cents: int
    cost_cents: float | None = Field(
        description="What asking models cost, as far as prices are known. Null: none was asked"
    )
    total: int
    done: int
    passed: int
    failed: int
    content_hash: str | None
    result_hash: str | None
    verdict: dict[str, Any] | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def from_play(cls, play: ScenarioPlay) -> "ScenarioPlayResponse":
        return cls(
            id=play.id,
            version_number=play.version_number,
            state=cast(State, play.state),
            scenarios=play.scenario_names,
            seeds=play.seeds,
            mode=cast(Mode, play.mode),
            answers=cast(Answers, play.answers),
            record=play.records,
            cost_budget_cents=play.cost_budget_cents,
            cost_cents=float(play.cost_cents) if play.cost_cents is not None else None,
            cpu_budget_s=play.cpu_budget_s,
            total=play.total,
            done=play.done,
            passed=play.passed,
            failed=play.done - play.passed,
            content_hash=play.content_hash,
            result_hash=play.result_hash,
            verdict=play.verdict,
            error=play.error,
            created_at=play.created_at,
            started_at=play.started_at,
            finished_at=play.finished_at,
        )


class ScenarioFaultResponse(Schema):
    """One expectation that was not met; ``turn`` counts the caller's turns from 0."""

    code: str
    message: str
    turn: int | None
    is_by_model: bool = Field(default=False, description="True for what a model has judged")


class ModelVerdictResponse(Schema):
    """A model's verdict on one criterion."""

    criterion: str
    passed: bool | None = Field(description="Null: not judged, or the judge's answer could not be used (`code`)")
    quote: str = Field(description="The words that decide it; empty for what never happens")
    reason: str
    provider: str | None
    model: str | None
    is_recorded: bool
    code: str


class ScenarioTurnResponse(Schema):
    """What the caller did, None for the agent's greeting, and what the agent said. ``turn`` is its place in the scenario."""

    caller: str | None
    agent: str
    turn: int | None


class PlayedSoundResponse(Schema):
    """What was heard. An answer is the silence between the caller's last sound and the agent's first."""

    recording_hash: str = Field(description="SHA-256 of the recording's bytes")
    began_at_s: list[float] = Field(description="When each turn of the transcript began, in seconds of the recording")
    answers: int
    mean_answer_ms: int | None
    max_answer_ms: int | None
    interruptions: int = Field(description="How often the caller interrupted the agent")
    yields: int = Field(description="How often the agent stopped because of it")
    max_yield_ms: int | None = Field(description="The longest that it went on before it stopped")
    talk_overs: int = Field(description="Turns in which the agent began to speak while the caller did")
    panel: dict[str, float | None] = Field(
        default_factory=dict, description="L_R, R_R, L_Y, R_Y and I_A of the call; null: nothing to measure"
    )


class PlayedStripResponse(Schema):
    """The call strip. Times are seconds of the recording."""

    seconds: float
    caller: list[int] = Field(description="Loudness of the caller, 0 to 255, in bars of equal length")
    agent: list[int]
    steps: list[StripStep]
    marks: list[StripMark]


class ScenarioResultResponse(Schema):
    """The result of one scenario with one seed. ``hash`` covers its events, and its recording if it has sound."""

    id: int
    name: str
    title: str
    seed: int
    passed: bool
    hash: str
    faults: list[ScenarioFaultResponse]
    transcript: list[ScenarioTurnResponse]
    edges: list[str]
    nodes: list[str]
    end: str | None
    outcome: str | None
    duration_s: float
    sound: PlayedSoundResponse | None = Field(default=None, description="Null for text")
    has_recording: bool = Field(description="True for failed calls with sound, at most 20 of a play")
    strip: PlayedStripResponse | None = Field(default=None, description="Null without a recording")
    cost_cents: float = Field(default=0, description="What the models of the conversation cost by the published prices")
    verdicts: list[ModelVerdictResponse] = Field(default_factory=list, description="What a model has judged")

    @classmethod
    def from_result(cls, row: PlayedScenarioResult) -> "ScenarioResultResponse":
        return cls(
            id=row.id,
            name=row.name,
            title=row.title,
            seed=row.seed,
            passed=row.has_passed,
            has_recording="recording_key" in row.outcome,
            hash=row.hash,
            faults=[ScenarioFaultResponse.model_validate(fault) for fault in row.faults],
            transcript=[ScenarioTurnResponse.model_validate(turn) for turn in row.turns],
            **row.outcome,
        )


class LatestScenarioResultResponse(Schema):
    """The last result of a scenario with a version: of several seeds one that failed, if any did. ``fault`` is the
    first expectation that was not met. A draft may have changed since ``played_at``."""

    version_number: int
    name: str
    title: str
    passed: bool
    seed: int
    play_id: int
    played_at: datetime
    fault: ScenarioFaultResponse | None

    @classmethod
    def from_row(cls, play: ScenarioPlay, row: PlayedScenarioResult) -> "LatestScenarioResultResponse":
        return cls(
            version_number=play.version_number,
            name=row.name,
            title=row.title,
            passed=row.has_passed,
            seed=row.seed,
            play_id=play.id,
            played_at=play.finished_at or play.started_at or play.created_at,
            fault=ScenarioFaultResponse.model_validate(row.faults[0]) if row.faults else None,
        )


class PublishGateSettings(Schema):
    """What a draft must meet before it is published. ``min_edge_coverage`` is a percentage of the edges. ``with_sound``:
    only plays with sound get a verdict, and only those of text otherwise; ``talk_overs_stay`` is about them."""

    is_required: bool = False
    scenarios_pass: bool = True
    no_new_findings: bool = True
    coverage_stays: bool = True
    min_edge_coverage: Annotated[Number, Field(ge=0, le=100)] = 0
    answer_time_stays: bool = True
    with_sound: bool = False
    talk_overs_stay: bool = True
    answers: Answers = Field(default="built-in", description="Only plays with these answers get a verdict")
    model_verdicts_stop: bool = Field(
        default=False, description="What a model has judged stops a draft; it is a warning otherwise"
    )


class PublishGateResponse(PublishGateSettings):
    """``draft_hash`` identifies the draft and everything that a verdict depends on; ``play`` is the newest verdict on
    exactly this. Both are null without a draft."""

    draft_hash: str | None
    may_publish: bool
    play: ScenarioPlayResponse | None

    @classmethod
    def from_state(cls, state: GateState) -> "PublishGateResponse":
        gate = PublishGateSettings.model_validate({REQUIRED: False, **state.gate})
        return cls(
            **gate.model_dump(),
            draft_hash=state.content.hash if state.content is not None else None,
            may_publish=state.may_publish,
            play=ScenarioPlayResponse.from_play(state.play) if state.play is not None else None,
        )
