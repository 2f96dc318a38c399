"""Decides results and criteria of a call from its facts. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.workflows.results.definitions import CallAnalysis, CallRule, CriterionDefinition, ResultDefinition

_SAME_WORDS: Final = {"yes": "true", "no": "false"}


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of a finished call. ``nodes`` are ids and names of those that were visited, ``edges`` ids of those that were taken."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    nodes: Collection[str] = ()
    edges: Collection[str] = ()
    end_reason: str | None = None


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """``passed`` None: it could not be judged."""

    name: str
    passed: bool | None
    reason: str = ""


def choose_result(analysis: CallAnalysis, facts: CallFacts) -> ResultDefinition | None:
    """Returns the first result whose rules hold; results without rules are left to a model."""
    return next((one for one in analysis.results if one.rules and do_rules_hold(one, facts)), None)


def judge_criterion(criterion: CriterionDefinition, facts: CallFacts) -> CriterionVerdict:
    """Judges a criterion by its rules; one without rules is not judged."""
    if not criterion.rules:
        return CriterionVerdict(criterion.name, None, "It has no rules, and no language model is configured.")
    return CriterionVerdict(criterion.name, do_rules_hold(criterion, facts), "By rules.")


def do_rules_hold(definition: ResultDefinition | CriterionDefinition, facts: CallFacts) -> bool:
    """Returns whether all rules hold, or any with ``match: any``."""
    held = (_holds(rule, facts) for rule in definition.rules)
    return all(held) if definition.match == "all" else any(held)


def is_success(result: ResultDefinition | None, verdicts: Collection[CriterionVerdict]) -> bool | None:
    """Returns whether the call met all criteria that were judged; without any, what its result says."""
    judged = [verdict.passed for verdict in verdicts if verdict.passed is not None]
    if judged:
        return all(judged)
    return None if result is None else result.is_success


def _holds(rule: CallRule, facts: CallFacts) -> bool:
    if rule.check == "variable":
        return _holds_variable(rule, facts.variables.get(rule.name))
    known: Collection[str | None] = {"node": facts.nodes, "edge": facts.edges}.get(rule.check, (facts.end_reason,))
    return (rule.name.casefold() in {str(name).casefold() for name in known}) == (rule.operator == "is")


def _holds_variable(rule: CallRule, value: object) -> bool:
    text = _plain_text(value)
    if rule.operator in {"is_set", "is_not_set"}:
        return (text != "") == (rule.operator == "is_set")
    wanted = [_plain_text(one) for one in rule.values]
    if rule.operator == "contains":
        return any(one in text for one in wanted)
    return (text in wanted) == (rule.operator == "is")


def _plain_text(value: object) -> str:
    """Returns a value as rules compare it: lower case, yes and no as booleans, whole numbers without a point."""
    if value is None or isinstance(value, list | dict):
        return "" if not value else str(value).casefold()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip().casefold()
    return _SAME_WORDS.get(text, text)
