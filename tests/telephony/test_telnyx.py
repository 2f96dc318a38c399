"""Telnyx: commands, events, media whose order and codec are its own."""

import base64
import json
from base64 import b64encode
from decimal import Decimal
from typing import Any

import pytest

from offhook.kit.audio import MULAW_8K
from offhook.telephony.ports import (
    AvailableNumber,
    CallBilled,
    CarrierCallBill,
    CarrierFailed,
    CarrierWebhook,
    DigitPressed,
    InboundCall,
    LookupResult,
    MachineVerdict,
    MarkReached,
    MediaStarted,
    MediaStopped,
    StatusUpdate,
    TransferLeg,
    TransferOrder,
    TransferUpdate,
    WebhookUnreadable,
    WireError,
)
from offhook.telephony.providers import telnyx
from offhook.telephony.providers.telnyx.wire import TelnyxWire
from tests.fakes.web import Reply, Seen, json_reply
from tests.telephony.carrier_kit import LINKS, REQUEST, account, posted, rest

ACCOUNT = account("telnyx", api_key="KEY1", connection_id="77")
EVENTS_URL = "https://voice.example.org/api/v1/telephony/carrier/events/7?token=s3cret"
STREAM = {
    "stream_url": LINKS.media_url,
    "stream_track": "inbound_track",
    "stream_bidirectional_mode": "rtp",
    "stream_bidirectional_codec": "PCMU",
    "webhook_url": EVENTS_URL,
    "webhook_url_method": "POST",
}


def event(kind: str, **payload: Any) -> CarrierWebhook:
    body = {
        "data": {
            "record_type": "event",
            "event_type": kind,
            "id": "1",
            "payload": {"call_control_id": "v3:1", **payload},
        }
    }
    return posted("https://x/events/7", body)


class TestCalls:
    def answers(self, seen: Seen) -> Reply:
        return json_reply({"data": {"call_control_id": "v3:9", "id": "conf1", "result": "ok"}})

    async def test_dialing(self) -> None:
        async with rest("telnyx", self.answers) as (http, server):
            dialer = telnyx.build_carrier(http).calls.dialer
            assert dialer is not None
            assert await dialer.place_call(ACCOUNT, REQUEST) == "v3:9"
            await dialer.hang_up(ACCOUNT, "v3:9")

        dialed, ended = server.seen
        assert (dialed.method, dialed.target) == ("POST", "/v2/calls")
        assert dialed.headers["authorization"] == "Bearer KEY1"
        assert dialed.json == {
            "connection_id": "77",
            "to": "+14155550123",
            "from": "+12015550100",
            "timeout_secs": 30,
            "client_state": b64encode(b"offhook:run:7").decode(),
            **STREAM,
        }
        assert ended.target == "/v2/calls/v3%3A9/actions/hangup"

    @pytest.mark.parametrize(
        ("status", "code", "expected"),
        [
            (422, "10016", "invalid_number"),
            (401, "10009", "unauthorized"),
            (402, "x", "insufficient_funds"),
            (429, "10011", "rate_limited"),
            (422, "1", "carrier_refused"),
            (503, "1", "carrier_failed"),
        ],
    )
    async def test_a_dial_that_fails(self, status: int, code: str, expected: str) -> None:
        reply = json_reply({"errors": [{"code": code, "title": "No", "detail": "Not so."}]}, status)
        async with rest("telnyx", reply) as (http, _):
            dialer = telnyx.build_carrier(http).calls.dialer
            assert dialer is not None
            with pytest.raises(CarrierFailed, match=r"Telnyx: Not so\.") as failed:
                await dialer.place_call(ACCOUNT, REQUEST)

        assert failed.value.code == expected

    async def test_a_call_that_is_over_cannot_be_answered_but_may_be_hung_up(self) -> None:
        over = json_reply({"errors": [{"code": "90018", "title": "Call has already ended"}]}, 422)
        async with rest("telnyx", over) as (http, _):
            spec = telnyx.build_carrier(http)
            assert spec.calls.dialer is not None
            assert spec.webhooks.answerer is not None
            await spec.calls.dialer.hang_up(ACCOUNT, "v3:9")
            with pytest.raises(CarrierFailed) as failed:
                await spec.webhooks.answerer.answer_call(ACCOUNT, "v3:9", LINKS)

        assert failed.value.code == "not_found"

    async def test_answering(self) -> None:
        async with rest("telnyx", self.answers) as (http, server):
            answerer = telnyx.build_carrier(http).webhooks.answerer
            assert answerer is not None
            document = await answerer.answer_call(ACCOUNT, "v3:1", LINKS)

        assert document.content_type == "application/json"
        assert server.seen[0].target == "/v2/calls/v3%3A1/actions/answer"
        assert server.seen[0].json == {**STREAM, "command_id": "offhook-answer"}

    async def test_a_refusal_is_spoken_and_then_hung_up(self) -> None:
        async with rest("telnyx", self.answers) as (http, server):
            spec = telnyx.build_carrier(http)
            assert spec.webhooks.answerer is not None
            assert spec.webhooks.follow_up is not None
            await spec.webhooks.answerer.refuse_call(ACCOUNT, "v3:1", "We are closed.")
            state = server.seen[-1].json["client_state"]
            await spec.webhooks.follow_up.follow_up(ACCOUNT, event("call.speak.ended", client_state="another"))
            await spec.webhooks.follow_up.follow_up(ACCOUNT, event("call.speak.started", client_state=state))
            assert len(server.seen) == 2
            await spec.webhooks.follow_up.follow_up(ACCOUNT, event("call.speak.ended", client_state=state))

        assert [seen.target.rpartition("/")[2] for seen in server.seen] == ["answer", "speak", "hangup"]
        assert server.seen[1].json["payload"] == "We are closed."

    async def test_a_warm_transfer_is_a_conference_of_the_destination(self) -> None:
        order = TransferOrder("t1", "v3:1", "+15005550006", "+12015550100", 20, "https://x/result", "https://x/room")
        async with rest("telnyx", self.answers) as (http, server):
            spec = telnyx.build_carrier(http)
            legs = spec.calls.transfer_legs
            assert legs is not None
            destination = await legs.start_leg(ACCOUNT, order)
            conference = await legs.seat_destination(ACCOUNT, TransferLeg("t1", "v3:1", destination))
            await legs.join_caller(ACCOUNT, TransferLeg("t1", "v3:1", destination, conference))
            with pytest.raises(CarrierFailed):
                await legs.join_caller(ACCOUNT, TransferLeg("t1", "v3:1", destination))

        dialed, seated, joined = server.seen
        assert (dialed.json["webhook_url"], "stream_url" in dialed.json) == ("https://x/result", False)
        assert (seated.target, seated.json["call_control_id"], seated.json["name"]) == ("/v2/conferences", "v3:9", "t1")
        assert joined.target == "/v2/conferences/conf1/actions/join"
        assert joined.json["call_control_id"] == "v3:1"

    async def test_a_blind_transfer(self) -> None:
        async with rest("telnyx", self.answers) as (http, server):
            blind = telnyx.build_carrier(http).calls.blind_transfer
            assert blind is not None
            await blind.redirect_caller(ACCOUNT, "v3:1", "+15005550006", "+12015550100", 25)

        assert server.seen[0].target.endswith("/actions/transfer")
        assert server.seen[0].json["to"] == "+15005550006"


class TestWebhooks:
    webhooks = telnyx.TelnyxWebhooks()

    @pytest.mark.parametrize(
        ("webhook", "report"),
        [
            (event("call.initiated"), StatusUpdate("initiated", "v3:1")),
            (event("call_initiated"), StatusUpdate("initiated", "v3:1")),
            (event("call.answered"), StatusUpdate("in_progress", "v3:1")),
            (event("call.hangup", hangup_cause="normal_clearing"), StatusUpdate("completed", "v3:1")),
            (event("call.hangup", hangup_cause="time_limit"), StatusUpdate("completed", "v3:1")),
            (event("call.hangup", hangup_cause="user_busy"), StatusUpdate("busy", "v3:1")),
            (event("call.hangup", hangup_cause="timeout"), StatusUpdate("no_answer", "v3:1")),
            (event("call.hangup", hangup_cause="originator_cancel"), StatusUpdate("canceled", "v3:1")),
            (
                event("call.hangup", hangup_cause="not_found"),
                StatusUpdate("failed", "v3:1", end_reason="not_found"),
            ),
            (
                event("call.hangup", hangup_cause="call_rejected", sip_hangup_cause="403"),
                StatusUpdate("failed", "v3:1", end_reason="carrier_limit"),
            ),
            (event("call.machine.detection.ended", result="human"), MachineVerdict(False, call_id="v3:1")),
            (event("call.machine.detection.ended", result="machine"), MachineVerdict(True, False, "v3:1")),
            (event("call.machine.detection.ended", result="not_sure"), None),
            (event("call.machine.greeting.ended", result="beep_detected"), MachineVerdict(True, True, "v3:1")),
            (event("streaming.started"), None),
            (event("call.cost", status="error"), None),
            (
                event("call.cost", total_cost="0.004", billed_duration_secs=120, cost_parts=[{"currency": "USD"}]),
                CallBilled(CarrierCallBill(None, Decimal(120), Decimal("0.004")), "v3:1"),
            ),
        ],
    )
    def test_reports_of_a_call(self, webhook: CarrierWebhook, report: object) -> None:
        assert self.webhooks.parse_status("events", webhook) == report

    @pytest.mark.parametrize(
        "body", [b"", b"[]", b"{}", b'{"data":[]}', b'{"data":{"event_type":"call.answered","payload":{}}}']
    )
    def test_what_is_no_report(self, body: bytes) -> None:
        with pytest.raises(WebhookUnreadable):
            self.webhooks.parse_status("events", posted("https://x", body))

    @pytest.mark.parametrize(
        ("webhook", "report"),
        [
            (event("call.answered"), TransferUpdate("answered", "v3:1")),
            (event("call.hangup", hangup_cause="user_busy"), TransferUpdate("failed", "v3:1", "busy")),
            (event("call.hangup", hangup_cause="timeout"), TransferUpdate("failed", "v3:1", "no_answer")),
            (event("call.hangup", hangup_cause="call_rejected"), TransferUpdate("failed", "v3:1", "call_failed")),
            (event("call.hangup", hangup_cause="normal_clearing"), TransferUpdate("ended", "v3:1")),
            (event("call.bridging"), None),
        ],
    )
    async def test_reports_of_a_transfer(self, webhook: CarrierWebhook, report: TransferUpdate | None) -> None:
        async with rest("telnyx", Reply()) as (http, _):
            statuses = telnyx.build_carrier(http).webhooks.statuses
        assert statuses is not None
        assert statuses.parse_transfer(webhook) == report

    def test_an_inbound_call(self) -> None:
        came = {"direction": "incoming", "from": "+14155550123", "to": "+12015550100", "connection_id": "77"}
        webhook = event("call.initiated", state="parked", **came)

        assert self.webhooks.is_from_carrier(webhook)
        assert self.webhooks.account_reference(webhook) == "77"
        assert self.webhooks.parse_inbound(webhook) == InboundCall("v3:1", "+14155550123", "+12015550100", "77")
        assert self.webhooks.parse_inbound(event("call.initiated", **{**came, "direction": "outgoing"})) is None
        assert self.webhooks.parse_inbound(event("call.answered", **came)) is None


def start(encoding: str = "PCMU", **more: Any) -> str:
    body = {
        "user_id": "u",
        "call_control_id": "v3:1",
        "custom_parameters": {"a": "b"},
        "media_format": {"encoding": encoding, "sample_rate": 8000, "channels": 1},
        **more,
    }
    return json.dumps({"event": "start", "sequence_number": "1", "start": body, "stream_id": "st1"})


def media(chunk: int | str | None, payload: bytes) -> str:
    body: dict[str, Any] = {"track": "inbound", "timestamp": "20", "payload": base64.b64encode(payload).decode()}
    if chunk is not None:
        body = {"chunk": chunk, **body}
    return json.dumps({"event": "media", "sequence_number": "4", "media": body, "stream_id": "st1"})


class TestWire:
    @pytest.fixture
    def wire(self) -> TelnyxWire:
        wire = TelnyxWire()
        wire.decode('{"event":"connected","version":"1.0.0"}')
        assert wire.decode(start()) == MediaStarted("st1", "v3:1", {"a": "b"})
        return wire

    def test_frames_have_their_numbers(self, wire: TelnyxWire) -> None:
        numbers = []
        for chunk in ("1", 2, None):
            assert wire.decode(media(chunk, b"?")) == b"?"
            numbers.append(wire.frame_number)
        assert numbers == [1, 2, None]

    def test_a_law_becomes_mu_law(self) -> None:
        wire = TelnyxWire()
        wire.decode(start("PCMA"))

        heard = wire.decode(media(1, bytes(range(256))))

        assert isinstance(heard, bytes)
        loudness = abs(MULAW_8K.decode(heard).astype(int))
        assert heard[0xD5] == 0xFE  # the smallest positive value of both laws
        assert (loudness.max(), loudness.min()) == (32124, 8)
        assert MULAW_8K.decode(heard)[0x2A] < -30_000 < 30_000 < MULAW_8K.decode(heard)[0xAA]

    @pytest.mark.parametrize("encoding", ["OPUS", "G722", "L16", ""])
    def test_other_codecs_are_refused(self, encoding: str) -> None:
        with pytest.raises(WireError):
            TelnyxWire().decode(start(encoding))

    def test_everything_else(self, wire: TelnyxWire) -> None:
        assert wire.decode('{"event":"dtmf","stream_id":"st1","dtmf":{"digit":"5"}}') == DigitPressed("5")
        assert wire.decode('{"event":"mark","mark":{"name":"s1"}}') == MarkReached("s1")
        assert wire.decode('{"event":"error","payload":{"code":100002}}') is None
        assert wire.decode('{"event":"stop","stop":{}}') == MediaStopped()
        assert json.loads(wire.encode_audio(b"\0" * 160)) == {
            "event": "media",
            "media": {"payload": base64.b64encode(b"\0" * 160).decode()},
        }
        assert json.loads(wire.encode_mark('a"b')) == {"event": "mark", "mark": {"name": 'a"b'}}
        assert json.loads(wire.encode_clear()) == {"event": "clear"}


class TestNumbers:
    def answers(self, seen: Seen) -> Reply:
        match seen.method, seen.target.partition("?")[0]:
            case "GET", "/v2/available_phone_numbers":
                number = {
                    "phone_number": "+14155550199",
                    "region_information": [
                        {"region_type": "location", "region_name": "SAN FRANCISCO"},
                        {"region_type": "state", "region_name": "CA"},
                    ],
                    "cost_information": {"monthly_cost": "1.00", "currency": "USD"},
                    "features": [{"name": "voice"}, {"name": "sms"}],
                }
                return json_reply({"data": [number]})
            case "POST", "/v2/number_orders":
                return json_reply({"data": {"id": "order1", "status": "pending"}})
            case "GET", "/v2/phone_numbers":
                found = [{"id": "n1", "phone_number": "+14155550199"}] if "0199" in seen.target else []
                return json_reply({"data": found})
            case "GET", "/v2/call_control_applications/77":
                return json_reply({"data": {"application_name": "Mine", "webhook_event_url": "https://old"}})
            case "POST", "/v2/call_control_applications":
                return json_reply({"data": {"id": "78"}})
            case "GET", "/v2/number_lookup/+14155550199":
                return json_reply({"data": {"carrier": {"name": "T", "type": "fixed line"}}})
            case (("PATCH" | "DELETE"), _):
                return json_reply({"data": {}})
        return json_reply({"errors": [{"code": "10005", "title": "Resource not found"}]}, 404)

    async def test_from_search_to_release(self) -> None:
        async with rest("telnyx", self.answers) as (http, server):
            spec = telnyx.build_carrier(http)
            catalog, routing = spec.numbers.catalog, spec.numbers.routing
            assert catalog is not None
            assert routing is not None
            found = await catalog.search_numbers(ACCOUNT, "US", "415", None, 5)
            assert await catalog.buy_number(ACCOUNT, "+14155550199", "US") == "order1"
            assert await catalog.find_owned(ACCOUNT, "+14155550199") == "n1"
            await routing.route_number(ACCOUNT, "+14155550199", "https://x/inbound/run")
            await catalog.release_number(ACCOUNT, "+14155550199", "order1")
            with pytest.raises(CarrierFailed, match="no number"):
                await routing.route_number(ACCOUNT, "+14155550000", "https://x/inbound/run")

        assert found == [
            AvailableNumber("+14155550199", "+14155550199", "US", "local", "SAN FRANCISCO", "CA", ("voice", "sms"), 100)
        ]
        patched = [(seen.target, seen.json) for seen in server.seen if seen.method == "PATCH"]
        assert patched == [
            ("/v2/phone_numbers/n1", {"connection_id": "77"}),
            (
                "/v2/call_control_applications/77",
                {"application_name": "Mine", "webhook_event_url": "https://x/inbound/run"},
            ),
        ]
        assert [seen.target for seen in server.seen if seen.method == "DELETE"] == ["/v2/phone_numbers/n1"]

    async def test_look_up_and_check(self) -> None:
        async with rest("telnyx", self.answers) as (http, _):
            spec = telnyx.build_carrier(http)
            assert spec.numbers.lookup is not None
            assert spec.account.check is not None
            assert await spec.numbers.lookup.look_up(ACCOUNT, "+14155550199") == LookupResult("T", "landline")
            assert await spec.account.check.check_account(ACCOUNT, "https://x") == {}
            made = await spec.account.check.check_account(account("telnyx", api_key="KEY1"), "https://x")
            assert made == {"connection_id": "78"}
            with pytest.raises(CarrierFailed) as failed:
                await spec.account.check.check_account(
                    account("telnyx", api_key="KEY1", connection_id="79"), "https://x"
                )
            assert failed.value.code == "carrier_misconfigured"
