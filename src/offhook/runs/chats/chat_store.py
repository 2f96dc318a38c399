"""Storage of text chats: one writer at a time across processes, enforced by a revision and a claim in the run's row.

``chat_turns`` describes ``chat_state``, which can be encrypted but for its claim: who needs more of it than that reads it
with its run as a :class:`StoredChat`. A model takes seconds to answer, and no transaction stays open during that
time: a first transaction claims the chat, and a second one stores the answer if the claim still holds.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.data_keys.sealed_rows import open_row, seal_row
from offhook.runs import repository
from offhook.runs.chats import chat_turns
from offhook.runs.chats.chat_turns import ChatState, NewTurn, StoredClaim
from offhook.runs.errors import ChatConflict, ChatIsFull, ChatIsOver, ChatTurnNotFound, RunNotFound
from offhook.runs.finishing import call_end, webhook_events
from offhook.runs.finishing.call_end import FinishedConversation
from offhook.runs.finishing.costs import next_answer_cents
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.projections import CHAT_REWOUND, tally_events
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.sealed_columns import CHAT_STATE
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run
from offhook.usage import service as usage
from offhook.voice.events import VoiceEvent, is_live_only
from offhook.voice.ports import CallResult
from offhook.workflows import service as workflows

CLAIM_TTL_S: Final = 150.0
# Default idle time after which a chat is over, unless its workflow sets another; the sweeper ends it like any run with
# an expired lease.
DEFAULT_IDLE_TIMEOUT_S: Final = 1800
# Of the stored state, which each message reads and writes as a whole. An answer of a model can have 200,000.
MAX_STATE_CHARS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class StoredChat:
    """A chat's run with its state, readable."""

    run: Run
    state: ChatState


@dataclass(frozen=True, slots=True)
class ChatClaim:
    """The right to write one answer to a chat; ``state`` is the chat's state when the claim was granted.

    ``idle`` is how long the chat waits for the user after the answer.
    """

    id: str
    run: Run
    state: ChatState
    idle: timedelta


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The additions of one exchange to a chat: turns, the engine's events and, if the chat ended, its end."""

    turns: Sequence[NewTurn]
    events: Sequence[VoiceEvent]
    result: CallResult | None


async def get_chat(session: AsyncSession, organization_id: int, workflow_id: int, run_id: int) -> StoredChat:
    """Returns the chat. Raises RunNotFound (404), also for runs of other kinds, and WordsUnreadable (409)."""
    run = await _get_run(session, (organization_id, workflow_id, run_id))
    return StoredChat(run, await _open_state(session, run))


async def begin_chat(session: AsyncSession, run: Run, start_node_id: str | None) -> None:
    """Stores the state of a chat that has no message yet. Raises WordsUnreadable (409) when what will be said in it cannot be
    encrypted."""
    state = chat_turns.state_of(None if start_node_id is None else {"start_node_id": start_node_id})
    await _set_state(session, run, state)


async def claim_chat(
    session: AsyncSession,
    ids: tuple[int, int, int],
    *,
    expected_revision: int | None,
    now: datetime,
    max_turns: int | None = None,
    is_ending: bool = False,
) -> ChatClaim:
    """Claims the chat for one answer, or with ``is_ending`` for its end. ``ids`` are (organization, workflow, run).

    Raises RunNotFound (404), OutOfCredit and DailySpendLimitReached (402) when another answer cannot be paid, ChatIsOver
    (409), ChatIsFull (409) when the chat has reached ``max_turns``
    or :data:`MAX_STATE_CHARS`, ChatConflict (409) when the chat is at a
    different revision or another message is being answered, and WordsUnreadable (409).
    """
    run, state = await _lock_unclaimed(session, ids, expected_revision, now)
    if state["made"] and not is_ending:  # the first answer was paid for with the chat
        cents = await next_answer_cents(session, run, state["usage"], state["made"])
        await usage.extend_chat(session, run.organization_id, run.id, cents)
    # every turn ever made counts; rewound turns are kept for inspection
    if max_turns is not None and state["made"] >= max_turns:
        raise ChatIsFull(f"This chat has reached its limit of {max_turns} turns. Start a new chat.")
    if max_turns is not None and state.get("size", 0) > MAX_STATE_CHARS:
        raise ChatIsFull(f"This chat has reached its limit of {MAX_STATE_CHARS:,} characters. Start a new chat.")
    token = secrets.token_hex(8)
    claim: StoredClaim = {"id": token, "until": (now + timedelta(seconds=CLAIM_TTL_S)).isoformat()}
    await _set_state(session, run, {**state, "claim": claim})
    run.status = "in_progress"
    is_new = run.started_at is None
    run.started_at = run.started_at or now
    run.answered_at = run.answered_at or now
    idle = await _idle_timeout(session, run)
    # the idle time does not run while an answer is being made
    run.lease_until = now + max(idle, timedelta(seconds=CLAIM_TTL_S))
    await session.flush()
    if is_new:
        await webhook_events.publish_run_started(session, run)
    return ChatClaim(token, run, state, idle)


async def rewind_chat(
    session: AsyncSession,
    ids: tuple[int, int, int],
    cursor: str | None,
    *,
    expected_revision: int | None,
    now: datetime,
) -> StoredChat:
    """Rewinds the chat to its state after the turn ``cursor``; None moves it forward to its last turn.

    Raises what :func:`claim_chat` raises, and ChatTurnNotFound (404).
    """
    run, state = await _lock_unclaimed(session, ids, expected_revision, now)
    if cursor is not None and all(turn["id"] != cursor for turn in state["turns"]):
        raise ChatTurnNotFound
    rewound: ChatState = {**state, "cursor": cursor, "revision": state["revision"] + 1, "claim": None}
    stored = await _set_state(session, run, rewound)
    run.lease_until = now + await _idle_timeout(session, run) if run.lease_until is not None else None
    await session.flush()
    return StoredChat(run, stored)


async def store_answer(session: AsyncSession, held: ChatClaim, answer: ChatAnswer, *, now: datetime) -> StoredChat:
    """Stores an answer and releases the claim. Raises ChatConflict when another message has taken the claim."""
    run = await _lock_claimed(session, held)
    if run is None:
        raise chat_conflict("The answer was discarded because the chat had changed.", held.state["revision"], None)
    state = chat_turns.append_turns(held.state, answer.turns)
    stored = await _set_state(session, run, {**state, "revision": held.state["revision"] + 1, "claim": None})
    run.lease_until = now + held.idle
    await session.flush()
    is_rewound = len(chat_turns.active_turns(held.state)) < len(held.state["turns"])
    taken_back = [_rewind_event(run, held.state, now)] if is_rewound else []
    kept = [event for event in answer.events if not is_live_only(event.type, event.data)]
    answer_events = [
        # a writer's times are unique
        NewEvent(
            run.id,
            event.type,
            round(event.at_s * 1000),
            encode_event_data(event.data),
            now + timedelta(microseconds=number),
        )
        for number, event in enumerate(kept)
    ]
    await event_queries.append_events(session, [*taken_back, *answer_events])
    if answer.result is not None:
        await _end(session, run, answer.result, now)
    return StoredChat(await _get_run(session, _ids(run)), stored)


async def release_claim(session: AsyncSession, held: ChatClaim) -> None:
    """Releases a claim unused; does nothing if the claim was lost."""
    run = await _lock_claimed(session, held)
    if run is not None:
        await _set_state(session, run, {**held.state, "claim": None})


async def _set_state(session: AsyncSession, run: Run, state: ChatState) -> ChatState:
    """Returns the state as it will be read. Raises WordsUnreadable (409) when it cannot be encrypted: a chat without its words
    could not go on."""
    encoded = encode_event_data(state)
    stored = {**json.loads(encoded), "size": len(encoded)}
    run.chat_state = stored
    await seal_row(session, run, CHAT_STATE, is_strict=True)
    return chat_turns.state_of(stored)


async def _open_state(session: AsyncSession, run: Run) -> ChatState:
    return chat_turns.state_of((await open_row(session, run, CHAT_STATE))["chat_state"])


async def _end(session: AsyncSession, run: Run, result: CallResult, now: datetime) -> None:
    stored = await event_queries.read_events(session, run.organization_id, run.id, limit=100_000)
    tally = tally_events(stored)
    ending = FinishedConversation(
        result, {**tally.gathered_context(), **result.gathered_context}, tally.usage, tally.latency_summary(), now
    )
    await call_end.store_run_end(session, run.organization_id, run.id, ending)


async def _lock_unclaimed(
    session: AsyncSession, ids: tuple[int, int, int], expected_revision: int | None, now: datetime
) -> tuple[Run, ChatState]:
    """Returns the chat's run, locked, if it is unclaimed and at the expected revision."""
    run = await _get_run(session, ids, lock=True)
    if run.status not in LIVE_STATES:
        raise ChatIsOver
    state = await _open_state(session, run)
    revision = state["revision"]
    if expected_revision is not None and expected_revision != revision:
        raise chat_conflict("The chat has changed. Read it again, then send your message.", expected_revision, revision)
    held = state["claim"]
    if held is not None and datetime.fromisoformat(held["until"]) > now:
        raise chat_conflict("Another message is being answered. Wait for its answer.", expected_revision, revision)
    return run, state


async def _idle_timeout(session: AsyncSession, run: Run) -> timedelta:
    """Returns the idle time that the chat's workflow currently allows."""
    version = await workflows.version_to_run(session, run.organization_id, run.version_id)
    set_s = version.configurations.get("text_chat_inactivity_timeout_seconds")
    if isinstance(set_s, bool) or not isinstance(set_s, int) or set_s <= 0:
        set_s = DEFAULT_IDLE_TIMEOUT_S
    return timedelta(seconds=set_s)


async def _get_run(session: AsyncSession, ids: tuple[int, int, int], *, lock: bool = False) -> Run:
    run = await repository.find_chat_run(session, *ids, lock=lock)
    if run is None:
        raise RunNotFound
    return run


def _ids(run: Run) -> tuple[int, int, int]:
    return run.organization_id, run.workflow_id, run.id


async def _lock_claimed(session: AsyncSession, held: ChatClaim) -> Run | None:
    run = await _get_run(session, _ids(held.run), lock=True)
    claim = chat_turns.state_of(run.chat_state)["claim"]
    return run if run.status in LIVE_STATES and claim is not None and claim["id"] == held.id else None


def _rewind_event(run: Run, state: ChatState, now: datetime) -> NewEvent:
    """Builds the event that excludes everything after the kept turns; see ``projections.CHAT_REWOUND``."""
    turn, messages = chat_turns.active_turns(state)[-1], chat_turns.active_messages(state)
    data = {
        "turn_id": turn["id"],
        "node_id": turn["checkpoint"]["node_id"],
        "name": (turn["checkpoint"]["nodes_visited"] or [None])[-1],
        "values": turn["checkpoint"]["values"],
        "nodes_visited": turn["checkpoint"]["nodes_visited"],
        "lines": len(messages),
        "caller_lines": sum(message["role"] == "caller" for message in messages),
    }
    at_ms = round((now - (run.answered_at or now)).total_seconds() * 1000)
    return NewEvent(run.id, CHAT_REWOUND, max(0, at_ms), encode_event_data(data), now - timedelta(microseconds=1))


def chat_conflict(message: str, expected: int | None, actual: int | None) -> ChatConflict:
    return ChatConflict(message, detail={"message": message, "expected_revision": expected, "actual_revision": actual})
