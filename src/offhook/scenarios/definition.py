"""A scenario: what a caller does, and what must come of it. Pure."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.schema import Schema

Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=60)]
ModelName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.:-]{1,32}(/[\x21-\x7e]{1,64})?$")]
Seconds = Annotated[Number, Field(gt=0, le=600)]
Milliseconds = Annotated[WholeNumber, Field(gt=0, le=60_000)]
Share = Annotated[Number, Field(ge=0, le=1)]
# A Wednesday morning: callers say "tomorrow" too.
DEFAULT_NOW: Final = datetime(2026, 1, 7, 10, 15, tzinfo=UTC)
MAX_SCENARIOS: Final = 200
MAX_TURNS: Final = 100
# Of one list or mapping: more than a call of an hour takes, and few enough to be checked at once.
MAX_ENTRIES: Final = 1000
KEYS_PATTERN: Final = re.compile(r"[0-9*#A-D]{1,32}")
_VOICE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{1,39}")


def _text_of_keys(value: Any) -> Any:
    # `press: 1` is what everybody writes
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _voice_name(value: str) -> str:
    if not _VOICE_NAME.fullmatch(value):
        raise ValueError("a voice has a name like en-us or en-gb+f3")
    return value


Many = Field(max_length=MAX_ENTRIES)
Ids = Annotated[tuple[Id, ...], Many]
VoiceName = Annotated[str, AfterValidator(_voice_name)]
Keys = Annotated[str, BeforeValidator(_text_of_keys), StringConstraints(pattern=r"^[0-9*#A-D]+$", max_length=32)]


class _StrictModel(Schema):
    # a mistyped expectation would expect nothing
    model_config = ConfigDict(extra="forbid", frozen=True)


class _CallerAct(_StrictModel):
    """One thing that a caller does: exactly one of these fields."""

    say: Text | None = None
    press: Keys | None = None
    silence_s: Seconds | None = None
    hang_up: bool = False

    @model_validator(mode="after")
    def _is_one_act(self) -> Self:
        if sum((self.say is not None, self.press is not None, self.silence_s is not None, self.hang_up)) != 1:
            raise ValueError("a caller does exactly one of say, press, silence_s and hang_up")
        return self


def _turn_of_text(value: Any) -> Any:
    return {"say": value} if isinstance(value, str) else value


class CallerTurn(_CallerAct):
    """One turn. ``agent_says`` are words that the agent's reply must contain; case is ignored."""

    agent_says: Text | None = None


class CallerRule(_CallerAct):
    """What the caller does whenever the agent is ``at`` a node, or says these words, at most ``times`` times. The
    seed chooses one of the sentences in ``one_of``.
    """

    at: Id | None = None
    when_agent_says: Text | None = None
    one_of: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    times: Annotated[WholeNumber, Field(ge=1, le=MAX_TURNS)] = MAX_TURNS

    @model_validator(mode="before")
    @classmethod
    def _first_of_many(cls, value: Any) -> Any:
        sentences = value.get("one_of") if isinstance(value, dict) else None
        if isinstance(sentences, list) and sentences and value.get("say") is None:
            return {**value, "say": sentences[0]}
        return value

    @model_validator(mode="after")
    def _is_bound(self) -> Self:
        if (self.at is None) == (self.when_agent_says is None):
            raise ValueError("a rule needs one of at and when_agent_says")
        return self


class AnsweringMachine(_StrictModel):
    """Who answers instead of a person, with sound: says the greeting, beeps, records for so long, and hangs up."""

    greeting: Text = "You have reached my voicemail. Please leave a message after the tone."
    beeps: bool = True
    records_s: Annotated[Number, Field(ge=1, le=120)] = 20.0


class Manner(_StrictModel):
    """How the caller talks. ``hesitates`` is the share of sentences that begin with a filler; ``wrong_answers`` is how
    often one of ``wrong_sentences`` comes before the right one. The seed chooses where.

    With sound a pause follows the filler, ``interrupts`` is the share of the turns' sentences that begin while the agent
    speaks, ``voice`` is one of espeak-ng's, and ``speed`` 1.0 is 165 words a minute. ``voicemail``: an answering machine
    takes the call, and nothing else of the caller counts.
    """

    hesitates: Share = 0.0
    interrupts: Share = 0.0
    voice: VoiceName | None = None
    speed: Annotated[Number, Field(ge=0.5, le=2)] = 1.0
    wrong_answers: Annotated[WholeNumber, Field(ge=0, le=20)] = 0
    wrong_sentences: Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)] = ("The weather is nice today.",)
    voicemail: AnsweringMachine | None = None


class CallerModel(_StrictModel):
    """A caller played by a model: who they are, what they want, how they talk, and which model plays them
    (``provider/model``; by default, the organization's own). The caller knows its ``facts``."""

    persona: Text
    goal: Text
    style: Text | None = None
    name: ModelName | None = None


class CallerScript(_StrictModel):
    """``turns`` come first, then ``rules`` as long as one matches, then the ``model``. ``facts`` fill ``{{ name }}`` in what is
    said."""

    facts: Annotated[dict[str, str], Many] = Field(default_factory=dict)
    turns: Annotated[
        tuple[Annotated[CallerTurn, BeforeValidator(_turn_of_text)], ...], Field(max_length=MAX_TURNS)
    ] = ()
    rules: Annotated[tuple[CallerRule, ...], Field(max_length=50)] = ()
    model: CallerModel | None = None
    manner: Manner = Manner()
    max_turns: Annotated[WholeNumber, Field(ge=1, le=MAX_TURNS)] = 40

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.turns and not self.rules and self.model is None and self.manner.voicemail is None:
            raise ValueError("a caller needs turns, rules or a model, or is an answering machine")
        return self


class ToolMock(_StrictModel):
    """What a tool returns when its arguments contain ``arguments``: a result, an error, or nothing in time.

    ``transfer`` is for transfers of calls: the destination answers or not.
    """

    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    result: JsonValue = None
    fails: Text | None = None
    transfer: Annotated[str, StringConstraints(pattern=r"^(answered|busy|no_answer)$")] | None = None
    takes_s: Annotated[Number, Field(ge=0, le=600)] = 0.3


class ExpectedToolCall(_StrictModel):
    """A call of a tool, by its function name; ``arguments`` are some of those that it got."""

    name: Id
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class PanelExpectation(_StrictModel):
    """Figures of turn-taking that a call with sound must reach, named as in published panels: the mean seconds to an answer
    (``L_R``) and to silence after an interruption (``L_Y``), the share of turns that are answered (``R_R``) and of
    interruptions that the agent yields to (``R_Y``), and how often it begins while the caller speaks, for each turn of the
    caller (``I_A``). ``L_R``, ``L_Y`` and ``I_A`` are the most, ``R_R`` and ``R_Y`` the least that passes.
    """

    L_R: Annotated[Number, Field(gt=0, le=60)] | None = None
    R_R: Share | None = None
    L_Y: Annotated[Number, Field(gt=0, le=60)] | None = None
    R_Y: Share | None = None
    I_A: Annotated[Number, Field(ge=0, le=MAX_TURNS)] | None = None

    @model_validator(mode="after")
    def _names_a_figure(self) -> Self:
        if all(getattr(self, name) is None for name in type(self).model_fields):
            raise ValueError("name at least one of L_R, R_R, L_Y, R_Y and I_A")
        return self


def _list_of_text(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ScenarioExpectation(_StrictModel):
    """What a scenario expects; anything not named is not checked.

    ``edges`` are the ids of all edges taken, in order; ``edges_include`` and ``edges_never`` list edges that must or
    must not be among them; ``keyed_edges`` are those that a key took, in order. ``nodes`` are visited in this order, with
    others between them. ``end`` is the node that ended the conversation; ``is_over: false``
    means that it goes on. ``variables`` names some of the extracted values; null: nothing was extracted. ``tools`` are
    all calls, in order. ``seconds`` is the length on virtual time, with speech at a usual speed.

    Only calls with sound have ``max_answer_ms``, the longest silence before an answer, ``max_yield_ms``, how long the agent
    goes on when the caller interrupts, and ``max_talk_overs``, how often it begins while the caller speaks.

    ``panel`` has figures of turn-taking for them. ``max_cost_cents`` is what the models of the conversation may cost by the
    published prices.

    ``judged`` are criteria that a model judges when everything else holds, ``judged_by`` which one (``provider/model``;
    without, the organization's own).
    """

    edges: Ids | None = None
    edges_include: Ids = ()
    edges_never: Ids = ()
    keyed_edges: Ids | None = None
    nodes: Ids = ()
    nodes_never: Ids = ()
    variables: dict[str, JsonValue] = Field(default_factory=dict)
    tools: Annotated[tuple[ExpectedToolCall, ...], Many] | None = None
    says: Annotated[tuple[Text, ...], Many] = ()
    never_says: Annotated[tuple[Text, ...], Many] = ()
    end: Id | None = None
    is_over: bool | None = None
    outcome: Id | None = None
    end_reason: Id | None = None
    max_turns: Annotated[WholeNumber, Field(ge=1, le=MAX_TURNS)] | None = None
    max_seconds: Annotated[Number, Field(gt=0, le=3600)] | None = None
    max_answer_ms: Milliseconds | None = None
    max_yield_ms: Milliseconds | None = None
    max_talk_overs: Annotated[WholeNumber, Field(ge=0, le=MAX_TURNS)] | None = None
    panel: PanelExpectation | None = None
    max_cost_cents: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    judged: Annotated[tuple[Text, ...], BeforeValidator(_list_of_text), Field(max_length=20)] = ()
    judged_by: ModelName | None = None

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        # `edges: []` and `tools: []` are expectations too: none is taken, none is called
        is_set = any(names is not None for names in (self.edges, self.keyed_edges, self.tools))
        named = set(type(self).model_fields) - {"judged_by"}
        if not is_set and all(getattr(self, name) in (None, (), {}) for name in named):
            raise ValueError("a scenario must expect something")
        return self


class Scenario(_StrictModel):
    """``context`` are the variables that the conversation starts with; ``pre_call_fetch`` is the answer to the request
    before the call. ``tools``: answers by the tool's id or function name; the first match is used. ``documents``:
    texts by
    the id that nodes refer to them with. ``now`` is the current time in templates."""

    name: Name
    title: Text | None = None
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    seed: Annotated[WholeNumber, Field(ge=0, lt=2**31)] = 0
    now: AwareDatetime = DEFAULT_NOW
    context: dict[str, JsonValue] = Field(default_factory=dict)
    pre_call_fetch: dict[str, JsonValue] = Field(default_factory=dict)
    caller: CallerScript
    tools: Annotated[dict[str, Annotated[tuple[ToolMock, ...], Many]], Many] = Field(default_factory=dict)
    documents: Annotated[dict[str, str], Many] = Field(default_factory=dict)
    expect: ScenarioExpectation

    @property
    def shown_title(self) -> str:
        return self.title or self.name
