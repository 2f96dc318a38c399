"""The answers of a speech-to-speech call: the model's own speech, and the cascade when the model fails."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, cast

from offhook.kit.audio import Codec
from offhook.models.ports import (
    CallModels,
    ItemRef,
    LlmEvent,
    LlmMessage,
    LlmRequest,
    ModelError,
    ModelRef,
    SessionReports,
    SpeechEvent,
    SpeechSession,
    SpeechToSpeech,
    SpokenPiece,
    TextDelta,
    ToolCalled,
)
from offhook.models.speech.speech_usage import SpeechUsage
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.llm_chain import CONTINUE, Emit, LlmChain
from offhook.voice.output.voice_level import AgentVolume, SpeechLeveler, VoiceLevel
from offhook.voice.safety.model_failover import ModelFailover
from offhook.voice.speech_to_speech.caller_audio import CallerAudio
from offhook.voice.speech_to_speech.live_session import LiveSession
from offhook.voice.speech_to_speech.spoken_line import SpokenLine
from offhook.voice.speech_to_speech.transcript_pacer import TranscriptPacer
from offhook.voice.speech_to_speech.voice_pace import VoicePace
from offhook.voice.usage_counter import UsageCounter

# A silent model is given up for the cascade; a filler has been said by then. Reasoning models begin after two seconds.
STALL_S: Final = 2.5
# A failure that comes sooner leaves time to try the model once more.
QUICK_FAILURE_S: Final = 0.8
# Frames between two checks whether the session has to be replaced.
LOOK_EVERY: Final = 5


class SpeechToSpeechAnswers:
    """Implements AnswerSource for one call. The caller's turns are ours to decide; the model hears them as audio."""

    def __init__(
        self,
        model: SpeechToSpeech,
        llm: LlmChain,
        *,
        cascade: ModelRef,
        codec: Codec,
        emit: Emit,
        usage: UsageCounter,
        volume: AgentVolume,
    ) -> None:
        """``cascade`` names the language model that takes over."""
        self._model = model
        self._llm = llm
        self._codec = codec
        self._usage = usage
        self._emit = emit
        self._time = current_inputs().time
        self._until_look = 0
        formats = model.session_formats(codec.sample_rate)
        self._spoken = formats.spoken
        self._volume = volume
        self._voice_level = VoiceLevel.of_voice(model)
        self._pace = VoicePace(model)
        self._circuit = ModelFailover([model.model_ref, cascade], emit)
        self._audio = CallerAudio(codec, formats.heard, model.capabilities.min_commit_s)
        self._live = LiveSession(model, formats, self._audio, SessionReports(self._count_usage), self._note_rotation)

    @classmethod
    def for_call(
        cls,
        models: CallModels,
        llm: LlmChain,
        *,
        codec: Codec,
        emit: Emit,
        usage: UsageCounter,
        volume: AgentVolume,
    ) -> "SpeechToSpeechAnswers | None":
        """Returns the answers of a call with these models; None without a model that speaks itself."""
        if models.realtime is None:
            return None
        cascade = models.llm[0].model_ref
        return cls(models.realtime, llm, cascade=cascade, codec=codec, emit=emit, usage=usage, volume=volume)

    def begin_call(self, conversation: Conversation) -> None:
        """Answers this conversation from now on; opens the first session while the greeting is prepared."""
        conversation.answers = self
        conversation.history.on_speech_cut = self.cut_speech
        self._live.open_soon()

    async def close(self) -> None:
        """Ends the session; what it has used is counted by then."""
        await self._live.close()

    # -- the caller -----------------------------------------------------------------------------------------------

    def feed_audio(self, payload: bytes, *, is_utterance: bool) -> None:
        """Accepts the caller's audio; ``is_utterance``: the caller is speaking."""
        self._audio.feed_frame(payload, is_utterance=is_utterance)
        self._until_look -= 1
        if self._until_look < 0 and self._circuit.current == 0:
            self._until_look = LOOK_EVERY
            self._live.replace_if_due()

    def discard_caller_audio(self) -> None:
        """Drops what was said since the last answer: it was no turn."""
        self._audio.discard_turn()

    @property
    def can_hear(self) -> bool:
        """Returns whether the model has heard something that no recognizer needs to write down."""
        return self._circuit.current == 0 and self._audio.has_speech

    # -- answers --------------------------------------------------------------------------------------------------

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent | SpokenPiece, None]:
        """Yields speech in the line's codec and tool calls, or the cascade's text after a failure."""
        self._circuit.return_to_preferred()
        has_retried = False
        while self._circuit.current == 0:
            began, pacer = self._time(), TranscriptPacer(self._codec.frame_bytes / 0.02, self._pace)
            try:
                async with aclosing(self._stream_speech(request, pacer)) as pieces:
                    async for piece in pieces:
                        yield piece
            except ModelError as error:
                self._live.drop_session(is_unanswered=not pacer.text)
                self._circuit.report_failure(error)
                if pacer.text:
                    request = _go_on_after(request, pacer.text)
                    yield TextDelta(" ")
                if error.retryable and not has_retried and self._time() - began < QUICK_FAILURE_S:
                    has_retried = True
                else:
                    self._circuit.fail_over(error)
            else:
                self._audio.forget_answered()
                self._circuit.mark_success()
                return
        self._audio.discard_turn()
        async with aclosing(self._llm.stream(request)) as stream:
            async for event in stream:
                yield event

    async def _stream_speech(
        self, request: LlmRequest, pacer: TranscriptPacer
    ) -> AsyncGenerator[SpokenPiece | ToolCalled, None]:
        try:
            async with asyncio.timeout(STALL_S):
                session = await self._live.take_session(request)
        except TimeoutError:
            raise self._stall_error() from None
        mirror = self._live.mirror
        assert mirror is not None
        system, *history = request.messages
        session.set_step(system.content, request.tools)
        mirror.match_history(history, self._audio)
        refs: dict[str, ItemRef] = {}
        calls: list[ToolCalled] = []
        try:
            async with aclosing(self._line_pieces(session, pacer, refs)) as pieces:
                async for piece in pieces:
                    calls += [piece] if isinstance(piece, ToolCalled) else []
                    yield piece
        finally:
            made = LlmMessage("assistant", pacer.text.strip(), tuple(piece.call for piece in calls))
            mirror.add_answer(made, list(refs.values()))

    async def _line_pieces(
        self, session: SpeechSession, pacer: TranscriptPacer, refs: dict[str, ItemRef]
    ) -> AsyncGenerator[SpokenPiece | ToolCalled, None]:
        """Yields the response in the line's codec, words together with the audio that says them."""
        line, item_id = self._open_line(), ""
        async with aclosing(cast(Any, session.stream_response())) as stream:
            while (event := await self._next_event(stream)) is not None:
                if isinstance(event, ToolCalled):
                    yield event
                    continue
                refs[event.item_id] = session.item_ref(event.item_id)
                item_id = event.item_id if event.text or event.audio else item_id
                audio = line.push(event.audio) if event.audio else b""
                text = pacer.push_piece(event.text, audio)
                if text or audio:
                    yield SpokenPiece(event.item_id, text, audio)
        rest, text = line.push(b"", is_last=True), pacer.release_rest()
        if item_id and (rest or text):
            yield SpokenPiece(item_id, text, rest)

    async def _next_event(self, stream: AsyncGenerator[SpeechEvent, None]) -> SpeechEvent | None:
        try:
            async with asyncio.timeout(STALL_S):
                return await anext(stream)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            raise self._stall_error() from None

    def _stall_error(self) -> ModelError:
        return ModelError("realtime_stalled", f"Nothing for {STALL_S:g} s.", retryable=True)

    def _open_line(self) -> SpokenLine:
        leveler = SpeechLeveler(self._voice_level, self._volume.level_db, self._codec.sample_rate)
        return SpokenLine(self._spoken, self._codec, leveler)

    def cut_speech(self, heard_ms: Mapping[str, int]) -> None:
        """Lets the model forget what it said, by item, after the milliseconds that were heard."""
        session = self._live.current_session
        if not self._model.capabilities.can_edit:
            # while the caller speaks there is time for a session that has never had the words
            self._live.replace_soon()
        elif session is not None:
            for item_id, milliseconds in heard_ms.items():
                session.truncate_item(item_id, milliseconds)

    # -- reports --------------------------------------------------------------------------------------------------

    def _count_usage(self, usage: SpeechUsage | None) -> None:
        self._usage.add_speech_usage(self._model.model_ref, usage)

    def _note_rotation(self) -> None:
        ref = self._model.model_ref
        self._emit(events.SESSION_REPLACED, {"provider": ref.provider, "model": ref.model})


def _go_on_after(request: LlmRequest, spoken: str) -> LlmRequest:
    said = LlmMessage("assistant", spoken.strip())
    instruction = LlmMessage("system", CONTINUE.format(spoken=spoken.strip()))
    return replace(request, messages=[*request.messages, said, instruction])
