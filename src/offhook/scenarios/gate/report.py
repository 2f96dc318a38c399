"""A verdict of the publish gate for people."""

from collections.abc import Iterator

from offhook.scenarios.gate.reasons import GateReason
from offhook.scenarios.gate.sound import HeardSuite
from offhook.scenarios.gate.verdict import GateVerdict


def verdict_lines(verdict: GateVerdict) -> Iterator[str]:
    """Yields what changed, what was played, what was lost, and the verdict."""
    for change in verdict.changes:
        fields = f": {', '.join(change.fields)}" if change.fields else ""
        yield f"{change.change}  {change.kind} {change.id}{fields}"
    shares = verdict.draft.coverage.shares()
    taken = ", ".join(f"{share.percent:g} % of the {name.replace('_', ' ')}" for name, share in shares.items())
    suite = verdict.draft.suite
    yield f"{suite.passed} of {len(suite.results)} scenarios passed; they take {taken}"
    for name, side in (("with this version", verdict.draft), ("with the published version", verdict.published)):
        if side is not None and side.heard is not None:
            yield f"{name}: {_sound_line(side.heard)}"
    for reason in verdict.reasons:
        yield _line_of(reason)
    for warning in verdict.warnings:
        yield _line_of(warning, "WARNING")
    if verdict.has_passed:
        yield f"{suite.agent}: nothing is against publishing, hash {suite.hash[:16]}"
    else:
        reasons = _count(len(verdict.reasons), "reason")
        yield f"{suite.agent}: {reasons} not to publish, hash {suite.hash[:16]}"


def _sound_line(heard: HeardSuite) -> str:
    found = heard.as_json()
    times = f"after {found['mean_answer_ms']} ms on average, {found['max_answer_ms']} ms at most"
    answers = f"{_count(len(heard.answers_ms), 'answer')} {times}" if heard.answers_ms else "no answers"
    return f"{answers}; talked over the caller {_count(sum(heard.talk_overs.values()), 'time')}"


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _line_of(reason: GateReason, kind: str = "STOPPED") -> str:
    where = f" at {reason.kind} {reason.id}" if reason.kind is not None and reason.id is not None else ""
    turn = f" in turn {reason.turn + 1}" if reason.turn is not None else ""
    return f"{kind}  {reason.code}{where}{turn}: {reason.message}"
