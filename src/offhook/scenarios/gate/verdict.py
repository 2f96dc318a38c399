"""Judges a draft: findings that are new, scenarios that fail, coverage and answer time that are lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.checks import check_agent
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.player import play_scenario
from offhook.scenarios.engine.suite import MakeLlm, Play, ScenarioResult, SuiteResult, run_suite
from offhook.scenarios.gate.comparison import GraphChange, compare_graphs, find_copied_prompts, find_swapped_texts
from offhook.scenarios.gate.conditions import find_reversed_conditions
from offhook.scenarios.gate.coverage import ScenarioCoverage, measure_coverage
from offhook.scenarios.gate.defaults import ChangedDefault, find_changed_defaults, find_changed_values
from offhook.scenarios.gate.reasons import GateReason
from offhook.scenarios.gate.sound import HeardSuite, find_more_talk_overs, find_slower_answers, summarize_sound
from offhook.voice import events
from offhook.workflows.analysis import GraphFinding
from offhook.workflows.graph import WorkflowGraph

# Answers may take this much longer than before, for what rounding does to virtual times.
ANSWER_TIME_SLACK_S: Final = 0.05
_SHARES: Final = {
    "nodes": "steps",
    "edges": "transitions",
    "conditions": "conditions",
    "tools": "tools",
    "error_paths": "error paths",
}


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """The publishing rules of an agent. ``with_sound``: scenarios are played as calls; ``talk_overs_stay`` is about them.
    ``answers``: the built-in model answers, recorded answers, or the agent's own model. ``model_verdicts_stop``: what a model
    has judged is a reason not to publish, not only a warning.
    """

    scenarios_pass: bool = True
    no_new_findings: bool = True
    coverage_stays: bool = True
    min_edge_coverage: float = 0.0
    answer_time_stays: bool = True
    with_sound: bool = False
    talk_overs_stay: bool = True
    answers: str = "built-in"
    model_verdicts_stop: bool = False


@dataclass(frozen=True, slots=True)
class GateSide:
    """What is known about one version: its findings, what its scenarios showed, and what they took. ``heard`` is None
    for scenarios that were played as text."""

    agent: ScenarioAgent
    findings: tuple[GraphFinding, ...]
    suite: SuiteResult
    coverage: ScenarioCoverage
    slowest_answer_s: float
    heard: HeardSuite | None = None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """``reasons`` is empty for a draft that may be published. ``warnings`` are what a model has judged."""

    reasons: tuple[GateReason, ...]
    changes: tuple[GraphChange, ...]
    draft: GateSide
    published: GateSide | None = None
    warnings: tuple[GateReason, ...] = ()

    @property
    def has_passed(self) -> bool:
        return not self.reasons

    def as_json(self) -> JsonObject:
        return {
            "passed": self.has_passed,
            "hash": self.draft.suite.hash,
            "reasons": [reason.as_json() for reason in self.reasons],
            "warnings": [warning.as_json() for warning in self.warnings],
            "changes": [change.as_json() for change in self.changes],
            "coverage": self.draft.coverage.as_json(),
            "slowest_answer_s": self.draft.slowest_answer_s,
            "sound": _heard_as_json(self.draft),
            "published_sound": _heard_as_json(self.published),
            "result": self.draft.suite.as_json(),
            "published": self.published.suite.as_json() if self.published is not None else None,
        }


def examine_version(
    agent: ScenarioAgent,
    scenarios: Sequence[Scenario],
    make_llm: MakeLlm,
    seed: int = 0,
    *,
    stops_at_failure: bool = False,
    play: Play = play_scenario,
) -> GateSide:
    """Checks a version and plays the scenarios with it, in the calling thread."""

    def goes_on(result: ScenarioResult) -> bool:
        return result.has_passed or not stops_at_failure

    suite = run_suite(agent, scenarios, make_llm, seed, on_result=goes_on, play=play)
    return summarize_suite(agent, suite)


def summarize_suite(agent: ScenarioAgent, suite: SuiteResult) -> GateSide:
    """Returns what is known of a version whose scenarios were played."""
    return GateSide(
        agent,
        check_agent(agent),
        suite,
        measure_coverage(agent, suite.results),
        _slowest_answer(suite),
        summarize_sound(suite),
    )


def judge_draft(draft: GateSide, published: GateSide | None, policy: GatePolicy) -> GateVerdict:
    """Returns whether the draft may be published, and every reason against it. Without a published version only what
    the draft shows itself counts."""
    before: Mapping[str, Any] = published.agent.definition if published is not None else {}
    changes = compare_graphs(before, draft.agent.definition) if published is not None else ()
    judged = tuple(_judged_scenarios(draft, must_be_judged=policy.model_verdicts_stop))
    reasons = (
        *(_failed_scenarios(draft, published) if policy.scenarios_pass else ()),
        *(_new_findings(draft, published) if policy.no_new_findings else ()),
        *(_swapped_texts(draft, published) if policy.no_new_findings else ()),
        *(_copied_prompts(draft, published) if policy.no_new_findings else ()),
        *(_reversed_conditions(draft, published) if policy.no_new_findings else ()),
        *(_changed_defaults(draft, published) if policy.no_new_findings else ()),
        *(_lost_coverage(draft, published, policy)),
        *(_slower_answers(draft, published) if policy.answer_time_stays else ()),
        *(_talk_overs(draft, published) if policy.talk_overs_stay else ()),
        *(judged if policy.model_verdicts_stop else ()),
    )
    return GateVerdict(reasons, changes, draft, published, () if policy.model_verdicts_stop else judged)


def _failed_scenarios(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    passed_before = (
        {result.name for result in published.suite.results if result.has_held} if published is not None else set()
    )
    for result in draft.suite.results:
        if result.has_held:
            continue
        fault = result.faults[0]
        is_worse = result.name in passed_before
        code = "scenario_regressed" if is_worse else "scenario_failed"
        how = "fails, but passes with the published version" if is_worse else "fails"
        yield GateReason(code, f"{result.title} {how}: {fault.message}", scenario=result.name, turn=fault.turn)


def _judged_scenarios(draft: GateSide, *, must_be_judged: bool) -> Iterator[GateReason]:
    """Yields what a model has judged against, and what it could not judge."""
    for result in draft.suite.results:
        for fault in result.faults:
            if fault.is_by_model:
                message = f"{result.title}, judged by a model: {fault.message}"
                yield GateReason(fault.code, message, scenario=result.name)
        if must_be_judged and result.is_unjudged and not result.faults:
            yield GateReason("not_judged", f"{result.title} was not judged by a model", scenario=result.name)


def _new_findings(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    known = {_key(finding) for finding in published.findings} if published is not None else set()
    for finding in draft.findings:
        # without a version to compare with, warnings are the author's choice
        if _key(finding) not in known and (published is not None or finding.severity == "error"):
            yield GateReason(f"finding_{finding.code}", finding.message, finding.kind, finding.id)


def _swapped_texts(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is None:
        return
    for found in find_swapped_texts(published.agent.definition, draft.agent.definition):
        one, other = (_name_part(draft.agent.graph, found.kind, part) for part in (found.one, found.other))
        message = f"{one} and {other} have swapped their texts ({found.field})"
        yield GateReason("texts_swapped", message, found.kind, found.one)


def _copied_prompts(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is None:
        return
    for id_, source in find_copied_prompts(published.agent.definition, draft.agent.definition):
        one, other = (_name_part(draft.agent.graph, "node", part) for part in (id_, source))
        yield GateReason("prompt_copied", f"{one} has the prompt of {other} now, instead of its own", "node", id_)


def _reversed_conditions(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is None:
        return
    for id_, condition in find_reversed_conditions(published.agent.definition, draft.agent.definition):
        name = _name_part(draft.agent.graph, "edge", id_)
        message = f"{name} says the opposite of the published version ({condition}), and has the same examples"
        yield GateReason("condition_reversed", message, "edge", id_)


def _changed_defaults(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is None:
        return
    before, after = published.agent, draft.agent
    expected = _newly_expected_words(draft.suite, published.suite)
    for found in (
        *find_changed_defaults(before.definition, after.definition),
        *find_changed_values(before.variables, after.variables, after.definition),
    ):
        if any(
            found.now and found.now.casefold() in words if code == "words_missing" else found.was.casefold() in words
            for code, words in expected
        ):
            continue
        yield GateReason("default_changed", _describe_default(after.graph, found), found.kind, found.id)


def _newly_expected_words(draft: SuiteResult, published: SuiteResult) -> set[tuple[str, str]]:
    """Returns (code, words) of what the published version fails by and the draft does not: the author expects the change."""
    passed = {result.name for result in draft.results if result.has_passed}
    return {
        (fault.code, fault.words.casefold())
        for result in published.results
        if result.name in passed
        for fault in result.faults
        if fault.words
    }


def _describe_default(graph: WorkflowGraph, found: ChangedDefault) -> str:
    if found.kind is None:
        now = f"is “{found.now}” now" if found.now else "has no value now"
        return f"The variable {found.variable} {now} instead of “{found.was}”, and no scenario expects that"
    now = f"“{found.now}”" if found.now else "nothing"
    name = _name_part(graph, found.kind, str(found.id))
    return f"{name} has {now} instead of “{found.was}” where {found.variable} is missing, and no scenario expects that"


def _name_part(graph: WorkflowGraph, kind: str, id_: str) -> str:
    """Returns a step or a transition as the canvas names it."""
    if kind == "node":
        return f"“{graph.nodes[id_].name}”" if id_ in graph.nodes else f"step {id_}"
    labels = (edge.label for group in graph.edges.values() for edge in group if edge.id == id_)
    return f"“{next(labels, id_)}”"


def _lost_coverage(draft: GateSide, published: GateSide | None, policy: GatePolicy) -> Iterator[GateReason]:
    if draft.coverage.edges.percent < policy.min_edge_coverage:
        percent, wanted = draft.coverage.edges.percent, policy.min_edge_coverage
        message = f"Scenarios cover {percent:g}% of the transitions, and at least {wanted:g}% are required"
        yield GateReason("coverage_too_low", message)
    if published is None or not policy.coverage_stays:
        return
    before = published.coverage.shares()
    for name, share in draft.coverage.shares().items():
        if share.percent < before[name].percent:
            earlier = before[name].percent
            message = f"Scenarios cover {share.percent:g}% of the {_SHARES[name]}; in the published version they cover {earlier:g}%"
            yield GateReason("coverage_lost", message, None, next(iter(share.missed), None))


def _slower_answers(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is None:
        return
    if draft.slowest_answer_s > published.slowest_answer_s + ANSWER_TIME_SLACK_S:
        now, before = draft.slowest_answer_s, published.slowest_answer_s
        message = f"The slowest answer of a tool takes {now:g} s; in the published version it takes {before:g} s"
        yield GateReason("answer_time_lost", message)
    elif draft.heard is not None and published.heard is not None:
        yield from find_slower_answers(draft.heard, published.heard)


def _talk_overs(draft: GateSide, published: GateSide | None) -> Iterator[GateReason]:
    if published is not None and draft.heard is not None and published.heard is not None:
        yield from find_more_talk_overs(draft.heard, published.heard)


def _heard_as_json(side: GateSide | None) -> JsonObject | None:
    return side.heard.as_json() if side is not None and side.heard is not None else None


def _slowest_answer(suite: SuiteResult) -> float:
    """Returns the longest wait for a tool, in virtual seconds."""
    waits = [
        float(str(event.data.get("ms") or 0)) / 1000
        for result in suite.results
        if result.played is not None
        for event in result.played.journal
        if event.type == events.TOOL_ANSWERED
    ]
    return round(max(waits, default=0.0), 3)


def _key(finding: GraphFinding) -> tuple[str, str, str | None, str | None]:
    return finding.code, finding.kind, finding.id, finding.field
