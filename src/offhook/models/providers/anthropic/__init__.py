"""Anthropic's Messages API."""

from offhook.models.http_clients import close_http_clients
from offhook.models.providers.anthropic.llm import AnthropicLlm
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext

# Context windows from the vendor's model pages. The first model answers soonest without thinking.
_MODELS = (
    ModelInfo("claude-haiku-4-5", 200_000),
    ModelInfo("claude-haiku-5-5", 1_000_000),
    ModelInfo("claude-sonnet-5-5", 1_000_000),
)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build_llm(choice: ModelChoice) -> AnthropicLlm:
        return AnthropicLlm(choice, egress=parts.egress if choice.is_guarded else None)

    async def check_llm(choice: ModelChoice) -> None:
        await build_llm(choice).check_access()

    return (
        ModelVendor(
            "llm",
            "anthropic",
            "Anthropic",
            _MODELS,
            build=build_llm,
            check=check_llm,
            temperatures=(0.0, 1.0),
            takes_any_model=True,
            close=close_http_clients,
        ),
    )
