"""What the agent does when a machine and not a person answers: hang up, leave a message, or talk on."""

import asyncio
from collections.abc import Callable

from offhook.kit.audio import Samples
from offhook.voice import events
from offhook.voice.agent_turns import Floor
from offhook.voice.call_context import Line
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.safety.voicemail_detector import VoicemailConfig, VoicemailWatch


class MachineAnswer:
    """Of one call. ``is_outbound``: only who was called can be a machine. ``on_end`` gets the end reason."""

    def __init__(
        self,
        config: VoicemailConfig,
        *,
        line: Line,
        conversation: Conversation,
        floor: Floor,
        is_outbound: bool,
        on_end: Callable[[str], None],
    ) -> None:
        self._config = config
        self._line = line
        self._conversation = conversation
        self._floor = floor
        self._is_outbound = is_outbound
        self._on_end = on_end
        self._watch = VoicemailWatch(config, since_start=line.since_start, on_found=self.found)
        self._leaving: asyncio.Task[None] | None = None

    @property
    def is_found(self) -> bool:
        return self._watch.is_found

    @property
    def ears(self) -> Callable[[Samples], None] | None:
        """Who wants to hear the caller's audio at 8 kHz; None when the question is settled."""
        return self._watch.feed if self._is_outbound and self._watch.is_listening else None

    def caller_speaks(self) -> None:
        if self._is_outbound and self._watch.is_listening:
            self._watch.caller_speaks()

    def turn_ended(self, text: str, llm: LlmChain) -> None:
        if self._is_outbound:
            self._watch.turn_ended(text, llm)

    def found(self, by: str) -> None:
        """A machine took the call; ``by`` says who noticed (carrier, or as in :class:`VoicemailWatch`). Idempotent."""
        if self.is_found:
            return
        self._watch.is_found = True
        # One that is already saying goodbye says it to the machine.
        action = "continue" if self._floor.is_closing else self._config.action
        self._line.emit(events.VOICEMAIL_DETECTED, {"by": by, "action": action})
        if action == "message":
            self._floor.mute()
            self._leaving = asyncio.create_task(self._leave_message())
        elif action == "hang_up":
            self._on_end("voicemail")

    async def _leave_message(self) -> None:
        await self._watch.until_it_records()
        said = await self._conversation.fixed(self._config.message or None, self._config.recording_id, "hang_up")
        if said is None:
            self._on_end("voicemail")
        else:
            self._floor.close(said.text, "voicemail", said.sound)

    def close(self) -> None:
        self._watch.close()
        if self._leaving is not None:
            self._leaving.cancel()
