"""Twilio: what we ask of it, what it tells us, what we answer."""

from decimal import Decimal
from urllib.parse import parse_qs

import pytest

from offhook.telephony.ports import (
    AvailableNumber,
    CarrierCallBill,
    CarrierFailed,
    InboundCall,
    LookupResult,
    MachineVerdict,
    StatusUpdate,
    TransferLeg,
    TransferOrder,
    TransferUpdate,
    WebhookUnreadable,
)
from offhook.telephony.providers import twilio
from tests.fakes.web import Reply, Seen, json_reply
from tests.telephony.carrier_kit import LINKS, REQUEST, account, form, rest

ACCOUNT = account("twilio", account_sid="AC1", auth_token="12345")
STATUS_URL = "https://voice.example.org/api/v1/telephony/carrier/status-callback/7?token=s3cret"


class TestCalls:
    async def test_dialing(self) -> None:
        async with rest("twilio", json_reply({"sid": "CA9", "status": "queued"}, 201)) as (http, server):
            dialer = twilio.build_carrier(http).calls.dialer
            assert dialer is not None
            assert await dialer.place_call(ACCOUNT, REQUEST) == "CA9"

        [seen] = server.seen
        assert (seen.method, seen.target) == ("POST", "/2010-04-01/Accounts/AC1/Calls.json")
        assert seen.headers["authorization"] == "Basic QUMxOjEyMzQ1"
        assert parse_qs(seen.body.decode()) == {
            "To": ["+14155550123"],
            "From": ["+12015550100"],
            "Url": [LINKS.answer_url],
            "Method": ["POST"],
            "StatusCallback": [STATUS_URL],
            "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
            "StatusCallbackMethod": ["POST"],
            "Timeout": ["30"],
        }

    @pytest.mark.parametrize(
        ("reply", "code", "is_retryable", "is_unknown"),
        [
            (json_reply({"code": 21211, "message": "bad To"}, 400), "invalid_number", False, False),
            (json_reply({"code": 21215, "message": "geo"}, 400), "destination_not_allowed", False, False),
            (json_reply({"code": 20003, "message": "no"}, 401), "unauthorized", False, False),
            (json_reply({"code": 20429, "message": "slow"}, 429), "rate_limited", True, False),
            (json_reply({"message": "broke"}, 500), "carrier_failed", True, True),
            (Reply(400, b"<html>"), "carrier_refused", False, False),
            (json_reply({}, 201), "carrier_failed", False, True),
            (Reply(raw=b""), "carrier_unreachable", True, True),
        ],
    )
    async def test_a_dial_that_fails(self, reply: Reply, code: str, is_retryable: bool, is_unknown: bool) -> None:
        async with rest("twilio", reply) as (http, server):
            dialer = twilio.build_carrier(http).calls.dialer
            assert dialer is not None
            with pytest.raises(CarrierFailed) as failed:
                await dialer.place_call(ACCOUNT, REQUEST)

        failure = failed.value
        assert (failure.code, failure.retryable, failure.is_fate_unknown) == (code, is_retryable, is_unknown)
        assert len(server.seen) == 1  # never asked twice

    async def test_a_carrier_that_is_not_there_was_not_asked(self) -> None:
        async with rest("twilio", Reply()) as (http, server):
            pass
        dialer = twilio.build_carrier(http).calls.dialer
        assert dialer is not None

        with pytest.raises(CarrierFailed) as failed:
            await dialer.place_call(ACCOUNT, REQUEST)

        assert (failed.value.code, failed.value.is_fate_unknown, server.seen) == ("carrier_unreachable", False, [])

    async def test_when_to_ask_again(self) -> None:
        reply = Reply(429, b"{}", {"retry-after": "7"})
        async with rest("twilio", reply) as (http, _):
            dialer = twilio.build_carrier(http).calls.dialer
            assert dialer is not None
            with pytest.raises(CarrierFailed) as failed:
                await dialer.hang_up(ACCOUNT, "CA9")

        assert failed.value.retry_after_s == 7.0

    async def test_hanging_up_a_call_that_is_gone(self) -> None:
        async with rest("twilio", json_reply({"code": 20404, "message": "gone"}, 404)) as (http, server):
            dialer = twilio.build_carrier(http).calls.dialer
            assert dialer is not None
            await dialer.hang_up(ACCOUNT, "CA9")

        assert (server.seen[0].target, server.seen[0].body) == (
            "/2010-04-01/Accounts/AC1/Calls/CA9.json",
            b"Status=completed",
        )

    async def test_a_warm_transfer(self) -> None:
        order = TransferOrder("t1", "CA9", "+15005550006", "+12015550100", 20, "https://x/result/t1", "https://x/room")
        async with rest("twilio", json_reply({"sid": "CA10"}, 201)) as (http, server):
            spec = twilio.build_carrier(http)
            legs, answerer = spec.calls.transfer_legs, spec.webhooks.answerer
            assert legs is not None
            assert answerer is not None
            destination = await legs.start_leg(ACCOUNT, order)
            leg = TransferLeg("t1", "CA9", destination)
            room = answerer.conference_document("t1")
            assert await legs.seat_destination(ACCOUNT, leg) is None
            await legs.join_caller(ACCOUNT, leg)
            asked = [parse_qs(seen.body.decode()) for seen in server.seen]

        assert room is not None
        assert b">t1</Conference></Dial></Response>" in room.body
        assert asked[0]["Url"] == ["https://x/room"]
        assert asked[0]["StatusCallback"] == ["https://x/result/t1"]
        assert ">t1</Conference></Dial><Hangup/></Response>" in asked[1]["Twiml"][0]
        assert server.seen[1].target.endswith("/Calls/CA9.json")

    async def test_a_blind_transfer(self) -> None:
        async with rest("twilio", json_reply({"sid": "CA9"})) as (http, server):
            blind = twilio.build_carrier(http).calls.blind_transfer
            assert blind is not None
            await blind.redirect_caller(ACCOUNT, "CA9", "+15005550006", "+12015550100", 25)

        [twiml] = parse_qs(server.seen[0].body.decode())["Twiml"]
        assert twiml.endswith(
            '<Response><Dial callerId="+12015550100" timeout="25"><Number>+15005550006</Number></Dial><Hangup/></Response>'
        )


class TestDocuments:
    async def test_nothing_that_is_said_becomes_markup(self) -> None:
        async with rest("twilio", Reply()) as (http, _):
            answerer = twilio.build_carrier(http).webhooks.answerer
        assert answerer is not None

        connected = await answerer.answer_call(ACCOUNT, "CA9", LINKS)
        refused = await answerer.refuse_call(ACCOUNT, "CA9", "We are <closed> & \x00sorry")

        assert connected.body.endswith(
            b'<Response><Connect><Stream url="wss://voice.example.org/api/v1/telephony/media/carrier/7/tok"/></Connect>'
            b"<Hangup/></Response>"
        )
        assert refused.body.endswith(b"<Response><Say>We are &lt;closed&gt; &amp; sorry</Say><Hangup/></Response>")
        assert answerer.unavailable_document("Later.").body.endswith(b"<Response><Say>Later.</Say><Hangup/></Response>")


INBOUND = {
    "CallSid": "CA1",
    "AccountSid": "AC1",
    "From": "+14155550123",
    "To": "+12015550100",
    "CallStatus": "ringing",
    "Direction": "inbound",
    "ApiVersion": "2010-04-01",
}


class TestWebhooks:
    webhooks = twilio.TwilioWebhooks()

    @pytest.mark.parametrize(
        ("fields", "report"),
        [
            ({"CallStatus": "initiated"}, StatusUpdate("initiated", "CA1")),
            ({"CallStatus": "ringing"}, StatusUpdate("ringing", "CA1")),
            ({"CallStatus": "in-progress"}, StatusUpdate("in_progress", "CA1")),
            (
                {"CallStatus": "completed", "CallDuration": "12"},
                StatusUpdate("completed", "CA1", bill=CarrierCallBill(Decimal(12))),
            ),
            ({"CallStatus": "busy"}, StatusUpdate("busy", "CA1")),
            ({"CallStatus": "no-answer"}, StatusUpdate("no_answer", "CA1")),
            ({"CallStatus": "failed"}, StatusUpdate("failed", "CA1")),
            ({"CallStatus": "canceled"}, StatusUpdate("canceled", "CA1")),
            ({"CallStatus": "resting"}, None),
            ({"CallStatus": "completed", "AnsweredBy": "fax"}, StatusUpdate("completed", "CA1", "voicemail")),
            ({"AnsweredBy": "human"}, MachineVerdict(False, call_id="CA1")),
            ({"AnsweredBy": "machine_start"}, MachineVerdict(True, False, "CA1")),
            ({"AnsweredBy": "machine_end_beep"}, MachineVerdict(True, True, "CA1")),
            ({"AnsweredBy": "unknown"}, None),
        ],
    )
    def test_reports_of_a_call(self, fields: dict[str, str], report: object) -> None:
        assert self.webhooks.parse_status("status-callback", form(STATUS_URL, {"CallSid": "CA1", **fields})) == report

    def test_without_a_call_they_are_unreadable(self) -> None:
        with pytest.raises(WebhookUnreadable):
            self.webhooks.parse_status("status-callback", form(STATUS_URL, {"CallStatus": "ringing"}))

    @pytest.mark.parametrize(
        ("status", "report"),
        [
            ("in-progress", TransferUpdate("answered", "CA1")),
            ("busy", TransferUpdate("failed", "CA1", "busy")),
            ("no-answer", TransferUpdate("failed", "CA1", "no_answer")),
            ("failed", TransferUpdate("failed", "CA1", "call_failed")),
            ("completed", TransferUpdate("ended", "CA1")),
            ("ringing", None),
        ],
    )
    async def test_reports_of_a_transfer(self, status: str, report: TransferUpdate | None) -> None:
        async with rest("twilio", Reply()) as (http, _):
            statuses = twilio.build_carrier(http).webhooks.statuses
        assert statuses is not None
        assert statuses.parse_transfer(form("https://x", {"CallSid": "CA1", "CallStatus": status})) == report

    def test_an_inbound_call(self) -> None:
        webhook = form("https://x/inbound/run", INBOUND)

        assert self.webhooks.is_from_carrier(webhook)
        assert self.webhooks.account_reference(webhook) == "AC1"
        assert self.webhooks.parse_inbound(webhook) == InboundCall("CA1", "+14155550123", "+12015550100", "AC1")

    def test_what_is_no_new_inbound_call(self) -> None:
        for change in ({"Direction": "outbound-api"}, {"CallStatus": "completed"}):
            assert self.webhooks.parse_inbound(form("https://x", {**INBOUND, **change})) is None
        withheld = self.webhooks.parse_inbound(form("https://x", {**INBOUND, "From": "anonymous"}))
        assert withheld is not None
        assert withheld.from_number is None
        assert not self.webhooks.is_from_carrier(form("https://x", {"CallSid": "1", "AccountSid": "a.cloudonix.net"}))


class TestNumbers:
    def answers(self, seen: Seen) -> Reply:
        path = seen.target.partition("?")[0].removeprefix("/2010-04-01/Accounts/AC1")
        match seen.method, path:
            case "GET", "/AvailablePhoneNumbers/US/Local.json":
                number = {
                    "phone_number": "+14155550199",
                    "friendly_name": "(415) 555-0199",
                    "locality": "San Francisco",
                    "region": "CA",
                    "iso_country": "US",
                    "capabilities": {"voice": True, "SMS": True, "MMS": False, "fax": False},
                }
                return json_reply({"available_phone_numbers": [number]})
            case "GET", "/IncomingPhoneNumbers.json" if "%2B14155550199" in seen.target:
                return json_reply({"incoming_phone_numbers": [{"phone_number": "+14155550199", "sid": "PN1"}]})
            case "GET", "/IncomingPhoneNumbers.json":
                return json_reply({"incoming_phone_numbers": []})
            case "POST", "/IncomingPhoneNumbers.json" | "/IncomingPhoneNumbers/PN1.json":
                return json_reply({"sid": "PN1"}, 201)
            case "DELETE", "/IncomingPhoneNumbers/PN1.json":
                return Reply(204)
            case "GET", "/v2/PhoneNumbers/+14155550199":
                return json_reply(
                    {"valid": True, "line_type_intelligence": {"carrier_name": "T", "type": "nonFixedVoip"}}
                )
            case "GET", "/2010-04-01/Accounts/AC1.json" | ".json":
                return json_reply({"sid": "AC1", "status": "active"})
        return json_reply({"code": 20404, "message": "no such thing"}, 404)

    async def test_from_search_to_release(self) -> None:
        async with rest("twilio", self.answers) as (http, server):
            spec = twilio.build_carrier(http)
            catalog, routing = spec.numbers.catalog, spec.numbers.routing
            assert catalog is not None
            assert routing is not None
            found = await catalog.search_numbers(ACCOUNT, "US", "415", None, 5)
            assert await catalog.buy_number(ACCOUNT, "+14155550199", "US") == "PN1"
            assert await catalog.find_owned(ACCOUNT, "+14155550199") == "PN1"
            assert await catalog.find_owned(ACCOUNT, "+14155550000") is None
            await routing.route_number(ACCOUNT, "+14155550199", "https://x/inbound/run")
            await catalog.release_number(ACCOUNT, "+14155550199", None)
            await catalog.release_number(ACCOUNT, "+14155550000", None)

        assert found == [
            AvailableNumber("+14155550199", "(415) 555-0199", "US", "local", "San Francisco", "CA", ("voice", "sms"))
        ]
        assert "AreaCode=415" in server.seen[0].target
        pointed = next(seen for seen in server.seen if seen.body.startswith(b"VoiceUrl"))
        assert parse_qs(pointed.body.decode()) == {"VoiceUrl": ["https://x/inbound/run"], "VoiceMethod": ["POST"]}
        assert [seen.method for seen in server.seen].count("DELETE") == 1

    async def test_look_up_and_check(self) -> None:
        async with rest("twilio", self.answers) as (http, _):
            spec = twilio.build_carrier(http)
            assert spec.numbers.lookup is not None
            assert spec.account.check is not None
            assert await spec.numbers.lookup.look_up(ACCOUNT, "+14155550199") == LookupResult("T", "voip")
            assert await spec.account.check.check_account(ACCOUNT, "https://x") == {}
            with pytest.raises(CarrierFailed, match="no account_sid"):
                await spec.account.check.check_account(account("twilio"), "https://x")
