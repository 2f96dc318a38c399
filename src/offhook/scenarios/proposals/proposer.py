"""Proposes scenarios from a graph: a caller for every edge and every key, and what came of the call as what must hold.

A proposal keeps an agent as it is: it is played with the version it is made from, and expects the same edges, words,
tool calls and values. Edges that no offered sentence takes are left to the author.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from offhook.scenarios.definition import MAX_SCENARIOS, Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.player import PlayedScenario
from offhook.scenarios.engine.suite import MakeLlm, run_scenario
from offhook.scenarios.proposals.paths import Path, iter_paths
from offhook.scenarios.proposals.tool_answers import propose_answers
from offhook.voice import events
from offhook.workflows.graph import Edge, Node

# How often one path is tried with other words before its edge is left out.
MAX_TRIES: Final = 8
MAX_WORDS: Final = 1000
MAX_NAME: Final = 50
MAX_SHOWN: Final = 100
MAX_KEYS: Final = 20
MAX_NODE_ID: Final = 200
PROPOSED_TAG: Final = "proposed"
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_THE_CALLER: Final = re.compile(r"^the (?:caller|customer|guest|patient|person)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A path with the words that are tried at each of its edges, by their place among the possible ones.

    ``answers_first``: places of edges before which the caller gives what a tool of the node needs.
    """

    path: Path
    choices: tuple[int, ...]
    answers_first: frozenset[int] = frozenset()
    tools_fail: bool = False

    def as_scenario(self, agent: ScenarioAgent, name: str) -> Scenario:
        rules: list[dict[str, Any]] = []
        for index, edge in enumerate(self.path):
            node = agent.graph.nodes[edge.source]
            if index in self.answers_first:
                rules.append({"at": node.id, "say": node.examples[0], "times": 1})
            rules.append({"at": node.id, "times": 1, **_possible_acts(edge, node)[self.choices[index]]})
        answers = propose_answers(agent, tools_fail=self.tools_fail)
        raw = {"name": name, "caller": {"rules": rules[:50]}, "tools": answers, "expect": {"max_turns": 100}}
        return Scenario.model_validate(raw)

    def vary(self, at: int, agent: ScenarioAgent) -> "_Attempt | None":
        """Returns an attempt with other words at an edge; None when everything was tried."""
        edge = self.path[at]
        if self.choices[at] + 1 < len(_possible_acts(edge, agent.graph.nodes[edge.source])):
            return replace(self, choices=(*self.choices[:at], self.choices[at] + 1, *self.choices[at + 1 :]))
        if at in self.answers_first:
            choices = (*self.choices[:at], 0, *self.choices[at + 1 :])
            return replace(self, choices=choices, answers_first=self.answers_first - {at})
        return None


@dataclass(frozen=True, slots=True)
class ScenarioProposal:
    """``covers`` are the edges that it takes first, by id, in their order; none where the same call is held with tools
    that fail, or with keys instead of words. ``keys`` are the edges whose keys it is the first to press."""

    scenario: Scenario
    covers: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(slots=True)
class ScenarioProposer:
    """Proposes for one agent. ``names``: those that are taken; ``covered``: edges that need no proposal;
    ``pressed``: edges whose key needs none."""

    agent: ScenarioAgent
    make_llm: MakeLlm
    names: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    pressed: set[str] = field(default_factory=set)
    failed_tools: set[str] = field(default_factory=set)

    def propose(self, limit: int = MAX_SCENARIOS) -> Iterator[ScenarioProposal]:
        """Yields scenarios that together take every edge that the offline agent can be talked to, and every key."""
        yield from islice(chain(self._propose_words(), self._propose_keys()), max(limit, 0))

    def _propose_words(self) -> Iterator[ScenarioProposal]:
        for path in self._paths():
            target = next((edge for edge in path if edge.id not in self.covered), None)
            found = self._talk_along(path, target) if target is not None else None
            if target is None or found is None:
                continue
            shown = self._show(target)
            yield self._keep(f"takes {target.label}", f"Takes “{shown}”", *found)
            if (failing := self._let_tools_fail(*found)) is not None:
                yield self._keep(f"tool fails {target.label}", f"Takes “{shown}” while tools fail", *failing)

    def _propose_keys(self) -> Iterator[ScenarioProposal]:
        """A caller who presses is sent where the keys lead, whatever the words of the edges are. The longest paths come
        first: they have the most keys."""
        for path in reversed(list(self._paths())):
            target = next((edge for edge in path if has_key(edge) and edge.id not in self.pressed), None)
            found = self._talk_along(path, target, by_key=True) if target is not None else None
            if target is not None and found is not None:
                yield self._keep(f"presses {target.label}", f"Takes “{self._show(target)}” by key", *found)

    def _paths(self) -> Iterator[Path]:
        for path in iter_paths(self.agent.graph):
            if all(len(edge.source) <= MAX_NODE_ID for edge in path):
                yield path

    def _show(self, edge: Edge) -> str:
        return (edge.label or self.agent.graph.nodes[edge.target].name)[:MAX_SHOWN]

    def _talk_along(self, path: Path, target: Edge, *, by_key: bool = False) -> tuple[_Attempt, PlayedScenario] | None:
        """Tries words at each edge, or its key first, until the target is taken and the call ends; then with tools that
        fail."""
        nodes = [self.agent.graph.nodes[edge.source] for edge in path]
        with_tools = {at for at, node in enumerate(nodes) if node.tool_uuids and node.examples}
        choices = tuple(_place_of_key(edge, node) if by_key else 0 for edge, node in zip(path, nodes, strict=True))
        first = _Attempt(path, choices, frozenset(with_tools))
        has_tools = any(node.tool_uuids for node in nodes)
        best = None
        for start in (first, replace(first, tools_fail=True)) if has_tools else (first,):
            attempt: _Attempt | None = start
            for _ in range(MAX_TRIES):
                if attempt is None or (played := self._play(attempt)) is None:
                    break
                if target.id in (played.keyed_edges if by_key else played.edges):
                    best = attempt, played
                    if played.end is not None:
                        return best
                taken = [*played.edges, *[None] * len(path)]
                at = next((place for place, edge in enumerate(path) if taken[place] != edge.id), None)
                attempt = None if at is None else attempt.vary(at, self.agent)
            if best is not None:
                return best
        return best

    def _let_tools_fail(self, attempt: _Attempt, played: PlayedScenario) -> tuple[_Attempt, PlayedScenario] | None:
        """Plays the same call with tools that fail, once for each tool."""
        called = {str(event.data["name"]) for event in played.journal if event.type == events.TOOL_CALLED}
        if attempt.tools_fail or called <= self.failed_tools:
            return None
        failing = replace(attempt, tools_fail=True)
        again = self._play(failing)
        if again is None or all(event.data.get("ok") for event in again.journal if event.type == events.TOOL_ANSWERED):
            return None
        self.failed_tools |= called
        return failing, again

    def _play(self, attempt: _Attempt) -> PlayedScenario | None:
        return run_scenario(self.agent, attempt.as_scenario(self.agent, "proposal"), self.make_llm).played

    def _keep(self, words: str, title: str, attempt: _Attempt, played: PlayedScenario) -> ScenarioProposal:
        covers = tuple(edge for edge in dict.fromkeys(played.edges) if edge not in self.covered)
        self.covered.update(covers)
        keys = tuple(edge for edge in dict.fromkeys(played.keyed_edges) if edge not in self.pressed)
        self.pressed.update(keys)
        name = self._unused_name(words)
        self.names.add(name)
        return ScenarioProposal(_expect_played(attempt.as_scenario(self.agent, name), title, played), covers, keys)

    def _unused_name(self, words: str) -> str:
        base = _NOT_IN_NAMES.sub("-", words.lower())[:MAX_NAME].strip("-")
        if base not in self.names:
            return base
        return next(name for number in range(2, 10_000) if (name := f"{base}-{number}") not in self.names)


def propose_scenarios(agent: ScenarioAgent, make_llm: MakeLlm, *, beside: Sequence[Scenario] = ()) -> list[Scenario]:
    """Returns proposals beside an agent's scenarios, whose names and number they respect."""
    proposer = ScenarioProposer(agent, make_llm, {scenario.name for scenario in beside})
    return [proposal.scenario for proposal in proposer.propose(MAX_SCENARIOS - len(beside))]


def has_key(edge: Edge) -> bool:
    """Returns whether callers can take the edge with keys."""
    return edge.digits is not None and 0 < len(edge.digits) <= MAX_KEYS


def _place_of_key(edge: Edge, node: Node) -> int:
    """Returns where the key stands among the possible acts; 0 without one."""
    return next((at for at, act in enumerate(_possible_acts(edge, node)) if "press" in act), 0)


def _possible_acts(edge: Edge, node: Node) -> list[dict[str, Any]]:
    """Returns what callers may do to take an edge: its examples, its key, what its label and condition say."""
    acts: list[dict[str, Any]] = [{"say": phrase[:MAX_WORDS]} for phrase in edge.examples[:3]]
    if has_key(edge):
        acts.append({"press": edge.digits})
    acts += [{"say": phrase[:MAX_WORDS]} for phrase in node.examples[:1]]
    if edge.label:
        acts.append({"say": edge.label[:MAX_WORDS]})
    if topic := _THE_CALLER.sub("I ", edge.condition).strip():
        acts.append({"say": topic[:MAX_WORDS]})
    return acts or [{"say": "yes"}]


def _expect_played(scenario: Scenario, title: str, played: PlayedScenario) -> Scenario:
    called = [event.data for event in played.journal if event.type == events.TOOL_CALLED]
    said = [str(event.data["text"]) for event in played.journal if event.type == events.AGENT_SAID]
    expect: dict[str, Any] = {
        "edges": list(played.edges),
        # a key without an edge is understood as words, which may take the same edge by chance
        **({"keyed_edges": list(played.keyed_edges)} if played.keyed_edges else {}),
        "variables": dict(played.variables),
        "tools": [{"name": call["name"], "arguments": call["arguments"]} for call in called],
        "says": list(dict.fromkeys(text[:MAX_WORDS] for text in said if text)),
        "outcome": played.outcome,
        **({"end": played.end} if played.end is not None else {"is_over": False}),
    }
    raw = scenario.model_dump(mode="json", exclude_defaults=True)
    return Scenario.model_validate({**raw, "title": title, "tags": [PROPOSED_TAG], "expect": expect})
