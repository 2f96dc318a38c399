"""Vendors that fail in the middle of a call: who takes over, what of it is said again, and who is tried once more."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.voice import events
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts, says
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, simple_agent

DEAD = ModelError("gone", "It is gone.", retryable=False)
LIMITED = ModelError("llm_rate_limited", "Slow down.", retryable=True)
FLAKY = ModelError("stt_connection", "It hung up.", retryable=True)


def usage_of(call: Call, kind: str, provider: str) -> dict[str, Any]:
    counted = call.sink.of(events.USAGE_COUNTED)[-1][kind]
    return next(entry for entry in counted if entry["provider"] == provider)


class TestTheModel:
    def test_rate_limited_the_next_vendor_answers_in_the_same_turn(self) -> None:
        first = ScriptedLlm([Reply(fails=LIMITED)] * 9, provider="first")
        second = ScriptedLlm([says("Sure."), says("At eight.")], provider="second")
        call = Call(simple_agent(), llms=[first, second])
        call.says("Book a table", at=3).says("When is it?", at=8).hangs_up(at=14).run()

        assert call.agent_said[1:] == ["Sure.", "At eight."]
        # the one that failed was left alone in the next turn
        assert len(first.requests) == 1
        assert call.sink.of(events.MODEL_FAILED)[0]["code"] == "llm_rate_limited"

    def test_after_a_while_it_is_tried_again(self) -> None:
        first = ScriptedLlm([Reply(fails=LIMITED), says("I am back.")], provider="first")
        second = ScriptedLlm([says("Sure.")], provider="second")
        call = Call(simple_agent(), llms=[first, second], configurations={"max_user_idle_timeout": 60})
        call.says("Book a table", at=3).says("And now?", at=40).hangs_up(at=50).run()

        assert call.agent_said[1:] == ["Sure.", "I am back."]
        moves = [(move["from"], move["to"]) for move in call.sink.of(events.FAILED_OVER)]
        assert moves == [("first", "second"), ("second", "first")]

    def test_a_wrong_key_is_never_tried_again(self) -> None:
        first = ScriptedLlm([Reply(fails=DEAD), says("Never.")], provider="first")
        second = ScriptedLlm([says("Sure."), says("Still me.")], provider="second")
        call = Call(simple_agent(), llms=[first, second], configurations={"max_user_idle_timeout": 200})
        call.says("Book a table", at=3).says("And now?", at=100).hangs_up(at=110).run()

        assert call.agent_said[1:] == ["Sure.", "Still me."]

    def test_hanging_with_another_vendor_the_caller_waits_no_longer_than_for_a_filler(self) -> None:
        first = ScriptedLlm([Reply("Sure", hangs_after_words=0)] * 9, provider="first")
        second = ScriptedLlm([says("At your service.")], provider="second")
        call = Call(simple_agent(), llms=[first, second]).says("Book a table", at=3).hangs_up(at=14).run()

        assert call.longest_silence_after(3.9) < 3
        assert call.agent_said[-1].endswith("At your service.")

    def test_three_in_a_row(self) -> None:
        llms = [ScriptedLlm([Reply(fails=LIMITED)] * 9, provider=name) for name in ("first", "second")]
        call = Call(simple_agent(), llms=[*llms, ScriptedLlm([says("Sure.")], provider="third")])
        call.says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."

    def test_a_tool_that_was_called_is_not_called_again_by_the_next_model(self) -> None:
        class CallsAndDies(ScriptedLlm):
            async def stream(self, request: Any) -> AsyncIterator[Any]:
                async for event in super().stream(request):
                    yield event
                if len(self.requests) == 1:
                    raise DEAD

        tool = ScriptedTool("book", result={"ok": True})
        first = CallsAndDies([Reply("", (("book", {}),))], provider="first")
        second = ScriptedLlm([says("It is booked.")], provider="second")
        call = Call(simple_agent(tool_uuids=["book"]), llms=[first, second], tools=Tools(tool))
        call.says("Book a table", at=3).hangs_up(at=12).run()

        assert len(tool.calls) == 1
        assert call.agent_said[-1] == "It is booked."

    def test_an_answer_that_was_interrupted_is_counted(self) -> None:
        reply = Reply("one two three four five six seven eight nine ten " * 4, word_s=0.2)
        call = (
            Call(simple_agent(), [reply]).says("Tell me", at=3).says("Stop it now please", at=7).hangs_up(at=14).run()
        )

        # the vendor's figures come at the end, which this answer never had
        counted = usage_of(call, "llm", "scripted")
        assert counted["completion_tokens"] > 10
        assert counted["prompt_tokens"] > 10


SENTENCE = "Your table for four people is booked for eight tomorrow evening at the window."


class TestTheVoice:
    def dying(self, after_chunks: int, **more: Any) -> tuple[Call, ScriptedTts, ScriptedTts]:
        first = ScriptedTts(
            provider="first", fails_on=lambda text: DEAD if "table" in text else None, fails_after_chunks=after_chunks
        )
        second = ScriptedTts(provider="second")
        call = Call(simple_agent(), [says(SENTENCE), says("Anything else?")], ttss=[first, second], **more)
        call.says("Book a table", at=3).hangs_up(at=14).run()
        return call, first, second

    def test_the_next_one_says_the_rest_and_nothing_twice(self) -> None:
        call, _, second = self.dying(20)

        (rest,) = second.spoken
        assert SENTENCE.endswith(rest)
        # 2 s of a voice that takes 60 ms a character: a little over 33 of them were out
        assert 25 <= len(SENTENCE) - len(rest) <= 34
        assert call.agent_said[-1] == SENTENCE

    def test_before_a_whole_word_was_out_everything_is_said(self) -> None:
        call, _, second = self.dying(1)

        assert second.spoken == [SENTENCE]
        assert call.agent_said[-1] == SENTENCE

    def test_the_rest_of_the_call_is_spoken_by_the_next_one(self) -> None:
        first = ScriptedTts(provider="first", fails_on=lambda text: DEAD if "table" in text else None)
        second = ScriptedTts(provider="second")
        call = Call(simple_agent(), [says(SENTENCE), says("Anything else?")], ttss=[first, second])
        call.says("Book a table", at=3).says("Thanks", at=12).hangs_up(at=18).run()

        assert second.spoken == [SENTENCE, "Anything else?"]
        assert call.sink.of(events.FAILED_OVER) == [{"kind": "tts", "from": "first", "to": "second"}]

    def test_interrupted_after_the_change_history_has_what_was_heard_of_both(self) -> None:
        first = ScriptedTts(
            provider="first", fails_on=lambda text: DEAD if "table" in text else None, fails_after_chunks=10
        )
        call = Call(simple_agent(), [says(SENTENCE), says("Yes?")], ttss=[first, ScriptedTts(provider="second")])
        call.says("Book a table", at=3).says("Wait a moment please", at=7).hangs_up(at=14).run()

        heard = call.sink.of(events.BARGED_IN)[0]["heard"]
        assert SENTENCE.startswith(heard)
        assert len(heard) > 20

    def test_the_offline_voice_is_waited_for_when_it_is_the_last_one(self) -> None:
        """The first call of a busy machine starts its program."""
        voice = ScriptedTts(provider="builtin", first_byte_s=3.0)
        call = Call(simple_agent(), [says("Sure.")], ttss=[voice]).hangs_up(at=12).run()

        assert call.sink.of(events.MODEL_FAILED) == []
        assert call.result is not None
        assert call.result.end_reason == "caller_hung_up"
        assert call.agent_said


@dataclass(eq=False)
class LoudnessStt:
    """Implements Stt: says how many seconds of voice it was given when an utterance ends; dies at ``dies_at_s``."""

    provider: str
    dies_at_s: float | None = None
    error: ModelError = DEAD
    has_endpointing: bool = False
    judges_turns: bool = False
    streams: list["LoudnessStream"] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", self.provider, "loudness")

    async def open_stream(self, *, sample_rate: int, language: str) -> "LoudnessStream":
        self.streams.append(LoudnessStream(self, sample_rate))
        if self.dies_at_s is not None and len(self.streams) == 1:
            loop = asyncio.get_running_loop()
            loop.call_later(self.dies_at_s, self.streams[0].queue.put_nowait, self.error)
        return self.streams[-1]


class LoudnessStream:
    def __init__(self, stt: LoudnessStt, sample_rate: int) -> None:
        self._rate = sample_rate
        self.loud_s = 0.0
        self.queue: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()

    def push_audio(self, pcm: bytes) -> None:
        samples = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32)).reshape(-1, self._rate // 50)
        self.loud_s += int((samples.max(axis=1) > 1000).sum()) / 50

    def speech_started(self) -> None:
        """The audio says it all."""

    def speech_ended(self) -> None:
        if self.loud_s:
            self.queue.put_nowait(SttEvent("final", f"{self.loud_s:.1f} seconds", 0.9))
            self.loud_s = 0.0

    def set_expectation(self, expectation: Expectation) -> None:
        """It understands everything."""

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self.queue.get()) is not None:
            if isinstance(event, ModelError):
                raise event
            yield event

    async def close(self) -> None:
        self.queue.put_nowait(None)


class TestTheRecogniser:
    def heard(self, *stts: Any) -> Call:
        """The caller speaks from 3.0 to 6.0 s."""
        call = Call(simple_agent(), [says("Sure.")], stts=stts)
        return call.says("I want to book a table for four people tomorrow", at=3, for_s=3.0).hangs_up(at=12).run()

    def test_dying_in_the_middle_the_next_one_gets_the_utterance_from_its_beginning(self) -> None:
        call = self.heard(LoudnessStt("first", dies_at_s=4.5), LoudnessStt("second"))

        (said,) = call.sink.of(events.CALLER_SAID)
        assert said["text"] == "3.0 seconds"
        assert call.agent_said[-1] == "Sure."

    def test_dying_before_its_final_the_next_one_gets_all_of_it(self) -> None:
        call = self.heard(LoudnessStt("first", dies_at_s=6.25), LoudnessStt("second"))

        assert [said["text"] for said in call.sink.of(events.CALLER_SAID)] == ["3.0 seconds"]

    def test_a_hiccup_opens_the_same_one_again_with_all_of_it(self) -> None:
        stt = LoudnessStt("first", dies_at_s=4.5, error=FLAKY)
        call = self.heard(stt)

        assert len(stt.streams) == 2
        assert [said["text"] for said in call.sink.of(events.CALLER_SAID)] == ["3.0 seconds"]

    def test_what_was_understood_is_not_heard_again(self) -> None:
        call = Call(simple_agent(), [says("Sure."), says("Right.")])
        call.stts = [LoudnessStt("first", dies_at_s=9.0), LoudnessStt("second")]
        call.says("Book a table", at=3, for_s=1.0).says("For four", at=11, for_s=1.0).hangs_up(at=16).run()

        assert [said["text"] for said in call.sink.of(events.CALLER_SAID)] == ["1.0 seconds", "1.0 seconds"]

    def test_each_is_charged_for_what_it_heard(self) -> None:
        call = self.heard(LoudnessStt("first", dies_at_s=4.5), LoudnessStt("second"))

        first, second = (usage_of(call, "stt", name)["seconds"] for name in ("first", "second"))
        assert 4 <= first <= 5
        assert 7 <= second <= 8

    def test_scripted_with_a_hiccup_only_once_then_the_next(self) -> None:
        hearing = Hearing()
        first = ScriptedStt(hearing, dies_at_s=1, error=FLAKY, provider="first")
        call = Call(
            simple_agent(), [says("Sure.")], hearing=hearing, stts=[first, ScriptedStt(hearing, provider="second")]
        )
        call.says("Book a table", at=5).hangs_up(at=12).run()

        assert first.opened == 2
        assert call.agent_said[-1] == "Sure."
