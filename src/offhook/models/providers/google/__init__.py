"""Google's Gemini."""

from offhook.models.http_clients import close_http_clients
from offhook.models.providers.google.llm import GoogleLlm
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext

# Context windows from the vendor's model pages.
_MODELS = (
    ModelInfo("gemini-2.5-flash", 1_048_576),
    ModelInfo("gemini-2.5-flash-lite", 1_048_576),
    ModelInfo("gemini-3.5-flash", 1_048_576),
)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build_llm(choice: ModelChoice) -> GoogleLlm:
        return GoogleLlm(choice, egress=parts.egress if choice.is_guarded else None)

    async def check_llm(choice: ModelChoice) -> None:
        await build_llm(choice).check_access()

    return (
        ModelVendor(
            "llm",
            "google",
            "Google Gemini",
            _MODELS,
            build=build_llm,
            check=check_llm,
            takes_any_model=True,
            close=close_http_clients,
        ),
    )
