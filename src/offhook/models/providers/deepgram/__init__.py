"""Deepgram: voices and recognition."""

import re

from offhook.models.providers.deepgram.stt import DeepgramEarWire
from offhook.models.providers.deepgram.tts import DeepgramVoiceWire
from offhook.models.speech.vendor_factories import SocketEars, SocketVoices
from offhook.models.vendors import AnyVendor, ModelInfo, Vendor, VendorParts, VoiceInfo

_VOICE = re.compile(r"[a-z0-9-]{1,60}")
_VOICES = ("thalia", "andromeda", "helena", "apollo", "arcas", "orion")


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    voices, ears = SocketVoices(DeepgramVoiceWire, parts), SocketEars(DeepgramEarWire, parts)
    return (
        Vendor(
            "tts",
            "deepgram",
            "Deepgram Aura",
            (ModelInfo("aura-2"), ModelInfo("aura")),
            build=voices.build,
            check=voices.check,
            voices=tuple(VoiceInfo(name, name.title(), ("en",)) for name in _VOICES),
            accepts_voice=lambda voice: _VOICE.fullmatch(voice) is not None,
            close=voices.close,
        ),
        Vendor(
            "stt",
            "deepgram",
            "Deepgram Nova",
            tuple(ModelInfo(name) for name in ("nova-3", "nova-2-phonecall", "nova-2")),
            build=ears.build,
            check=ears.check,
        ),
    )
