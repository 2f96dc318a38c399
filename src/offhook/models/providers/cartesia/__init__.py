"""Cartesia: voices."""

import re

from offhook.models.providers.cartesia.tts import CartesiaWire
from offhook.models.speech.vendor_factories import SocketTtsVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext, VoiceInfo

_VOICE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    voices = SocketTtsVendor(CartesiaWire, parts)
    return (
        ModelVendor(
            "tts",
            "cartesia",
            "Cartesia",
            tuple(ModelInfo(name) for name in ("sonic-3.5", "sonic-3", "sonic-turbo")),
            build=voices.build,
            check=voices.check_access,
            voices=(
                VoiceInfo("f786b574-daa5-4673-aa0c-cbe3e8534c02", "Katie"),
                VoiceInfo("a0e99841-438c-4a64-b679-ae501e7d6091", "The voice of the vendor's examples"),
            ),
            accepts_voice=lambda voice: _VOICE_ID.fullmatch(voice) is not None,
            speeds=(0.6, 1.5),
            close=voices.close,
        ),
    )
