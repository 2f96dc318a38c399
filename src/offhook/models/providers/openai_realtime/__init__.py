"""OpenAI's Realtime models: they hear the caller and speak themselves."""

from offhook.models.providers.openai_realtime.model import OpenAiRealtimeModel
from offhook.models.speech.vendor_factories import route_for
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

# Context windows from the vendor's model pages.
_MODELS = (
    ModelInfo("gpt-realtime-2", 128_000),
    ModelInfo("gpt-realtime-1.5", 32_000),
    ModelInfo("gpt-realtime-2.1-mini", 128_000),
)
_VOICES = ("marin", "cedar", "alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build(choice: ModelChoice) -> OpenAiRealtimeModel:
        return OpenAiRealtimeModel(choice, route_for(choice, parts))

    async def check(choice: ModelChoice) -> None:
        await build(choice).check_access()

    return (
        ModelVendor(
            "realtime",
            "openai_realtime",
            "OpenAI Realtime",
            _MODELS,
            build=build,
            check=check,
            voices=tuple(VoiceInfo(name, name.title()) for name in _VOICES),
            takes_any_model=True,
            key_provider="openai",
        ),
    )
