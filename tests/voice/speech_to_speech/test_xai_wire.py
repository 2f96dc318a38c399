"""xAI Voice: both sides against the fields that its documentation names, and what is its own on a call."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from offhook.kit.audio import PCM16_16K
from offhook.models.ports import ModelError
from offhook.models.providers.xai_voice.dialect import XaiVoiceDialect
from tests.fakes.voice import KeptLeg, ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import LONG, SURE, XAI, SpokenCall, answer, on_a_line, sent, spoken_agent

GREETING = "Hello, how can I help?"
DIALECT = XaiVoiceDialect()
# Source: docs.x.ai/voice-realtime.ws.json as users' clients quote it in October 2026; there are no SDK types.
SESSION: Final = {
    *("model", "instructions", "reasoning", "voice", "turn_detection", "resumption", "audio", "tools", "replace"),
}
RESPONSE: Final = {"id", "object", "status", "status_details", "output", "usage", "metadata"}
PLACE: Final = {"response_id", "item_id", "output_index", "content_index"}
CLIENT_EVENTS: Final[Mapping[str, set[str]]] = {
    "session.update": {"session"},
    "input_audio_buffer.commit": set(),
    "input_audio_buffer.clear": set(),
    "conversation.item.create": {"previous_item_id", "item"},
    "conversation.item.delete": {"item_id"},
    "conversation.item.truncate": {"item_id", "content_index", "audio_end_ms"},
    "response.create": {"response"},
    "response.cancel": {"response_id"},
}
SERVER_EVENTS: Final[Mapping[str, set[str]]] = {
    "session.created": {"session"},
    "session.updated": {"session"},
    "conversation.created": {"conversation"},
    "ping": {"timestamp"},
    "input_audio_buffer.committed": {"item_id", "previous_item_id"},
    "input_audio_buffer.cleared": set(),
    "conversation.item.added": {"item", "previous_item_id"},
    "conversation.item.deleted": {"item_id"},
    "conversation.item.truncated": {"item_id", "content_index", "audio_end_ms", "transcript"},
    "response.created": {"response"},
    "response.output_item.done": {"response_id", "output_index", "item"},
    "response.output_audio.delta": {*PLACE, "delta"},
    "response.output_audio_transcript.delta": {*PLACE, "delta"},
    "response.function_call_arguments.done": {*PLACE, "call_id", "name", "arguments"},
    "response.done": {"response"},
    "error": {"error"},
}


def check(events: Mapping[str, set[str]], messages: list[dict[str, Any]]) -> set[str]:
    for message in messages:
        assert set(message) - {"type", "event_id"} <= events[message["type"]], message
        assert set(message.get("session", ())) <= SESSION
        if "id" in message.get("response", ()):
            assert set(message["response"]) <= RESPONSE
    return {message["type"] for message in messages}


def test_both_sides_speak_the_vendors_language() -> None:
    async def scenario() -> None:
        look = ScriptedTool("look_up", result={"free": True})
        script = [answer("Hello there."), answer("I was not asked.", "look_up"), answer("", "look_up", day="monday")]
        async with XAI.open(*script, answer(LONG), answer("Of course.")) as lab:
            call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
            call.says("is monday free", at=4).says("stop please", at=8).presses("7#", at=13)
            call.does(lambda _: lab.server.start_orphan(), at=3.5)
            await lab.carry(call.hangs_up(at=18))

            assert check(CLIENT_EVENTS, lab.server.messages) == set(CLIENT_EVENTS) - {"input_audio_buffer.clear"}
            assert check(SERVER_EVENTS, lab.server.sent) >= set(SERVER_EVENTS) - {"error", "input_audio_buffer.cleared"}
            creates = sent(lab.server, "response.create")
            assert all(set(create["response"]) == {"metadata"} for create in creates)
            assert look.calls == [{"day": "monday"}]
            assert not lab.server.complaints

    on_a_line(scenario)


def test_mulaw_goes_straight_through_and_nobody_else_detects_turns() -> None:
    async def scenario() -> None:
        async with XAI.open() as lab:
            call = await lab.carry(SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=9))

            form = {"format": {"type": "audio/pcmu"}}
            assert lab.server.sessions[0].updates[0] == {
                "voice": "eve",
                "turn_detection": {"type": None},
                "audio": {"input": form, "output": form},
            }
            # speech with what came just before it, and none of the silence of nine seconds
            assert 3 * 0.2 < lab.server.sessions[0].appended_bytes / 8000 < 3
            assert call.agent_said == [GREETING, SURE]

    on_a_line(scenario)


def test_a_line_of_linear_audio_has_its_own_rate() -> None:
    async def scenario() -> None:
        async with XAI.open() as lab:
            call = SpokenCall(spoken_agent(), leg=KeptLeg(codec=PCM16_16K))
            await lab.carry(call.says("book a table", at=4).hangs_up(at=9))

            audio = lab.server.sessions[0].updates[0]["audio"]
            assert audio["output"] == {"format": {"type": "audio/pcm", "rate": 16000}}

    on_a_line(scenario)


def test_only_speech_and_texts_are_charged() -> None:
    async def scenario() -> None:
        async with XAI.open() as lab:
            call = SpokenCall(spoken_agent()).says("book a table", at=4).presses("42#", at=12)
            await lab.carry(call.hangs_up(at=60))

            # a minute of connection
            assert 2 < call.usage["seconds"] < 15
            texts = [item["item"] for item in sent(lab.server, "conversation.item.create")]
            assert [item["content"][0]["text"] for item in texts] == ["(entered on the keypad) 42"]
            assert call.usage["messages"] == 1

    on_a_line(scenario)


def test_speech_that_was_never_answered_is_charged() -> None:
    async def scenario() -> None:
        async with XAI.open() as lab:
            call = await lab.carry(SpokenCall(spoken_agent()).says("i want to book a table", at=4).hangs_up(at=5))

            assert call.usage["calls"] == 1
            assert call.usage["seconds"] == lab.server.counted_usage()["seconds"]

    on_a_line(scenario)


@pytest.mark.parametrize(
    ("asked", "answered", "other"),
    [
        ("grok-voice-think-fast-2.0", "grok-voice-think-fast-2.0", ""),
        ("grok-voice-think-fast-2.0", "grok-voice-think-fast-2.0-0729", ""),
        ("grok-voice-latest", "grok-voice-think-fast-2.0", ""),
        ("grok-voice-think-fast-1.0", "grok-voice-think-fast-2.0", "grok-voice-think-fast-2.0"),
        ("grok-voice-think-fast-1.0", None, ""),
    ],
)
def test_the_model_that_answers_is_the_one_that_was_asked_for(asked: str, answered: str | None, other: str) -> None:
    assert DIALECT.other_model(asked, {"model": answered}) == other


@pytest.mark.parametrize(
    ("kind", "message", "name", "is_fatal"),
    [
        ("invalid_request_error", "Item not found", "bad_request", False),
        ("invalid_event", "Unknown event", "bad_request", False),
        ("internal_error", "Something went wrong", "server_error", False),
        ("timeout", "Inactive for too long", "cut_off", True),
        ("max_duration", "Exceeded", "cut_off", True),
        ("invalid_request_error", "Your team has used all available credits", "no_quota", True),
        ("invalid_request_error", "Too many concurrent sessions", "rate_limited", False),
    ],
)
def test_the_type_of_an_error_decides(kind: str, message: str, name: str, is_fatal: bool) -> None:
    error = {"type": kind, "code": kind, "message": message}
    assert (DIALECT.name_error(error), DIALECT.is_fatal(error)) == (name, is_fatal)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            '{"code": "Client specified an invalid argument", "error": "Incorrect API key provided."}',
            "unauthorized",
        ),
        (400, '{"code": "Client specified an invalid argument", "error": "Bad rate."}', "bad_request"),
        (401, "", "unauthorized"),
        (403, '{"code": "The caller does not have permission", "error": "Your team has no credits yet."}', "no_quota"),
        (429, '{"code": "Some resource has been exhausted", "error": "used all available credits"}', "no_quota"),
        (429, '{"code": "Some resource has been exhausted", "error": "Too many requests"}', "rate_limited"),
    ],
)
def test_refused_handshakes(status: int, body: str, code: str) -> None:
    error = DIALECT.make_errors("xai-secret").status_error(status, body.encode())
    assert error.code == f"realtime_{code}"


def test_an_answer_that_the_vendor_ends_itself_is_none() -> None:
    errors = DIALECT.make_errors("xai-secret")

    def explain(status: str) -> ModelError | None:
        return DIALECT.explain_response(errors, {"status": status, "status_details": "unimplemented"})

    failed, stopped = explain("failed"), explain("incomplete")
    assert failed is not None
    assert (failed.code, failed.retryable) == ("realtime_server_error", True)
    assert stopped is not None
    assert stopped.code == "realtime_content_filtered"
    assert explain("completed") is None
    assert explain("cancelled") is None
