"""The vendor's session of one call: opened, replaced before its limit or when it is lost, with the same conversation."""

import asyncio
from collections.abc import Callable
from typing import Final

from offhook.models.ports import LlmRequest, ModelError, SessionReports, SpeechSession, SpeechToSpeech
from offhook.models.speech.formats import SessionFormats
from offhook.voice.call_inputs import current_inputs
from offhook.voice.speech_to_speech.caller_audio import CallerAudio
from offhook.voice.speech_to_speech.conversation_mirror import ConversationMirror

# A session is replaced after this share of the time that its vendor gives it, which some measure more strictly.
ROTATE_AFTER: Final = 5 / 6
# A replacement that could not be opened is tried again after this long; the old session goes on.
RETRY_ROTATION_S: Final = 60.0


class LiveSession:
    """Opens sessions in the background. Only :meth:`take_session` fails, and only when there is nothing to speak with."""

    def __init__(
        self,
        model: SpeechToSpeech,
        formats: SessionFormats,
        audio: CallerAudio,
        reports: SessionReports,
        on_rotation: Callable[[], None],
    ) -> None:
        self._model = model
        self._formats = formats
        self._audio = audio
        self._reports = reports
        self._on_rotation = on_rotation
        self._time = current_inputs().time
        self._session: SpeechSession | None = None
        self._next: asyncio.Task[SpeechSession] | None = None
        self._rotate_at = float("inf")
        self._closing: set[asyncio.Task[None]] = set()
        self.mirror: ConversationMirror | None = None

    def open_soon(self) -> None:
        """Begins to open a session, if none is there and none is on its way."""
        if self._next is None:
            self._next = asyncio.create_task(self._model.open_session(self._formats, self._reports))

    def replace_if_due(self) -> None:
        """Starts to replace a session that is lost or old. Called every few frames, so it only checks."""
        session = self._session
        if session is None or self._next is not None:
            return
        if not session.is_open or session.is_expiring or self._time() >= self._rotate_at:
            self.open_soon()

    def replace_soon(self) -> None:
        """Lets another session take over at the next answer."""
        self._rotate_at = self._time()
        self.replace_if_due()

    async def take_session(self, request: LlmRequest) -> SpeechSession:
        """Returns the session to speak with, which can go on with this request. Called between responses: a replacement
        takes over here. Raises ModelError."""
        self.replace_if_due()
        session = self._session if self._can_go_on(request) else None
        if session is not None and (self._next is None or not self._next.done()):
            return session
        self.open_soon()
        assert self._next is not None
        opening = self._next
        try:
            # whoever waits may be interrupted; the session opens for the next answer then
            opened = await asyncio.shield(opening)
        except ModelError:
            self._rotate_at = self._time() + RETRY_ROTATION_S
            if session is not None:
                return session
            raise
        finally:
            if opening.done():
                self._next = None
        self._adopt_session(opened)
        return opened

    def _can_go_on(self, request: LlmRequest) -> bool:
        if self._session is None or not self._session.is_open or self.mirror is None:
            return False
        system, *history = request.messages
        if not self._session.accepts_step(system.content, request.tools):
            return False
        can = self._model.capabilities
        return can.can_edit or self.mirror.can_append(history, takes_notes=can.takes_notes)

    def _adopt_session(self, opened: SpeechSession) -> None:
        has_replaced = self._session is not None
        self.drop_session()
        limit_s = self._model.capabilities.max_session_s
        self._session, self.mirror = opened, ConversationMirror(opened)
        self._rotate_at = float("inf") if limit_s is None else self._time() + limit_s * ROTATE_AFTER
        self._audio.attach_session(opened)
        if has_replaced:
            self._on_rotation()

    @property
    def current_session(self) -> SpeechSession | None:
        return self._session

    def drop_session(self, *, is_unanswered: bool = False) -> None:
        """Gives the session up; ``is_unanswered``: the next one gets the last turn of the caller again."""
        session, self._session = self._session, None
        self.mirror = None
        self._audio.detach_session(is_unanswered=is_unanswered)
        if session is not None:
            task = asyncio.create_task(session.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        opening, self._next = self._next, None
        if opening is not None:
            opening.cancel()
            results = await asyncio.gather(opening, return_exceptions=True)
            if not isinstance(results[0], BaseException):
                await results[0].close()
        self.drop_session()
        await asyncio.gather(*self._closing)
