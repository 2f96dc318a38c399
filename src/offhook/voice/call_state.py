"""A live call as another process needs it to go on: taken while the call goes, and read where it is taken up again."""

from dataclasses import dataclass
from typing import Any, Final, NotRequired, TypedDict

from offhook.kit.json_values import JsonObject
from offhook.voice.dialog.steps import ConversationState

# A cut-off tail of the history that fits anywhere: the model needs the last words most.
_MIN_MESSAGES: Final = 2


class CallState(TypedDict):
    """``at_s``: when it was taken, on the run's audio clock. ``unheard``: what the agent had begun to say and the caller
    may not have heard to its end; ``heard``: what of it the caller had heard, from ``heard_from_s``, and nobody had
    noted. ``recording`` is the state of the recording switch; ``words`` belongs to the owner of the session. ``language``: that of the call, empty where
    the agent speaks one. ``timing``: the times of the answer that is being heard, which are stored with its words. Earlier
    versions leave both out."""

    at_s: float
    conversation: ConversationState
    usage: dict[str, Any]
    unheard: str
    heard: str
    heard_from_s: float
    is_answer_due: bool
    is_disclosure_due: bool
    told_first: str
    recording: str
    tags: list[str]
    words: JsonObject
    language: NotRequired[str]
    timing: NotRequired[JsonObject | None]


@dataclass(frozen=True, slots=True)
class ResumedCall:
    """A call that is taken up ``age_s`` seconds after its state was taken."""

    state: CallState
    age_s: float

    @property
    def elapsed_s(self) -> float:
        """Returns how long ago the call began."""
        return self.state["at_s"] + self.age_s


def last_words(conversation: ConversationState) -> str:
    """Returns the agent's words that end the history; nothing if it ends with anything else."""
    history = conversation["history"]
    last = history[-1] if history else {}
    is_speech = last.get("role") == "assistant" and not last.get("tool_calls")
    return str(last.get("content") or "") if is_speech else ""


def owes_answer(conversation: ConversationState) -> bool:
    """Returns whether the agent has to speak next: the caller has not been greeted, or the caller or a function spoke
    last."""
    history = conversation["history"]
    return not history or history[-1].get("role") in ("user", "tool")


def shorten_history(state: CallState) -> bool:
    """Drops the older half of the history, up to something that the caller said; returns False if nothing is left to
    drop."""
    history = state["conversation"]["history"]
    starts = [index for index, message in enumerate(history) if message.get("role") == "user" and index]
    after = [index for index in starts if index >= len(history) // 2] or starts[-1:]
    if len(history) <= _MIN_MESSAGES or not after:
        return False
    state["conversation"]["history"] = history[after[0] :]
    return True
