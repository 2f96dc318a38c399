"""The turns of a text chat: the messages of each turn and the state after it, so that a chat can be rewound. Pure.

A chat's state is ``{revision, turns, cursor, discarded, made, usage, claim}``. A turn is ``{id, messages,
created_at, checkpoint}``; the first one is the agent's greeting. ``cursor`` is the id of the turn that the chat was
rewound to; the turns after it become ``discarded`` only with the next message, so that a rewind can be undone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, NotRequired, TypedDict, cast


class StoredMessage(TypedDict):
    """A message; ``role`` is ``caller`` or ``agent``, the time is ISO 8601."""

    role: str
    text: str
    created_at: str


class StoredTurn(TypedDict):
    """A turn; ``checkpoint`` is the engine's state after it."""

    id: str
    messages: list[StoredMessage]
    created_at: str
    checkpoint: Mapping[str, Any]


class StoredClaim(TypedDict):
    """One request's right to write an answer, and when that right expires."""

    id: str
    until: str


class ChatState(TypedDict):
    """The state of a chat as stored with its run."""

    revision: int
    turns: list[StoredTurn]
    cursor: str | None
    discarded: list[StoredTurn]
    made: int
    usage: object
    claim: StoredClaim | None
    # Where a test begins, if not at the start.
    start_node_id: NotRequired[str]
    # How many characters the rest has.
    size: NotRequired[int]


class TurnWords(TypedDict):
    """The words of one side in a turn."""

    text: str
    created_at: str


class PresentedTurn(TypedDict):
    """A turn as clients see it."""

    id: str
    status: str
    user_message: TurnWords | None
    assistant_message: TurnWords | None
    messages: list[StoredMessage]
    node_id: str
    variables: Mapping[str, Any]
    created_at: str


_EMPTY_STATE: Final[ChatState] = {
    "revision": 0,
    "turns": [],
    "cursor": None,
    "discarded": [],
    "made": 0,
    "usage": None,
    "claim": None,
}
# The parts of an engine snapshot that a checkpoint omits: the history is stored as each turn's changes, because
# otherwise every turn would store the whole chat again; and usage is never rewound.
_NOT_IN_CHECKPOINT: Final = frozenset({"history", "usage"})


@dataclass(frozen=True, slots=True)
class NewTurn:
    """One turn: messages ``{role, text, created_at}`` and the engine's snapshot after them."""

    messages: Sequence[StoredMessage]
    snapshot: Mapping[str, Any]
    created_at: str


def state_of(stored: Mapping[str, Any] | None) -> ChatState:
    """Returns the state stored with a run; an empty one before the first message."""
    return cast(ChatState, {**_EMPTY_STATE, **(stored or {})})


def active_turns(state: ChatState) -> list[StoredTurn]:
    """Returns the turns that count: all of them, or those up to the cursor if the chat was rewound."""
    turns = state["turns"]
    if state["cursor"] is None:
        return turns
    return turns[: 1 + next(index for index, turn in enumerate(turns) if turn["id"] == state["cursor"])]


def active_messages(state: ChatState) -> list[StoredMessage]:
    """Returns the messages of the turns that count."""
    return [message for turn in active_turns(state) for message in turn["messages"]]


def engine_snapshot(state: ChatState) -> Mapping[str, Any] | None:
    """Returns the engine's node, variables and history after the last turn that counts; None before the first turn."""
    turns = active_turns(state)
    if not turns:
        return None
    kept = {key: value for key, value in turns[-1]["checkpoint"].items() if key not in {"same", "history"}}
    return {**kept, "history": _rebuild_history(turns), "usage": state["usage"]}


def append_turns(state: ChatState, new: Sequence[NewTurn]) -> ChatState:
    """Returns the state with further turns; turns after the cursor are discarded but kept for inspection."""
    turns = list(active_turns(state))
    dropped = state["turns"][len(turns) :]
    made, usage = state["made"], state["usage"]
    history = _rebuild_history(turns)
    for turn in new:
        made += 1
        usage = turn.snapshot.get("usage")
        # as the database returns it: tuples become lists
        changed = json.loads(json.dumps(turn.snapshot["history"]))
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(history, changed, strict=False)))
        kept = {key: value for key, value in turn.snapshot.items() if key not in _NOT_IN_CHECKPOINT}
        checkpoint = {**kept, "same": same, "history": changed[same:]}
        turns.append(
            {
                "id": f"turn_{made}",
                "messages": list(turn.messages),
                "created_at": turn.created_at,
                "checkpoint": checkpoint,
            }
        )
        history = changed
    # a dropped turn keeps what clients see of it, without what only a rewind needs
    discarded: list[StoredTurn] = [
        {**turn, "checkpoint": {key: turn["checkpoint"][key] for key in ("node_id", "values")}} for turn in dropped
    ]
    return {
        **state,
        "turns": turns,
        "cursor": None,
        "discarded": [*state["discarded"], *discarded],
        "made": made,
        "usage": usage,
    }


def _rebuild_history(turns: Sequence[StoredTurn]) -> list[Any]:
    history: list[Any] = []
    for turn in turns:
        history = [*history[: turn["checkpoint"]["same"]], *turn["checkpoint"]["history"]]
    return history


def present_turn(turn: StoredTurn) -> PresentedTurn:
    """Returns a turn as clients see it."""
    by_role: dict[str, list[StoredMessage]] = {"caller": [], "agent": []}
    for message in turn["messages"]:
        by_role[message["role"]].append(message)
    return {
        "id": turn["id"],
        "status": "completed",
        "user_message": _join_messages(by_role["caller"]),
        "assistant_message": _join_messages(by_role["agent"]),
        "messages": turn["messages"],
        "node_id": turn["checkpoint"]["node_id"],
        "variables": turn["checkpoint"]["values"],
        "created_at": turn["created_at"],
    }


def _join_messages(messages: Sequence[StoredMessage]) -> TurnWords | None:
    if not messages:
        return None
    return {"text": "\n".join(message["text"] for message in messages), "created_at": messages[0]["created_at"]}
