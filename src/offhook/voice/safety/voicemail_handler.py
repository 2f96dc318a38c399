"""Handles an answering machine: hangs up, leaves a message, or keeps talking."""

import asyncio
from collections.abc import Callable

from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallContext
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.safety.voicemail_detector import VoicemailConfig, VoicemailDetector


class VoicemailHandler:
    """Handles voicemail in one call. ``is_outbound``: only a called party can be a machine. ``on_end`` gets the
    reason. ``detector`` gets what the caller says."""

    def __init__(
        self,
        config: VoicemailConfig,
        *,
        line: CallContext,
        conversation: Conversation,
        floor: AgentTurns,
        is_outbound: bool,
        on_end: Callable[[str], None],
    ) -> None:
        self._config = config
        self._line = line
        self._conversation = conversation
        self._floor = floor
        self._on_end = on_end
        self.detector = VoicemailDetector(
            config, is_on=config.is_on and is_outbound, since_start=line.since_start, on_found=self.on_detected
        )
        self._leaving: asyncio.Task[None] | None = None

    def on_detected(self, by: str) -> None:
        """Handles a detected machine; ``by`` is the detector (carrier, or see :class:`VoicemailDetector`).
        Idempotent."""
        if self.detector.is_detected:
            return
        self.detector.is_detected = True
        # An agent that is already saying goodbye says it to the machine.
        action = "continue" if self._floor.is_closing else self._config.action
        self._line.emit(events.VOICEMAIL_DETECTED, {"by": by, "action": action})
        if action == "message":
            self._floor.mute()
            self._leaving = asyncio.create_task(self._leave_message())
        elif action == "hang_up":
            self._on_end("voicemail")

    async def _leave_message(self) -> None:
        await self.detector.wait_until_recording()
        phrase = await self._conversation.scripted_speech(
            self._config.message or None, self._config.recording_id, "hang_up"
        )
        if phrase is None:
            self._on_end("voicemail")
        else:
            self._floor.end_with_phrase(phrase.text, "voicemail", phrase.sound)

    def close(self) -> None:
        self.detector.close()
        if self._leaving is not None:
            self._leaving.cancel()
