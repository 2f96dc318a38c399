"""Amazon's Nova Sonic models on Bedrock: they hear the caller and speak themselves."""

from typing import Final

from offhook.models.providers.nova_sonic.model import NovaSonicModel
from offhook.models.speech.vendor_factories import route_for
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

# The first generation takes no text during a call, which keys and openings need.
_MODELS: Final = (ModelInfo("amazon.nova-2-sonic-v1:0", 1_000_000),)
# From the vendor's user guide; the first two speak all of its languages.
_VOICES: Final = ("tiffany", "matthew", "amy", "olivia", "kiara", "arjun", "ambre", "florian", "beatrice", "lorenzo")
_VOICES_2: Final = ("tina", "lennart", "lupe", "carlos", "carolina", "leo")
# Where the vendor offers the model.
REGIONS: Final = ("us-east-1", "us-west-2", "eu-north-1", "ap-northeast-1")


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build(choice: ModelChoice) -> NovaSonicModel:
        return NovaSonicModel(choice, route_for(choice, parts))

    async def check(choice: ModelChoice) -> None:
        await build(choice).check_access()

    return (
        ModelVendor(
            "realtime",
            "nova_sonic",
            "Amazon Nova Sonic",
            _MODELS,
            build=build,
            check=check,
            voices=tuple(VoiceInfo(name, name.title()) for name in (*_VOICES, *_VOICES_2)),
            takes_any_model=True,
            needs_access_key_id=True,
            regions=REGIONS,
        ),
    )
