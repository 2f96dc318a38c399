"""Voice packs: recognizers and voices in files on this machine, which the operator installed (docs/voices.md)."""

from dataclasses import replace

from offhook.models.ports import Stt, Tts
from offhook.models.providers.voice_pack.installed_packs import PROVIDER, InstalledPacks
from offhook.models.providers.voice_pack.stt import PackRecognizers
from offhook.models.providers.voice_pack.tts import PackVoices
from offhook.models.vendors import AnyVendor, ModelVendor, VendorContext

TITLE = "This machine"


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    """Returns the vendors, with the few programs that all calls of a process share."""
    settings = parts.settings
    packs = InstalledPacks(settings.data_dir / "voices")
    voices = PackVoices(packs)
    recognizers = PackRecognizers(packs, settings.stt_processes)

    def offer_voices(vendor: ModelVendor[Tts]) -> ModelVendor[Tts]:
        return replace(vendor, models=packs.offered_models("tts"), voices=packs.offered_voices())

    def offer_recognizers(vendor: ModelVendor[Stt]) -> ModelVendor[Stt]:
        return replace(vendor, models=packs.offered_models("stt"))

    return (
        ModelVendor(
            "tts",
            PROVIDER,
            TITLE,
            (),
            build=voices.build,
            check=voices.check,
            speeds=(0.5, 2.0),
            needs_key=False,
            takes_base_url=False,
            list_offers=offer_voices,
            close=voices.close,
        ),
        ModelVendor(
            "stt",
            PROVIDER,
            TITLE,
            (),
            build=recognizers.build,
            check=recognizers.check,
            needs_key=False,
            takes_base_url=False,
            list_offers=offer_recognizers,
            close=recognizers.close,
        ),
    )
