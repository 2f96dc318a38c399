"""Each vendor's voice and recognizer beside its emulator: what every test of this folder runs through."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from offhook.kit.audio import MULAW_8K, Resampler, Samples
from offhook.models.ports import SttEvent, SttStream
from offhook.models.providers.assemblyai.stt import AssemblyAiWire
from offhook.models.providers.cartesia.tts import CartesiaWire
from offhook.models.providers.deepgram.flux import DeepgramFluxWire
from offhook.models.providers.deepgram.stt import DeepgramSttWire
from offhook.models.providers.deepgram.tts import DeepgramTtsWire
from offhook.models.providers.elevenlabs.tts import ElevenLabsWire
from offhook.models.providers.openai_compatible.realtime import OpenAiRealtimeWire
from offhook.models.providers.openai_compatible.tts import OpenAiCompatibleTts
from offhook.models.providers.rime.tts import RimeWire
from offhook.models.providers.speechmatics.stt import SpeechmaticsWire
from offhook.models.speech.stt import SocketStt
from offhook.models.speech.stt_wire import SttWire
from offhook.models.speech.tts import SocketTts, TtsWire
from offhook.models.vendors import ModelChoice
from offhook_lab.speech.flux import FluxServer
from offhook_lab.speech.openai_audio import OpenAiAudioServer
from offhook_lab.speech.recognizers import (
    AssemblyAiServer,
    DeepgramRecognizerServer,
    OpenAiRealtimeServer,
    RecognizerServer,
    SpeechmaticsServer,
)
from offhook_lab.speech.tones import read_tones, speak_tones
from offhook_lab.speech.voices import (
    CartesiaServer,
    DeepgramVoiceServer,
    ElevenLabsServer,
    RimeServer,
    VoiceServer,
)
from tests.fakes.clock import run_virtual

KEY = "lab-key"


@dataclass(frozen=True)
class Voice:
    name: str
    server: Callable[[], VoiceServer]
    wire: Callable[[ModelChoice], TtsWire]
    model: str
    voice: str


@dataclass(frozen=True)
class Ears:
    name: str
    server: Callable[[], RecognizerServer]
    wire: Callable[[ModelChoice], SttWire]
    model: str

    @property
    def provider(self) -> str:
        return self.name.partition(" ")[0]


VOICES = (
    Voice("elevenlabs", ElevenLabsServer, ElevenLabsWire, "eleven_flash_v2_5", "21m00Tcm4TlvDq8ikWAM"),
    Voice("cartesia", CartesiaServer, CartesiaWire, "sonic-3", "f786b574-daa5-4673-aa0c-cbe3e8534c02"),
    Voice("deepgram", DeepgramVoiceServer, DeepgramTtsWire, "aura-2", "thalia"),
    Voice("rime", RimeServer, RimeWire, "coda", "astra"),
)
EARS = (
    Ears("deepgram", DeepgramRecognizerServer, DeepgramSttWire, "nova-3"),
    Ears("assemblyai", AssemblyAiServer, AssemblyAiWire, "universal-streaming-english"),
    Ears("speechmatics", SpeechmaticsServer, SpeechmaticsWire, "enhanced"),
    Ears("openai", OpenAiRealtimeServer, OpenAiRealtimeWire, "gpt-4o-transcribe"),
    Ears("deepgram flux", FluxServer, DeepgramFluxWire, "flux-general-en"),
)


def tts_choice(vendor: Voice, url: str, *, key: str = KEY, voice: str = "", **more: Any) -> ModelChoice:
    return ModelChoice(
        "tts",
        vendor.name,
        vendor.model,
        api_key=key,
        base_url=url,
        is_own_network=True,
        voice_id=voice or vendor.voice,
        **more,
    )


def stt_choice(vendor: Ears, url: str, *, key: str = KEY, **more: Any) -> ModelChoice:
    base = url + "/v1" if vendor.name == "openai" else url
    return ModelChoice("stt", vendor.provider, vendor.model, api_key=key, base_url=base, is_own_network=True, **more)


@asynccontextmanager
async def talking(vendor: Voice, *, rate: int = 8000, **choice: Any) -> AsyncIterator[tuple[SocketTts, VoiceServer]]:
    """The vendor's voice connected to its emulator."""
    async with vendor.server().running() as server:
        voice = SocketTts(vendor.wire(tts_choice(vendor, server.url, **choice)), sample_rate=rate)
        try:
            yield voice, server
        finally:
            await voice.close()


@asynccontextmanager
async def listening(vendor: Ears, **choice: Any) -> AsyncIterator[tuple[SocketStt, RecognizerServer]]:
    async with vendor.server().running() as server:
        yield SocketStt(vendor.wire(stt_choice(vendor, server.url, **choice))), server


@asynccontextmanager
async def openai_talking(**choice: Any) -> AsyncIterator[tuple[OpenAiCompatibleTts, OpenAiAudioServer]]:
    async with OpenAiAudioServer().running() as server:
        fields: dict[str, Any] = {"api_key": KEY, "base_url": server.url, "voice_id": "alloy", **choice}
        yield (
            OpenAiCompatibleTts(ModelChoice("tts", "openai", "gpt-4o-mini-tts", is_own_network=True, **fields)),
            server,
        )


def virtually(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a scenario with real sockets on virtual time."""
    run_virtual(scenario(), has_sockets=True)


def spoken_words(pcm: bytes, rate: int) -> list[str]:
    """What a voice really said."""
    return read_tones(np.frombuffer(pcm, "<i2"), rate)


def at_8000(pcm: bytes, rate: int) -> Samples:
    resampler = Resampler(rate, 8000)
    return np.concatenate((resampler.push(pcm), resampler.push(b"", is_last=True)))


def caller_audio(text: str, rate: int, *, quiet_s: float = 0.8) -> bytes:
    """A caller who says the text and then is quiet; over the telephone (8000 Hz) it has been mu-law."""
    samples = np.concatenate((np.zeros(int(0.1 * rate), np.int16), speak_tones(text, rate)))
    samples = np.concatenate((samples, np.zeros(int(quiet_s * rate), np.int16)))
    if rate == 8000:
        samples = MULAW_8K.decode(MULAW_8K.encode(samples))
    return samples.tobytes()


class Transcript:
    """Reads a stream's events beside the test."""

    def __init__(self, stream: SttStream) -> None:
        self._stream = stream
        self.events: list[SttEvent] = []

    async def read(self) -> None:
        async for event in self._stream.events():
            self.events.append(event)

    @property
    def finals(self) -> str:
        return " ".join(event.text for event in self.events if event.kind == "final" and event.text)

    @property
    def partials(self) -> list[str]:
        return [event.text for event in self.events if event.kind == "partial"]

    @property
    def endpoints(self) -> int:
        return sum(1 for event in self.events if event.is_endpoint)
