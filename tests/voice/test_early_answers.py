"""The model is asked before the caller's turn is decided; until then nobody hears, reads or pays twice for it."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from offhook.models.ports import LlmEvent, LlmRequest, ModelError, SttEvent
from offhook.voice import events
from tests.fakes.clock import VirtualTimeLoop
from tests.fakes.scripted import Reply, ScriptedLlm, ScriptedStt, calls, says, takes
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, simple_agent
from tests.voice.recorded_phone import RecordedPhoneCall, replayed

ON = {"early_answers": True}
SLOW = Reply("We open at nine.", first_token_s=0.6)
LONG = "We open at nine in the morning and close at five in the evening, every single day of the week."


def a_call(*replies: Reply, early: bool = True, **given: Any) -> RecordedPhoneCall:
    graph = given.pop("graph", None) or simple_agent()
    settings = {**given.pop("configurations", {}), **(ON if early else {})}
    return RecordedPhoneCall(graph, replies, configurations=settings, **given)


def asked(call: Call) -> list[LlmRequest]:
    (llm,) = call.llms
    assert isinstance(llm, ScriptedLlm)
    return llm.requests


def with_model(call: RecordedPhoneCall, llm: ScriptedLlm | None = None) -> RecordedPhoneCall:
    call.llms = [llm or ScriptedLlm(call.replies)]
    return call


def outcomes(call: Call) -> list[Any]:
    found = call.sink.of(events.EARLY_ANSWER)
    return ["used" if data["used"] else data["reason"] for data in found]


def used_llm(call: Call) -> dict[str, Any]:
    (counted,) = call.sink.of(events.USAGE_COUNTED)
    (entry,) = counted["llm"]
    return dict(entry)


def answer_times(call: Call) -> list[int]:
    return [
        data["timing"]["response_ms"]
        for data in call.sink.of(events.AGENT_SAID)
        if "response_ms" in data.get("timing", {})
    ]


def assert_same_again(call: RecordedPhoneCall) -> None:
    again = call.play_again()
    assert replayed(again) == call.stored()
    assert (again.deviations, again.is_complete) == (0, True)


def test_an_answer_is_heard_sooner_by_the_time_in_which_the_call_waited() -> None:
    late = with_model(a_call(SLOW, early=False)).says("When do you open", at=3).hangs_up(at=9)
    soon = with_model(a_call(SLOW)).says("When do you open", at=3).hangs_up(at=9)
    late.run()
    soon.run()

    assert soon.transcript == late.transcript
    assert len(asked(soon)) == len(asked(late)) == 1
    (before,), (after,) = answer_times(late), answer_times(soon)
    (ahead,) = [data["ahead_ms"] for data in soon.sink.of(events.EARLY_ANSWER)]
    assert before - after == pytest.approx(ahead, abs=25)
    assert ahead >= 300
    counted = used_llm(soon)
    assert (counted["calls"], counted["early_calls"], "early_unused_calls" in counted) == (1, 1, False)
    assert (counted["prompt_tokens"], counted["completion_tokens"]) == (10, 4)
    assert "early_calls" not in used_llm(late)
    assert_same_again(soon)


def test_the_turn_is_not_decided_sooner() -> None:
    late = a_call(SLOW, early=False).says("When do you open", at=3).hangs_up(at=9)
    soon = a_call(SLOW).says("When do you open", at=3).hangs_up(at=9)
    late.run()
    soon.run()

    def decided(call: Call) -> list[float]:
        return [event.at_s for event in call.sink.events if event.type == events.CALLER_SAID]

    assert decided(soon) == decided(late)


def test_who_goes_on_is_answered_as_a_whole_and_the_rest_is_waste() -> None:
    call = with_model(a_call(says(LONG), says("On Sunday at ten.")))
    call.says("When do you open", at=3).says("on Sunday", at=4.7).hangs_up(at=10)
    call.run()

    assert outcomes(call) == ["caller_went_on", "used"]
    assert call.transcript[1:] == [("caller", "When do you open on Sunday"), ("agent", "On Sunday at ten.")]
    assert [request.messages[-1].content for request in asked(call)] == [
        "When do you open",
        "When do you open on Sunday",
    ]
    counted = used_llm(call)
    assert (counted["calls"], counted["early_calls"], counted["early_unused_calls"]) == (2, 2, 1)
    assert 0 < counted["early_unused_prompt_tokens"] < counted["prompt_tokens"]
    assert 0 < counted["early_unused_completion_tokens"] < counted["completion_tokens"]
    assert counted["estimated"] == 1
    assert_same_again(call)


def test_what_was_for_nothing_counts_for_the_credit_while_the_call_goes_on() -> None:
    seen: list[dict[str, Any]] = []
    call = with_model(a_call(says(LONG), says("On Sunday at ten.")))
    call.says("When do you open", at=3).says("on Sunday", at=4.7).hangs_up(at=10)
    call.does(lambda one: seen.extend(one.session.usage_so_far()["llm"]), at=5.0)
    call.run()

    (entry,) = seen
    assert entry["calls"] == entry["early_unused_calls"] == 1
    assert entry["prompt_tokens"] == entry["early_unused_prompt_tokens"] > 0


def test_who_rambles_causes_two_early_requests_at_most() -> None:
    call = with_model(a_call(*[says(LONG)] * 5, configurations={"turn_stop_silence_secs": 1.5}))
    for index, text in enumerate(("I have a dog", "It is brown", "It likes cats", "May it come")):
        call.says(text, at=3 + index * 1.7)
    call.hangs_up(at=16)
    call.run()

    assert [text for who, text in call.transcript if who == "caller"] == [
        "I have a dog It is brown It likes cats May it come"
    ]
    assert outcomes(call) == ["caller_went_on", "caller_went_on"]
    assert len(asked(call)) == 3
    assert used_llm(call)["early_unused_calls"] == 2
    assert_same_again(call)


def test_no_tool_runs_and_no_step_is_taken_for_words_that_were_not_all() -> None:
    tool = ScriptedTool("cancel", {"ok": True})
    graph = simple_agent(tool_uuids=["cancel"])
    call = with_model(a_call(calls("cancel"), says("It stays."), graph=graph, tools=Tools(tool)))
    call.says("Cancel my order", at=3).says("no leave it", at=4.6).hangs_up(at=10)
    call.run()
    assert (outcomes(call), tool.calls) == (["caller_went_on", "used"], [])
    assert not call.sink.of(events.TOOL_CALLED)

    call = with_model(a_call(takes("done"), says("Of course."), graph=simple_agent()))
    call.says("That is all", at=3).says("or one thing more", at=4.6).hangs_up(at=10)
    call.run()
    assert not call.sink.of(events.EDGE_TAKEN)
    assert call.agent_said[-1] == "Of course."
    assert_same_again(call)


def test_a_tool_runs_once_when_the_turn_is_decided() -> None:
    tool = ScriptedTool("cancel", {"ok": True})
    graph = simple_agent(tool_uuids=["cancel"])
    call = with_model(a_call(calls("cancel", order="7"), says("Done."), graph=graph, tools=Tools(tool)))
    call.says("Cancel my order", at=3).hangs_up(at=10)
    call.run()

    assert (outcomes(call), tool.calls) == (["used"], [{"order": "7"}])
    times = {event.type: event.at_s for event in call.sink.events}
    assert times[events.TOOL_CALLED] >= times[events.CALLER_SAID]
    assert call.agent_said[-1] == "Done."
    assert_same_again(call)


def test_an_answer_that_is_interrupted_is_cut_to_what_was_heard() -> None:
    call = with_model(a_call(Reply(f"We are open a lot. {LONG}", hangs_after_words=12), says("Of course.")))
    call.says("When do you open", at=3).says("stop please I want something else", at=7).hangs_up(at=16)
    call.run()

    assert outcomes(call)[0] == "used"
    assert call.sink.of(events.BARGED_IN)
    heard = [message.content for message in asked(call)[1].messages if message.role == "assistant"][-1]
    assert heard.startswith("We are open a lot.")
    assert not heard.endswith(LONG)
    assert used_llm(call)["estimated"] == 1
    assert_same_again(call)


def test_a_model_that_fails_early_is_replaced_and_the_caller_hears_the_next_one() -> None:
    gone = ModelError("gone", "It is gone.", retryable=False)
    call = a_call()
    call.llms = [
        ScriptedLlm([Reply(fails=gone)], provider="first"),
        ScriptedLlm([SLOW], provider="second"),
    ]
    call.says("When do you open", at=3).hangs_up(at=9)
    call.run()

    assert outcomes(call) == ["used"]
    assert call.agent_said[-1] == "We open at nine."
    assert len(call.sink.of(events.MODEL_FAILED)) == 1
    assert_same_again(call)


def test_when_every_model_fails_early_they_are_asked_again_for_the_turn() -> None:
    once = ModelError("busy", "It is busy.", retryable=True)
    llm = ScriptedLlm(
        [Reply(fails=once, first_token_s=0.05), Reply(fails=once, first_token_s=0.05), says("We open at nine.")]
    )
    call = with_model(a_call(), llm).says("When do you open", at=3).hangs_up(at=9)
    call.run()

    assert outcomes(call) == ["failed"]
    assert call.agent_said[-1] == "We open at nine."
    assert_same_again(call)


def test_a_model_that_breaks_early_is_asked_again_for_the_turn() -> None:
    class Breaking(ScriptedLlm):
        async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
            if not self.requests:
                self.requests.append(request)
                raise RuntimeError("a fault of ours")
            async for event in super().stream(request):
                yield event

    call = with_model(a_call(), Breaking([says("We open at nine.")])).says("When do you open", at=3).hangs_up(at=9)
    call.run()

    assert outcomes(call) == ["failed"]
    assert (call.agent_said[-1], call.sink.of(events.WATCHDOG_ACTED)) == ("We open at nine.", [])


def test_a_process_that_takes_over_knows_what_an_undecided_request_has_used() -> None:
    seen: list[dict[str, Any]] = []
    call = with_model(a_call(says("We open at nine."), configurations={"turn_stop_silence_secs": 2}))
    call.says("When do you open", at=3).hangs_up(at=9)
    call.does(lambda one: seen.extend(one.session.usage_so_far()["llm"]), at=5.3)
    call.run()

    (entry,) = seen
    assert (entry["calls"], entry["early_unused_calls"], entry["prompt_tokens"]) == (1, 1, 10)
    assert outcomes(call) == ["used"]
    assert (used_llm(call)["calls"], used_llm(call)["prompt_tokens"]) == (1, 10)


def test_a_model_that_hangs_early_is_given_up_as_early_as_any() -> None:
    call = a_call()
    call.llms = [
        ScriptedLlm([Reply("Well", hangs_after_words=0)], provider="first"),
        ScriptedLlm([says("We open at nine.")], provider="second"),
    ]
    call.says("When do you open", at=3).hangs_up(at=14)
    call.run()

    assert [data["step"] for data in call.sink.of(events.WATCHDOG_ACTED)] == ["filler"]
    assert [data["code"] for data in call.sink.of(events.MODEL_FAILED)] == ["llm_stalled"]
    assert call.agent_said[-1] == "One moment, please. We open at nine."
    assert_same_again(call)


def test_a_call_that_ends_meanwhile_counts_what_was_asked() -> None:
    call = with_model(a_call(says(LONG))).says("When do you open", at=3).hangs_up(at=4.75)
    call.run()

    assert outcomes(call) == ["call_over"]
    assert used_llm(call)["early_unused_calls"] == 1
    assert_same_again(call)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("So my number is", "an unfinished sentence"),
        ("It is five five five", "a number that may go on"),
        ("um", "a filler"),
    ],
)
def test_the_model_is_not_asked_early_after(said: str, why: str) -> None:
    call = with_model(a_call(says("Yes."))).says(said, at=3).hangs_up(at=8)
    call.run()
    assert not call.sink.of(events.EARLY_ANSWER), why


def test_the_offline_model_and_calls_whose_money_ends_wait_for_the_turn() -> None:
    call = a_call()
    call.llms = [ScriptedLlm([says("At nine.")], provider="builtin")]
    call.says("When do you open", at=3).hangs_up(at=8)
    call.run()
    assert (outcomes(call), call.agent_said[-1]) == ([], "At nine.")

    call = a_call(says("At nine.")).says("When do you open", at=3).hangs_up(at=12)
    call.does(lambda one: one.session.limit_time(40.0), at=1)
    call.run()
    assert (outcomes(call), call.agent_said[-1]) == ([], "At nine.")


def hears(call: RecordedPhoneCall, *heard: tuple[float, SttEvent]) -> RecordedPhoneCall:
    """The recognizer reports these events, whatever is said."""
    stt = ScriptedStt(call.hearing, has_endpointing=True, deaf=True)
    opened = stt.open_stream

    async def open_stream(*, sample_rate: int, language: str) -> Any:
        stream = await opened(sample_rate=sample_rate, language=language)
        for at, event in heard:
            stream._loop.call_later(at, stream._queue.put_nowait, event)
        return stream

    stt.open_stream = open_stream  # type: ignore[method-assign]
    call.stts = [stt]
    return call


PARTIAL = SttEvent("partial", "When do you open")
LIKELY = replace(PARTIAL, is_likely_end=True)


def test_a_recognizer_that_expects_the_end_starts_the_answer() -> None:
    end = SttEvent("final", "When do you open", is_endpoint=True)
    call = hears(with_model(a_call(SLOW)), (3.4, PARTIAL), (4.15, LIKELY), (4.7, end))
    call.says("When do you open", at=3).hangs_up(at=9)
    call.run()
    assert outcomes(call) == ["used"]
    (data,) = call.sink.of(events.EARLY_ANSWER)
    assert data["ahead_ms"] == pytest.approx(550, abs=25)
    assert_same_again(call)


def test_a_recognizer_that_takes_the_end_back_cancels_the_answer() -> None:
    end = SttEvent("final", "When do you open on Sunday", is_endpoint=True)
    call = hears(
        with_model(a_call(says(LONG), says("At ten."))), (3.4, PARTIAL), (4.15, LIKELY), (4.3, PARTIAL), (5.6, end)
    )
    call.says("When do you open on Sunday", at=3, for_s=2.0).hangs_up(at=10)
    call.run()
    assert outcomes(call) == ["caller_went_on"]
    assert call.agent_said[-1] == "At ten."
    assert_same_again(call)


@pytest.mark.parametrize("seed", range(6))
def test_a_call_in_a_busy_process_is_the_same_again(seed: int) -> None:
    """Others have their turn between any two steps, and timers are late."""
    chance = random.Random(f"early/{seed}")
    call = with_model(a_call(*(says(f"That is answer {number}. {LONG}") for number in range(9)), murmur=300.0))
    for number in range(3):
        at = 3 + 7.0 * number + chance.random()
        call.says("When do you open", at=at).says("on Sunday", at=at + chance.uniform(1.3, 2.4))
    for _ in range(60):
        busy_s = chance.choice((0.001, 0.004, 0.03, 0.09))
        call.does(lambda _, busy_s=busy_s: keep_busy(busy_s), at=chance.uniform(0, 24))  # type: ignore[misc]
    call.hangs_up(at=chance.uniform(20, 25))
    call.run()

    assert call.sink.of(events.EARLY_ANSWER)
    assert_same_again(call)


def keep_busy(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.be_busy(seconds)
