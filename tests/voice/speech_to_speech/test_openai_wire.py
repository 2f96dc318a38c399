"""OpenAI Realtime: what is its own, and both sides against the types of the vendor's SDK."""

from collections.abc import Iterator
from typing import Any

import pytest
from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent
from pydantic import BaseModel, TypeAdapter

from offhook.models.speech.realtime_events.messages import read_usage
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import (
    LONG,
    OPENAI,
    SURE,
    SpokenCall,
    answer,
    on_a_line,
    sent,
    spoken_agent,
)


def unknown_fields(value: Any, at: str = "") -> Iterator[str]:
    """The fields that the SDK's types do not have; they take any."""
    if isinstance(value, BaseModel):
        yield from (f"{at}.{name}" for name in value.model_extra or ())
        for name in type(value).model_fields:
            yield from unknown_fields(getattr(value, name), f"{at}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from unknown_fields(item, at)


def check(types: Any, messages: list[dict[str, Any]]) -> set[str]:
    adapter: TypeAdapter[Any] = TypeAdapter(types)
    kinds = set()
    for message in messages:
        event = adapter.validate_python(message)
        assert event.type == message["type"]
        assert not list(unknown_fields(event, message["type"]))
        kinds.add(message["type"])
    return kinds


def test_both_sides_speak_the_vendors_language() -> None:
    async def scenario() -> None:
        look = ScriptedTool("look_up", result={"free": True})
        script = [answer("Hello there."), answer("I was not asked.", "look_up"), answer("", "look_up", day="monday")]
        async with OPENAI.open(*script, answer(LONG), answer("Of course.")) as lab:
            call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
            call.says("is monday free", at=4).says("stop please", at=8).presses("7#", at=13)
            call.does(lambda _: lab.server.start_orphan(), at=3.5)
            await lab.carry(call.hangs_up(at=18))

            assert check(RealtimeClientEvent, lab.server.messages) == {
                "session.update",
                "input_audio_buffer.commit",
                "conversation.item.create",
                "conversation.item.delete",
                "conversation.item.truncate",
                "response.create",
                "response.cancel",
            }
            assert check(RealtimeServerEvent, lab.server.sent) >= {
                "response.output_audio.delta",
                "response.output_audio_transcript.delta",
                "response.function_call_arguments.done",
                "response.done",
                "conversation.item.truncated",
            }
            (cut,) = sent(lab.server, "conversation.item.truncate")
            assert cut["audio_end_ms"] > 0
            updates = sent(lab.server, "session.update")
            assert all(update["session"]["type"] == "realtime" for update in updates)
            assert look.calls == [{"day": "monday"}]
            assert not lab.server.complaints

    on_a_line(scenario)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"input_tokens": 10, "output_tokens": 5},
        {"input_tokens": 10, "input_token_details": {"text_tokens": 4}, "output_token_details": {}},
        {"input_tokens": 4, "input_token_details": {"text_tokens": 4, "cached_tokens": 2}, "output_token_details": {}},
    ],
)
def test_usage_that_is_not_split_by_modality_is_unknown(usage: Any) -> None:
    assert read_usage({"usage": usage}) is None


def test_cached_tokens_are_not_counted_twice() -> None:
    details = {
        "text_tokens": 100,
        "audio_tokens": 50,
        "cached_tokens": 90,
        "cached_tokens_details": {"text_tokens": 60, "audio_tokens": 30},
    }
    used = read_usage(
        {
            "usage": {
                "input_tokens": 150,
                "output_tokens": 30,
                "input_token_details": details,
                "output_token_details": {"text_tokens": 10, "audio_tokens": 20},
            }
        }
    )
    assert used is not None
    assert used.counts() == {
        "text_input_tokens": 40,
        "text_cached_tokens": 60,
        "text_output_tokens": 10,
        "audio_input_tokens": 20,
        "audio_cached_tokens": 30,
        "audio_output_tokens": 20,
    }


def test_mulaw_goes_straight_through() -> None:
    async def scenario() -> None:
        async with OPENAI.open() as lab:
            call = await lab.carry(SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=9))

            opening = lab.server.sessions[0].updates[0]
            assert opening["audio"]["input"] == {"format": {"type": "audio/pcmu"}, "turn_detection": None}
            assert opening["audio"]["output"] == {"format": {"type": "audio/pcmu"}, "voice": "marin"}
            # speech with what came just before it, and none of the silence of nine seconds
            assert 3 * 0.2 < lab.server.sessions[0].appended_bytes / 8000 < 3
            assert call.agent_said == ["Hello, how can I help?", SURE]

    on_a_line(scenario)


def test_audio_that_is_shorter_there_is_written_as_text() -> None:
    async def scenario() -> None:
        async with OPENAI.open(
            answer("Hello, how can I help?"), answer(LONG), answer("Of course."), answer("Yes.")
        ) as lab:
            lab.server.shorter_ms = 5000
            call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
            await lab.carry(call.says("are you there", at=12).hangs_up(at=17))

            heard = call.agent_said[1]
            assert any("already shorter" in complaint for complaint in lab.server.complaints)
            assert ("assistant", heard) in lab.remembered_lines
            assert LONG not in [text for _, text in lab.remembered_lines]
            assert call.agent_said[-1] == "Yes."

    on_a_line(scenario)
