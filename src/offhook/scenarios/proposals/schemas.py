"""The response with proposed scenarios."""

from typing import Annotated, Any

from pydantic import Field

from offhook.kit.schema import Schema
from offhook.scenarios.proposals.service import ProposedScenarios


class ScenarioProposalResponse(Schema):
    """``covers`` are the edges that this scenario is the first to take; empty where it repeats a call with failing
    tools or with keys. ``keys`` are the edges whose keys it is the first to press."""

    scenario: Annotated[dict[str, Any], Field(description="A scenario as in a file, without default values.")]
    covers: list[str]
    keys: list[str] = Field(default_factory=list)


class ScenarioProposalsResponse(Schema):
    """Nothing is stored. ``missed`` are edges that no proposal and no passing scenario takes.
    ``is_complete`` is false when time ran out: store some, play them, and ask again for the rest."""

    version_number: int
    proposals: list[ScenarioProposalResponse]
    missed: list[str]
    is_complete: bool

    @classmethod
    def from_proposed(cls, proposed: ProposedScenarios) -> "ScenarioProposalsResponse":
        return cls(
            version_number=proposed.version_number,
            proposals=[ScenarioProposalResponse.model_validate(proposal) for proposal in proposed.proposals],
            missed=list(proposed.missed),
            is_complete=proposed.is_complete,
        )
