"""Anthropic's Messages API through the vendor's SDK."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2

from offhook.kit.egress import EgressClient
from offhook.models.http_clients import SdkClients
from offhook.models.llm import llm_errors
from offhook.models.llm.stream import LlmTimeouts, guard_vendor_call, stream_with_timeouts
from offhook.models.ports import LlmEvent, LlmRequest, LlmUsage, ModelError, ModelRef, TextDelta
from offhook.models.providers.anthropic.wire import AnthropicAnswer, body_of, refused_part, without_refused_parts
from offhook.models.vendors import ModelChoice

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_OVERLOADED: Final = "overloaded_error"


def _create_client(base_url: str | None, api_key: str, connections: httpx2.AsyncClient) -> "AsyncAnthropic":
    import anthropic  # noqa: PLC0415 - takes 1.5 s to load, which a process without such a model does not pay

    return anthropic.AsyncAnthropic(
        api_key=api_key or "none", base_url=base_url, max_retries=0, http_client=connections, timeout=120.0
    )


_clients: Final = SdkClients(_create_client)


class AnthropicLlm:
    """Implements ``Llm``. Never retries; ``egress`` guards an organization's own address."""

    def __init__(
        self, choice: ModelChoice, timeouts: LlmTimeouts | None = None, egress: EgressClient | None = None
    ) -> None:
        self._choice = choice
        self.model_ref = ModelRef("llm", choice.provider, choice.model)
        self._timeouts = timeouts or LlmTimeouts()
        self._egress = egress
        self._refused: set[str] = set()

    async def warm_up(self) -> None:
        """Loads the SDK and creates the client before the first caller needs them."""
        await self._sdk_client()

    async def check_access(self) -> None:
        """Checks that the key works and the model exists, at no cost. Raises ModelError."""
        client = await self._sdk_client()
        async with guard_vendor_call(_model_error, "answer", self._timeouts.first_token_s):
            await client.models.retrieve(self._choice.model)

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        client = await self._sdk_client()
        answer = AnthropicAnswer()
        events = stream_with_timeouts(
            partial(self._open_stream, client, request), self._timeouts, _model_error, _is_preamble
        )
        async with aclosing(events):
            async for event in events:
                for seen in _read_event(answer, event):
                    yield seen
        for call in answer.finish_calls():
            yield call
        yield LlmUsage(0, answer.output_tokens)

    async def _sdk_client(self) -> "AsyncAnthropic":
        return await _clients.get(self._choice.base_url, self._choice.api_key, self._egress)

    async def _open_stream(self, client: "AsyncAnthropic", request: LlmRequest) -> Any:
        """Sends the request, without the optional parts that this model turns out to refuse."""
        import anthropic  # noqa: PLC0415 - takes 1.5 s to load; the client has loaded it in a thread

        body = body_of(request, self._choice)
        while True:
            sent = without_refused_parts(body, self._refused, request.response_schema)
            try:
                return await cast(Any, client.messages).create(
                    **sent, stream=True, timeout=httpx2.Timeout(120.0, connect=self._timeouts.connect_s)
                )
            except anthropic.BadRequestError as error:
                part = refused_part(sent, _error_message(error))
                if part is None:
                    raise
                self._refused.add(part)


def _is_preamble(event: Any) -> bool:
    """Returns True for the event that Anthropic sends as soon as it has taken the request."""
    return getattr(event, "type", None) == "message_start"


def _read_event(answer: AnthropicAnswer, event: Any) -> list[TextDelta | LlmUsage]:
    try:
        return answer.read_event(event)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise llm_errors.malformed_answer_error(error) from error


def _model_error(error: Exception) -> ModelError | None:
    import anthropic  # noqa: PLC0415 - takes 1.5 s to load; the client has loaded it in a thread

    if isinstance(error, anthropic.APITimeoutError):
        return llm_errors.connect_timeout_error()
    if isinstance(error, anthropic.APIConnectionError | httpx2.TransportError):
        return llm_errors.connection_error(error)
    if isinstance(error, anthropic.APIStatusError):
        kind = _error_object(error).get("type")
        if kind == _OVERLOADED:
            return llm_errors.overloaded_error(_error_message(error))
        if error.status_code < 400:  # an error event in a stream that had begun
            return llm_errors.stream_error(_error_message(error), is_ours=kind == "invalid_request_error")
        return llm_errors.status_error(
            error.status_code, _error_message(error), code=kind, headers=error.response.headers
        )
    return None


def _error_object(error: Any) -> dict[str, Any]:
    body = error.body if isinstance(error.body, dict) else {}
    found = body.get("error")
    return found if isinstance(found, dict) else {}


def _error_message(error: Any) -> str:
    return str(_error_object(error).get("message") or error.message)
