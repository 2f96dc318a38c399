"""Deepgram: voices and recognition."""

import re

from offhook.models.providers.deepgram.flux import ENGLISH, MULTILINGUAL_FLUX, DeepgramFluxWire
from offhook.models.providers.deepgram.stt import MULTILINGUAL_LANGUAGES, DeepgramSttWire
from offhook.models.providers.deepgram.tts import DeepgramTtsWire
from offhook.models.speech.stt_wire import SttWire
from offhook.models.speech.vendor_factories import SocketSttVendor, SocketTtsVendor
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

_VOICE = re.compile(r"[a-z0-9-]{1,60}")
_VOICES = ("thalia", "andromeda", "helena", "apollo", "arcas", "orion")


def make_wire(choice: ModelChoice) -> SttWire:
    return DeepgramFluxWire(choice) if choice.model.startswith("flux-") else DeepgramSttWire(choice)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    voices, ears = SocketTtsVendor(DeepgramTtsWire, parts), SocketSttVendor(make_wire, parts)
    return (
        ModelVendor(
            "tts",
            "deepgram",
            "Deepgram Aura",
            (ModelInfo("aura-2"), ModelInfo("aura")),
            build=voices.build,
            check=voices.check_access,
            voices=tuple(VoiceInfo(name, name.title(), ("en",)) for name in _VOICES),
            accepts_voice=lambda voice: _VOICE.fullmatch(voice) is not None,
            close=voices.close,
        ),
        ModelVendor(
            "stt",
            "deepgram",
            "Deepgram",
            (
                *(ModelInfo(name) for name in ("nova-3", "nova-2-phonecall", "nova-2")),
                ModelInfo(ENGLISH, languages=("en",)),
                ModelInfo(MULTILINGUAL_FLUX, languages=tuple(sorted(MULTILINGUAL_LANGUAGES))),
            ),
            build=ears.build,
            check=ears.check_access,
            detects_turns=True,
        ),
    )
