"""Runs many scenarios of one agent on virtual time. The same seed gives the same bytes."""

import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.kit.virtual_time import VirtualTimeStalled, run_on_virtual_time
from offhook.models.ports import Llm
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.faults import ScenarioFault, find_faults
from offhook.scenarios.engine.judging import ModelVerdict, judge_conversation
from offhook.scenarios.engine.outside_models import ModelTrouble, OutsideModels
from offhook.scenarios.engine.player import CannotPlay, PlayedScenario, play_scenario
from offhook.voice.events import VoiceEvent

# Virtual seconds: 100 turns with slow tools take less.
LIMIT_S: Final = 24 * 3600.0
# The model of one conversation: none knows what another has heard.
MakeLlm = Callable[[], Llm]
# Plays one conversation, with this seed: by text, or as a call with sound.
Play = Callable[[ScenarioAgent, Scenario, Llm, int], Coroutine[Any, Any, PlayedScenario]]


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The result of one scenario; ``hash`` covers its event journal, and its recording if it has sound. ``played`` is None
    when it could not be played. ``verdicts`` are a model's, on what assertions cannot check."""

    name: str
    title: str
    faults: tuple[ScenarioFault, ...]
    hash: str
    played: PlayedScenario | None
    verdicts: tuple[ModelVerdict, ...] = ()

    @property
    def has_passed(self) -> bool:
        return not self.faults

    @property
    def has_held(self) -> bool:
        """Returns whether all assertions held, whatever a model has judged."""
        return all(fault.is_by_model for fault in self.faults)

    @property
    def is_unjudged(self) -> bool:
        """Returns whether a criterion was left without a verdict."""
        return any(verdict.has_passed is None for verdict in self.verdicts)

    def as_json(self) -> JsonObject:
        played = self.played
        first = self.faults[0] if self.faults else None
        faults: list[Any] = [_fault_as_json(fault) for fault in self.faults]
        judged: JsonObject = {"verdicts": [verdict.as_json() for verdict in self.verdicts]} if self.verdicts else {}
        sound: JsonObject = {"sound": played.sound.as_json()} if played is not None and played.sound is not None else {}
        return {
            **sound,
            **judged,
            "name": self.name,
            "title": self.title,
            "passed": self.has_passed,
            "hash": self.hash,
            "first_fault": _fault_as_json(first) if first is not None else None,
            "faults": faults,
            "turns": len(played.turns) - 1 if played is not None else 0,
            "duration_s": played.duration_s if played is not None else 0.0,
            "edges": list(played.edges) if played is not None else [],
            "keyed_edges": list(played.keyed_edges) if played is not None else [],
            "nodes": list(played.nodes) if played is not None else [],
            "tools": list(played.tools) if played is not None else [],
            "failed_tools": list(played.failed_tools) if played is not None else [],
            "end": played.end if played is not None else None,
            "outcome": played.outcome if played is not None else None,
            "cost_cents": float(round(played.cost_of_models().cents, 6)) if played is not None else 0.0,
        }


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The results of an agent's scenarios, in their order; ``hash`` is over all journals."""

    agent: str
    seed: int
    results: tuple[ScenarioResult, ...]

    @property
    def passed(self) -> int:
        return sum(result.has_passed for result in self.results)

    @property
    def failed(self) -> int:
        return len(self.results) - self.passed

    @property
    def hash(self) -> str:
        return sha256("".join(f"{result.name}:{result.hash}\n" for result in self.results).encode()).hexdigest()

    def as_json(self) -> JsonObject:
        results: list[Any] = [result.as_json() for result in self.results]
        return {
            "agent": self.agent,
            "seed": self.seed,
            "total": len(self.results),
            "passed": self.passed,
            "failed": self.failed,
            "hash": self.hash,
            "scenarios": results,
        }


def run_scenario(
    agent: ScenarioAgent, scenario: Scenario, make_llm: MakeLlm, seed: int = 0, *, play: Play = play_scenario
) -> ScenarioResult:
    """Plays one scenario in a loop of its own; the calling thread must not have a running one. Of a call with sound the
    recording is kept if the scenario failed."""
    llm = make_llm()
    if scenario.caller.model is not None and not isinstance(llm, OutsideModels):
        fault = ScenarioFault(
            "caller_needs_model", "the built-in model cannot play a caller: choose recorded or live answers"
        )
        return ScenarioResult(scenario.name, scenario.shown_title, (fault,), sha256(b"").hexdigest(), None)
    try:
        played = run_on_virtual_time(play(agent, scenario, llm, seed), limit_s=LIMIT_S)
    except CannotPlay as error:
        fault = ScenarioFault(error.code, str(error))
        return ScenarioResult(scenario.name, scenario.shown_title, (fault,), sha256(b"").hexdigest(), None)
    except (TimeoutError, VirtualTimeStalled) as error:
        fault = ScenarioFault("never_ended", f"the conversation never ended: {error or 'a day on virtual time'}")
        return ScenarioResult(scenario.name, scenario.shown_title, (fault,), sha256(b"").hexdigest(), None)
    trouble = llm.trouble if isinstance(llm, OutsideModels) else None
    # without an answer the rest of the conversation proves nothing
    faults = find_faults(scenario, played) if trouble is None else (_fault_of(trouble, played),)
    verdicts = _judge(scenario, played, llm) if scenario.expect.judged and not faults else ()
    faults = (*faults, *(_fault_of_verdict(verdict) for verdict in verdicts if verdict.code))
    digest = hash_journal(played.journal)
    if played.sound is not None:
        digest = sha256(f"{digest}:{played.sound.hash}".encode()).hexdigest()
        if not faults:
            played.sound.recording.unlink(missing_ok=True)
    return ScenarioResult(scenario.name, scenario.shown_title, faults, digest, played, verdicts)


def _judge(scenario: Scenario, played: PlayedScenario, llm: Llm) -> tuple[ModelVerdict, ...]:
    if isinstance(llm, OutsideModels):
        return judge_conversation(scenario, played, llm)
    reason = "the built-in model cannot judge: choose recorded or live answers"
    return tuple(ModelVerdict(criterion, None, reason=reason) for criterion in scenario.expect.judged)


def _fault_of_verdict(verdict: ModelVerdict) -> ScenarioFault:
    quote = f" (“{verdict.quote}”)" if verdict.quote else ""
    message = f"“{verdict.criterion}”: {verdict.reason}{quote}"
    return ScenarioFault(verdict.code, message, is_by_model=True)


def _fault_of(trouble: ModelTrouble, played: PlayedScenario) -> ScenarioFault:
    last = played.turns[-1].move if played.turns else None
    return ScenarioFault(trouble.code, trouble.message, last.turn if last is not None else None)


def run_suite(
    agent: ScenarioAgent,
    scenarios: Sequence[Scenario],
    make_llm: MakeLlm,
    seed: int = 0,
    *,
    on_result: Callable[[ScenarioResult], bool] = lambda result: True,
    play: Play = play_scenario,
) -> SuiteResult:
    """Plays scenarios one after the other. ``on_result`` returns False to stop after that scenario."""

    def play_all() -> Iterator[ScenarioResult]:
        for scenario in scenarios:
            result = run_scenario(agent, scenario, make_llm, seed, play=play)
            yield result
            if not on_result(result):
                return

    return SuiteResult(agent.name, seed, tuple(play_all()))


def hash_journal(journal: Sequence[VoiceEvent]) -> str:
    """Returns the hash of the events with their times and data, as canonical JSON, one a line."""
    digest = sha256()
    for event in journal:
        line = [event.type, event.at_s, event.data]
        text = json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _fault_as_json(fault: ScenarioFault) -> JsonObject:
    by_model: JsonObject = {"is_by_model": True} if fault.is_by_model else {}
    return {"code": fault.code, "message": fault.message, "turn": fault.turn, **by_model}
