"""OpenAI's chat completions, voices and recognition: OpenAI itself, Groq, and every server with these formats."""

from functools import partial

from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.providers.openai_compatible.sdk_endpoints import close_endpoints
from offhook.models.providers.openai_compatible.speech import speech_vendors
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext

GROQ_URL = "https://api.groq.com/openai/v1"
# Context windows from the vendors' model pages.
_OPENAI = (
    ModelInfo("gpt-4.1", 1_047_576),
    ModelInfo("gpt-4.1-mini", 1_047_576),
    ModelInfo("gpt-4o-mini", 128_000),
)
_GROQ = (
    ModelInfo("llama-3.3-70b-versatile", 131_072),
    ModelInfo("llama-3.1-8b-instant", 131_072),
    ModelInfo("openai/gpt-oss-120b", 131_072),
)


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    def build_llm(choice: ModelChoice, default_url: str | None = None) -> OpenAiCompatibleLlm:
        egress = parts.egress if choice.is_guarded else None
        return OpenAiCompatibleLlm(choice, egress=egress, default_url=default_url)

    async def check_llm(choice: ModelChoice, default_url: str | None = None) -> None:
        await build_llm(choice, default_url).check_access()

    return (
        ModelVendor(
            "llm",
            "openai",
            "OpenAI, or any server that speaks its format",
            _OPENAI,
            build=build_llm,
            check=check_llm,
            takes_any_model=True,
            close=close_endpoints,
        ),
        ModelVendor(
            "llm",
            "groq",
            "Groq",
            _GROQ,
            build=partial(build_llm, default_url=GROQ_URL),
            check=partial(check_llm, default_url=GROQ_URL),
        ),
        *speech_vendors(parts),
    )
