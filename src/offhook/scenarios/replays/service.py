"""Reads a run with its journal, and plays it again with a version of its agent. No model, tool or server is asked."""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.journals.call_journals import CallJournals, hash_agent
from offhook.runs.records import event_queries
from offhook.runs.records.context import call_configurations
from offhook.runs.states import FINAL_STATES
from offhook.scenarios.agents import load_agent, load_version
from offhook.scenarios.definition import CallerScript, CallerTurn, Scenario, ScenarioExpectation
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.mocks import build_toolbox
from offhook.scenarios.errors import RunNotKept, RunNotOver, VersionChanged
from offhook.scenarios.replays.comparison import (
    ReplayDifference,
    find_difference,
    hash_events,
    stored_observations,
)
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.journal.replay import Observation, ReplayedCall, replay_call
from offhook.voice.journal.tape import CallJournal
from offhook.workflows import service as workflows
from offhook.workflows.service import VersionToRun

MAX_EVENTS: Final = 100_000
# Tools are only looked at: their answers come from the journal.
_NO_ANSWERS: Final = Scenario(
    name="replay",
    caller=CallerScript(turns=(CallerTurn(say="Hello"),)),
    expect=ScenarioExpectation(is_over=True),
)


@dataclass(frozen=True, slots=True)
class ReplayableRun:
    """A run with everything that a replay needs. ``own`` is the version that it was held with, ``other`` the one that it is
    played with; the same for an exact replay."""

    run: Run
    journal: CallJournal
    stored: Sequence[Mapping[str, Any]]
    own: VersionToRun
    other: VersionToRun
    own_agent: ScenarioAgent
    other_agent: ScenarioAgent

    @property
    def is_own(self) -> bool:
        return self.other.version_id == self.own.version_id


@dataclass(frozen=True, slots=True)
class RunReplay:
    """What came of a replay. ``is_exact``: with its own version the call was the same; without that, nothing can be said about
    another one. ``difference`` is None for the same call."""

    run_id: int
    version_number: int
    is_own: bool
    is_exact: bool
    events: int
    hash: str
    difference: ReplayDifference | None

    def as_json(self) -> JsonObject:
        return {
            "run_id": self.run_id,
            "version": self.version_number,
            "is_own_version": self.is_own,
            "is_same": self.difference is None,
            "is_exact": self.is_exact,
            "events": self.events,
            "hash": self.hash,
            "first_difference": None if self.difference is None else self.difference.as_json(),
        }


async def load_replayable(
    session: AsyncSession,
    journals: CallJournals,
    run_id: int,
    *,
    number: int | None = None,
    is_draft: bool = False,
) -> ReplayableRun:
    """Returns a run of any organization, for commands; without ``number`` and ``is_draft`` with its own version.

    Raises RunNotFound, VersionNotFound (404), RunNotOver, RunNotKept, JournalNotKept, JournalDamaged, VersionChanged (409).
    """
    run = await runs.get_any_run(session, run_id)
    if run.status not in FINAL_STATES or run.is_leased:
        raise RunNotOver
    own = await workflows.version_to_run(session, run.organization_id, run.version_id)
    if own.configurations.get("do_not_keep") is True:
        raise RunNotKept
    journal = await journals.read(session, run)
    if journal.facts.get("agent") != hash_agent(own):
        raise VersionChanged
    other = own
    if number is not None or is_draft:
        other = await load_version(session, run.organization_id, run.workflow_id, is_draft=is_draft, number=number)
    own_agent = await load_agent(session, own)
    return ReplayableRun(
        run=run,
        journal=journal,
        stored=await event_queries.read_events(session, run.organization_id, run_id, limit=MAX_EVENTS),
        own=own,
        other=other,
        own_agent=own_agent,
        other_agent=own_agent if other.version_id == own.version_id else await load_agent(session, other),
    )


async def replay_run(replayable: ReplayableRun) -> RunReplay:
    """Plays the call again, in a thread: a replay has an event loop of its own."""
    return await asyncio.to_thread(_compare, replayable)


def _compare(replayable: ReplayableRun) -> RunReplay:
    stored = stored_observations(replayable.stored)
    own = _play(replayable, replayable.own, replayable.own_agent)
    difference = find_difference(stored, own.events)
    is_exact = difference is None
    observations: Sequence[Observation] = own.observations
    if is_exact and not replayable.is_own:
        other = _play(replayable, replayable.other, replayable.other_agent)
        difference = find_difference(own.observations, other.observations)
        observations = other.observations
    return RunReplay(
        run_id=replayable.run.id,
        version_number=replayable.other.version_number,
        is_own=replayable.is_own,
        is_exact=is_exact,
        events=len([seen for seen in observations if seen.kind == "event"]),
        hash=hash_events(observations),
        difference=difference,
    )


def _play(replayable: ReplayableRun, version: VersionToRun, agent: ScenarioAgent) -> ReplayedCall:
    context = _starting_context(replayable, version)
    toolbox, _ = build_toolbox(agent, _NO_ANSWERS, context)
    call_agent = CallAgent(
        graph=agent.graph,
        config=CallConfig.from_configurations(call_configurations(replayable.run, version)),
        toolbox=toolbox,
        context=context,
    )
    return replay_call(replayable.journal, call_agent)


def _starting_context(replayable: ReplayableRun, version: VersionToRun) -> JsonObject:
    """Returns the variables that the call began with; those of the version are the other one's, as in a call of it."""
    began: JsonObject = copy.deepcopy(replayable.journal.facts["context"])
    if version.version_id == replayable.own.version_id:
        return began
    of_run = {name: began[name] for name in replayable.run.initial_context if name in began}
    kept = {name: value for name, value in began.items() if name not in replayable.own.template_context_variables}
    return {**kept, **version.template_context_variables, **of_run, "direction": began.get("direction")}
