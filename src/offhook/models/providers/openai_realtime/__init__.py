"""OpenAI's Realtime models: they hear the caller and speak themselves."""

from offhook.models.providers.openai_realtime.dialect import OpenAiRealtimeDialect
from offhook.models.speech.realtime_events.model import RealtimeEventsVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext, VoiceInfo

# Context windows from the vendor's model pages.
_MODELS = (
    ModelInfo("gpt-realtime-2", 128_000),
    ModelInfo("gpt-realtime-1.5", 32_000),
    ModelInfo("gpt-realtime-2.1-mini", 128_000),
)
_VOICES = ("marin", "cedar", "alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    ours = RealtimeEventsVendor(OpenAiRealtimeDialect(), parts)
    return (
        ModelVendor(
            "realtime",
            "openai_realtime",
            "OpenAI Realtime",
            _MODELS,
            build=ours.build,
            check=ours.check_access,
            voices=tuple(VoiceInfo(name, name.title()) for name in _VOICES),
            takes_any_model=True,
            key_provider="openai",
        ),
    )
