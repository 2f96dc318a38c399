"""Plays a call again, with its own version and another one, and compares. No model, tool or server is asked."""

import copy
from collections.abc import Sequence
from typing import Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.definition import CallerScript, CallerTurn, Scenario, ScenarioExpectation
from offhook.scenarios.engine.mocks import build_toolbox
from offhook.scenarios.replays.comparison import find_difference, hash_events, stored_observations
from offhook.scenarios.replays.orders import ReplayableRun, ReplayedVersion, RunReplay
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.journal.replay import Observation, ReplayedCall, replay_call
from offhook.voice.journal.tape import CallJournal, read_journal

# Tools are only looked at: their answers come from the journal.
_NO_ANSWERS: Final = Scenario(
    name="replay",
    caller=CallerScript(turns=(CallerTurn(say="Hello"),)),
    expect=ScenarioExpectation(is_over=True),
)


def play_run(run: ReplayableRun) -> RunReplay:
    """Plays the call in event loops of its own; the calling thread must not have one. Raises JournalUnreadable."""
    journal = read_journal(run.journal)
    stored = stored_observations(run.stored)
    own = _play(run, journal, run.own)
    difference = find_difference(stored, own.events)
    is_exact = difference is None
    observations: Sequence[Observation] = own.observations
    if is_exact and not run.is_own:
        other = _play(run, journal, run.other)
        difference = find_difference(own.observations, other.observations)
        observations = other.observations
    return RunReplay(
        run_id=run.run_id,
        version_number=run.other.number,
        is_own=run.is_own,
        is_exact=is_exact,
        events=len([seen for seen in observations if seen.kind == "event"]),
        hash=hash_events(observations),
        difference=difference,
    )


def _play(run: ReplayableRun, journal: CallJournal, version: ReplayedVersion) -> ReplayedCall:
    context = _starting_context(run, journal, version)
    toolbox, _ = build_toolbox(version.agent, _NO_ANSWERS, context)
    agent = CallAgent(
        graph=version.agent.graph,
        config=CallConfig.from_configurations(version.configurations),
        toolbox=toolbox,
        context=context,
    )
    return replay_call(journal, agent)


def _starting_context(run: ReplayableRun, journal: CallJournal, version: ReplayedVersion) -> JsonObject:
    """Returns the variables that the call began with; those of the version are the other one's, as in a call of it."""
    began: JsonObject = copy.deepcopy(journal.facts["context"])
    if version.id == run.own.id:
        return began
    of_run = {name: began[name] for name in run.given if name in began}
    kept = {name: value for name, value in began.items() if name not in run.own.agent.variables}
    return {**kept, **version.agent.variables, **of_run, "direction": began.get("direction")}
