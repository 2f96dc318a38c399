"""Plivo and Vobiz: one dialect of XML and media, two REST interfaces."""

import base64
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from offhook.telephony.carrier_kit.dialects.plivo.webhooks import PlivoDialectWebhooks
from offhook.telephony.carrier_kit.dialects.plivo.wire import PlivoDialectWire
from offhook.telephony.ports import (
    AvailableNumber,
    CarrierAccount,
    CarrierCallBill,
    CarrierFailed,
    CarrierSpec,
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
from offhook.telephony.providers import plivo, vobiz
from tests.fakes.web import Reply, Seen, json_reply
from tests.telephony.carrier_kit import LINKS, PUBLIC, REQUEST, account, form, posted, rest

CREDENTIALS = {"auth_id": "MA1", "auth_token": "token", "application_id": "app1"}
PLIVO, VOBIZ = account("plivo", **CREDENTIALS), account("vobiz", **CREDENTIALS)
BASE = {"plivo": "/v1/Account/MA1", "vobiz": "/api/v1/Account/MA1"}
BOTH = pytest.mark.parametrize(("make", "mine"), [(plivo.build_carrier, PLIVO), (vobiz.build_carrier, VOBIZ)])


def parts(spec: CarrierSpec) -> Any:
    """The parts of a spec, none of which is missing here."""
    return spec


class TestCalls:
    @BOTH
    async def test_dialing(self, make: Any, mine: CarrierAccount) -> None:
        reply = json_reply({"api_id": "x", "request_uuid": "u9", "message": "call fired"}, 201)
        async with rest(mine.provider, reply) as (http, server):
            assert await parts(make(http)).calls.dialer.place_call(mine, REQUEST) == "u9"

        [seen] = server.seen
        assert (seen.method, seen.target) == ("POST", f"{BASE[mine.provider]}/Call/")
        assert seen.json == {
            "from": "12015550100",
            "to": "14155550123",
            "answer_url": LINKS.answer_url,
            "answer_method": "POST",
            "ring_url": LINKS.callback_url("ring-callback"),
            "ring_method": "POST",
            "hangup_url": LINKS.callback_url("hangup-callback"),
            "hangup_method": "POST",
            "ring_timeout": 30,
        }
        if mine is PLIVO:
            assert seen.headers["authorization"] == "Basic TUExOnRva2Vu"
        else:
            assert (seen.headers["x-auth-id"], seen.headers["x-auth-token"]) == ("MA1", "token")

    @pytest.mark.parametrize(
        ("status", "error", "code"),
        [
            (400, "'to' number is invalid", "invalid_number"),
            (401, "unauthorized", "unauthorized"),
            (402, "no balance", "insufficient_funds"),
            (404, "", "not_found"),
            (429, "slow", "rate_limited"),
            (500, "broke", "carrier_failed"),
        ],
    )
    @BOTH
    async def test_a_dial_that_fails(self, make: Any, mine: CarrierAccount, status: int, error: str, code: str) -> None:
        async with rest(mine.provider, json_reply({"error": error}, status)) as (http, _):
            with pytest.raises(CarrierFailed) as failed:
                await parts(make(http)).calls.dialer.place_call(mine, REQUEST)

        assert (failed.value.code, failed.value.is_fate_unknown) == (code, status == 500)

    @BOTH
    async def test_hanging_up_a_call_that_is_gone(self, make: Any, mine: CarrierAccount) -> None:
        async with rest(mine.provider, json_reply({"error": "not found"}, 404)) as (http, server):
            await parts(make(http)).calls.dialer.hang_up(mine, "u9")

        ways = ["/Call/u9/", "/Request/u9/"] if mine is PLIVO else ["/Call/u9/"]
        assert [seen.target for seen in server.seen] == [f"{BASE[mine.provider]}{way}" for way in ways]

    @BOTH
    async def test_transfers_send_the_caller_to_a_document(self, make: Any, mine: CarrierAccount) -> None:
        order = TransferOrder("t1", "u9", "+15005550006", "+12015550100", 20, "https://x/result", "https://x/room")
        async with rest(mine.provider, json_reply({"request_uuid": "u10"}, 201)) as (http, server):
            spec = parts(make(http))
            destination = await spec.calls.transfer_legs.start_leg(mine, order)
            leg = TransferLeg("t1", "u9", destination, answer_url="https://x/room")
            assert await spec.calls.transfer_legs.seat_destination(mine, leg) is None
            await spec.calls.transfer_legs.join_caller(mine, leg)
            await spec.calls.blind_transfer.redirect_caller(
                mine, "u9", "+15005550006", "+12015550100", 25, "https://x/forward"
            )

        assert (server.seen[0].json["answer_url"], server.seen[0].json["hangup_url"]) == (
            "https://x/room",
            "https://x/result",
        )
        assert [seen.json for seen in server.seen[1:]] == [
            {"legs": "aleg", "aleg_url": f"https://x/{page}", "aleg_method": "POST"} for page in ("room", "forward")
        ]
        assert spec.webhooks.answerer.forward_document("+15005550006", "+12015550100", 25).body.endswith(
            b'<Response><Dial callerId="12015550100" timeout="25"><Number>15005550006</Number></Dial><Hangup/></Response>'
        )
        assert b">t1</Conference>" in spec.webhooks.answerer.conference_document("t1").body

    @BOTH
    async def test_documents(self, make: Any, mine: CarrierAccount) -> None:
        async with rest(mine.provider, Reply()) as (http, _):
            answerer = parts(make(http)).webhooks.answerer
        links = replace(LINKS, resume_url=f"{PUBLIC}/resume/carrier/7/1?token=s3cret&x=1")
        connected = await answerer.answer_call(mine, "u9", links)
        refused = await answerer.refuse_call(mine, "u9", "Closed & <gone>")

        assert connected.content_type == "application/xml"
        assert connected.body.endswith(
            b'<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"'
            b' streamTimeout="86400">wss://voice.example.org/api/v1/telephony/media/carrier/7/tok</Stream>'
            b'<Redirect method="POST">https://voice.example.org/api/v1/telephony/resume/carrier/7/1?token=s3cret&amp;x=1'
            b"</Redirect></Response>"
        )
        assert answerer.hang_up_document().body.endswith(b"<Response><Hangup/></Response>")
        assert b'<Speak voice="WOMAN">Closed &amp; &lt;gone&gt;</Speak><Hangup/>' in refused.body


class TestWebhooks:
    webhooks = PlivoDialectWebhooks("vobiz")

    @pytest.mark.parametrize(
        ("kind", "fields", "report"),
        [
            ("ring-callback", {"CallStatus": "ringing", "Event": "Ring"}, StatusUpdate("ringing", "u1")),
            ("answer", {"CallStatus": "in-progress", "Event": "StartApp"}, StatusUpdate("in_progress", "u1")),
            ("answer", {"Event": "StartApp", "Machine": "true"}, MachineVerdict(True, True, "u1")),
            ("ring-callback", {"Event": "MachineDetection", "Machine": "false"}, MachineVerdict(False, True, "u1")),
            (
                "hangup-callback",
                {
                    "CallStatus": "completed",
                    "Event": "Hangup",
                    "Duration": "9",
                    "BillDuration": "60",
                    "TotalCost": "0.00850",
                },
                StatusUpdate("completed", "u1", bill=CarrierCallBill(Decimal(9), Decimal(60), Decimal("0.00850"))),
            ),
            (
                "hangup-callback",
                {"CallStatus": "completed", "Machine": "true"},
                StatusUpdate("completed", "u1", "voicemail"),
            ),
            ("hangup-callback", {"CallStatus": "busy"}, StatusUpdate("busy", "u1")),
            ("hangup-callback", {"CallStatus": "no-answer"}, StatusUpdate("no_answer", "u1")),
            ("hangup-callback", {"CallStatus": "timeout"}, StatusUpdate("no_answer", "u1")),
            ("hangup-callback", {"CallStatus": "cancel"}, StatusUpdate("canceled", "u1")),
            ("hangup-callback", {"CallStatus": "failed"}, StatusUpdate("failed", "u1")),
            ("hangup-callback", {"CallStatus": "in-progress"}, StatusUpdate("completed", "u1")),
            ("ring-callback", {"Event": "Redirect"}, None),
        ],
    )
    def test_reports_of_a_call(self, kind: str, fields: dict[str, str], report: object) -> None:
        assert self.webhooks.parse_status(kind, form("https://x", {"CallUUID": "u1", **fields})) == report
        assert self.webhooks.parse_status(kind, posted("https://x", {"CallUUID": "u1", **fields})) == report

    def test_without_a_call_they_are_unreadable(self) -> None:
        with pytest.raises(WebhookUnreadable):
            self.webhooks.parse_status("hangup-callback", form("https://x", {"CallStatus": "busy"}))

    @pytest.mark.parametrize(
        ("fields", "report"),
        [
            ({"Event": "StartApp", "CallStatus": "in-progress"}, TransferUpdate("answered", "u1")),
            ({"Event": "Hangup", "CallStatus": "busy"}, TransferUpdate("failed", "u1", "busy")),
            ({"Event": "Hangup", "CallStatus": "no-answer"}, TransferUpdate("failed", "u1", "no_answer")),
            ({"Event": "Hangup", "CallStatus": "failed"}, TransferUpdate("failed", "u1", "call_failed")),
            ({"Event": "Hangup", "CallStatus": "completed"}, TransferUpdate("ended", "u1")),
            ({"Event": "Ring", "CallStatus": "ringing"}, None),
        ],
    )
    @BOTH
    async def test_reports_of_a_transfer(
        self, make: Any, mine: CarrierAccount, fields: dict[str, str], report: TransferUpdate | None
    ) -> None:
        async with rest(mine.provider, Reply()) as (http, _):
            statuses = parts(make(http)).webhooks.statuses
        assert statuses.parse_transfer(form("https://x", {"CallUUID": "u1", **fields})) == report

    def test_an_inbound_call(self) -> None:
        fields = {
            "CallUUID": "u1",
            "From": "09876543210",
            "To": "12015550100",
            "CallStatus": "ringing",
            "Direction": "inbound",
            "Event": "StartApp",
            "ParentAuthID": "MA1",
        }
        webhook = form("https://x", fields, x_vobiz_signature_v3="s")

        assert self.webhooks.is_from_carrier(webhook)
        assert not PlivoDialectWebhooks("plivo").is_from_carrier(webhook)
        assert PlivoDialectWebhooks("plivo").is_from_carrier(form("https://x", fields, x_plivo_signature_ma_v3="s"))
        assert self.webhooks.account_reference(webhook) == "MA1"
        # A national number stays as it is: which country's it is, the account knows.
        assert self.webhooks.parse_inbound(webhook) == InboundCall("u1", "09876543210", "+12015550100", "MA1")
        for change in ({"Event": "Hangup"}, {"Direction": "outbound"}, {"CallStatus": "completed"}):
            assert self.webhooks.parse_inbound(form("https://x", {**fields, **change})) is None


START = {
    "event": "start",
    "sequenceNumber": 0,
    "start": {
        "callId": "u1",
        "streamId": "st1",
        "accountId": "5",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
    },
    "extra_headers": "a=b",
}


class TestWire:
    @pytest.fixture
    def wire(self) -> PlivoDialectWire:
        wire = PlivoDialectWire()
        assert wire.decode(json.dumps(START)) == MediaStarted("st1", "u1")
        return wire

    @pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
    def test_audio_whatever_the_order_of_its_keys(self, wire: PlivoDialectWire, separators: tuple[str, str]) -> None:
        body = {"track": "inbound", "timestamp": "1", "chunk": 1, "payload": base64.b64encode(b"abc").decode()}
        message = {"sequenceNumber": 2, "streamId": "st1", "event": "media", "media": body, "extra_headers": "a=b"}

        for ordered in (message, dict(reversed(message.items())), dict(sorted(message.items()))):
            assert wire.decode(json.dumps(ordered, separators=separators)) == b"abc"

    def test_what_is_sent(self, wire: PlivoDialectWire) -> None:
        assert json.loads(wire.encode_audio(b"\xff" * 160)) == {
            "event": "playAudio",
            "streamId": "st1",
            "media": {
                "contentType": "audio/x-mulaw",
                "sampleRate": 8000,
                "payload": base64.b64encode(b"\xff" * 160).decode(),
            },
        }
        assert json.loads(wire.encode_mark("s1")) == {"event": "checkpoint", "streamId": "st1", "name": "s1"}
        assert json.loads(wire.encode_clear()) == {"event": "clearAudio", "streamId": "st1"}

    def test_a_checkpoint_that_is_cleared_comes_back_with_the_clearing(self, wire: PlivoDialectWire) -> None:
        wire.encode_mark("s1")
        wire.encode_mark("s2")
        assert wire.decode('{"event":"playedStream","streamId":"st1","name":"s1"}') == MarkReached("s1")
        wire.encode_clear()
        wire.encode_mark("s3")
        assert wire.decode('{"event":"clearedAudio"}') == MarkReached("s2")
        assert wire.decode('{"event":"clearedAudio"}') is None
        assert wire.decode('{"event":"playedStream","name":"s3"}') == MarkReached("s3")

    def test_keys_and_the_end(self, wire: PlivoDialectWire) -> None:
        assert wire.decode('{"event":"dtmf","dtmf":{"digit":"7","timestamp":"1"}}') == DigitPressed("7")
        assert wire.decode('{"event":"stop"}') == MediaStopped()
        assert 1000 in wire.clean_close_codes

    @pytest.mark.parametrize("encoding", ["audio/x-l16", "audio/x-alaw"])
    def test_other_formats_are_refused(self, encoding: str) -> None:
        start: dict[str, Any] = {**START["start"], "mediaFormat": {"encoding": encoding, "sampleRate": 8000}}  # type: ignore[dict-item]
        with pytest.raises(WireError):
            PlivoDialectWire().decode(json.dumps({**START, "start": start}))


class TestNumbers:
    def answers(self, seen: Seen) -> Reply:
        path = seen.target.partition("?")[0].removeprefix("/api").removeprefix("/v1/Account/MA1")
        match seen.method, path:
            case "GET", "/PhoneNumber/":
                number = {"number": "14155550199", "type": "local", "city": "SF", "region": "CA", "sms_enabled": True}
                return json_reply({"objects": [{**number, "monthly_rental_rate": "0.80"}]})
            case "GET", "/inventory/numbers" | "/numbers":
                return json_reply({"items": [{"e164": "+14155550199", "currency": "USD", "monthly_fee": 0.8}]})
            case "GET", "/Number/14155550199/":
                return json_reply({"number": "14155550199"})
            case "GET", "/Application/app1/":
                return json_reply({"app_id": "app1", "answer_url": "https://old"})
            case "POST", "/Application/":
                return json_reply({"app_id": "app2"}, 201)
            case "GET", "/v1/Number/+14155550199":
                return json_reply({"carrier": {"name": "T", "type": "fixed"}})
            case (("POST" | "DELETE"), _):
                return json_reply({"message": "done"}, 200)
        return json_reply({"error": "not found"}, 404)

    @BOTH
    async def test_from_search_to_release(self, make: Any, mine: CarrierAccount) -> None:
        async with rest(mine.provider, self.answers) as (http, server):
            spec = parts(make(http))
            [found] = await spec.numbers.catalog.search_numbers(mine, "US", "415", None, 5)
            carrier_id = await spec.numbers.catalog.buy_number(mine, "+14155550199", "US")
            assert await spec.numbers.catalog.find_owned(mine, "+14155550199") == carrier_id
            assert await spec.numbers.catalog.find_owned(mine, "+14155550000") is None
            await spec.numbers.routing.route_number(mine, "+14155550199", "https://x/inbound/run")
            await spec.numbers.catalog.release_number(mine, "+14155550199", carrier_id)

        assert isinstance(found, AvailableNumber)
        assert (found.phone_number, found.country, found.monthly_cost_cents) == ("+14155550199", "US", 80)
        changed = [
            (seen.method, seen.target.removeprefix(BASE[mine.provider]), json.loads(seen.body or b"null"))
            for seen in server.seen
            if seen.method != "GET"
        ]
        pointed = ("POST", "/Application/app1/", {"answer_url": "https://x/inbound/run", "answer_method": "POST"})
        if mine is PLIVO:
            assert changed == [
                ("POST", "/PhoneNumber/14155550199/", {"app_id": "app1"}),
                ("POST", "/Number/14155550199/", {"app_id": "app1"}),
                pointed,
                ("DELETE", "/Number/14155550199/", None),
            ]
        else:
            assert changed == [
                ("POST", "/numbers/purchase-from-inventory", {"e164": "+14155550199", "currency": "USD"}),
                ("POST", "/numbers/%2B14155550199/application", {"application_id": "app1"}),
                pointed,
                ("DELETE", "/numbers/%2B14155550199", None),
            ]

    @BOTH
    async def test_checks(self, make: Any, mine: CarrierAccount) -> None:
        without = account(mine.provider, auth_id="MA1", auth_token="token")
        unknown = account(mine.provider, **{**CREDENTIALS, "application_id": "gone"})
        async with rest(mine.provider, self.answers) as (http, _):
            spec = parts(make(http))
            assert await spec.account.check.check_account(mine, "https://x") == {}
            assert await spec.account.check.check_account(without, "https://x") == {"application_id": "app2"}
            with pytest.raises(CarrierFailed) as failed:
                await spec.account.check.check_account(unknown, "https://x")
            assert failed.value.code == "carrier_misconfigured"
            if spec.numbers.lookup is not None:
                assert await spec.numbers.lookup.look_up(mine, "+14155550199") == LookupResult("T", "landline")
