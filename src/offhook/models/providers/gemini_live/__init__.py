"""Google's Gemini Live models: they hear the caller and speak themselves."""

from offhook.models.providers.gemini_live.model import GeminiLiveModel
from offhook.models.speech.vendor_factories import route_for
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

# Context window from the vendor's model page. Earlier models take instructions and functions only when a session begins.
_MODELS = (ModelInfo("gemini-3.8-live", 131_072),)
_VOICES = (
    "Kore",
    "Aoede",
    "Charon",
    "Fenrir",
    "Leda",
    "Orus",
    "Puck",
    "Zephyr",
    "Achernar",
    "Algieba",
    "Despina",
    "Sulafat",
)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build(choice: ModelChoice) -> GeminiLiveModel:
        return GeminiLiveModel(choice, route_for(choice, parts))

    async def check(choice: ModelChoice) -> None:
        await build(choice).check_access()

    return (
        ModelVendor(
            "realtime",
            "gemini_live",
            "Gemini Live",
            _MODELS,
            build=build,
            check=check,
            voices=tuple(VoiceInfo(name, name) for name in _VOICES),
            takes_any_model=True,
            key_provider="google",
        ),
    )
