"""Reads a run with its journal, and the versions of its agent that it is played again with."""

import asyncio
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.errors import JournalDamaged
from offhook.runs.journals.call_journals import CallJournals, hash_agent
from offhook.runs.records import event_queries
from offhook.runs.records.context import call_configurations
from offhook.runs.states import FINAL_STATES
from offhook.scenarios.agents import load_agent, load_version
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.errors import NoDraft, RunNotKept, RunNotOver, VersionChanged
from offhook.scenarios.replays.orders import ReplayableRun, ReplayedVersion, RunReplay
from offhook.scenarios.replays.player import play_run
from offhook.voice.journal.tape import JournalUnreadable, read_facts
from offhook.workflows import service as workflows
from offhook.workflows.errors import WorkflowNotPublished
from offhook.workflows.service import VersionToRun

MAX_EVENTS: Final = 100_000
# A week has calls of a few versions.
_MAX_LOADED: Final = 16


class LoadedAgents:
    """Agents by their version, which many runs share."""

    def __init__(self) -> None:
        self._agents: dict[tuple[int, str], ScenarioAgent] = {}

    async def load(self, session: AsyncSession, version: VersionToRun) -> ScenarioAgent:
        key = version.version_id, hash_agent(version)
        if key not in self._agents:
            if len(self._agents) >= _MAX_LOADED:
                self._agents.pop(next(iter(self._agents)))
            self._agents[key] = await load_agent(session, version)
        return self._agents[key]


async def load_replayable(
    session: AsyncSession,
    journals: CallJournals,
    run_id: int,
    *,
    number: int | None = None,
    is_draft: bool = False,
) -> ReplayableRun:
    """Returns a run of any organization, for commands; without ``number`` and ``is_draft`` with its own version.

    Raises RunNotFound, VersionNotFound (404), RunNotOver, RunNotKept, JournalNotKept, JournalDamaged, VersionChanged,
    NoDraft (409).
    """
    run = await runs.get_any_run(session, run_id)
    other = None
    if number is not None or is_draft:
        other = await find_version(session, run.organization_id, run.workflow_id, number=number)
    return await load_with_version(session, journals, LoadedAgents(), run, other)


async def load_with_version(
    session: AsyncSession, journals: CallJournals, agents: LoadedAgents, run: Run, other: VersionToRun | None
) -> ReplayableRun:
    """Returns a run with the version to play it with; None: its own one. Raises as :func:`load_replayable`."""
    if run.status not in FINAL_STATES or run.is_leased:
        raise RunNotOver
    own = await workflows.version_to_run(session, run.organization_id, run.version_id)
    if own.configurations.get("do_not_keep") is True:
        raise RunNotKept
    journal = await journals.read(session, run)
    try:
        facts = await asyncio.to_thread(read_facts, journal)
    except JournalUnreadable as error:
        raise JournalDamaged(str(error)) from error
    if facts.get("agent") != hash_agent(own):
        raise VersionChanged
    own_agent = await agents.load(session, own)
    is_own = other is None or other.version_id == own.version_id
    other_agent = own_agent if other is None or is_own else await agents.load(session, other)
    return ReplayableRun(
        run_id=run.id,
        journal=journal,
        stored=await event_queries.read_events(session, run.organization_id, run.id, limit=MAX_EVENTS),
        given=list(run.initial_context),
        own=_with_run(own, own_agent, run),
        other=_with_run(own if other is None or is_own else other, other_agent, run),
    )


def _with_run(version: VersionToRun, agent: ScenarioAgent, run: Run) -> ReplayedVersion:
    return ReplayedVersion(version.version_id, version.version_number, agent, call_configurations(run, version))


async def find_version(
    session: AsyncSession, organization_id: int, workflow_id: int, *, number: int | None
) -> VersionToRun:
    """Returns the version with this number, or the draft without one. Raises WorkflowNotFound, VersionNotFound (404), NoDraft
    (409)."""
    if number is not None:
        return await load_version(session, organization_id, workflow_id, number=number)
    draft = await load_version(session, organization_id, workflow_id, is_draft=True)
    try:
        published = await load_version(session, organization_id, workflow_id)
    except WorkflowNotPublished:
        return draft
    if draft.version_id == published.version_id:
        raise NoDraft
    return draft


async def replay_run(run: ReplayableRun) -> RunReplay:
    """Plays the call again, in a thread: a replay has an event loop of its own. Raises JournalDamaged (409)."""
    try:
        return await asyncio.to_thread(play_run, run)
    except JournalUnreadable as error:
        raise JournalDamaged(str(error)) from error
