"""Speechmatics: recognition."""

from offhook.models.providers.speechmatics.stt import SpeechmaticsWire
from offhook.models.speech.vendor_factories import SocketEars
from offhook.models.vendors import AnyVendor, ModelInfo, Vendor, VendorParts


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    ears = SocketEars(SpeechmaticsWire, parts)
    return (
        Vendor(
            "stt",
            "speechmatics",
            "Speechmatics",
            (ModelInfo("enhanced"), ModelInfo("standard")),
            build=ears.build,
            check=ears.check,
        ),
    )
