"""``/v1/audio/transcriptions`` of self-hosted servers (speaches, whisper.cpp, vLLM …): one request per utterance.

Such servers do not stream: our own voice detection cuts the utterances, and silence ends the turn.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from offhook.kit.audio import encode_wav
from offhook.kit.json_values import parse_json
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.providers.openai_compatible.http_requests import post_request
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import short_language
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.stt_events import SttEventQueue, read_stt_events
from offhook.models.vendors import ModelChoice

BASE_URL: Final = "https://api.openai.com/v1"
ANSWER_TIMEOUT_S: Final = 8.0
# Audio kept from before our voice detection notices the first sound.
PREROLL_S: Final = 0.4
# A caller who does not pause is transcribed in pieces: whisper handles 30 s at a time.
MAX_UTTERANCE_S: Final = 25.0
RETRY_DELAY_S: Final = 0.2
MAX_TERMS: Final = 30


class OpenAiCompatibleStt:
    """Implements Stt."""

    has_endpointing = False
    judges_turns = False

    def __init__(
        self, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE, answer_s: float = ANSWER_TIMEOUT_S
    ) -> None:
        self._choice = choice
        self._route = way
        self._answer_s = answer_s
        self._errors = VendorErrors("stt", choice.api_key)
        self.model_ref = ModelRef("stt", choice.provider, choice.model)

    async def open_stream(self, *, sample_rate: int, language: str) -> "UtteranceSttStream":
        return UtteranceSttStream(self, sample_rate, short_language(language))

    async def check_access(self) -> None:
        """Transcribes a short silence. Raises ModelError."""
        await self._request_transcript(encode_wav(bytes(8000), 8000), short_language(self._choice.language), ())

    async def transcribe(self, wav: bytes, language: str, terms: tuple[str, ...]) -> str:
        """Returns the words of a WAV file; retries once when that may help."""
        try:
            return await self._request_transcript(wav, language, terms)
        except ModelError as error:
            if not error.retryable or error.code == "stt_timeout":
                raise
        await asyncio.sleep(RETRY_DELAY_S)
        return await self._request_transcript(wav, language, terms)

    async def _request_transcript(self, wav: bytes, language: str, terms: tuple[str, ...]) -> str:
        fields: dict[str, Any] = {"model": self._choice.model, "response_format": "json"}
        if len(self._choice.languages) < 2:  # without a language, the model finds it out
            fields["language"] = language
        if terms:
            fields["prompt"] = ", ".join(terms)
        url = (self._choice.base_url or BASE_URL).rstrip("/") + "/audio/transcriptions"
        files = {"file": ("utterance.wav", wav, "audio/wav")}
        async with post_request(
            url, self._choice.api_key, self._errors, self._answer_s, self._route, data=fields, files=files
        ) as response:
            try:
                async with asyncio.timeout(self._answer_s):
                    found = parse_json(await response.aread())
                return str(found["text"]).strip()
            except TimeoutError:
                raise self._errors.timeout_error("transcript", self._answer_s) from None
            except (ValueError, LookupError, TypeError, ArithmeticError) as error:
                raise self._errors.malformed_error(f"no transcript: {type(error).__name__}") from error


class UtteranceSttStream:
    """Implements SttStream."""

    def __init__(self, stt: OpenAiCompatibleStt, sample_rate: int, language: str) -> None:
        self._stt = stt
        self._rate = sample_rate
        self._language = language
        self._terms: tuple[str, ...] = ()
        self._audio = bytearray()
        self._is_speaking = False
        self._work: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._events: SttEventQueue = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._transcribe_queue())
        self.sent_s = 0.0

    def push_audio(self, pcm: bytes) -> None:
        self._audio += pcm
        if not self._is_speaking:
            keep = int(PREROLL_S * self._rate) * 2
            if len(self._audio) > 2 * keep:
                del self._audio[:-keep]
        elif len(self._audio) >= MAX_UTTERANCE_S * self._rate * 2:
            self._end_utterance()

    def speech_started(self) -> None:
        self._is_speaking = True

    def speech_ended(self) -> None:
        if self._is_speaking:
            self._is_speaking = False
            self._end_utterance()

    def set_expectation(self, expectation: Expectation) -> None:
        self._terms = expectation.phrases[:MAX_TERMS]

    def events(self) -> AsyncIterator[SttEvent]:
        return read_stt_events(self._events)

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._events.put_nowait(None)

    def _end_utterance(self) -> None:
        self._work.put_nowait(bytes(self._audio))
        self._audio.clear()

    async def _transcribe_queue(self) -> None:
        while (pcm := await self._work.get()) is not None:
            self.sent_s += len(pcm) / 2 / self._rate
            try:
                text = await self._stt.transcribe(encode_wav(pcm, self._rate), self._language, self._terms)
            except ModelError as error:
                self._events.put_nowait(error)
                return
            if text:
                self._events.put_nowait(SttEvent("final", text))
