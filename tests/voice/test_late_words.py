"""A recognizer's words that come late are heard once, and the turn that they belong to waits for them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from offhook.models.ports import Expectation, ModelRef, SttEvent
from offhook.voice import events
from tests.fakes.scripted import says
from tests.voice.phone import Call, simple_agent


@dataclass(eq=False)
class TimedStt:
    """Implements Stt. Shows each event at its second of the call."""

    timeline: list[tuple[float, SttEvent]]
    has_endpointing: bool = True
    judges_turns: bool = False

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", "timed", "script")

    async def open_stream(self, *, sample_rate: int, language: str) -> "TimedStream":
        return TimedStream(self.timeline)


class TimedStream:
    def __init__(self, timeline: list[tuple[float, SttEvent]]) -> None:
        self._queue: asyncio.Queue[SttEvent | None] = asyncio.Queue()
        for at, event in timeline:
            asyncio.get_running_loop().call_later(at, self._queue.put_nowait, event)

    def push_audio(self, pcm: bytes) -> None:
        """Does nothing."""

    def speech_started(self) -> None:
        """Does nothing."""

    def speech_ended(self) -> None:
        """Does nothing."""

    def set_expectation(self, expectation: Expectation) -> None:
        """Does nothing."""

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._queue.get()) is not None:
            yield event

    async def close(self) -> None:
        self._queue.put_nowait(None)


def partial(text: str) -> SttEvent:
    return SttEvent("partial", text)


def final(text: str) -> SttEvent:
    return SttEvent("final", text, 0.9, is_endpoint=True)


def turns(call: Call) -> list[str]:
    return [str(said["text"]) for said in call.sink.of(events.CALLER_SAID)]


def test_the_end_of_a_pause_that_is_reported_late_does_not_end_what_was_said_after_it() -> None:
    heard = [(3.5, partial("so")), (4.1, final("so")), (4.4, partial("london")), (5.2, final("London."))]
    call = Call(simple_agent(), [says("Sure."), says("Again.")], stts=[TimedStt(heard)])
    call.says("so", at=3).says("london", at=3.9).hangs_up(at=9).run()

    assert turns(call) == ["so London."]


def test_a_final_of_words_that_were_answered_already_is_no_turn() -> None:
    heard = [(3.4, partial("london")), (6.0, final("London."))]
    call = Call(simple_agent(), [says("Sure."), says("Again.")], stts=[TimedStt(heard)])
    call.says("london", at=3).hangs_up(at=9).run()

    assert turns(call) == ["london"]


def test_what_such_a_final_has_more_is_heard() -> None:
    heard = [(3.4, partial("london")), (6.0, final("London, on Monday"))]
    call = Call(simple_agent(), [says("Sure."), says("Again.")], stts=[TimedStt(heard)])
    call.says("london", at=3).hangs_up(at=9).run()

    assert turns(call) == ["london", "on Monday"]


def test_words_that_a_caller_says_twice_are_heard_twice() -> None:
    heard = [(3.4, partial("london")), (8.0, final("London."))]
    call = Call(simple_agent(), [says("Sure."), says("Again.")], stts=[TimedStt(heard)])
    call.says("london", at=3).says("london", at=7).hangs_up(at=11).run()

    assert turns(call) == ["london", "London."]
