"""AssemblyAI: recognition."""

from offhook.models.providers.assemblyai.stt import ENGLISH, MULTILINGUAL, AssemblyAiWire
from offhook.models.speech.vendor_factories import SocketSttVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    ears = SocketSttVendor(AssemblyAiWire, parts)
    return (
        ModelVendor(
            "stt",
            "assemblyai",
            "AssemblyAI Universal-Streaming",
            (ModelInfo(ENGLISH), ModelInfo(MULTILINGUAL)),
            build=ears.build,
            check=ears.check_access,
            languages=("en", "es", "fr", "de", "it", "pt"),
        ),
    )
