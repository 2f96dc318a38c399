"""Speechmatics: recognition."""

from offhook.models.providers.speechmatics.stt import SpeechmaticsWire
from offhook.models.speech.vendor_factories import SocketSttVendor
from offhook.models.vendors import AnyVendor, ModelInfo, ModelVendor, VendorContext


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    ears = SocketSttVendor(SpeechmaticsWire, parts)
    return (
        ModelVendor(
            "stt",
            "speechmatics",
            "Speechmatics",
            (ModelInfo("enhanced"), ModelInfo("standard")),
            build=ears.build,
            check=ears.check_access,
        ),
    )
