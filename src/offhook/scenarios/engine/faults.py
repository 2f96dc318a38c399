"""Compares what came of a scenario with what must hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.scenarios.definition import Scenario, ScenarioExpectation
from offhook.scenarios.engine.mocks import holds
from offhook.scenarios.engine.played_sound import PlayedSound
from offhook.scenarios.engine.player import PlayedScenario
from offhook.voice import events

# Figures of turn-taking of which more is better.
_AT_LEAST: Final = frozenset({"R_R", "R_Y"})
# What they are called, and the unit and factor that people read them with.
_PANEL: Final = {
    "L_R": ("the average answer time", " s", 1),
    "R_R": ("the share of answered turns", "%", 100),
    "L_Y": ("the average time to stop", " s", 1),
    "R_Y": ("the share of interruptions that the agent yielded to", "%", 100),
    "I_A": ("the number of talk-overs per turn", "", 1),
}


@dataclass(frozen=True, slots=True)
class ScenarioFault:
    """One expectation that was not met. ``code`` is stable; ``turn`` counts the caller's turns from 0. ``words`` are those
    that are missing or forbidden. ``is_by_model``: a model has judged so, not an assertion."""

    code: str
    message: str
    turn: int | None = None
    words: str = ""
    is_by_model: bool = False


def find_faults(scenario: Scenario, played: PlayedScenario) -> tuple[ScenarioFault, ...]:
    """Returns everything that did not hold; what happened first in the conversation comes first."""
    expect = scenario.expect
    return (
        *(
            ScenarioFault("tool_not_mocked", f"{name} was called, but the scenario has no answer for it")
            for name in played.unmocked
        ),
        *_reply_faults(scenario, played),
        *_edge_faults(expect, played),
        *_node_faults(expect, played),
        *_tool_faults(expect, played),
        *_word_faults(expect, played),
        *_variable_faults(expect, played),
        *_end_faults(expect, played),
        *_length_faults(expect, played),
        *_cost_faults(expect, played),
        *(_sound_faults(expect, played.sound) if played.sound is not None else ()),
        *(_panel_faults(expect, played.sound) if played.sound is not None else ()),
    )


def _reply_faults(scenario: Scenario, played: PlayedScenario) -> Iterator[ScenarioFault]:
    done = {turn.move.turn: turn.reply for turn in played.turns if turn.move is not None and turn.move.turn is not None}
    for index, turn in enumerate(scenario.caller.turns):
        if turn.agent_says is None:
            continue
        if index not in done:
            yield ScenarioFault("over_too_early", "the conversation ended before this turn", index)
        elif turn.agent_says.casefold() not in done[index].casefold():
            reply = f"“{done[index]}”" if done[index] else "the agent said nothing"
            message = f"the reply does not contain “{turn.agent_says}”: {reply}"
            yield ScenarioFault("words_missing", message, index, turn.agent_says)


def _edge_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    if expect.edges is not None and tuple(played.edges) != expect.edges:
        yield ScenarioFault("edges_differ", _first_difference("transition", "edge", expect.edges, played.edges))
    if expect.keyed_edges is not None and tuple(played.keyed_edges) != expect.keyed_edges:
        message = _first_difference("transition by key", "edge", expect.keyed_edges, played.keyed_edges)
        yield ScenarioFault("keys_differ", message)
    for edge in expect.edges_include:
        if edge not in played.edges:
            yield ScenarioFault("edge_missing", f"the edge {edge} was not taken, only {_listed('edge', played.edges)}")
    for edge in expect.edges_never:
        if edge in played.edges:
            yield ScenarioFault("edge_forbidden", f"the edge {edge} was taken")


def _node_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    rest = iter(played.nodes)
    missing = next((node for node in expect.nodes if node not in rest), None)
    if missing is not None:
        message = f"the node {missing} was not reached in this order, only {_listed('node', played.nodes)}"
        yield ScenarioFault("node_missing", message)
    for node in expect.nodes_never:
        if node in played.nodes:
            yield ScenarioFault("node_forbidden", f"the node {node} was reached")


def _tool_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    if expect.tools is None:
        return
    called: list[Mapping[str, Any]] = [event.data for event in played.journal if event.type == events.TOOL_CALLED]
    names = [str(call["name"]) for call in called]
    wanted = [call.name for call in expect.tools]
    if names != wanted:
        yield ScenarioFault("tools_differ", _first_difference("tool call", "tool", wanted, names))
        return
    for call, expected in zip(called, expect.tools, strict=True):
        if not holds(call["arguments"], expected.arguments):
            got, wanted_arguments = _readable(call["arguments"]), _readable(expected.arguments)
            message = f"{expected.name} was called with {got} instead of {wanted_arguments}"
            yield ScenarioFault("arguments_differ", message)


def _word_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    said = [str(event.data["text"]) for event in played.journal if event.type == events.AGENT_SAID]
    whole = "\n".join(said).casefold()
    for words in expect.says:
        if words.casefold() not in whole:
            yield ScenarioFault("words_missing", f"the agent never said “{words}”", words=words)
    for words in expect.never_says:
        if words.casefold() in whole:
            yield ScenarioFault("words_forbidden", f"the agent said “{words}”", words=words)


def _variable_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    for name, value in expect.variables.items():
        found = played.variables.get(name)
        if found != value:
            yield ScenarioFault("variable_differs", f"{name} is {_readable(found)} instead of {_readable(value)}")


def _end_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    is_over = played.end is not None
    if expect.end is not None and played.end != expect.end:
        where = f"ended at {played.end} instead of" if is_over else f"was still at {played.node} and had not ended"
        yield ScenarioFault("end_differs", f"the conversation {where} at {expect.end}")
    if expect.is_over is not None and is_over != expect.is_over:
        where = f"ended at {played.end}" if is_over else f"was still at {played.node} and had not ended"
        yield ScenarioFault("end_differs", f"the conversation {where}")
    if expect.outcome is not None and played.outcome != expect.outcome:
        yield ScenarioFault("outcome_differs", f"the outcome is {played.outcome} instead of {expect.outcome}")
    if expect.end_reason is not None and played.end_reason != expect.end_reason:
        yield ScenarioFault(
            "end_reason_differs", f"the end reason is {played.end_reason} instead of {expect.end_reason}"
        )


def _length_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    turns = len(played.turns) - 1
    if expect.max_turns is not None and turns > expect.max_turns:
        yield ScenarioFault("too_many_turns", f"it took {turns} turns, more than {expect.max_turns}")
    if expect.max_seconds is not None and played.duration_s > expect.max_seconds:
        yield ScenarioFault("too_long", f"it took {played.duration_s:g} s, more than {expect.max_seconds:g} s")


def _cost_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    limit = expect.max_cost_cents
    if limit is None:
        return
    cost = played.cost_of_models()
    if cost.unpriced:
        yield ScenarioFault("cost_unknown", f"there is no list price for {', '.join(cost.unpriced)}")
    if cost.cents > limit:
        yield ScenarioFault("too_expensive", f"the models cost {cost.cents:.3g} cents, more than {limit:g}")


def _panel_faults(expect: ScenarioExpectation, sound: PlayedSound) -> Iterator[ScenarioFault]:
    if expect.panel is None:
        return
    found = sound.panel()
    for name in type(expect.panel).model_fields:
        wanted, figure = getattr(expect.panel, name), found[name]
        if wanted is None:
            continue
        is_least = name in _AT_LEAST
        if figure is None:
            message = f"nothing in the call allowed {_PANEL[name][0]} to be measured"
            yield ScenarioFault("panel_not_measured", message)
        elif figure < wanted if is_least else figure > wanted:
            title, unit, factor = _PANEL[name]
            how = "less" if is_least else "more"
            message = f"{title} is {figure * factor:.4g}{unit}, {how} than {wanted * factor:.4g}{unit}"
            yield ScenarioFault("panel_missed", message)


def _sound_faults(expect: ScenarioExpectation, sound: PlayedSound) -> Iterator[ScenarioFault]:
    limit_ms = expect.max_answer_ms
    if limit_ms is not None:
        for answer in sound.answers:
            if answer.silence_ms > limit_ms:
                message = f"an answer took {answer.silence_ms} ms, more than {limit_ms} ms"
                yield ScenarioFault("answer_too_slow", message, answer.turn)
    limit_ms = expect.max_yield_ms
    if limit_ms is not None:
        for found in sound.interruptions:
            if found.yield_ms is None:
                yield ScenarioFault(
                    "interruption_ignored", "the agent kept talking when it was interrupted", found.turn
                )
            elif found.yield_ms > limit_ms:
                message = (
                    f"the agent kept talking for {found.yield_ms} ms after it was interrupted, more than {limit_ms} ms"
                )
                yield ScenarioFault("yielded_too_late", message, found.turn)
    if expect.max_talk_overs is not None and len(sound.talk_overs) > expect.max_talk_overs:
        count, allowed = len(sound.talk_overs), expect.max_talk_overs
        message = f"the agent started talking over the caller {count} times, more than {allowed}"
        yield ScenarioFault("caller_talked_over", message, sound.talk_overs[0])


def _first_difference(noun: str, kind: str, wanted: Sequence[str], found: Sequence[str]) -> str:
    at = next(
        (index for index, (one, other) in enumerate(zip(wanted, found, strict=False)) if one != other),
        min(len(wanted), len(found)),
    )
    if at >= len(found):
        return f"{noun} {at + 1} is missing: {kind} {wanted[at]}"
    if at >= len(wanted):
        return f"{noun} {at + 1} was not expected: {kind} {found[at]}"
    return f"{noun} {at + 1} is {kind} {found[at]} instead of {kind} {wanted[at]}"


def _listed(kind: str, ids: Sequence[str]) -> str:
    """Returns ids with their kind, by which the page finds their names."""
    return ", ".join(f"{kind} {id_}" for id_ in ids) or "none"


def _readable(value: object) -> str:
    if value is None or value == "":
        return "empty"
    return f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
