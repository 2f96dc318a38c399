"""Text chats: the voice engine without audio, one request per exchange, handled by any process."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from offhook.chat.answer_places import AnswerPlaces
from offhook.chat.errors import ChatTimedOut, StartStepUnknown, WorkflowChanged
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.event_bus import EventBus
from offhook.kit.json_values import JsonObject
from offhook.models.llm.chunk_shares import share_chunks
from offhook.orgs import Caller
from offhook.orgs.errors import WordsUnreadable
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.chats import chat_store, chat_turns
from offhook.runs.chats.chat_store import ChatAnswer, ChatClaim, StoredChat
from offhook.runs.chats.chat_turns import NewTurn, StoredMessage
from offhook.runs.events import RunStarted
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.live.sweeper import run_finished_event
from offhook.runs.records.context import call_context
from offhook.runs.states import TEXT_CHAT
from offhook.voice.events import VoiceEvent
from offhook.voice.text_session import TextSession
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph
from offhook.workflows.nodes import KINDS

ANSWER_TIMEOUT_S: Final = chat_store.CLAIM_TTL_S - 20
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn of an exchange: the user's words, if any, the agent's, and the engine's state after them."""

    by_caller: str | None
    by_agent: list[str]
    snapshot: JsonObject


Exchange = Callable[[TextSession], Awaitable[list[SpokenTurn]]]


class EventBuffer:
    """Implements ``voice.ports.RunSink``: keeps the events of one exchange until they are stored with its answer."""

    def __init__(self) -> None:
        self.events: list[VoiceEvent] = []

    def emit(self, event: VoiceEvent) -> None:
        self.events.append(event)


class TextChatService:
    """The chat use cases; each opens its own short transactions, none of them while a model answers."""

    def __init__(self, *, db: Database, events: EventBus, clock: Clock, agents: AgentFactory, max_turns: int) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._agents = agents
        self._max_turns = max_turns
        self._places = AnswerPlaces()

    async def start(
        self,
        caller: Caller,
        workflow_id: int,
        *,
        name: str | None,
        context: JsonObject,
        start_node_id: str | None = None,
    ) -> StoredChat:
        """Starts a new chat with the agent's first messages, at another step than the first if one is named.

        Raises StartStepUnknown (422), WordsUnreadable (409), TooManyChatAnswers (429), and what ``runs.service.create_run``
        raises.
        """
        with self._places.hold(caller.organization_id):
            run = await self._create_run(caller, workflow_id, name=name, context=context, start_node_id=start_node_id)
            await self._events.publish(RunStarted(run.id, run.organization_id, run.workflow_id, run.mode))
            return await self._answer_message((caller.organization_id, workflow_id, run.id), None, None)

    async def _create_run(
        self, caller: Caller, workflow_id: int, *, name: str | None, context: JsonObject, start_node_id: str | None
    ) -> Run:
        async with self._db.transaction(caller.organization_id) as session:
            run = await runs.create_run(
                session,
                organization_id=caller.organization_id,
                workflow_id=workflow_id,
                mode=TEXT_CHAT,
                direction="inbound",
                use_draft=True,
                name=name,
                initial_context=context,
                created_by=caller.user_id,
                name_prefix="WR-TEST",
            )
            if start_node_id is not None:
                version = await workflows.version_to_run(session, run.organization_id, run.version_id)
                node = parse_graph(version.definition).nodes.get(start_node_id)
                if node is None or node.kind not in KINDS or not KINDS[node.kind].is_conversational:
                    raise StartStepUnknown(field="start_node_id")
            await chat_store.begin_chat(session, run, start_node_id)
        return run

    async def get(self, caller: Caller, workflow_id: int, run_id: int) -> StoredChat:
        async with self._db.transaction(caller.organization_id) as session:
            return await chat_store.get_chat(session, caller.organization_id, workflow_id, run_id)

    async def say(
        self, caller: Caller, workflow_id: int, run_id: int, text: str, *, expected_revision: int | None
    ) -> StoredChat:
        """Adds the user's message and the agent's answer.

        Raises ChatConflict, ChatIsOver and ChatIsFull (409), and TooManyChatAnswers (429).
        """
        with self._places.hold(caller.organization_id):
            return await self._answer_message((caller.organization_id, workflow_id, run_id), text, expected_revision)

    async def rewind(
        self, caller: Caller, workflow_id: int, run_id: int, cursor: str | None, *, expected_revision: int | None
    ) -> StoredChat:
        """Rewinds the chat to its state after the turn ``cursor``; None: after its last turn.

        Raises ChatTurnNotFound (404), ChatConflict and ChatIsOver (409).
        """
        ids = (caller.organization_id, workflow_id, run_id)
        async with self._db.transaction(caller.organization_id) as session:
            return await chat_store.rewind_chat(
                session, ids, cursor, expected_revision=expected_revision, now=self._clock.now()
            )

    async def end(
        self, caller: Caller, workflow_id: int, run_id: int, *, expected_revision: int | None = None
    ) -> StoredChat:
        """Closes the chat; a chat that is already over stays unchanged. Raises TooManyChatAnswers (429)."""
        ids = (caller.organization_id, workflow_id, run_id)
        found = await self.get(caller, *ids[1:])
        if found.run.ended_at is not None:
            return found
        with self._places.hold(caller.organization_id):
            held = await self._claim_chat(ids, expected_revision, is_ending=True)
            return await self._run_claimed(held, _end_session)

    async def _answer_message(
        self, ids: tuple[int, int, int], text: str | None, expected_revision: int | None
    ) -> StoredChat:
        held = await self._claim_chat(ids, expected_revision, max_turns=self._max_turns)

        at = held.state.get("start_node_id")

        async def run_turns(engine: TextSession) -> list[SpokenTurn]:
            spoken_turns: list[SpokenTurn] = []
            # A chat whose first answer was lost, or that was created as a bare run, begins with its first message.
            if not held.state["turns"]:
                spoken_turns.append(SpokenTurn(None, await engine.start(at), engine.snapshot()))
            if text is not None and not engine.is_over:
                spoken_turns.append(SpokenTurn(text, await engine.say(text), engine.snapshot()))
            return spoken_turns

        return await self._run_claimed(held, run_turns)

    async def _claim_chat(
        self,
        ids: tuple[int, int, int],
        expected_revision: int | None,
        *,
        max_turns: int | None = None,
        is_ending: bool = False,
    ) -> ChatClaim:
        now = self._clock.now()
        async with self._db.transaction(ids[0]) as session:
            return await chat_store.claim_chat(
                session,
                ids,
                expected_revision=expected_revision,
                now=now,
                max_turns=max_turns,
                is_ending=is_ending,
            )

    async def _run_claimed(self, held: ChatClaim, talk: Exchange) -> StoredChat:
        """Restores the engine, lets it talk and stores the result; always releases the claim."""
        try:
            began_at = self._clock.now()
            sink = EventBuffer()
            engine = await self._restore_session(held, sink, began_at)
            with share_chunks(held.run.organization_id):
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    spoken_turns = await talk(engine)
            now = self._clock.now()
            turns = [_new_turn(one, began_at.isoformat(), now.isoformat()) for one in spoken_turns]
            answer = ChatAnswer(turns, sink.events, engine.result)
            async with self._db.transaction(held.run.organization_id) as session:
                stored = await chat_store.store_answer(session, held, answer, now=now)
        except BaseException as error:
            await self._release_claim(held)
            if isinstance(error, TimeoutError):
                raise ChatTimedOut from error
            raise
        if stored.run.ended_at is not None:
            await self._events.publish(run_finished_event(stored.run))
        return stored

    async def _restore_session(self, held: ChatClaim, sink: EventBuffer, now: datetime) -> TextSession:
        run = held.run
        async with self._db.transaction(run.organization_id) as session:
            version = await workflows.version_to_run(session, run.organization_id, run.version_id)
        graph, snapshot = parse_graph(version.definition), chat_turns.engine_snapshot(held.state)
        if graph.start_id is None or (snapshot is not None and snapshot["node_id"] not in graph.nodes):
            raise WorkflowChanged
        context = call_context(run, version)
        agent = await self._agents.build_agent(run, graph, version.configurations, context)
        return TextSession(
            agent=agent,
            models=await self._agents.models.for_organization(run.organization_id, version.configurations),
            sink=sink,
            state=snapshot,
            elapsed_s=max(0.0, (now - (run.answered_at or now)).total_seconds()),
        )

    async def _release_claim(self, held: ChatClaim) -> None:
        try:
            async with self._db.transaction(held.run.organization_id) as session:
                await chat_store.release_claim(session, held)
        except (*DATABASE_ERRORS, WordsUnreadable) as error:
            log.warning("chat_claim_not_released", run_id=held.run.id, error=type(error).__name__)


async def _end_session(engine: TextSession) -> list[SpokenTurn]:
    await engine.end()
    return []


def _new_turn(spoken: SpokenTurn, asked_at: str, answered_at: str) -> NewTurn:
    """Builds a turn; times are ISO 8601."""
    messages: list[StoredMessage] = []
    if spoken.by_caller is not None:
        messages.append({"role": "caller", "text": spoken.by_caller, "created_at": asked_at})
    messages += [{"role": "agent", "text": text, "created_at": answered_at} for text in spoken.by_agent]
    return NewTurn(messages, spoken.snapshot, asked_at)
