"""OpenAI's voices and recognition, and those of every server with its format."""

from offhook.models.ports import ModelError, Stt
from offhook.models.providers.openai_compatible.http_requests import close_clients
from offhook.models.providers.openai_compatible.realtime import OpenAiRealtimeWire
from offhook.models.providers.openai_compatible.stt import OpenAiCompatibleStt
from offhook.models.providers.openai_compatible.tts import OpenAiCompatibleTts
from offhook.models.speech.vendor_factories import CHECK_TEXT, SocketSttVendor, route_for
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

_VOICES = ("alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse")
_STT_MODELS = ("gpt-4o-transcribe", "gpt-4o-mini-transcribe", "whisper-1")


def speech_vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    ears = SocketSttVendor(OpenAiRealtimeWire, parts)

    def build_voice(choice: ModelChoice) -> OpenAiCompatibleTts:
        return OpenAiCompatibleTts(choice, route_for(choice, parts))

    async def check_voice(choice: ModelChoice) -> None:
        if not [piece async for piece in build_voice(choice).speak(CHECK_TEXT)]:
            raise ModelError("tts_malformed", "The server's response contains no audio.", retryable=True)

    def recognizer(choice: ModelChoice) -> Stt:
        if is_realtime(choice):
            return ears.build(choice)
        return OpenAiCompatibleStt(choice, route_for(choice, parts))

    async def check_recognizer(choice: ModelChoice) -> None:
        if is_realtime(choice):
            await ears.check_access(choice)
        else:
            await OpenAiCompatibleStt(choice, route_for(choice, parts)).check_access()

    return (
        ModelVendor(
            "tts",
            "openai",
            "OpenAI, or any server that speaks its format",
            tuple(ModelInfo(name) for name in ("gpt-4o-mini-tts", "tts-1", "tts-1-hd")),
            build=build_voice,
            check=check_voice,
            voices=tuple(VoiceInfo(name, name.title()) for name in _VOICES),
            # self-hosted servers have their own voices
            accepts_voice=lambda voice: 0 < len(voice) <= 100 and voice.isprintable(),
            speeds=(0.25, 4.0),
            takes_any_model=True,
            close=close_clients,
        ),
        ModelVendor(
            "stt",
            "openai",
            "OpenAI, or any server that speaks its format",
            tuple(ModelInfo(name) for name in _STT_MODELS),
            build=recognizer,
            check=check_recognizer,
            detects_turns=True,
            takes_any_model=True,
            close=close_clients,
        ),
    )


def is_realtime(choice: ModelChoice) -> bool:
    """Returns True for OpenAI, which takes a stream; self-hosted servers transcribe utterances."""
    return choice.base_url is None or choice.model.startswith("gpt-")
