"""Events about runs for the domains above."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run's media connected."""

    run_id: int
    organization_id: int
    workflow_id: int
    mode: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run reached its final state and everything about it is stored. May be published twice after a crash."""

    run_id: int
    organization_id: int
    workflow_id: int
    campaign_id: int | None
    mode: str
    status: str
    outcome: str | None
    end_reason: str | None
