"""Google's Gemini."""

from offhook.models.http_clients import close_http_clients
from offhook.models.providers.google.llm import GoogleLlm
from offhook.models.vendors import AnyVendor, Choice, ModelInfo, Vendor, VendorParts

# Context windows from the vendor's model pages.
_MODELS = (
    ModelInfo("gemini-2.5-flash", 1_048_576),
    ModelInfo("gemini-2.5-flash-lite", 1_048_576),
    ModelInfo("gemini-3.5-flash", 1_048_576),
)


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    def build(choice: Choice) -> GoogleLlm:
        return GoogleLlm(choice, egress=parts.egress if choice.is_guarded else None)

    async def check(choice: Choice) -> None:
        await build(choice).check()

    return (
        Vendor(
            "llm",
            "google",
            "Google Gemini",
            _MODELS,
            build=build,
            check=check,
            takes_any_model=True,
            close=close_http_clients,
        ),
    )
