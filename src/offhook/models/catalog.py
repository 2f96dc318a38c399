"""Every vendor: one folder in ``providers`` and one line here."""

from collections.abc import Iterable
from importlib import import_module
from typing import Final

from offhook.models.errors import UnknownModel
from offhook.models.vendors import AnyVendor, Kind, VendorContext

# Answers list vendors in this order. A folder's ``vendors()`` may offer several kinds and names.
PROVIDER_PACKAGES: Final = (
    "builtin",
    "voice_pack",
    "openai_compatible",
    "openai_realtime",
    "gemini_live",
    "xai_voice",
    "nova_sonic",
    "anthropic",
    "google",
    "elevenlabs",
    "cartesia",
    "deepgram",
    "rime",
    "assemblyai",
    "speechmatics",
)


class VendorCatalog:
    """The vendors of one process, by kind and name."""

    def __init__(self, vendors: Iterable[AnyVendor]) -> None:
        self._vendors: dict[tuple[Kind, str], AnyVendor] = {}
        for vendor in vendors:
            key = (vendor.kind, vendor.provider)
            if key in self._vendors:
                raise ValueError(f"two vendors are {vendor.kind} {vendor.provider}")
            self._vendors[key] = vendor

    @classmethod
    def load_providers(cls, parts: VendorContext) -> "VendorCatalog":
        """Returns all vendors without loading their SDKs."""
        modules = [import_module(f"offhook.models.providers.{folder}") for folder in PROVIDER_PACKAGES]
        return cls(vendor for module in modules for vendor in module.vendors(parts))

    def list_vendors(self, kind: Kind | None = None) -> list[AnyVendor]:
        return [vendor.with_offers() for vendor in self._vendors.values() if kind in (None, vendor.kind)]

    def find_vendor(self, kind: Kind, provider: object) -> AnyVendor:
        """Returns the vendor; raises UnknownModel (422), which names the allowed ones."""
        vendor = self._vendors.get((kind, provider)) if isinstance(provider, str) else None
        if vendor is None:
            allowed = ", ".join(other.provider for other in self.list_vendors(kind))
            raise UnknownModel(f"models.{kind}.provider", f"is {provider!r:.80}; allowed: {allowed}.")
        return vendor.with_offers()
