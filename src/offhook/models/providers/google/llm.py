"""Google's Gemini through the vendor's SDK."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2

from offhook.kit.egress import EgressClient
from offhook.models.http_clients import OPENED_RESPONSES, SdkClients
from offhook.models.llm import llm_errors
from offhook.models.llm.stream import LlmTimeouts, guard_vendor_call, stream_with_timeouts
from offhook.models.ports import LlmEvent, LlmRequest, ModelError, ModelRef
from offhook.models.providers.google.wire import GoogleAnswer, ThoughtSignatures, config_of, contents_of, retry_delay_s
from offhook.models.vendors import ModelChoice

if TYPE_CHECKING:
    from google.genai import Client


def _create_client(base_url: str | None, api_key: str, connections: httpx2.AsyncClient) -> "Client":
    from google import genai  # noqa: PLC0415 - takes 0.7 s to load, which a process without such a model does not pay
    from google.genai import types  # noqa: PLC0415

    options = types.HttpOptions(
        base_url=base_url, api_version="v1beta", httpx_async_client=connections, timeout=120_000
    )
    return genai.Client(api_key=api_key or "none", http_options=options)


_clients: Final = SdkClients(_create_client)


class GoogleLlm:
    """Implements ``Llm``. Never retries; ``egress`` guards an organization's own address."""

    def __init__(
        self, choice: ModelChoice, timeouts: LlmTimeouts | None = None, egress: EgressClient | None = None
    ) -> None:
        self._choice = choice
        self.model_ref = ModelRef("llm", choice.provider, choice.model)
        self._timeouts = timeouts or LlmTimeouts()
        self._egress = egress
        self._signatures = ThoughtSignatures()

    async def warm_up(self) -> None:
        """Loads the SDK and creates the client before the first caller needs them."""
        await self._sdk_client()

    async def check_access(self) -> None:
        """Checks that the key works and the model exists, at no cost. Raises ModelError."""
        client = await self._sdk_client()
        async with guard_vendor_call(_model_error, "answer", self._timeouts.first_token_s):
            await client.aio.models.get(model=self._choice.model)

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        client = await self._sdk_client()
        answer = GoogleAnswer(self._signatures)
        chunks = stream_with_timeouts(partial(self._open_stream, client, request), self._timeouts, _model_error)
        async with aclosing(chunks):
            async for chunk in chunks:
                for event in _read_chunk(answer, chunk):
                    yield event
        for event in answer.finish_events():
            yield event

    async def _sdk_client(self) -> "Client":
        return await _clients.get(self._choice.base_url, self._choice.api_key, self._egress)

    async def _open_stream(self, client: "Client", request: LlmRequest) -> Any:
        return _GeminiStream(
            await client.aio.models.generate_content_stream(
                model=self._choice.model,
                contents=cast(Any, contents_of(request.messages, self._signatures)),
                config=cast(Any, config_of(request, self._choice)),
            )
        )


@dataclass(frozen=True, slots=True)
class _GeminiStream:
    """The SDK's chunks and their HTTP answer: closing only the chunks leaves the answer to the garbage collector."""

    chunks: AsyncIterator[Any]
    responses: list[httpx2.Response] = field(default_factory=list)

    async def __aiter__(self) -> AsyncIterator[Any]:
        # the request goes out with the first chunk that is read
        token = OPENED_RESPONSES.set(self.responses)
        try:
            chunk = await anext(self.chunks, None)
        finally:
            OPENED_RESPONSES.reset(token)
        while chunk is not None:
            yield chunk
            chunk = await anext(self.chunks, None)

    async def close(self) -> None:
        for response in self.responses:
            await response.aclose()


def _read_chunk(answer: GoogleAnswer, chunk: Any) -> list[LlmEvent]:
    try:
        return list(answer.read_chunk(chunk))
    except (AttributeError, TypeError, ValueError) as error:
        raise llm_errors.malformed_answer_error(error) from error


def _model_error(error: Exception) -> ModelError | None:
    from google.genai import errors  # noqa: PLC0415 - the client has loaded it in a thread

    if isinstance(error, httpx2.TimeoutException):
        return llm_errors.connect_timeout_error()
    if isinstance(error, httpx2.TransportError):
        return llm_errors.connection_error(error)
    if isinstance(error, errors.APIError):
        message = error.message or str(error)
        status = error.code if isinstance(error.code, int) else 500
        if status == 400 and "api key not valid" in message.lower():
            status = 401
        wait_s = retry_delay_s(error.details)
        return llm_errors.status_error(
            status, message, code=error.status, headers={} if wait_s is None else {"retry-after": str(wait_s)}
        )
    return None
