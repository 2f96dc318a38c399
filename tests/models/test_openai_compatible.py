"""The OpenAI-compatible LLM against a server that speaks the vendor's wire format, over a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import pytest

from offhook.kit.egress import EgressClient
from offhook.kit.json_values import JsonObject
from offhook.models.llm.stream import LlmTimeouts
from offhook.models.ports import (
    LlmEvent,
    LlmMessage,
    LlmRequest,
    LlmUsage,
    ModelError,
    ModelRef,
    TextDelta,
    ToolCall,
    ToolCalled,
    ToolSpec,
)
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.providers.openai_compatible.sdk_endpoints import close_endpoints
from offhook.models.vendors import ModelChoice
from offhook_lab.openai_server import (
    NO_QUOTA,
    NO_SUCH_MODEL,
    RATE_LIMITED,
    SERVER_ERROR,
    TOO_LONG,
    UNAUTHORIZED,
    FaultKind,
    HttpRefusal,
    OpenAiServer,
    Reply,
    Script,
    ScriptedAnswer,
    StreamFault,
    serve_openai,
)
from offhook_lab.speech.server import NESTED

# Tests that wait for a limit have a short one of their own; on the others no busy machine may come to it.
PATIENT = LlmTimeouts(connect_s=30.0, first_token_s=30.0, between_tokens_s=30.0)
SLOW_START = LlmTimeouts(connect_s=30.0, first_token_s=0.3, between_tokens_s=30.0)
STALLS = LlmTimeouts(connect_s=30.0, first_token_s=30.0, between_tokens_s=0.3)
HELLO = LlmRequest([LlmMessage("system", "Be brief."), LlmMessage("user", "Hello?")])
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"day": {"type": ["string", "null"]}},
    "required": ["day"],
    "additionalProperties": False,
}
EXTRACT = LlmRequest(
    [LlmMessage("system", "Answer with one JSON object."), LlmMessage("user", "Caller: Tuesday.")],
    temperature=0.0,
    response_schema=SCHEMA,
)
WEATHER = ToolSpec(
    "get_weather", "The weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}
)


def choice(model: str, address: str | None, key: str = "sk-test") -> ModelChoice:
    return ModelChoice("llm", "openai", model, key, address, is_own_network=True, temperature=0.4)


@asynccontextmanager
async def serving(script: Script, **options: Any) -> AsyncIterator[tuple[OpenAiServer, OpenAiCompatibleLlm]]:
    async with serve_openai(script, api_key="sk-test") as server:
        llm = OpenAiCompatibleLlm(choice("gpt-4.1", server.base_url), **{"timeouts": PATIENT, **options})
        # the SDK is loaded before the clock of a first token runs
        await llm.warm_up()
        try:
            yield server, llm
        finally:
            await close_endpoints()


async def ask(llm: OpenAiCompatibleLlm, request: LlmRequest = HELLO) -> list[LlmEvent]:
    return [event async for event in llm.stream(request)]


def spoken(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def failure(*script: Reply, request: LlmRequest = HELLO, timeouts: LlmTimeouts = PATIENT) -> ModelError:
    async with serving(script, timeouts=timeouts) as (_, llm):
        with pytest.raises(ModelError) as caught:
            await ask(llm, request)
        return caught.value


class TestAnswers:
    async def test_text_comes_as_it_is_generated_and_then_the_usage(self) -> None:
        async with serving([ScriptedAnswer("Good morning to you.")]) as (_, llm):
            events = await ask(llm)
        assert events[:-1] == [TextDelta("Good"), TextDelta(" morning"), TextDelta(" to"), TextDelta(" you.")]
        assert events[-1] == LlmUsage(prompt_tokens=3, completion_tokens=5, cached_tokens=1)

    async def test_arguments_that_arrive_in_pieces_become_one_call(self) -> None:
        arguments: JsonObject = {"city": "Zürich", "days": 3}
        async with serving([ScriptedAnswer("One moment.", (("get_weather", arguments),))]) as (_, llm):
            events = await ask(llm, LlmRequest(HELLO.messages, tools=[WEATHER]))
        assert spoken(events) == "One moment."
        assert ToolCalled(ToolCall("call_lab0", "get_weather", arguments)) in events

    async def test_several_calls_keep_their_order(self) -> None:
        answer = ScriptedAnswer(calls=(("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"})))
        async with serving([answer]) as (_, llm):
            events = await ask(llm, LlmRequest(HELLO.messages, tools=[WEATHER]))
        called = [event.call for event in events if isinstance(event, ToolCalled)]
        assert [call.arguments["city"] for call in called] == ["Rome", "Oslo"]
        assert len({call.id for call in called}) == 2

    async def test_a_call_without_arguments_has_none(self) -> None:
        async with serving([ScriptedAnswer(calls=(("hang_up", ""),))]) as (_, llm):
            events = await ask(llm)
        assert ToolCalled(ToolCall("call_lab0", "hang_up", {})) in events

    async def test_a_server_that_counts_nothing_is_fine(self) -> None:
        async with serving([ScriptedAnswer("Hi.", sends_usage=False)]) as (_, llm):
            assert await ask(llm) == [TextDelta("Hi.")]

    async def test_it_is_named_in_usage_and_events(self) -> None:
        assert OpenAiCompatibleLlm(ModelChoice("llm", "groq", "m")).model_ref == ModelRef("llm", "groq", "m")


class TestWhatIsSent:
    async def test_the_whole_request(self) -> None:
        call = ToolCall("c1", "get_weather", {"city": "Rome"})
        history = [
            LlmMessage("system", "Be brief."),
            LlmMessage("user", "Weather?"),
            LlmMessage("assistant", "", (call,)),
            LlmMessage("tool", '{"sky": "blue"}', tool_call_id="c1"),
        ]
        async with serving([ScriptedAnswer("Blue.")]) as (server, llm):
            await ask(llm, LlmRequest(history, tools=[WEATHER], max_tokens=50))
        (request,) = server.requests
        assert request.headers["authorization"] == "Bearer sk-test"
        assert request.body == {
            "model": "gpt-4.1",
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.4,
            "max_tokens": 50,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "blue"}'},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "get_weather",
                        "description": "The weather of a city.",
                        "parameters": WEATHER.parameters,
                    },
                }
            ],
        }

    @pytest.mark.parametrize(
        "history",
        [
            [LlmMessage("assistant", "", (ToolCall("c1", "f", {}),)), LlmMessage("user", "Hello?")],
            [
                LlmMessage("assistant", "", (ToolCall("c1", "f", {}),)),
                LlmMessage("user", "Wait."),
                LlmMessage("tool", "{}", tool_call_id="c1"),
            ],
            [LlmMessage("tool", "{}", tool_call_id="gone"), LlmMessage("user", "Hello?")],
            [LlmMessage("assistant", ""), LlmMessage("user", "Hello?")],
        ],
        ids=["call without answer", "answer came later", "answer without call", "nothing was heard of it"],
    )
    async def test_a_history_that_an_interruption_tore_apart_is_accepted(self, history: list[LlmMessage]) -> None:
        async with serving([ScriptedAnswer("Yes?")]) as (_, llm):
            assert spoken(await ask(llm, LlmRequest(history))) == "Yes?"

    async def test_calls_share_connections(self) -> None:
        async with serving([ScriptedAnswer("Hi.")]) as (server, llm):
            other = OpenAiCompatibleLlm(choice("gpt-4o", server.base_url))
            for model in (llm, other, llm):
                await ask(model)
        assert [request.connection for request in server.requests] == [1, 1, 1]


class TestExtraction:
    async def test_asks_for_the_schema(self) -> None:
        async with serving([ScriptedAnswer('{"day": "Tuesday"}')]) as (server, llm):
            assert json.loads(spoken(await ask(llm, EXTRACT))) == {"day": "Tuesday"}
        assert server.requests[0].body["temperature"] == 0.0
        assert server.requests[0].body["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        }

    @pytest.mark.parametrize("accepted", [("json_object", None), (None,)], ids=["json_object", "only words"])
    async def test_a_server_without_schemas_is_told_in_words(self, accepted: tuple[str | None, ...]) -> None:
        def answer(body: dict[str, Any]) -> Reply:
            form = (body.get("response_format") or {}).get("type")
            return ScriptedAnswer('{"day": null}') if form in accepted else HttpRefusal(400, None, "Bad request")

        async with serving(answer) as (server, llm):
            await ask(llm, EXTRACT)
            tries = len(server.requests)
            await ask(llm, EXTRACT)
        assert "additionalProperties" in server.requests[-1].body["messages"][0]["content"]
        # what the server cannot do is asked only once
        assert len(server.requests) == tries + 1


class TestServersThatTakeLess:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("stream_options", "Extra inputs are not permitted: stream_options"),
            ("temperature", "Unsupported value: 'temperature' does not support 0.4 with this model."),
            ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ],
    )
    @pytest.mark.parametrize("status", [400, 422])
    async def test_a_refused_part_is_left_out_from_then_on(self, name: str, message: str, status: int) -> None:
        def answer(body: dict[str, Any]) -> Reply:
            return HttpRefusal(status, "unsupported_parameter", message) if name in body else ScriptedAnswer("Hi.")

        async with serving(answer) as (server, llm):
            for _ in range(2):
                assert spoken(await ask(llm, LlmRequest(HELLO.messages, max_tokens=20))) == "Hi."
        assert [name in request.body for request in server.requests] == [True, False, False]
        if name == "max_tokens":
            assert server.requests[-1].body["max_completion_tokens"] == 20

    async def test_a_request_that_is_simply_wrong_is_not_repeated(self) -> None:
        async with serving([TOO_LONG]) as (server, llm):
            with pytest.raises(ModelError):
                await ask(llm)
        assert len(server.requests) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("reply", "code", "retryable"),
        [
            (HttpRefusal(400, None, "Wrong."), "llm_bad_request", False),
            (UNAUTHORIZED, "llm_unauthorized", False),
            (HttpRefusal(403, None, "Country not supported."), "llm_forbidden", False),
            (NO_SUCH_MODEL, "llm_not_found", False),
            (RATE_LIMITED, "llm_rate_limited", True),
            (NO_QUOTA, "llm_no_quota", False),
            (SERVER_ERROR, "llm_server_error", True),
            (HttpRefusal(503, body="<html>Service Unavailable</html>"), "llm_overloaded", True),
            (TOO_LONG, "llm_context_too_long", False),
            (HttpRefusal(418, "teapot"), "llm_refused", False),
        ],
        ids=lambda value: str(value.status) if isinstance(value, HttpRefusal) else str(value),
    )
    async def test_every_status_says_whether_to_try_again(self, reply: HttpRefusal, code: str, retryable: bool) -> None:
        error = await failure(reply)
        assert (error.code, error.retryable) == (code, retryable)

    async def test_how_long_to_wait_is_passed_on(self) -> None:
        assert (await failure(RATE_LIMITED)).retry_after_s == 1.0
        assert (await failure(SERVER_ERROR)).retry_after_s is None

    async def test_what_the_filter_stopped(self) -> None:
        error = await failure(ScriptedAnswer("Well,", finish_reason="content_filter"))
        assert (error.code, error.retryable) == ("llm_content_filtered", False)

    async def test_a_wrong_key(self) -> None:
        async with serving([ScriptedAnswer("Hi.")]) as (server, _):
            llm = OpenAiCompatibleLlm(choice("gpt-4.1", server.base_url, "wrong"))
            with pytest.raises(ModelError, match="Incorrect API key"):
                await ask(llm)

    async def test_the_sdk_does_not_retry_by_itself(self) -> None:
        async with serving([SERVER_ERROR, ScriptedAnswer("Hi.")]) as (server, llm):
            with pytest.raises(ModelError):
                await ask(llm)
            assert len(server.requests) == 1
            assert spoken(await ask(llm)) == "Hi."


class TestFaults:
    async def test_an_organizations_address_stays_behind_the_guard(self) -> None:
        async with serve_openai([ScriptedAnswer("Secrets.")]) as server:
            llm = OpenAiCompatibleLlm(choice("m", server.base_url), egress=EgressClient())
            with pytest.raises(ModelError) as caught:
                await ask(llm)
            await close_endpoints()
        assert (caught.value.code, caught.value.retryable) == ("llm_address_refused", False)
        assert server.connections == 0

    async def test_nobody_listens_at_the_address(self) -> None:
        async with serve_openai([ScriptedAnswer("Hi.")]) as server:
            address = server.base_url
        llm = OpenAiCompatibleLlm(choice("gpt-4.1", address, "k"))
        try:
            with pytest.raises(ModelError) as caught:
                await ask(llm)
        finally:
            await close_endpoints()
        assert (caught.value.code, caught.value.retryable) == ("llm_connection", True)

    @pytest.mark.parametrize(
        "reply",
        [
            ScriptedAnswer("Late.", first_token_s=30),
            HttpRefusal(500, after_s=30),
            ScriptedAnswer("Late.", fault=StreamFault("stall")),
        ],
        ids=["no headers", "slow refusal", "headers and then nothing"],
    )
    async def test_a_slow_first_token(self, reply: Reply) -> None:
        error = await failure(reply, timeouts=SLOW_START)
        assert (error.code, error.retryable) == ("llm_timeout", True)
        assert "first token" in str(error)

    @pytest.mark.parametrize(
        ("kind", "code"),
        [
            ("stall", "llm_timeout"),
            ("cut", "llm_connection"),
            ("half_close", "llm_connection"),
            ("end", "llm_cut_off"),
            ("malformed", "llm_malformed"),
            ("error_event", "llm_stream_error"),
        ],
    )
    async def test_what_came_before_a_fault_was_heard(self, kind: str, code: str) -> None:
        heard: list[LlmEvent] = []
        fault = StreamFault(cast(FaultKind, kind), after=3)
        async with serving([ScriptedAnswer("One two three four.", fault=fault)], timeouts=STALLS) as (_, llm):
            with pytest.raises(ModelError) as caught:
                await listen(llm, heard)
        assert spoken(heard) == "One two"
        assert (caught.value.code, caught.value.retryable) == (code, True)

    @pytest.mark.parametrize("arguments", ['{"city": "Ro', '["Rome"]', "Rome", NESTED, '{"a":' * 500 + "1" + "}" * 500])
    async def test_arguments_that_are_no_object(self, arguments: str) -> None:
        error = await failure(ScriptedAnswer(calls=(("get_weather", arguments),), finish_reason="length"))
        assert (error.code, error.retryable) == ("llm_malformed_tool_call", True)

    @pytest.mark.slow
    async def test_a_steady_answer_may_take_longer_than_the_wait_for_one_token(self) -> None:
        steady = LlmTimeouts(connect_s=30.0, first_token_s=1.0, between_tokens_s=1.0)
        answer = ScriptedAnswer("one two three four five six seven", token_s=0.2)
        async with serving([answer], timeouts=steady) as (_, llm):
            assert spoken(await ask(llm)) == "one two three four five six seven"


class TestLeaving:
    async def test_closing_the_stream_cancels_the_request(self) -> None:
        async with serving([ScriptedAnswer("one two three four five six", token_s=0.05)]) as (server, llm):
            async with aclosing(cast(Any, llm.stream(HELLO))) as stream:
                assert await anext(stream) == TextDelta("one")
            await until(lambda: server.requests[0].was_cancelled)

    async def test_cancelling_the_wait_for_a_first_token_cancels_the_request(self) -> None:
        async with serving([ScriptedAnswer("Late.", first_token_s=30)], timeouts=LlmTimeouts()) as (server, llm):
            asking = asyncio.create_task(ask(llm))
            await until(lambda: bool(server.requests))
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await until(lambda: server.requests[0].was_cancelled)


async def listen(llm: OpenAiCompatibleLlm, heard: list[LlmEvent]) -> None:
    async for event in llm.stream(HELLO):
        heard.append(event)  # noqa: PERF401 - what came before a failure counts


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.01)
