"""What a call used is counted by vendor, also of turns that were cut off and of vendors that were left."""

from typing import Any

from offhook.models.ports import ModelError
from offhook.voice import events
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, says
from tests.voice.phone import Call, simple_agent

DEAD = ModelError("gone", "It is gone.", retryable=False)
LONG = "Well, there are many things that I could tell you about this, and I will tell you all of them, one by one."


def used(call: Call, kind: str) -> dict[str, dict[str, Any]]:
    (counted,) = call.sink.of(events.USAGE_COUNTED)
    return {entry["provider"]: entry for entry in counted[kind]}


def test_an_interrupted_answer_is_estimated() -> None:
    slow = ScriptedLlm([Reply(f"I will tell you all of it now. {LONG}", word_s=0.3), says("Of course.")])
    call = Call(simple_agent(), llms=[slow])
    call.says("Tell me everything", at=3).says("Stop please", at=7.2).hangs_up(at=16).run()

    assert call.sink.of(events.BARGED_IN)
    counted = used(call, "llm")["scripted"]
    assert (counted["calls"], counted["estimated"]) == (2, 1)
    said = call.agent_said[-1].split()
    assert counted["completion_tokens"] > len(said)
    prompts = sum(len(message.content) for message in slow.requests[0].messages)
    assert counted["prompt_tokens"] == 10 + -(-prompts // 4)


def test_a_vendor_that_dies_mid_sentence_is_counted_and_one_that_refuses_is_not() -> None:
    refuses = ScriptedLlm([Reply(fails=DEAD)], provider="refuses")
    dies = ScriptedLlm([Reply("Sure, I can book that for you, for which", fails=DEAD)], provider="dies")
    answers = ScriptedLlm([says("day would you like it?")], provider="answers")
    call = Call(simple_agent(), llms=[refuses, dies, answers]).says("Book a table", at=3).hangs_up(at=14).run()

    counted = used(call, "llm")
    assert "prompt_tokens" not in counted["refuses"]
    assert (counted["dies"]["completion_tokens"], counted["dies"]["estimated"]) == (10, 1)
    assert (counted["answers"]["completion_tokens"], "estimated" in counted["answers"]) == (5, False)


def test_each_recogniser_has_the_seconds_that_it_listened() -> None:
    hearing = Hearing()
    stts = [ScriptedStt(hearing, dies_at_s=4, provider="first"), ScriptedStt(hearing, provider="second")]
    call = Call(simple_agent(), [says("Sure.")], hearing=hearing, stts=stts)
    call.says("Book a table", at=6).hangs_up(at=12).run()

    counted = used(call, "stt")
    assert 3.5 <= counted["first"]["seconds"] <= 4.5
    assert 11 <= counted["first"]["seconds"] + counted["second"]["seconds"] <= 13
