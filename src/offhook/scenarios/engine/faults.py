"""Compares what came of a scenario with what must hold."""

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
            ScenarioFault("tool_not_mocked", f"{name} was called, and the scenario has no answer")
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
            yield ScenarioFault("over_too_early", f"the conversation was over before turn {index}", index)
        elif turn.agent_says.casefold() not in done[index].casefold():
            yield ScenarioFault(
                "words_missing", f"{turn.agent_says!r} is missing in {done[index]!r}", index, turn.agent_says
            )


def _edge_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    if expect.edges is not None and tuple(played.edges) != expect.edges:
        yield ScenarioFault("edges_differ", _first_difference("edge", expect.edges, played.edges))
    if expect.keyed_edges is not None and tuple(played.keyed_edges) != expect.keyed_edges:
        message = _first_difference("edge by key", expect.keyed_edges, played.keyed_edges)
        yield ScenarioFault("keys_differ", message)
    for edge in expect.edges_include:
        if edge not in played.edges:
            yield ScenarioFault("edge_missing", f"the edge {edge} was not taken, but {list(played.edges)}")
    for edge in expect.edges_never:
        if edge in played.edges:
            yield ScenarioFault("edge_forbidden", f"the edge {edge} was taken")


def _node_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    rest = iter(played.nodes)
    missing = next((node for node in expect.nodes if node not in rest), None)
    if missing is not None:
        yield ScenarioFault("node_missing", f"the node {missing} was not entered in its turn, but {list(played.nodes)}")
    for node in expect.nodes_never:
        if node in played.nodes:
            yield ScenarioFault("node_forbidden", f"the node {node} was entered")


def _tool_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    if expect.tools is None:
        return
    called: list[Mapping[str, Any]] = [event.data for event in played.journal if event.type == events.TOOL_CALLED]
    names = [str(call["name"]) for call in called]
    wanted = [call.name for call in expect.tools]
    if names != wanted:
        yield ScenarioFault("tools_differ", _first_difference("tool", wanted, names))
        return
    for call, expected in zip(called, expect.tools, strict=True):
        if not holds(call["arguments"], expected.arguments):
            yield ScenarioFault(
                "arguments_differ", f"{expected.name} got {call['arguments']!r}, not {expected.arguments!r}"
            )


def _word_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    said = [str(event.data["text"]) for event in played.journal if event.type == events.AGENT_SAID]
    whole = "\n".join(said).casefold()
    for words in expect.says:
        if words.casefold() not in whole:
            yield ScenarioFault("words_missing", f"the agent never said {words!r}", words=words)
    for words in expect.never_says:
        if words.casefold() in whole:
            yield ScenarioFault("words_forbidden", f"the agent said {words!r}", words=words)


def _variable_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    for name, value in expect.variables.items():
        found = played.variables.get(name)
        if found != value:
            yield ScenarioFault("variable_differs", f"{name} is {found!r}, not {value!r}")


def _end_faults(expect: ScenarioExpectation, played: PlayedScenario) -> Iterator[ScenarioFault]:
    is_over = played.end is not None
    if expect.end is not None and played.end != expect.end:
        where = f"ended at {played.end}" if is_over else f"goes on at {played.node}"
        yield ScenarioFault("end_differs", f"the conversation {where}, and did not end at {expect.end}")
    if expect.is_over is not None and is_over != expect.is_over:
        where = f"ended at {played.end}" if is_over else f"goes on at {played.node}"
        yield ScenarioFault("end_differs", f"the conversation {where}")
    if expect.outcome is not None and played.outcome != expect.outcome:
        yield ScenarioFault("outcome_differs", f"the outcome is {played.outcome}, not {expect.outcome}")
    if expect.end_reason is not None and played.end_reason != expect.end_reason:
        yield ScenarioFault("end_reason_differs", f"the end reason is {played.end_reason}, not {expect.end_reason}")


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
        yield ScenarioFault("cost_unknown", f"there is no published price of {', '.join(cost.unpriced)}")
    if cost.cents > limit:
        yield ScenarioFault("too_expensive", f"its models cost {cost.cents:.3g} cents, more than {limit:g}")


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
            yield ScenarioFault("panel_not_measured", f"nothing happened in the call that {name} could be measured by")
        elif figure < wanted if is_least else figure > wanted:
            how = "less" if is_least else "more"
            yield ScenarioFault("panel_missed", f"{name} is {figure:g}, {how} than {wanted:g}")


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
                yield ScenarioFault("interruption_ignored", "the agent talked on when it was interrupted", found.turn)
            elif found.yield_ms > limit_ms:
                message = (
                    f"the agent talked on for {found.yield_ms} ms when it was interrupted, more than {limit_ms} ms"
                )
                yield ScenarioFault("yielded_too_late", message, found.turn)
    if expect.max_talk_overs is not None and len(sound.talk_overs) > expect.max_talk_overs:
        count, allowed = len(sound.talk_overs), expect.max_talk_overs
        message = f"the agent began to speak while the caller did {count} times, more than {allowed}"
        yield ScenarioFault("caller_talked_over", message, sound.talk_overs[0])


def _first_difference(what: str, wanted: Sequence[str], found: Sequence[str]) -> str:
    at = next(
        (index for index, (one, other) in enumerate(zip(wanted, found, strict=False)) if one != other),
        min(len(wanted), len(found)),
    )
    expected = wanted[at] if at < len(wanted) else "none"
    got = found[at] if at < len(found) else "none"
    return f"{what} {at + 1} is {got}, not {expected}: {list(found)} instead of {list(wanted)}"
