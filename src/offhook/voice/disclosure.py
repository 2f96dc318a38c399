"""The sentence that a call begins with: said whole, proved to be heard, and only then is the call recorded."""

import asyncio
from typing import Final

from offhook.voice import events
from offhook.voice.call_context import CallContext
from offhook.voice.config import DisclosureConfig
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.errors import AllModelsFailed
from offhook.voice.output.playback import Playback
from offhook.voice.output.utterance import Utterance
from offhook.voice.recording_switch import RecordingSwitch

CUT_OFF: Final = "cut_off"
NOT_CONFIRMED: Final = "not_confirmed"
NO_SOUND: Final = "recording_missing"


class Disclosure:
    """The disclosure of one call. Its proof is the far end's report that it played the sentence (``mark``), or, where
    the far end is not known to report that, the clock: everything was sent, at the speed of speech, and a second passed."""

    def __init__(
        self, config: DisclosureConfig | None, *, line: CallContext, playback: Playback, switch: RecordingSwitch | None
    ) -> None:
        self._config = config or DisclosureConfig()
        # not yet said
        self.is_due = config is not None
        # being said: nobody may interrupt
        self.is_speaking = False
        self._line = line
        self._playback = playback
        self._switch = switch
        self._waiting: asyncio.Task[None] | None = None

    async def say(self, conversation: Conversation, utterance: Utterance) -> None:
        """Says the sentence and gives the far end time to confirm it. Raises AllModelsFailed."""
        self.is_due = False
        text, recording = self._config.text or None, self._config.recording_id
        speech = await conversation.scripted_speech(text, recording, otherwise="nothing")
        if speech is None:
            self._report_missed(NO_SOUND)
            return
        conversation.told_first = speech.text
        self.is_speaking = True
        try:
            utterance.add_scripted(speech.text, speech.sound)
            await utterance.finish()
        except (asyncio.CancelledError, AllModelsFailed):
            self._report_missed(CUT_OFF)
            raise
        finally:
            self.is_speaking = False
            await utterance.cancel()
        self._judge(utterance)

    def _judge(self, utterance: Utterance) -> None:
        """Begins the recording when the sentence is proved to be heard."""
        sentences = utterance.sentences
        if self._playback.is_confirmed(sentences):
            self._report_played(utterance, "mark")
        elif not self._playback.is_sent_whole(sentences):
            self._report_missed(CUT_OFF)
        elif not self._line.leg.confirms_playback:
            self._report_played(utterance, "clock")
        else:
            self._waiting = asyncio.create_task(self._wait_confirmed(utterance))

    def _report_missed(self, reason: str) -> None:
        self._line.emit(events.DISCLOSURE_MISSED, {"reason": reason})

    async def close(self) -> None:
        """Gives up on a report that has not come when the call ends."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)

    async def _wait_confirmed(self, utterance: Utterance) -> None:
        """The far end is late: the call goes on without a recording until it reports."""
        try:
            is_confirmed = await self._playback.wait_confirmed(utterance.sentences)
        except asyncio.CancelledError:
            self._report_missed(NOT_CONFIRMED)
            raise
        if is_confirmed:
            self._report_played(utterance, "mark")
        else:
            self._report_missed(NOT_CONFIRMED)

    def _report_played(self, utterance: Utterance, proof: str) -> None:
        span = utterance.audible_span() or (self._line.now(), self._line.now())
        start_s, end_s = (round(at - self._line.started_at, 3) for at in span)
        self._line.emit(events.DISCLOSURE_PLAYED, {"start_s": start_s, "end_s": end_s, "proof": proof})
        if self._switch is not None:
            self._switch.begin("disclosure_played")
