"""AssemblyAI: recognition."""

from offhook.models.providers.assemblyai.stt import ENGLISH, MULTILINGUAL, AssemblyAiWire
from offhook.models.speech.vendor_factories import SocketEars
from offhook.models.vendors import AnyVendor, ModelInfo, Vendor, VendorParts


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    ears = SocketEars(AssemblyAiWire, parts)
    return (
        Vendor(
            "stt",
            "assemblyai",
            "AssemblyAI Universal-Streaming",
            (ModelInfo(ENGLISH), ModelInfo(MULTILINGUAL)),
            build=ears.build,
            check=ears.check,
            languages=("en", "es", "fr", "de", "it", "pt"),
        ),
    )
