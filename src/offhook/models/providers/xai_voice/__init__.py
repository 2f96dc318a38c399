"""xAI's Voice Agent models (Grok): they hear the caller and speak themselves."""

from typing import Final

from offhook.models.providers.xai_voice.dialect import LATEST, XaiVoiceDialect
from offhook.models.speech.realtime_events.model import RealtimeEventsVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext, VoiceInfo

# The vendor publishes no context window for them.
_MODELS: Final = (
    ModelInfo("grok-voice-think-fast-2.0"),
    ModelInfo("grok-voice-think-fast-1.0"),
    ModelInfo(LATEST),
)
# The vendor's documented voices, its default first.
_VOICES: Final = (
    *("eve", "ara", "leo", "rex", "sal", "carina", "zagan", "helix", "orion", "luna", "iris", "altair", "zenith"),
    *("perseus", "helios", "lux", "kepler", "rigel", "cosmo", "celeste", "ursa", "sirius", "lumen", "castor", "naksh"),
    "atlas",
)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    ours = RealtimeEventsVendor(XaiVoiceDialect(), parts)
    return (
        ModelVendor(
            "realtime",
            "xai_voice",
            "xAI Voice",
            _MODELS,
            build=ours.build,
            check=ours.check_access,
            voices=tuple(VoiceInfo(name, name.title()) for name in _VOICES),
            takes_any_model=True,
        ),
    )
