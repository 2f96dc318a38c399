"""OpenAI and every server that speaks its chat-completions format, through the vendor's SDK."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from offhook.models.ports import LlmEvent, LlmRequest, LlmUsage, ModelError, ModelRef, TextDelta, ToolCalled
from offhook.models.providers.openai_compatible import errors
from offhook.models.providers.openai_compatible.endpoints import Endpoint, endpoint_for
from offhook.models.providers.openai_compatible.wire import ToolCallParts, body_of, refused_part, without


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until a connection stands, until the first token and between two tokens."""

    connect_s: float = 3.0
    first_token_s: float = 10.0
    between_tokens_s: float = 5.0


@dataclass(slots=True)
class _Answer:
    """What was seen of one streamed answer."""

    calls: ToolCallParts
    usage: LlmUsage | None = None
    is_finished: bool = False

    def read(self, chunk: Any) -> list[TextDelta]:
        """Take a chunk, return its text. The SDK does not check what it parses: some servers send odd shapes."""
        try:
            if (usage := getattr(chunk, "usage", None)) is not None:
                self.usage = LlmUsage(int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0))
            return [text for choice in chunk.choices or () for text in self._read_choice(choice)]
        except (AttributeError, TypeError, ValueError) as error:
            raise errors.malformed(error) from error

    def _read_choice(self, choice: Any) -> Iterator[TextDelta]:
        if choice.delta is not None:
            if text := choice.delta.content or choice.delta.refusal:
                yield TextDelta(text)
            for part in choice.delta.tool_calls or ():
                self.calls.add(part)
        if choice.finish_reason is not None:
            self.is_finished = True


class OpenAiCompatibleLlm:
    """Implements ``Llm``. Never retries: that is the voice loop's, which knows how long the caller has waited.

    Models with the same address and key share one client. ``base_url`` None is the vendor's own address.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None,
        api_key: str,
        temperature: float,
        provider: str = "openai",
        timeouts: Timeouts | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._temperature = temperature
        self._provider = provider
        self._timeouts = timeouts or Timeouts()
        self._max_tokens = max_tokens

    @property
    def ref(self) -> ModelRef:
        return ModelRef("llm", self._provider, self._model)

    async def warm_up(self) -> None:
        """Load the SDK and make the client before the first caller needs them."""
        await self._endpoint()

    async def check(self) -> None:
        """Whether the key works and the model is there, by the list of models, which costs nothing. ModelError."""
        endpoint = await self._endpoint()
        limit = self._timeouts.first_token_s
        async with _vendor("list of models", limit):
            listed = [model.id async for model in await cast(Any, endpoint.client.models).list()]
        if listed and self._model not in listed:
            known = ", ".join(sorted(listed)[:20])
            raise ModelError(
                "llm_not_found", f"The server has no model {self._model!r}; it has: {known}.", retryable=False
            )

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        endpoint = await self._endpoint()
        answer = _Answer(ToolCallParts())
        async with aclosing(self._chunks(endpoint, request)) as chunks:
            async for chunk in chunks:
                for delta in answer.read(chunk):
                    yield delta
        if not answer.is_finished:
            raise errors.cut_off()
        for call in answer.calls.finished():
            yield ToolCalled(call)
        if answer.usage is not None:
            yield answer.usage

    async def _endpoint(self) -> Endpoint:
        return await endpoint_for(self._base_url, self._api_key, connect_s=self._timeouts.connect_s)

    async def _chunks(self, endpoint: Endpoint, request: LlmRequest) -> AsyncGenerator[Any, None]:
        """The vendor's chunks as they come. Closing this closes the request."""
        limits = self._timeouts
        first_by = asyncio.get_running_loop().time() + limits.first_token_s
        async with _vendor("first token", limits.first_token_s, first_by):
            stream = await self._open(endpoint, request)
        try:
            async with _vendor("first token", limits.first_token_s, first_by):
                chunk = await anext(stream, None)
            while chunk is not None:
                yield chunk
                async with _vendor("next token", limits.between_tokens_s):
                    chunk = await anext(stream, None)
        finally:
            await stream.close()

    async def _open(self, endpoint: Endpoint, request: LlmRequest) -> Any:
        """Send the request, without what the server turns out to refuse."""
        import openai  # noqa: PLC0415 - takes 0.7 s to load; the endpoint has loaded it in a thread

        if request.max_tokens is None and self._max_tokens is not None:
            request = replace(request, max_tokens=self._max_tokens)
        body = body_of(request, model=self._model, temperature=self._temperature)
        refused = set(endpoint.refused.get(self._model, ()))
        while True:
            sent = without(body, refused, request.response_schema)
            try:
                stream = await cast(Any, endpoint.client.chat.completions).create(**sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                part = refused_part(sent, error.param, error.message)
                if part is None:
                    raise
                refused.add(part)
            else:
                endpoint.refused[self._model] = refused
                return stream


@asynccontextmanager
async def _vendor(what: str, limit_s: float, by: float | None = None) -> AsyncIterator[None]:
    """The edge to the vendor: every failure inside leaves as ModelError, cancellation as it is."""
    import openai  # noqa: PLC0415 - takes 0.7 s to load; the endpoint has loaded it in a thread

    deadline = asyncio.get_running_loop().time() + limit_s if by is None else by
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except TimeoutError:
        raise errors.timed_out(what, limit_s) from None
    except openai.APITimeoutError as error:
        raise errors.connection_timed_out() from error
    except openai.APIConnectionError as error:
        raise errors.connection_lost(error) from error
    except openai.APIStatusError as error:
        raise errors.of_status(error.status_code, error) from error
    except openai.APIError as error:
        raise errors.of_stream_event(error) from error
    except Exception as error:  # vendor edge: a broken stream breaks the SDK in many ways
        raise errors.malformed(error) from error
