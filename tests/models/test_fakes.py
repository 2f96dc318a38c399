"""The fakes keep their promises on virtual time; otherwise every voice test would be built on sand."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from offhook.models.ports import LlmRequest, Message, ModelError, TextDelta, ToolCalled
from tests.fakes.clock import run_virtual
from tests.fakes.models import FakeLlm, FakeStt, FakeTts, Hearing, calls, fails, says

ASK = LlmRequest([Message("user", "hello")])


async def collect(chunks: AsyncIterator[bytes], into: list[bytes]) -> None:
    async for chunk in chunks:
        into += [chunk]


def test_an_llm_speaks_its_turns_in_time_and_in_order() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        llm = FakeLlm([says("one two", after=0.5, per_word=0.1), calls("book", day="monday"), fails("overloaded")])
        began = loop.time()
        heard = [(event.text, loop.time() - began) async for event in llm.stream(ASK) if isinstance(event, TextDelta)]
        assert [text for text, _ in heard] == ["one", " two"]
        assert [at for _, at in heard] == pytest.approx([0.5, 0.6])
        called = [event async for event in llm.stream(ASK) if isinstance(event, ToolCalled)]
        assert called[0].call.arguments == {"day": "monday"}
        with pytest.raises(ModelError, match="overloaded"):
            await anext(aiter(llm.stream(ASK)))

    run_virtual(main())


def test_a_closed_stream_counts_as_cancelled() -> None:
    async def main() -> None:
        llm = FakeLlm([says("one two three")])
        stream = llm.stream(ASK)
        await anext(stream)
        await stream.aclose()
        assert llm.cancelled == 1

    run_virtual(main())


def test_speech_is_as_long_as_its_text_and_may_break() -> None:
    async def main() -> None:
        tts = FakeTts(trouble={"bad": "break"})
        whole = b"".join([chunk async for chunk in tts.speak("0123456789")])
        assert len(whole) / 2 / 8000 == pytest.approx(0.6)
        broken: list[bytes] = []
        with pytest.raises(ModelError):
            await collect(tts.speak("bad 456789"), broken)
        assert len(b"".join(broken)) == len(whole) // 2

    run_virtual(main())


def test_hearing_gives_partials_and_a_final_after_the_endpointing_delay() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        hearing = Hearing()
        stream = await FakeStt(hearing).open(sample_rate=8000, language="en-US")
        began = loop.time()
        hearing.say("yes please do")
        events = stream.events()
        got = [(await anext(events), round(loop.time() - began, 3)) for _ in range(3)]
        assert [(event.kind, event.text, at) for event, at in got] == [
            ("partial", "yes", 0.3),
            ("partial", "yes please", 0.6),
            ("final", "yes please do", 1.4),
        ]

    run_virtual(main())


def test_without_endpointing_the_final_waits_for_speech_ended() -> None:
    async def main() -> None:
        hearing = Hearing()
        stream = await FakeStt(hearing, has_endpointing=False).open(sample_rate=8000, language="en-US")
        hearing.say("yes")
        await asyncio.sleep(5)
        stream.speech_ended()
        assert (await anext(stream.events())).text == "yes"
        hearing.die()
        with pytest.raises(ModelError):
            await anext(stream.events())

    run_virtual(main())
