"""Amazon Nova Sonic: signatures and messages against botocore's, what is its own on a call, and how its errors are read."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.eventstream import EventStreamBuffer

from offhook.models.providers.nova_sonic import wire
from offhook.models.providers.nova_sonic.aws_signing import STREAMING_PAYLOAD, AwsKey, EventSigner, sign_request
from offhook.models.providers.nova_sonic.event_stream import (
    EventMessage,
    MalformedMessage,
    MessageReader,
    encode_message,
)
from offhook.models.speech.errors import VendorErrors
from offhook_lab.speech.nova_sonic_signing import SignatureChain
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import LONG, NOVA, SURE, SpokenCall, answer, on_a_line, spoken_agent

GREETING = "Hello, how can I help?"
KEY = AwsKey("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1")
HOST = "bedrock-runtime.us-east-1.amazonaws.com"
PATH = "/model/amazon.nova-2-sonic-v1%3A0/invoke-with-bidirectional-stream"
ERRORS = VendorErrors("realtime", "secret")
ACCEPTED = {"accept": wire.EVENT_STREAM, "content-type": wire.EVENT_STREAM}


class TestSignatures:
    def test_a_request_is_signed_as_botocore_signs_it(self) -> None:
        moment = datetime.now(UTC)
        ours, signature = sign_request(KEY, moment, host=HOST, path=PATH, headers=ACCEPTED)
        request = AWSRequest("POST", f"https://{HOST}{PATH}", headers=ACCEPTED)
        request.headers["X-Amz-Content-SHA256"] = STREAMING_PAYLOAD
        request.context["timestamp"] = ours["x-amz-date"]
        request.headers["X-Amz-Date"] = ours["x-amz-date"]
        auth = SigV4Auth(Credentials(KEY.access_key_id, KEY.secret), "bedrock", KEY.region)
        canonical = auth.canonical_request(request)
        expected = auth.signature(auth.string_to_sign(request, canonical), request)
        assert signature == expected
        assert ours["authorization"].endswith(f"Signature={expected}")

    def test_each_message_is_signed_after_the_one_before(self) -> None:
        moment = datetime.now(UTC)
        headers, signature = sign_request(KEY, moment, host=HOST, path=PATH, headers=ACCEPTED)
        chain = SignatureChain(KEY.access_key_id, KEY.secret)
        assert chain.check_request({**headers, ":authority": HOST, ":path": PATH}) == ""
        signer = EventSigner(KEY, signature)
        for event in (b"one", b"two", b""):
            assert chain.open_message(signer.sign_message(event)) == event
        signer.sign_message(b"lost on the way")
        assert chain.open_message(signer.sign_message(b"four")) is None

    def test_another_secret_is_noticed(self) -> None:
        headers, _ = sign_request(KEY, datetime.now(UTC), host=HOST, path=PATH, headers=ACCEPTED)
        chain = SignatureChain(KEY.access_key_id, "another")
        assert chain.check_request({**headers, ":authority": HOST, ":path": PATH}) == "InvalidSignatureException"


class TestMessages:
    def test_botocore_reads_what_we_write(self) -> None:
        moment = datetime(2026, 11, 27, 6, 0, tzinfo=UTC)
        buffer = EventStreamBuffer()
        buffer.add_data(encode_message({":date": moment, ":chunk-signature": b"\x01" * 32, "x": "text"}, b"payload"))
        (message,) = list(buffer)
        assert message.headers[":date"] == moment.timestamp() * 1000
        assert (message.headers[":chunk-signature"], message.headers["x"]) == (b"\x01" * 32, "text")
        assert message.payload == b"payload"

    def test_messages_come_in_any_pieces(self) -> None:
        raw = encode_message({":event-type": "chunk"}, b"one") + encode_message({}, b"two")
        reader = MessageReader()
        found = [message for at in range(len(raw)) for message in reader.push_bytes(raw[at : at + 1])]
        assert [(dict(message.headers), message.payload) for message in found] == [
            ({":event-type": "chunk"}, b"one"),
            ({}, b"two"),
        ]

    @pytest.mark.parametrize("at", [0, 9, 14, 24, -1])
    def test_a_wrong_byte_is_noticed(self, at: int) -> None:
        raw = bytearray(encode_message({":event-type": "chunk"}, b"payload"))
        raw[at] ^= 1
        with pytest.raises(MalformedMessage):
            list(MessageReader().push_bytes(bytes(raw)))


def test_a_history_is_the_newest_that_fits_and_begins_with_the_caller() -> None:
    texts = [("ASSISTANT" if number % 2 else "USER", f"{number} " + "x" * 30_000) for number in range(12)]
    history = wire.fit_history(texts)
    assert sum(len(text.encode()) for _, text in history) <= wire.MAX_HISTORY_BYTES
    assert history[-1] == texts[-1]
    assert history[0][0] == "USER"
    assert wire.fit_history([("ASSISTANT", GREETING)]) == [("USER", wire.SPEAK_NOTE), ("ASSISTANT", GREETING)]
    assert len(wire.fit_text("é" * 60_000).encode()) <= wire.MAX_TEXT_BYTES


def exception(kind: str, sentence: str) -> EventMessage:
    headers = {":message-type": "exception", ":exception-type": kind}
    return EventMessage(headers, f'{{"message": "{sentence}"}}'.encode())


@pytest.mark.parametrize(
    ("kind", "sentence", "expected", "is_retryable"),
    [
        ("validationException", "Invalid input request, please fix your input.", "realtime_bad_request", False),
        ("validationException", "Timed out waiting for audio bytes (55 seconds)", "realtime_cut_off", True),
        ("throttlingException", "Too many tokens, please wait.", "realtime_rate_limited", True),
        ("modelTimeoutException", "The session is too long.", "realtime_cut_off", True),
        ("internalServerException", "Try again.", "realtime_server_error", True),
        ("modelStreamErrorException", "The stream failed.", "realtime_server_error", True),
        ("serviceUnavailableException", "Busy.", "realtime_server_error", True),
        ("somethingNewException", "What?", "realtime_server_error", True),
        ("accessDeniedException", "INVALID_PAYMENT_INSTRUMENT", "realtime_no_quota", False),
    ],
)
def test_an_exception_says_why(kind: str, sentence: str, expected: str, is_retryable: bool) -> None:
    error = wire.exception_error(ERRORS, exception(kind, sentence))
    assert (error.code, error.retryable) == (expected, is_retryable)


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (403, "UnrecognizedClientException:http://internal.amazon.com/", "realtime_unauthorized"),
        (403, "InvalidSignatureException", "realtime_unauthorized"),
        (403, "AccessDeniedException", "realtime_forbidden"),
        (404, "ResourceNotFoundException", "realtime_not_found"),
        (429, "ThrottlingException", "realtime_rate_limited"),
        (503, "", "realtime_server_error"),
    ],
)
def test_a_refusal_says_why(status: int, kind: str, expected: str) -> None:
    headers = {"x-amzn-errortype": kind} if kind else {}
    assert wire.response_error(ERRORS, status, headers, b'{"message": "No."}').code == expected


def test_both_sides_speak_the_vendors_language() -> None:
    async def scenario() -> None:
        look = ScriptedTool("look_up", result={"free": True})
        script = [answer("Hello there."), answer("", "look_up", day="monday"), answer(LONG), answer("Of course.")]
        async with NOVA.open(*script) as lab:
            call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
            call.says("is monday free", at=4).says("stop please", at=8).presses("7#", at=13)
            await lab.carry(call.hangs_up(at=18))

            starts = [message["sessionStart"] for message in lab.server.messages if "sessionStart" in message]
            assert all(start["turnDetectionConfiguration"] == {"endpointingSensitivity": "HIGH"} for start in starts)
            assert look.calls == [{"day": "monday"}]
            assert ("user", "(entered on the keypad) 7") in lab.remembered_lines
            assert not lab.server.complaints

    on_a_line(scenario)


def test_a_turn_is_sent_when_it_is_over_with_the_silence_that_ends_it() -> None:
    async def scenario() -> None:
        async with NOVA.open() as lab:
            call = await lab.carry(SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=9))

            # speech with what came just before it, a silence, and none of the nine seconds between
            assert 3 * 0.2 + 1.8 < lab.server.newest_session.heard_bytes / 32000 < 5
            assert call.agent_said == [GREETING, SURE]

    on_a_line(scenario)


class TestUsage:
    def test_totals_count_once(self) -> None:
        first = {"details": {"total": {"input": {"speechTokens": 5, "textTokens": 7}, "output": {"speechTokens": 9}}}}
        before = wire.read_totals(first)
        assert before is not None
        assert wire.usage_since({}, before).counts() == {
            "text_input_tokens": 7,
            "audio_input_tokens": 5,
            "audio_output_tokens": 9,
        }
        assert wire.usage_since(before, before).counts() == {}

    @pytest.mark.parametrize("usage", [{}, {"totalTokens": 12}, {"details": {"delta": {}}}])
    def test_usage_without_totals_by_modality_is_unknown(self, usage: dict[str, Any]) -> None:
        assert wire.read_totals(usage) is None
