"""The LLM vendors and their emulators, side by side, for tests that hold for all of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from offhook.kit.egress import EgressClient
from offhook.models.http_clients import close_http_clients
from offhook.models.llm.stream import LlmTimeouts
from offhook.models.providers.anthropic.llm import AnthropicLlm
from offhook.models.providers.google.llm import GoogleLlm
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.vendors import ModelChoice
from offhook_lab import anthropic_server, gemini_server, openai_server
from offhook_lab.sse import HttpRefusal, Script, SseServer

KEY = "key-of-the-lab"
# Tests that wait for a limit have a short one of their own; on the others no busy machine may come to it.
PATIENT = LlmTimeouts(connect_s=30.0, first_token_s=30.0, between_tokens_s=30.0)
SLOW_START = LlmTimeouts(connect_s=30.0, first_token_s=0.3, between_tokens_s=30.0)
STALLS = LlmTimeouts(connect_s=30.0, first_token_s=30.0, between_tokens_s=0.3)


@dataclass(frozen=True)
class LlmVendor:
    """One vendor: how its port is built, what its emulator is, and its own words for what goes wrong."""

    provider: str
    model: str
    build: Callable[..., Any]
    serve: Callable[..., AbstractAsyncContextManager[SseServer]]
    refusals: dict[str, HttpRefusal] = field(default_factory=dict)
    filtered_reason: str = ""

    def choice(self, address: str, key: str = KEY, model: str | None = None) -> ModelChoice:
        return ModelChoice("llm", self.provider, model or self.model, key, address, is_own_network=True)

    @asynccontextmanager
    async def serving(self, script: Script, timeouts: LlmTimeouts = PATIENT) -> AsyncIterator[tuple[SseServer, Any]]:
        async with self.serve(script, api_key=KEY) as server:
            llm = self.build(self.choice(server.base_url), timeouts)
            # the SDK is loaded before the clock of a first token runs
            await llm.warm_up()
            try:
                yield server, llm
            finally:
                await close_http_clients()

    def guarded(self, address: str) -> Any:
        return self.build(self.choice(address), PATIENT, EgressClient())


OPENAI = LlmVendor(
    "openai",
    "gpt-4.1",
    OpenAiCompatibleLlm,
    openai_server.serve_openai,
    {
        "llm_unauthorized": openai_server.UNAUTHORIZED,
        "llm_not_found": openai_server.NO_SUCH_MODEL,
        "llm_rate_limited": openai_server.RATE_LIMITED,
        "llm_no_quota": openai_server.NO_QUOTA,
        "llm_server_error": openai_server.SERVER_ERROR,
        "llm_context_too_long": openai_server.TOO_LONG,
    },
    filtered_reason="content_filter",
)
ANTHROPIC = LlmVendor(
    "anthropic",
    "claude-haiku-4-5",
    AnthropicLlm,
    anthropic_server.serve_anthropic,
    {
        "llm_unauthorized": anthropic_server.UNAUTHORIZED,
        "llm_forbidden": anthropic_server.FORBIDDEN,
        "llm_not_found": anthropic_server.NO_SUCH_MODEL,
        "llm_rate_limited": anthropic_server.RATE_LIMITED,
        "llm_no_quota": anthropic_server.NO_CREDIT,
        "llm_server_error": anthropic_server.SERVER_ERROR,
        "llm_overloaded": anthropic_server.OVERLOADED,
        "llm_context_too_long": anthropic_server.TOO_LONG,
    },
    filtered_reason="refusal",
)
GOOGLE = LlmVendor(
    "google",
    "gemini-2.5-flash",
    GoogleLlm,
    gemini_server.serve_gemini,
    {
        "llm_unauthorized": gemini_server.UNAUTHORIZED,
        "llm_forbidden": gemini_server.FORBIDDEN,
        "llm_not_found": gemini_server.NO_SUCH_MODEL,
        "llm_rate_limited": gemini_server.RATE_LIMITED,
        "llm_server_error": gemini_server.SERVER_ERROR,
        "llm_overloaded": gemini_server.OVERLOADED,
        "llm_context_too_long": gemini_server.TOO_LONG,
    },
    filtered_reason="SAFETY",
)
VENDORS = [OPENAI, ANTHROPIC, GOOGLE]
