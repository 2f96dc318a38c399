"""The response with a replayed run."""

from pydantic import ConfigDict, Field

from offhook.kit.schema import Schema
from offhook.scenarios.replays.orders import RunReplay


class ReplayDifferenceResponse(Schema):
    """Where two calls differ first."""

    model_config = ConfigDict(from_attributes=True)

    turn: int = Field(description="What the caller had said by then, counted from 1; 0 before that")
    node_id: str
    node: str
    at_ms: int
    what: str = Field(description="The type of the event, or what the model, the documents or the voice were asked")
    expected: str
    came: str


class RunReplayResponse(Schema):
    """``is_exact`` is false if the call differs even with its own version. It then says nothing about other versions,
    and ``first_difference`` is that of its own version."""

    run_id: int
    version_number: int
    is_same: bool
    is_exact: bool
    events: int
    hash: str = Field(description="SHA-256 of all events with their times")
    first_difference: ReplayDifferenceResponse | None

    @classmethod
    def from_replay(cls, replay: RunReplay) -> "RunReplayResponse":
        found = replay.difference
        return cls(
            run_id=replay.run_id,
            version_number=replay.version_number,
            is_same=found is None,
            is_exact=replay.is_exact,
            events=replay.events,
            hash=replay.hash,
            first_difference=None if found is None else ReplayDifferenceResponse.model_validate(found),
        )
