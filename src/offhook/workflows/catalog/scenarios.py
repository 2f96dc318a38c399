"""Test scenarios of an agent: what a caller says, and what must come of it. Pure."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Text = Annotated[str, Field(min_length=1, max_length=1000)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Theme = Literal["direct", "change_of_mind", "question", "refusal", "person", "emergency", "all_at_once"]


class _StrictModel(BaseModel):
    # a mistyped expectation would expect nothing
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioTurn(_StrictModel):
    """One turn of the caller. ``agent`` are words that the agent's reply to it must hold, whatever their case."""

    caller: Text
    agent: Text | None = None


class ScenarioExpectation(_StrictModel):
    """``edges`` are the ids of all edges taken, in order; ``end`` is the node that ended the conversation, None while it
    goes on. ``variables`` names some of the extracted values; null: nothing was extracted."""

    edges: tuple[str, ...]
    variables: dict[str, JsonValue] = Field(default_factory=dict)
    end: str | None


class Scenario(_StrictModel):
    """``context`` are the variables that the conversation starts with, such as a contact's name."""

    id: Id
    title: Text
    themes: Annotated[tuple[Theme, ...], Field(min_length=1)]
    context: dict[str, str] = Field(default_factory=dict)
    turns: Annotated[tuple[ScenarioTurn, ...], Field(min_length=1)]
    expects: ScenarioExpectation
