"""OpenAI and every server with its chat-completions format, through the vendor's SDK."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from offhook.kit.egress import EgressClient
from offhook.models.llm import llm_errors
from offhook.models.llm.stream import LlmTimeouts, guard_vendor_call, stream_with_timeouts
from offhook.models.ports import LlmEvent, LlmRequest, LlmUsage, ModelError, ModelRef, TextDelta, ToolCalled
from offhook.models.providers.openai_compatible.sdk_endpoints import SdkEndpoint, endpoint_for
from offhook.models.providers.openai_compatible.wire import ToolCallParts, body_of, refused_part, without_refused_parts
from offhook.models.vendors import ModelChoice


@dataclass(slots=True)
class _StreamedAnswer:
    """State of one streamed answer."""

    calls: ToolCallParts
    usage: LlmUsage | None = None
    finish_reason: str | None = None

    def read_chunk(self, chunk: Any) -> list[TextDelta]:
        """Handles a chunk and returns its text. The SDK does not validate it: some servers send odd shapes."""
        try:
            if (usage := getattr(chunk, "usage", None)) is not None:
                details = getattr(usage, "prompt_tokens_details", None)
                cached = int(getattr(details, "cached_tokens", None) or 0)
                self.usage = LlmUsage(int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0), cached)
            return [text for choice in chunk.choices or () for text in self._read_choice(choice)]
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise llm_errors.malformed_answer_error(error) from error

    def _read_choice(self, choice: Any) -> Iterator[TextDelta]:
        if choice.delta is not None:
            if text := choice.delta.content or choice.delta.refusal:
                yield TextDelta(text)
            for part in choice.delta.tool_calls or ():
                self.calls.add_delta(part)
        if choice.finish_reason is not None:
            self.finish_reason = choice.finish_reason

    def check_complete(self) -> None:
        """Raises ModelError for an incomplete answer."""
        if self.finish_reason is None:
            raise llm_errors.cut_off_error()
        if self.finish_reason == "content_filter":
            raise llm_errors.content_filter_error()


class OpenAiCompatibleLlm:
    """Implements ``Llm``. Never retries: the voice loop does, which knows how long the caller has waited.

    All models share connections. With ``egress`` the address is an organization's and stays behind its guard;
    ``default_url`` is the vendor's own address where that is not OpenAI's.
    """

    def __init__(
        self,
        choice: ModelChoice,
        timeouts: LlmTimeouts | None = None,
        egress: EgressClient | None = None,
        default_url: str | None = None,
    ) -> None:
        self._choice = choice
        self.model_ref = ModelRef("llm", choice.provider, choice.model)
        self._timeouts = timeouts or LlmTimeouts()
        self._egress = egress
        self._base_url = choice.base_url or default_url

    async def warm_up(self) -> None:
        """Loads the SDK and creates the client before the first caller needs them."""
        await self._get_endpoint()

    async def check_access(self) -> None:
        """Checks, by the free list of models, that the key works and the model exists. Raises ModelError."""
        endpoint = await self._get_endpoint()
        async with guard_vendor_call(_model_error, "list of models", self._timeouts.first_token_s):
            listed = [model.id async for model in await cast(Any, endpoint.client.models).list()]
        if listed and self._choice.model not in listed:
            raise llm_errors.unknown_model_error(self._choice.model, listed)

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        if request.max_tokens is None and self._choice.max_tokens is not None:
            request = replace(request, max_tokens=self._choice.max_tokens)
        endpoint = await self._get_endpoint()
        answer = _StreamedAnswer(ToolCallParts())
        chunks = stream_with_timeouts(partial(self._open_stream, endpoint, request), self._timeouts, _model_error)
        async with aclosing(chunks):
            async for chunk in chunks:
                for delta in answer.read_chunk(chunk):
                    yield delta
        answer.check_complete()
        for call in answer.calls.finished_calls():
            yield ToolCalled(call)
        if answer.usage is not None:
            yield answer.usage

    async def _get_endpoint(self) -> SdkEndpoint:
        return await endpoint_for(
            self._base_url, self._choice.api_key, connect_s=self._timeouts.connect_s, egress=self._egress
        )

    async def _open_stream(self, endpoint: SdkEndpoint, request: LlmRequest) -> Any:
        """Sends the request, without the parts that the server turns out to refuse."""
        import openai  # noqa: PLC0415 - takes 0.7 s to load; the endpoint has loaded it in a thread

        model = self._choice.model
        body = body_of(request, model=model, temperature=self._choice.temperature)
        refused = set(endpoint.refused.get(model, ()))
        while True:
            sent = without_refused_parts(body, refused, request.response_schema)
            try:
                stream = await cast(Any, endpoint.client.chat.completions).create(**sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                part = refused_part(sent, error.param, error.message)
                if part is None:
                    raise
                refused.add(part)
            else:
                endpoint.refused[model] = refused
                return stream


def _model_error(error: Exception) -> ModelError | None:
    import openai  # noqa: PLC0415 - takes 0.7 s to load; the endpoint has loaded it in a thread

    if isinstance(error, openai.APITimeoutError):
        return llm_errors.connect_timeout_error()
    if isinstance(error, openai.APIConnectionError):
        return llm_errors.connection_error(error)
    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        return llm_errors.status_error(error.status_code, error.message, code=error.code, headers=headers)
    if isinstance(error, openai.APIError):
        is_ours = getattr(error, "type", None) == "invalid_request_error"
        return llm_errors.stream_error(error.message, is_ours=is_ours)
    return None
