"""Twilio's media messages, in and out."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.telephony.ports import DigitPressed, MarkReached, MediaStarted, MediaStopped, WireError
from offhook.telephony.providers.twilio.wire import TwilioWire

START: dict[str, Any] = {
    "event": "start",
    "sequenceNumber": "1",
    "streamSid": "MZ1",
    "start": {
        "streamSid": "MZ1",
        "accountSid": "AC1",
        "callSid": "CA1",
        "tracks": ["inbound"],
        "customParameters": {"run": "7"},
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": "8000", "channels": "1"},
    },
}


def media(payload: bytes, **more: Any) -> dict[str, Any]:
    body = {"track": "inbound", "chunk": "1", "timestamp": "20", "payload": base64.b64encode(payload).decode()}
    return {"event": "media", "sequenceNumber": "2", "streamSid": "MZ1", "media": {**body, **more}}


def reason_of(wire: TwilioWire, message: str) -> str:
    """Why the wire refuses a message; nothing when it takes it."""
    try:
        wire.decode(message)
    except WireError as error:
        return str(error)
    return ""


@pytest.fixture
def wire() -> TwilioWire:
    started = TwilioWire()
    started.decode(json.dumps(START))
    return started


class TestIncoming:
    def test_start_tells_who_calls(self) -> None:
        wire = TwilioWire()

        assert wire.decode('{"event":"connected","protocol":"Call","version":"1.0.0"}') is None
        assert wire.decode(json.dumps(START)) == MediaStarted("MZ1", "CA1", {"run": "7"})

    @given(payload=st.binary(max_size=2000), separators=st.sampled_from([(",", ":"), (", ", ": ")]))
    def test_audio_of_any_length_and_spacing(self, payload: bytes, separators: tuple[str, str]) -> None:
        wire = TwilioWire()
        wire.decode(json.dumps(START))

        assert wire.decode(json.dumps(media(payload), separators=separators)) == payload

    def test_audio_whatever_the_order_of_its_keys(self, wire: TwilioWire) -> None:
        message = media(b"abc")

        assert wire.decode(json.dumps(dict(reversed(message.items())))) == b"abc"

    def test_a_key_inside_a_string_is_not_taken_for_one(self, wire: TwilioWire) -> None:
        message = media(b"abc", track='"payload":"AAAA')
        message["media"] = {"track": '"payload":"AAAA', "payload": message["media"]["payload"]}

        assert wire.decode(json.dumps(message, separators=(",", ":"))) == b"abc"

    def test_the_agents_own_track_is_not_heard(self) -> None:
        wire = TwilioWire()
        wire.decode(json.dumps({**START, "start": {**START["start"], "tracks": ["inbound", "outbound"]}}))

        assert wire.decode(json.dumps(media(b"abc", track="outbound"))) is None
        assert wire.decode(json.dumps(media(b"abc"))) == b"abc"

    def test_marks_keys_and_the_end(self, wire: TwilioWire) -> None:
        assert wire.decode('{"event":"mark","streamSid":"MZ1","mark":{"name":"s1"}}') == MarkReached("s1")
        assert wire.decode('{"event":"dtmf","dtmf":{"track":"inbound_track","digit":"#"}}') == DigitPressed("#")
        assert wire.decode('{"event":"stop","stop":{"callSid":"CA1"}}') == MediaStopped()

    def test_a_report_of_tomorrow_is_ignored(self, wire: TwilioWire) -> None:
        assert wire.decode('{"event":"weather","weather":{}}') is None


class TestMalformed:
    @pytest.mark.parametrize(
        "message",
        [
            "",
            "hello",
            "[]",
            "null",
            '{"event":1}',
            "[" * 60000,
            '{"event":"media"',
            '{"event":"media","media":{"payload":"AA',
            '{"event":"media","media":{"payload":"$$$$"}}',
            '{"event":"media","media":{"payload":"é"}}',
            '{"event":"media","media":{"payload":5}}',
            '{"event":"media","media":[]}',
            '{"event":"mark"}',
            '{"event":"dtmf","dtmf":{"digit":"12"}}',
            '{"event":"dtmf","dtmf":{"digit":["1"]}}',
            json.dumps(START),
            b"\x00\x01",
        ],
    )
    def test_is_refused_with_a_reason(self, wire: TwilioWire, message: str | bytes) -> None:
        with pytest.raises(WireError):
            wire.decode(message)

    @pytest.mark.parametrize(
        "start",
        [{}, {"streamSid": ""}, {"streamSid": 5}, {"streamSid": "MZ1", "mediaFormat": {"encoding": "audio/x-alaw"}}],
    )
    def test_so_is_a_start_that_cannot_be_used(self, start: dict[str, Any]) -> None:
        with pytest.raises(WireError):
            TwilioWire().decode(json.dumps({"event": "start", "start": start}))

    def test_and_audio_before_the_start(self) -> None:
        with pytest.raises(WireError, match="before start"):
            TwilioWire().decode(json.dumps(media(b"abc"), separators=(",", ":")))

    @given(text=st.text(max_size=200))
    def test_nothing_else_ever_escapes(self, text: str) -> None:
        wire = TwilioWire()
        wire.decode(json.dumps(START))
        for message in (text, '{"event":"media"' + text, json.dumps({"event": text})):
            assert len(reason_of(wire, message)) < 100


class TestOutgoing:
    def test_audio_marks_and_clear_are_json_of_the_stream(self, wire: TwilioWire) -> None:
        sent = json.loads(wire.encode_audio(b"\x00\xff" * 80))

        assert sent["event"] == "media"
        assert sent["streamSid"] == "MZ1"
        assert base64.b64decode(sent["media"]["payload"]) == b"\x00\xff" * 80
        assert json.loads(wire.encode_mark('a"b')) == {"event": "mark", "streamSid": "MZ1", "mark": {"name": 'a"b'}}
        assert json.loads(wire.encode_clear()) == {"event": "clear", "streamSid": "MZ1"}

    def test_a_strange_stream_id_stays_a_string(self) -> None:
        wire = TwilioWire()
        wire.decode(json.dumps({"event": "start", "start": {"streamSid": 'x","y":"'}}))

        assert json.loads(wire.encode_audio(b"a"))["streamSid"] == 'x","y":"'
