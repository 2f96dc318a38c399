"""Tells whether a change of an agent changes calls: what callers hear, what the model is asked, what tools do.

It does not ask what the gate says: a planted defect that changes no call would be counted as one that was stopped.
"""

from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from typing import Final

from offhook.kit.virtual_time import run_on_virtual_time
from offhook.models.ports import Llm, LlmEvent, LlmRequest, ModelRef
from offhook.scenarios import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.player import play_scenario
from offhook.scenarios.engine.suite import LIMIT_S, MakeLlm, hash_journal

# Longer than a usual timeout, and shorter than a missing one.
SLOW_TOOL_S: Final = 20.0


class CallEffects:
    """Plays a version's scenarios once, and other versions until something differs. A tool that answers late is part of
    it, because timeouts show in nothing else."""

    def __init__(self, agent: ScenarioAgent, scenarios: Sequence[Scenario], make_llm: MakeLlm) -> None:
        self._make_llm = make_llm
        self._scenarios = [*scenarios, *_with_slow_tools(scenarios)]
        self._traces = [self._trace(agent, scenario) for scenario in self._scenarios]

    def has_change(self, agent: ScenarioAgent) -> bool:
        played = zip(self._scenarios, self._traces, strict=True)
        return any(self._trace(agent, scenario) != trace for scenario, trace in played)

    def _trace(self, agent: ScenarioAgent, scenario: Scenario) -> str:
        llm = _NotedLlm(self._make_llm())
        try:
            played = run_on_virtual_time(play_scenario(agent, scenario, llm), limit_s=LIMIT_S)
        except TimeoutError:
            return "never ended"
        return f"{llm.digest.hexdigest()} {hash_journal(played.journal)}"


class _NotedLlm:
    """Implements Llm: digests what a model would be asked, and passes it on."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self.digest = sha256()

    @property
    def model_ref(self) -> ModelRef:
        return self._llm.model_ref

    def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        self.digest.update(repr((request.messages, request.tools, request.response_schema)).encode())
        return self._llm.stream(request)


def _with_slow_tools(scenarios: Sequence[Scenario]) -> list[Scenario]:
    slow = []
    for scenario in scenarios:
        if scenario.tools and not any(mock.fails for mocks in scenario.tools.values() for mock in mocks):
            tools = {
                name: tuple(mock.model_copy(update={"takes_s": SLOW_TOOL_S}) for mock in mocks)
                for name, mocks in scenario.tools.items()
            }
            slow.append(scenario.model_copy(update={"tools": tools}))
    return slow
