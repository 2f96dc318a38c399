"""ElevenLabs: voices."""

import re

from offhook.models.providers.elevenlabs.tts import ElevenLabsWire
from offhook.models.speech.vendor_factories import SocketTtsVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext, VoiceInfo

_VOICE_ID = re.compile(r"[A-Za-z0-9]{20}")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    voices = SocketTtsVendor(ElevenLabsWire, parts)
    return (
        ModelVendor(
            "tts",
            "elevenlabs",
            "ElevenLabs",
            tuple(ModelInfo(name) for name in ("eleven_flash_v2_5", "eleven_turbo_v2_5", "eleven_multilingual_v2")),
            build=voices.build,
            check=voices.check_access,
            voices=(
                VoiceInfo("21m00Tcm4TlvDq8ikWAM", "Rachel"),
                VoiceInfo("EXAVITQu4vr4xnSDxMaL", "Sarah"),
                VoiceInfo("JBFqnCBsd6RMkjVDRZzb", "George"),
                VoiceInfo("pNInz6obpgDQGcFmaJgB", "Adam"),
            ),
            accepts_voice=lambda voice: _VOICE_ID.fullmatch(voice) is not None,
            speeds=(0.7, 1.2),
            close=voices.close,
        ),
    )
