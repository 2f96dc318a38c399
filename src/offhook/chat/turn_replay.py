"""Plays one turn of a conversation again, with the agent as it is drafted now, and compares."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.chat.errors import ChatTimedOut, StepNotInDraft, TurnNotFound, TurnNotUnderstood
from offhook.chat.recorded_turns import RecordedTurn, TurnOutcome, read_outcome, read_recorded_turn
from offhook.chat.replayed_tools import ReplayToolbox
from offhook.chat.service import ANSWER_TIMEOUT_S, EventBuffer
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter
from offhook.models.prices import BillingPolicy
from offhook.orgs import Caller, write_audit_entry
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.records import event_queries
from offhook.runs.records.context import call_context
from offhook.voice.text_session import TextSession
from offhook.workflows import service as workflows
from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.service import VersionToRun

MAX_EVENTS: Final = 100_000
# Each replay costs what a turn costs.
MAX_REPLAYS_PER_MINUTE: Final = 20


@dataclass(frozen=True, slots=True)
class TurnReplay:
    """One turn as it was and as it would be. ``version_number`` is the version that it was played with."""

    heard: str
    step: str
    recorded: TurnOutcome
    replayed: TurnOutcome
    version_number: int


class TurnReplayer:
    """One per process. Nothing of a replay is stored, and no tool reaches anything outside."""

    def __init__(self, *, db: Database, clock: Clock, agents: AgentFactory, billing: BillingPolicy) -> None:
        self._db = db
        self._agents = agents
        self._billing = billing
        self._limiter = RateLimiter(clock, limit=MAX_REPLAYS_PER_MINUTE, window_s=60)

    async def replay_turn(self, caller: Caller, workflow_id: int, run_id: int, number: int) -> TurnReplay:
        """Plays the turn of this number with the draft, or with the published version where there is no draft.

        Raises RunNotFound and TurnNotFound (404), TurnNotUnderstood and StepNotInDraft (409), TooManyRequests (429), OutOfCredit
        (402) and ChatTimedOut (504). No transaction is open while the model answers.
        """
        async with self._db.transaction() as session:
            run, turn = await self._read_turn(session, caller.organization_id, workflow_id, run_id, number)
            version = await workflows.get_version_to_run(session, caller.organization_id, workflow_id, use_draft=True)
        graph = parse_graph(version.definition)
        if graph.start_id is None or turn.node_id not in graph.nodes:
            raise StepNotInDraft(
                f"The step “{turn.step:.100}”, where this was said, is not in version {version.version_number}."
            )
        self._limiter.spend(str(caller.organization_id))
        async with self._db.transaction() as session:
            await self._billing.charge_request(session, caller.organization_id, "Turn played again")
            await write_audit_entry(session, caller, "run.turn_replayed", f"run:{run_id}", {"turn": number})
        replayed = await self._play(run, turn, graph, version)
        return TurnReplay(turn.heard or "", turn.step, turn.outcome, replayed, version.version_number)

    async def _read_turn(
        self, session: AsyncSession, organization_id: int, workflow_id: int, run_id: int, number: int
    ) -> tuple[Run, RecordedTurn]:
        run = await runs.get_run(session, organization_id, run_id, workflow_id=workflow_id)
        stored = await event_queries.read_events(session, organization_id, run_id, limit=MAX_EVENTS)
        turn = read_recorded_turn(stored, number)
        if turn is None:
            raise TurnNotFound
        if not turn.heard:
            raise TurnNotUnderstood
        return run, turn

    async def _play(self, run: Run, turn: RecordedTurn, graph: WorkflowGraph, version: VersionToRun) -> TurnOutcome:
        agent = await self._agents.build_agent(run, graph, version.configurations, call_context(run, version))
        sink = EventBuffer()
        engine = TextSession(
            agent=replace(agent, toolbox=ReplayToolbox(agent.toolbox, turn.tools)),
            models=await self._agents.models.for_organization(run.organization_id, version.configurations),
            sink=sink,
            state=cast(dict[str, Any], turn.state),
        )
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await engine.say(turn.heard or "")
        except TimeoutError:
            raise ChatTimedOut("The model did not respond in time. Try again.") from None
        return read_outcome((event.type, event.data) for event in sink.events)
