"""What holds for every LLM vendor, each against the emulator of its wire format over a real socket."""

import asyncio
import json
from contextlib import aclosing
from typing import Any, cast

import pytest

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
from offhook_lab.sse import FaultKind, HttpRefusal, ScriptedAnswer, StreamFault
from tests.models.llm_vendors import ANTHROPIC, GOOGLE, OPENAI, PATIENT, SLOW_START, STALLS, VENDORS, LlmVendor

HELLO = LlmRequest([LlmMessage("system", "Be brief."), LlmMessage("user", "Hello?")])
WEATHER = ToolSpec(
    "get_weather", "The weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"day": {"type": ["string", "null"]}},
    "required": ["day"],
    "additionalProperties": False,
}
RETRYABLE = {"llm_rate_limited", "llm_server_error", "llm_overloaded"}
CALL = ToolCall("c1", "get_weather", {"city": "Rome"})
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)


async def ask(llm: Any, request: LlmRequest = HELLO) -> list[LlmEvent]:
    return [event async for event in llm.stream(request)]


async def listen(llm: Any, heard: list[LlmEvent]) -> None:
    async for event in llm.stream(HELLO):
        heard.append(event)  # noqa: PERF401 - what came before the failure counts


def spoken(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def called(events: list[LlmEvent]) -> list[ToolCall]:
    return [event.call for event in events if isinstance(event, ToolCalled)]


async def failure(vendor: LlmVendor, *script: Any, timeouts: LlmTimeouts = PATIENT) -> ModelError:
    async with vendor.serving(script, timeouts) as (_, llm):
        with pytest.raises(ModelError) as caught:
            await ask(llm)
        return caught.value


@every_vendor
class TestAnswers:
    async def test_text_comes_word_by_word_and_usage_adds_up(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Good morning to you.")]) as (_, llm):
            events = await ask(llm)
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["Good", " morning", " to", " you."]
        usage = [event for event in events if isinstance(event, LlmUsage)]
        assert sum(part.prompt_tokens for part in usage) > 0
        assert sum(part.completion_tokens for part in usage) > 0
        assert sum(part.cached_tokens for part in usage) > 0

    async def test_parallel_calls_with_their_arguments(self, vendor: LlmVendor) -> None:
        answer = ScriptedAnswer(
            "Wait.", (("get_weather", {"city": "Zürich", "days": 3}), ("get_weather", {"city": "Oslo"}))
        )
        async with vendor.serving([answer]) as (_, llm):
            events = await ask(llm, LlmRequest(HELLO.messages, tools=[WEATHER]))
        assert spoken(events) == "Wait."
        assert [call.arguments for call in called(events)] == [{"city": "Zürich", "days": 3}, {"city": "Oslo"}]
        assert len({call.id for call in called(events)}) == 2

    async def test_results_go_back_and_the_conversation_goes_on(self, vendor: LlmVendor) -> None:
        script = [
            ScriptedAnswer(calls=(("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"}))),
            ScriptedAnswer("Sun."),
        ]
        async with vendor.serving(script) as (server, llm):
            calls = called(await ask(llm, LlmRequest(HELLO.messages, tools=[WEATHER])))
            results = [LlmMessage("tool", '{"sky": "blue"}', tool_call_id=call.id) for call in calls]
            history = [*HELLO.messages, LlmMessage("assistant", "", tuple(calls)), *results]
            assert spoken(await ask(llm, LlmRequest(history, tools=[WEATHER]))) == "Sun."
        assert "blue" in json.dumps(server.requests[-1].body)

    @pytest.mark.parametrize(
        "history",
        [
            [],
            [LlmMessage("assistant", "Hello, how can I help?")],
            [LlmMessage("assistant", "Hello!"), LlmMessage("user", "Hi."), LlmMessage("assistant", "One moment.")],
            [LlmMessage("assistant", "", (CALL,)), LlmMessage("user", "Hello?")],
            [
                LlmMessage("assistant", "", (CALL,)),
                LlmMessage("user", "Wait."),
                LlmMessage("tool", "{}", tool_call_id="c1"),
            ],
            [LlmMessage("tool", "{}", tool_call_id="gone"), LlmMessage("user", "Hello?")],
            [LlmMessage("user", "One."), LlmMessage("user", "Two."), LlmMessage("assistant", " ")],
            [
                LlmMessage("user", "Go."),
                LlmMessage("assistant", "I was"),
                LlmMessage("system", "You were cut off. Go on."),
            ],
            [
                LlmMessage("user", "Go."),
                LlmMessage("assistant", "", (CALL,)),
                LlmMessage("tool", "plain", tool_call_id="c1"),
            ],
        ],
        ids=[
            "nothing yet",
            "only a greeting",
            "the agent speaks twice",
            "call without answer",
            "answer came later",
            "answer without call",
            "the caller speaks twice",
            "cut off by a fault",
            "an answer in plain text",
        ],
    )
    async def test_every_history_of_a_call_is_accepted(self, vendor: LlmVendor, history: list[LlmMessage]) -> None:
        messages = [LlmMessage("system", "Be brief."), *history]
        async with vendor.serving([ScriptedAnswer("Yes?")]) as (_, llm):
            assert spoken(await ask(llm, LlmRequest(messages, tools=[WEATHER]))) == "Yes?"

    async def test_extraction_answers_json(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer('{"day": "Tuesday"}')]) as (server, llm):
            request = LlmRequest(HELLO.messages, temperature=0.0, response_schema=SCHEMA)
            assert json.loads(spoken(await ask(llm, request))) == {"day": "Tuesday"}
        assert "additionalProperties" in json.dumps(server.requests[0].body)

    async def test_connections_are_kept(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Hi.")]) as (server, llm):
            for _ in range(3):
                await ask(llm)
            await ask(vendor.build(vendor.choice(server.base_url)))
        assert [request.connection for request in server.requests] == [1, 1, 1, 1]

    async def test_it_is_named(self, vendor: LlmVendor) -> None:
        assert vendor.build(vendor.choice("http://x")).model_ref == ModelRef("llm", vendor.provider, vendor.model)


@every_vendor
class TestFailures:
    async def test_refusals_have_one_code_whoever_sends_them(self, vendor: LlmVendor) -> None:
        for code, refusal in vendor.refusals.items():
            error = await failure(vendor, refusal)
            assert (error.code, error.retryable) == (code, code in RETRYABLE), str(error)

    async def test_a_wait_that_the_vendor_asks_for(self, vendor: LlmVendor) -> None:
        error = await failure(vendor, vendor.refusals["llm_rate_limited"])
        assert error.retry_after_s == (1.0 if vendor is OPENAI else 7.0)

    async def test_an_unknown_status_and_a_proxys_page(self, vendor: LlmVendor) -> None:
        error = await failure(vendor, HttpRefusal(502, body="<html>Bad Gateway</html>"))
        assert (error.code, error.retryable) == ("llm_server_error", True)

    async def test_what_the_filter_stopped(self, vendor: LlmVendor) -> None:
        error = await failure(vendor, ScriptedAnswer("Well,", finish_reason=vendor.filtered_reason))
        assert (error.code, error.retryable) == ("llm_content_filtered", False)

    @pytest.mark.parametrize(
        "reply",
        [
            ScriptedAnswer("Late.", first_token_s=30),
            HttpRefusal(500, after_s=30),
            ScriptedAnswer("Late.", fault=StreamFault("stall")),
        ],
        ids=["no headers", "slow refusal", "headers and then nothing"],
    )
    async def test_a_slow_start(self, vendor: LlmVendor, reply: Any) -> None:
        error = await failure(vendor, reply, timeouts=SLOW_START)
        assert (error.code, error.retryable) == ("llm_timeout", True)
        # Not the next token: Anthropic confirms a request long before it answers.
        assert "first token" in str(error)

    @pytest.mark.parametrize(
        ("kind", "codes"),
        [
            ("stall", {"llm_timeout"}),
            ("cut", {"llm_connection"}),
            ("half_close", {"llm_connection", "llm_cut_off"}),
            ("end", {"llm_cut_off"}),
            ("malformed", {"llm_malformed", "llm_cut_off"}),
            ("error_event", {"llm_stream_error", "llm_overloaded"}),
        ],
    )
    async def test_what_came_before_a_fault_was_heard(self, vendor: LlmVendor, kind: str, codes: set[str]) -> None:
        heard: list[LlmEvent] = []
        # the first delta of one format holds no text
        fault = StreamFault(cast(FaultKind, kind), after=3 if vendor is OPENAI else 2)
        async with vendor.serving([ScriptedAnswer("One two three four.", fault=fault)], STALLS) as (_, llm):
            with pytest.raises(ModelError) as caught:
                await listen(llm, heard)
        assert spoken(heard) == "One two"
        assert caught.value.code in codes
        assert caught.value.retryable

    @pytest.mark.slow
    async def test_a_steady_answer_may_take_longer_than_one_token(self, vendor: LlmVendor) -> None:
        steady = LlmTimeouts(connect_s=30.0, first_token_s=1.0, between_tokens_s=1.0)
        answer = ScriptedAnswer("one two three four five six seven", token_s=0.2)
        async with vendor.serving([answer], steady) as (_, llm):
            assert spoken(await ask(llm)) == "one two three four five six seven"

    async def test_closing_closes_the_request_at_once(self, vendor: LlmVendor) -> None:
        answer = ScriptedAnswer("one two three four five six seven", token_s=0.2)
        async with vendor.serving([answer], LlmTimeouts()) as (server, llm):
            async with aclosing(llm.stream(HELLO)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        break
            async with asyncio.timeout(60):
                while not server.requests[0].was_cancelled:
                    await asyncio.sleep(0.01)

    async def test_cancelling_the_turn_closes_it_as_well(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Late.", first_token_s=30)], LlmTimeouts()) as (server, llm):
            turn = asyncio.create_task(ask(llm))
            while not server.requests:
                await asyncio.sleep(0.01)
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            async with asyncio.timeout(60):
                while not server.requests[0].was_cancelled:
                    await asyncio.sleep(0.01)

    async def test_an_organizations_address_stays_behind_the_guard(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Secrets.")]) as (server, _):
            with pytest.raises(ModelError) as caught:
                await ask(vendor.guarded(server.base_url))
        assert (caught.value.code, caught.value.retryable) == ("llm_address_refused", False)
        assert server.connections == 0

    async def test_a_limit_of_requests(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Hi.")]) as (server, llm):
            server.limit = 1
            await ask(llm)
            with pytest.raises(ModelError) as caught:
                await ask(llm)
            server.limit = None
            assert spoken(await ask(llm)) == "Hi."
        assert caught.value.code == "llm_rate_limited"


@every_vendor
class TestKeys:
    async def test_a_right_one(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Hi.")]) as (server, llm):
            await llm.check_access()
            # asking costs nothing: no answer was generated
            assert server.requests == []

    async def test_a_wrong_one(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Hi.")]) as (server, _):
            with pytest.raises(ModelError) as caught:
                await vendor.build(vendor.choice(server.base_url, "wrong")).check_access()
        assert caught.value.code == "llm_unauthorized"

    async def test_a_model_that_is_not_there(self, vendor: LlmVendor) -> None:
        async with vendor.serving([ScriptedAnswer("Hi.")]) as (server, _):
            with pytest.raises(ModelError) as caught:
                await vendor.build(vendor.choice(server.base_url, model="none-such")).check_access()
        assert caught.value.code == "llm_not_found"


class TestAnthropic:
    async def test_a_model_that_takes_less_is_asked_for_less(self) -> None:
        async with ANTHROPIC.serving([ScriptedAnswer("Hi.")]) as (server, _):
            refused = ANTHROPIC.build(ANTHROPIC.choice(server.base_url, model="claude-haiku-4-9"))
            await ask(refused)
            assert server.requests[-1].body["temperature"] == 0.3
            thinking = ANTHROPIC.build(ANTHROPIC.choice(server.base_url, model="claude-sonnet-5-5"))
            await ask(thinking)
        assert server.requests[-1].body["thinking"] == {"type": "between_tools"}
        assert "temperature" not in server.requests[-1].body

    async def test_a_refused_part_is_left_out_from_then_on(self) -> None:
        def answer(body: dict[str, Any]) -> Any:
            return HttpRefusal(400, message="thinking: not supported") if "thinking" in body else ScriptedAnswer("Hi.")

        async with ANTHROPIC.serving(answer) as (server, _):
            llm = ANTHROPIC.build(ANTHROPIC.choice(server.base_url, model="claude-haiku-5-5"))
            for _ in range(2):
                assert spoken(await ask(llm)) == "Hi."
        assert ["thinking" in request.body for request in server.requests] == [True, False, False]


class TestGoogle:
    async def test_signatures_go_back_with_their_calls(self) -> None:
        script = [ScriptedAnswer(calls=(("get_weather", {}),)), ScriptedAnswer("Sun.")]
        async with GOOGLE.serving(script) as (server, llm):
            (call,) = called(await ask(llm))
            history = [
                *HELLO.messages,
                LlmMessage("assistant", "", (call,)),
                LlmMessage("tool", "{}", tool_call_id=call.id),
            ]
            await ask(llm, LlmRequest(history))
        parts = server.requests[-1].body["contents"][-2]["parts"]
        assert parts[0]["thoughtSignature"] == "c2lnbmVkIGJ5IGxhYg=="
