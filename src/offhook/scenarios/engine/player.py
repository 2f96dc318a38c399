"""Plays one scenario: the real interpreter on one side, the scenario's caller on the other."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.kit.template import find_variables, render_template
from offhook.models.ports import CallModels, Llm
from offhook.models.prices.calculation import PricedUsage, PriceList
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.caller import ScenarioCaller
from offhook.scenarios.engine.mocks import FixedDocuments, MissingMocks, build_toolbox
from offhook.scenarios.engine.moves import ScenarioMove
from offhook.scenarios.engine.outside_models import OutsideModels
from offhook.scenarios.engine.played_sound import PlayedSound
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import CallResult
from offhook.voice.text_session import TextSession
from offhook.workflows.graph import WorkflowGraph

# Telephone talk runs at about 160 words a minute.
SECONDS_A_WORD: Final = 0.375
# Between one side's last word and the other's first.
PAUSE_S: Final = 0.7


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """One move of the caller and the agent's reply; ``move`` is None for the greeting."""

    move: ScenarioMove | None
    reply: str


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What the models of a conversation cost by the published prices; ``unpriced`` names those without one."""

    cents: Decimal
    unpriced: tuple[str, ...]


class CannotPlay(Exception):
    """A scenario cannot be played in this way. ``code`` is that of its fault."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """The result of playing a scenario. ``end`` is the node that ended the conversation; None while it goes on.

    ``keyed_edges`` are those of ``edges`` that a key took. ``tools`` are the functions that answered, and
    ``failed_tools`` those that answered with an error at least once. ``sound`` is what was heard; None for text.
    """

    turns: Sequence[PlayedTurn]
    journal: Sequence[VoiceEvent]
    variables: Mapping[str, JsonValue]
    node: str
    end: str | None
    outcome: str
    end_reason: str
    duration_s: float
    unmocked: Sequence[str] = ()
    edges: Sequence[str] = ()
    keyed_edges: Sequence[str] = ()
    nodes: Sequence[str] = ()
    tools: Sequence[str] = ()
    failed_tools: Sequence[str] = ()
    sound: PlayedSound | None = None

    def cost_of_models(self) -> ModelCost:
        """Returns the cost by what was counted last."""
        usage: Any = next((event.data for event in reversed(self.journal) if event.type == events.USAGE_COUNTED), {})
        lines = PriceList(()).price_usage(usage, datetime.now(UTC).date())
        cents = sum((line.cost_cents for line in lines if isinstance(line, PricedUsage)), Decimal(0))
        unpriced = {f"{line.provider} {line.model}" for line in lines if not isinstance(line, PricedUsage)}
        return ModelCost(cents, tuple(sorted(unpriced)))


class PlayJournal:
    """Implements RunSink."""

    def __init__(self) -> None:
        self.events: list[VoiceEvent] = []

    def emit(self, event: VoiceEvent) -> None:
        self.events.append(event)

    def values_of(self, kind: str, key: str) -> list[str]:
        return [str(event.data[key]) for event in self.events if event.type == kind]

    def describe_play(
        self,
        turns: Sequence[PlayedTurn],
        result: CallResult,
        *,
        is_over: bool,
        unmocked: Sequence[str],
        sound: PlayedSound | None = None,
    ) -> PlayedScenario:
        """Returns what came of a scenario, by the events of its conversation."""
        variables: Any = result.gathered_context["extracted_variables"]
        nodes = self.values_of(events.NODE_ENTERED, "node_id")
        return PlayedScenario(
            turns=turns,
            journal=tuple(self.events),
            variables=dict(variables),
            node=nodes[-1],
            end=nodes[-1] if is_over else None,
            outcome=result.outcome,
            end_reason=result.end_reason,
            duration_s=result.duration_s,
            unmocked=tuple(unmocked),
            edges=tuple(self.values_of(events.EDGE_TAKEN, "edge_id")),
            keyed_edges=tuple(
                str(event.data["edge_id"])
                for event in self.events
                if event.type == events.EDGE_TAKEN and event.data["by"] == "dtmf"
            ),
            nodes=tuple(nodes),
            tools=tuple(dict.fromkeys(self.values_of(events.TOOL_ANSWERED, "name"))),
            failed_tools=tuple(
                dict.fromkeys(
                    str(event.data["name"])
                    for event in self.events
                    if event.type == events.TOOL_ANSWERED and not event.data["ok"]
                )
            ),
            sound=sound,
        )


async def play_scenario(agent: ScenarioAgent, scenario: Scenario, llm: Llm, seed: int = 0) -> PlayedScenario:
    """Plays a scenario in the running loop, which has virtual time unless it should take real time."""
    if scenario.caller.manner.voicemail is not None:
        raise CannotPlay("voicemail_needs_sound", "an answering machine is only reached by calls with sound")
    call_agent, missing = build_call_agent(agent, scenario)
    journal = PlayJournal()
    session = TextSession(agent=call_agent, models=CallModels((llm,), (), ()), sink=journal)
    outside = llm if isinstance(llm, OutsideModels) else None
    turns = await _talk(session, ScenarioCaller(scenario, seed, outside), agent.config, scenario.caller.max_turns)
    is_over = session.is_over
    result: CallResult = session.result or await session.end("still_open")
    return journal.describe_play(turns, result, is_over=is_over, unmocked=missing.names)


def build_call_agent(agent: ScenarioAgent, scenario: Scenario) -> tuple[CallAgent, MissingMocks]:
    """Returns the agent as the conversation of a scenario has it, and what collects requests without an answer."""
    context = _starting_context(agent, scenario)
    toolbox, missing = build_toolbox(agent, scenario, context)
    knowledge = FixedDocuments({**agent.documents, **scenario.documents})
    return CallAgent(agent.graph, agent.config, toolbox, context, knowledge=knowledge), missing


async def _talk(session: TextSession, caller: ScenarioCaller, config: CallConfig, max_turns: int) -> list[PlayedTurn]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    reply = await _listen_to(await session.start())
    turns = [PlayedTurn(None, reply)]
    while not session.is_over and len(turns) <= max_turns:
        move = caller.next_move(session.node_id, reply)
        if move is None:
            break
        await asyncio.sleep(PAUSE_S)
        if move.hangs_up:
            await session.end()
            turns.append(PlayedTurn(move, ""))
            break
        if move.silence_s is not None:
            reply = await _stay_silent(session, move.silence_s, config)
        elif move.press is not None:
            reply = await _listen_to(await session.press(move.press))
        else:
            text = str(move.say)
            await asyncio.sleep(len(text.split()) * SECONDS_A_WORD)
            reply = await _listen_to(await session.say(text))
        turns.append(PlayedTurn(move, reply))
        if not session.is_over and loop.time() - began >= config.max_duration_s:
            session.say_canned(session.phrases.time_over)
            await session.end("max_duration")
    return turns


async def _listen_to(messages: Sequence[str]) -> str:
    reply = " ".join(messages)
    await asyncio.sleep(len(reply.split()) * SECONDS_A_WORD)
    return reply


async def _stay_silent(session: TextSession, seconds: float, config: CallConfig) -> str:
    """Keeps the rule of the watchdog: a question after each idle time, then the end of the call."""
    said: list[str] = []
    left, prompts = seconds, 0
    while left >= config.idle_timeout_s:
        await asyncio.sleep(config.idle_timeout_s)
        left -= config.idle_timeout_s
        if prompts >= config.idle_prompts:
            said.append(await _listen_to([session.say_canned(session.phrases.idle_goodbye)]))
            await session.end("idle")
            return " ".join(said)
        prompts += 1
        session.report_idle(prompts, config.idle_timeout_s)
        said.append(await _listen_to([session.say_canned(session.phrases.idle)]))
    await asyncio.sleep(left)
    return " ".join(said)


def _starting_context(agent: ScenarioAgent, scenario: Scenario) -> JsonObject:
    """Returns the variables at the start, with every clock that a text shows standing at ``scenario.now``."""
    clocks = {
        variable.path for text in _texts_of(agent.graph) for variable in find_variables(text) if variable.is_built_in
    }
    zones = " ".join(f"{{{{{path}}}}}" for path in sorted(clocks) if path.count("_") > 1)
    context: JsonObject = {"current_time": "", "current_weekday": ""}
    for path in sorted({*clocks, *context}):
        marked = render_template(f"{{{{{path}}}}}\x00{zones}", {}, now=scenario.now)
        context[path] = marked.partition("\x00")[0]
    if scenario.caller.manner.voicemail is not None:
        # only whom the agent calls can be a machine
        context["direction"] = "outbound"
    return {**context, **agent.variables, **scenario.context, **scenario.pre_call_fetch}


def _texts_of(graph: WorkflowGraph) -> Iterator[str]:
    yield graph.global_prompt
    for node in graph.nodes.values():
        yield from (value for value in node.data.values() if isinstance(value, str))
        for edge in graph.edges_from(node.id):
            yield from (edge.condition, edge.transition_speech or "")
