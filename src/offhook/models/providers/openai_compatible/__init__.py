"""OpenAI's chat completions: OpenAI itself and every server that speaks the format."""

from offhook.models.providers.openai_compatible.endpoints import close_endpoints
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.vendors import AnyVendor, Choice, ModelInfo, Vendor, VendorParts

# Context windows from the vendors' model pages.
_OPENAI = (
    ModelInfo("gpt-4.1", 1_047_576),
    ModelInfo("gpt-4.1-mini", 1_047_576),
    ModelInfo("gpt-4o-mini", 128_000),
)


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    return (
        Vendor(
            "llm",
            "openai",
            "OpenAI, or any server that speaks its format",
            _OPENAI,
            build=_llm,
            check=_check,
            takes_any_model=True,
            close=close_endpoints,
        ),
    )


def _llm(choice: Choice) -> OpenAiCompatibleLlm:
    return OpenAiCompatibleLlm(
        choice.model,
        choice.base_url,
        choice.api_key,
        choice.temperature,
        provider=choice.provider,
        max_tokens=choice.max_tokens,
    )


async def _check(choice: Choice) -> None:
    await _llm(choice).check()
