"""OpenAI's ``/v1/audio/speech`` and every server with its format (Kokoro-FastAPI, speaches …): streams 24 kHz PCM."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from offhook.models.ports import ModelRef
from offhook.models.providers.openai_compatible.http_requests import post_request
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.tts import TtsLimits
from offhook.models.vendors import ModelChoice

BASE_URL: Final = "https://api.openai.com/v1"
SAMPLE_RATE: Final = 24000
# Some servers always answer with WAV.
WAV_HEADER_BYTES: Final = 44


@dataclass(slots=True)
class _PcmAssembler:
    """Assembles whole samples from pieces of any size and strips a WAV header."""

    is_begun: bool = False
    rest: bytes = b""

    def add_piece(self, piece: bytes, errors: VendorErrors) -> bytes:
        data = self.rest + piece
        if not self.is_begun:
            if data[:4] == b"RIFF"[: len(data)] and len(data) < WAV_HEADER_BYTES:
                self.rest = data
                return b""
            self.is_begun = True
            if data[:4] == b"RIFF":
                rate = int.from_bytes(data[24:28], "little")
                if rate != SAMPLE_RATE:
                    raise errors.malformed_error(f"WAV of {rate} Hz where PCM of {SAMPLE_RATE} Hz was asked for")
                data = data[WAV_HEADER_BYTES:]
        self.rest = data[len(data) & ~1 :]
        return data[: len(data) & ~1]


class OpenAiCompatibleTts:
    """Implements Tts. A barge-in closes the request and with it the connection: HTTP has no other way to stop."""

    sample_rate = SAMPLE_RATE

    def __init__(self, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE, limits: TtsLimits | None = None) -> None:
        self._choice = choice
        self._limits = limits or TtsLimits()
        self._errors = VendorErrors("tts", choice.api_key)
        self._route = way
        self.model_ref = ModelRef("tts", choice.provider, choice.model)
        self.characters = 0

    async def speak(self, text: str) -> AsyncGenerator[bytes, None]:
        if not text.strip():
            return
        choice = self._choice
        body: dict[str, Any] = {
            "model": choice.model,
            "voice": choice.voice_id,
            "input": text,
            "response_format": "pcm",
        }
        if choice.speed != 1:
            body["speed"] = choice.speed
        self.characters += len(text)
        url = (choice.base_url or BASE_URL).rstrip("/") + "/audio/speech"
        pcm = _PcmAssembler()
        async with post_request(
            url, choice.api_key, self._errors, self._limits.first_byte_s, self._route, json=body
        ) as response:
            pieces = response.aiter_raw()
            limit = self._limits.first_byte_s
            while (piece := await self._next_piece(pieces, limit)) is not None:
                limit = self._limits.stall_s
                if audio := pcm.add_piece(piece, self._errors):
                    yield audio
        if not pcm.is_begun:
            raise self._errors.malformed_error("an answer without audio")

    async def _next_piece(self, pieces: AsyncIterator[bytes], limit_s: float) -> bytes | None:
        try:
            async with asyncio.timeout(limit_s):
                return await anext(pieces, None)
        except TimeoutError:
            raise self._errors.timeout_error("audio", limit_s) from None
