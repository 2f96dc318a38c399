"""Rime: voices."""

import re

from offhook.models.providers.rime.tts import RimeWire
from offhook.models.speech.vendor_factories import SocketTtsVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext, VoiceInfo

_VOICE = re.compile(r"[A-Za-z0-9_-]{1,60}")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    voices = SocketTtsVendor(RimeWire, parts)
    return (
        ModelVendor(
            "tts",
            "rime",
            "Rime",
            tuple(ModelInfo(name) for name in ("coda", "arcana", "mistv2")),
            build=voices.build,
            check=voices.check_access,
            voices=(VoiceInfo("astra", "Astra"), VoiceInfo("celeste", "Celeste"), VoiceInfo("cove", "Cove", ("en",))),
            accepts_voice=lambda voice: _VOICE.fullmatch(voice) is not None,
            speeds=(0.5, 2.0),
            close=voices.close,
        ),
    )
