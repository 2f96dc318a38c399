"""A call whose line broke: its state for the process that takes it over, and how that process continues it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from offhook.kit.json_values import ReadableJsonObject
from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallContext
from offhook.voice.call_state import CallState, ResumedCall, last_words, owes_answer
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.disclosure import Disclosure
from offhook.voice.events import TurnTiming
from offhook.voice.recording_switch import RecordingSwitch

# The line to the caller broke, while the call may go on at the carrier.
MEDIA_LOST: Final = "media_lost"
# The call goes on in another process, or on another connection of this one.
MOVED: Final = "moved"
GiveCall = Callable[[CallState], Awaitable[bool]]


class CallContinuation:
    """Hands one call over. ``ask``, set by the owner of the call, gives its state to the process that takes it over and
    returns whether one did."""

    def __init__(
        self,
        *,
        line: CallContext,
        conversation: Conversation,
        turns: AgentTurns,
        disclosure: Disclosure,
        recording: RecordingSwitch | None,
        on_end: Callable[[str], None],
    ) -> None:
        self.ask: GiveCall | None = None
        self._line = line
        self._conversation = conversation
        self._turns = turns
        self._disclosure = disclosure
        self._recording = recording
        self._on_end = on_end

    def take_state(self, usage: dict[str, Any], language: str) -> CallState:
        """Returns the state of the call as it is now."""
        conversation, utterance = self._conversation.snapshot(), self._turns.utterance
        span = utterance.audible_span() if utterance is not None else None
        return {
            "at_s": round(self._line.elapsed_s(), 3),
            "conversation": conversation,
            "usage": usage,
            "unheard": last_words(conversation) if self._turns.is_agent_busy else "",
            "heard": utterance.heard_text(self._line.inputs.time_outside()) if utterance is not None else "",
            "heard_from_s": round(span[0] - self._line.started_at, 3) if span is not None else 0.0,
            "is_answer_due": owes_answer(conversation),
            "is_disclosure_due": self._disclosure.is_due,
            "told_first": self._conversation.told_first,
            "recording": self._recording.state if self._recording is not None else "off",
            "tags": list(self._turns.tags),
            "words": {},
            "language": language,
            "timing": utterance.answer_times if utterance is not None else None,
        }

    def go_on(self, resumed: ResumedCall, sentence: str) -> None:
        """Goes on where the other session was cut off, with this sentence first."""
        state = resumed.state
        node_id = state["conversation"]["node_id"]
        self._conversation.restore(state["conversation"])
        self._conversation.told_first = state["told_first"]
        self._disclosure.is_due = state["is_disclosure_due"]
        self._turns.tags += state["tags"]
        times = state.get("timing")
        if state["heard"]:  # the words in which the other session was cut off
            said: ReadableJsonObject = {
                "text": state["heard"],
                "start_s": state["heard_from_s"],
                "end_s": state["at_s"],
                "interrupted": True,
                "node_id": node_id,
            }
            self._line.emit(events.AGENT_SAID, events.with_timing(said, times))
        elif times is not None:
            self._line.emit(events.TURN_TIMED, events.unheard_timing(times))
        self._line.emit(events.CALL_RESUMED, {"node_id": node_id, "gap_s": round(resumed.age_s, 3)})
        if self._recording is not None:
            self._recording.go_on(state["recording"])
        text = f"{sentence} {state['unheard']}".strip()
        self._turns.start_turn(partial(self._run_first_turn, text, is_answer_due=state["is_answer_due"]))

    async def _run_first_turn(self, text: str, *, is_answer_due: bool) -> None:
        # The history has these words already, or ends with what is answered next.
        await self._turns.run_phrase(text, is_canned=False, is_kept=False)
        if is_answer_due:
            await self._turns.run_answer(None, TurnTiming(), None)
        elif self._conversation.is_over:
            self._on_end("agent_ended")

    async def give(self, state: CallState) -> bool:
        """Hands the call to a process that takes it over; returns False if none does."""
        if self.ask is None:
            return False
        state["heard"], state["timing"] = "", None  # noted when the turn was cut off
        await self._close_recording()
        return await self.ask(state)

    async def leave(self) -> None:
        """Closes what this session still holds of a call that goes on elsewhere."""
        await self._line.leg.hang_up()
        await self._close_recording()

    async def _close_recording(self) -> None:
        if self._recording is not None:
            await self._recording.close()
