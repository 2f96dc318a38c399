"""Requests and responses of canaries."""

from datetime import datetime
from typing import Annotated, Literal, cast

from pydantic import ConfigDict, Field, StringConstraints

from offhook.canary.comparison.judge import JudgeSettings
from offhook.canary.evidence import CanaryEvidence
from offhook.canary.tasks import EARLIER_DAYS
from offhook.kit.json_numbers import WholeNumber
from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.workflows import WorkflowCanary
from offhook.workflows.publication import PublishRequest
from offhook.workflows.schemas import PublishWorkflowRequest

_DEFAULTS = JudgeSettings()
Share = Annotated[WholeNumber, Field(ge=1, le=50, description="Percent of calls that the new version takes")]
Explanation = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


class StartCanaryRequest(PublishWorkflowRequest):
    model_config = ConfigDict(extra="forbid")

    share: Share = 10
    margin_points: WholeNumber = Field(
        default=10,
        ge=3,
        le=30,
        description="The loss of success, in percentage points, that the canary must be able to detect",
    )
    horizon: WholeNumber = Field(
        default=_DEFAULTS.horizon,
        ge=50,
        le=5000,
        description="Calls of the new version after which the canary always ends",
    )
    earlier_days: WholeNumber = Field(
        default=28,
        ge=0,
        le=90,
        description="Days before the start whose calls of the old version are used too; 0: none",
    )

    def to_settings(self) -> JsonObject:
        return {"margin": self.margin_points / 100, "horizon": self.horizon, EARLIER_DAYS: self.earlier_days}

    def to_publish_request(self) -> PublishRequest:
        return PublishRequest(note=self.note, override_reason=self.gate_override)


class ChangeCanaryRequest(Schema):
    model_config = ConfigDict(extra="forbid")

    share: Share


class EndCanaryRequest(Schema):
    """``forward``: all calls get the new version; ``back``: the old one."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["forward", "back"]
    reason: Explanation


class CanaryResponse(Schema):
    """``state``: running, rolled_back or rolled_forward. ``reason`` is a code, ``explanation`` says why it ended.
    ``success_by``: what counts as a success: the agent's results, or a call that ends without failing."""

    id: int
    workflow_id: int
    state: str
    share: int
    version_number: int
    old_version_number: int
    margin_points: int
    horizon: int
    earlier_days: int
    success_by: str
    reason: str | None
    explanation: str | None
    evidence: CanaryEvidence | None
    started_at: datetime
    looked_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def from_canary(cls, canary: WorkflowCanary) -> "CanaryResponse":
        return cls(
            id=canary.id,
            workflow_id=canary.workflow_id,
            state=canary.state,
            share=canary.share,
            version_number=canary.new_number,
            old_version_number=canary.old_number,
            margin_points=round(100 * canary.settings["margin"]),
            horizon=canary.settings["horizon"],
            earlier_days=canary.settings[EARLIER_DAYS],
            success_by=canary.settings["success_by"],
            reason=canary.reason,
            explanation=canary.explanation,
            evidence=cast(CanaryEvidence, canary.evidence) if canary.evidence else None,
            started_at=canary.started_at,
            looked_at=canary.looked_at,
            ended_at=canary.ended_at,
        )
