"""The turns of a text chat: what was said in each, and how everything stood after it, so that a chat can be taken back.
Pure.

A chat's state is ``{revision, turns, cursor, discarded, made, usage, claim}``. A turn is ``{id, messages, created_at,
checkpoint}``; the first one is the agent's greeting. ``cursor`` is the id of the turn to which the chat was taken back;
the turns behind it become ``discarded`` with the next message, and not before, so that a step back can be undone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

EMPTY_STATE: Final[dict[str, Any]] = {
    "revision": 0,
    "turns": [],
    "cursor": None,
    "discarded": [],
    "made": 0,
    "usage": None,
    "claim": None,
}
# What a checkpoint does not keep of an engine's snapshot: the history is stored as what each turn changed of it, or a
# long chat would be stored once for each of its turns; and what was spent stays spent.
_NOT_IN_CHECKPOINT: Final = frozenset({"history", "usage"})

ChatState = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewTurn:
    """One turn: messages ``{role, text, created_at}`` and the engine's snapshot after them."""

    messages: Sequence[Mapping[str, Any]]
    snapshot: Mapping[str, Any]
    created_at: str


def state_of(stored: Mapping[str, Any] | None) -> ChatState:
    return {**EMPTY_STATE, **(stored or {})}


def active_turns(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The turns that count: up to the cursor, if the chat was taken back."""
    turns: list[dict[str, Any]] = state["turns"]
    if state["cursor"] is None:
        return turns
    return turns[: 1 + next(index for index, turn in enumerate(turns) if turn["id"] == state["cursor"])]


def active_messages(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Everything that was said in the turns that count."""
    return [message for turn in active_turns(state) for message in turn["messages"]]


def engine_snapshot(state: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the engine goes on from: graph node, variables and history exactly as they were after the last turn that
    counts; None before the first."""
    turns = active_turns(state)
    if not turns:
        return None
    kept = {key: value for key, value in turns[-1]["checkpoint"].items() if key not in {"same", "history"}}
    return {**kept, "history": _rebuild_history(turns), "usage": state["usage"]}


def append_turns(state: ChatState, new: Sequence[NewTurn]) -> ChatState:
    """The state with further turns; what was taken back before is discarded now, and kept to look at."""
    turns = list(active_turns(state))
    dropped = state["turns"][len(turns) :]
    made, usage = state["made"], state["usage"]
    history = _rebuild_history(turns)
    for turn in new:
        made += 1
        usage = turn.snapshot.get("usage")
        # as it comes back from the database: tuples are lists there
        changed = json.loads(json.dumps(turn.snapshot["history"]))
        same = _common_prefix_length(history, changed)
        kept = {key: value for key, value in turn.snapshot.items() if key not in _NOT_IN_CHECKPOINT}
        checkpoint = {**kept, "same": same, "history": changed[same:]}
        turns.append(
            {
                "id": f"turn_{made}",
                "messages": [dict(message) for message in turn.messages],
                "created_at": turn.created_at,
                "checkpoint": checkpoint,
            }
        )
        history = changed
    return {
        **state,
        "turns": turns,
        "cursor": None,
        "discarded": [*state["discarded"], *(_without_checkpoint(turn) for turn in dropped)],
        "made": made,
        "usage": usage,
    }


def is_rewound(state: Mapping[str, Any]) -> bool:
    return len(active_turns(state)) < len(state["turns"])


def _rebuild_history(turns: Sequence[Mapping[str, Any]]) -> list[Any]:
    history: list[Any] = []
    for turn in turns:
        history = [*history[: turn["checkpoint"]["same"]], *turn["checkpoint"]["history"]]
    return history


def _common_prefix_length(before: Sequence[Any], after: Sequence[Any]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _without_checkpoint(turn: Mapping[str, Any]) -> dict[str, Any]:
    """As :func:`present_turn` reads it, without what only a way back would need."""
    checkpoint = turn["checkpoint"]
    seen = {"node_id": checkpoint["node_id"], "values": checkpoint["values"]}
    return {**turn, "checkpoint": seen}


def present_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """One turn for people: ``{id, status, user_message, assistant_message, active_messages, node_id, variables, created_at}``."""
    said: dict[str, list[Mapping[str, Any]]] = {"caller": [], "agent": []}
    for message in turn["messages"]:
        said[message["role"]].append(message)
    return {
        "id": turn["id"],
        "status": "completed",
        "user_message": _join_messages(said["caller"]),
        "assistant_message": _join_messages(said["agent"]),
        "messages": turn["messages"],
        "node_id": turn["checkpoint"]["node_id"],
        "variables": turn["checkpoint"]["values"],
        "created_at": turn["created_at"],
    }


def _join_messages(said: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if not said:
        return None
    return {"text": "\n".join(message["text"] for message in said), "created_at": said[0]["created_at"]}
