"""Cloudonix: sessions instead of calls, Twilio's dialect, records of calls."""

import json
from decimal import Decimal
from typing import Any

import pytest

from offhook.telephony.ports import (
    CarrierCallBill,
    CarrierFailed,
    InboundCall,
    MediaStarted,
    StatusUpdate,
    TransferLeg,
    TransferOrder,
    TransferUpdate,
    WebhookUnreadable,
)
from offhook.telephony.providers import cloudonix
from offhook.telephony.providers.cloudonix.config import CONFIG
from offhook.telephony.providers.cloudonix.webhooks import CloudonixWebhooks
from offhook.telephony.providers.cloudonix.wire import CloudonixWire
from tests.fakes.web import Reply, json_reply
from tests.telephony.carrier_kit import LINKS, REQUEST, account, form, got, posted, rest

MINE = account("cloudonix", bearer_token="XI1", domain_id="Example", application_name="voice", trunk="t1")


def parts(http: Any) -> Any:
    """The parts of a spec, none of which is missing here."""
    return cloudonix.build_carrier(http)


class TestCalls:
    async def test_dialing_and_hanging_up(self) -> None:
        async with rest("cloudonix", json_reply({"token": "se9", "direction": "outbound-api"})) as (http, server):
            assert await parts(http).calls.dialer.place_call(MINE, REQUEST) == "se9"
            await parts(http).calls.dialer.hang_up(MINE, "se9")

        dialed, ended = server.seen
        assert dialed.target == "/calls/example.cloudonix.net/application"
        assert dialed.headers["authorization"] == "Bearer XI1"
        sent = dialed.json
        assert LINKS.media_url in sent.pop("cxml")
        assert sent == {
            "destination": "+14155550123",
            "caller-id": "+12015550100",
            "callback": LINKS.callback_url("status-callback"),
            "timeout": 30,
            "trunk": "t1",
        }
        assert (ended.method, ended.target) == (
            "DELETE",
            "/customers/self/domains/example.cloudonix.net/sessions/se9",
        )

    async def test_a_dial_that_fails(self) -> None:
        async with rest("cloudonix", Reply(401, b"insufficient authority")) as (http, _):
            with pytest.raises(CarrierFailed, match="insufficient authority") as failed:
                await parts(http).calls.dialer.place_call(MINE, REQUEST)
            await_gone = json_reply({}, 404)
        assert failed.value.code == "unauthorized"
        async with rest("cloudonix", await_gone) as (http, _):
            await parts(http).calls.dialer.hang_up(MINE, "se9")

    async def test_transfers_switch_the_session(self) -> None:
        order = TransferOrder("t1", "se9", "+15005550006", "+12015550100", 20, "https://x/result", "https://x/room")
        async with rest("cloudonix", json_reply({"token": "se10"})) as (http, server):
            legs = parts(http).calls.transfer_legs
            leg = TransferLeg("t1", "se9", await legs.start_leg(MINE, order))
            await legs.seat_destination(MINE, leg)
            await legs.join_caller(MINE, leg)
            await parts(http).calls.blind_transfer.redirect_caller(MINE, "se9", "+15005550006", "+12015550100", 25, "")

        dialed, joined, forwarded = server.seen
        assert dialed.json["callback"] == "https://x/result"
        assert ">t1</Conference>" in dialed.json["cxml"]
        assert joined.target == forwarded.target == "/calls/example.cloudonix.net/sessions/se9/application"
        assert ">t1</Conference>" in joined.json["cxml"]
        assert "<Number>+15005550006</Number>" in forwarded.json["cxml"]

    async def test_the_domain(self) -> None:
        async with rest("cloudonix", json_reply({"id": 1})) as (http, server):
            await parts(http).numbers.routing.route_number(MINE, "+12015550100", "https://x/inbound/run")
            assert await parts(http).account.check.check_account(MINE, "https://x") == {}
        assert server.seen[0].target == "/customers/self/domains/example.cloudonix.net/applications/voice"
        assert server.seen[0].json == {"url": "https://x/inbound/run", "method": "POST"}
        async with rest("cloudonix", json_reply({}, 404)) as (http, _):
            with pytest.raises(CarrierFailed, match="no domain"):
                await parts(http).account.check.check_account(MINE, "https://x")
        assert CONFIG.canonical_account(" Example ") == "example.cloudonix.net"
        assert CONFIG.canonical_account("voice.example.org") == "voice.example.org"


class TestWebhooks:
    webhooks = CloudonixWebhooks()

    @pytest.mark.parametrize(
        ("kind", "body", "report"),
        [
            ("status-callback", {"token": "se1", "status": "processing"}, StatusUpdate("initiated", "se1")),
            ("status-callback", [{"token": "se1", "status": "ringing"}], StatusUpdate("ringing", "se1")),
            ("status-callback", {"token": "se1", "status": "connected"}, StatusUpdate("in_progress", "se1")),
            ("status-callback", {"token": "se1", "status": "noanswer"}, StatusUpdate("no_answer", "se1")),
            (
                "status-callback",
                {"token": "se1", "status": "nocredit"},
                StatusUpdate("failed", "se1", end_reason="nocredit"),
            ),
            ("status-callback", {"token": "se1", "status": "dreaming"}, None),
            (
                "cdr",
                {"disposition": "ANSWER", "call_id": "c1", "billsec": 7, "session": {"token": "se1"}},
                StatusUpdate("completed", "se1", bill=CarrierCallBill(Decimal(7))),
            ),
            ("cdr", {"disposition": "BUSY", "session": {"token": "se1"}}, StatusUpdate("busy", "se1")),
            ("cdr", {"disposition": "NOANSWER", "session": {"token": "se1"}}, StatusUpdate("no_answer", "se1")),
            ("cdr", {"disposition": "CANCEL", "session": {"token": "se1"}}, StatusUpdate("canceled", "se1")),
            ("cdr", {"disposition": "CONGESTION", "session": {"token": "se1"}}, StatusUpdate("failed", "se1")),
            ("cdr", {"disposition": "FAILED", "session": {"token": "se1"}}, StatusUpdate("failed", "se1")),
        ],
    )
    def test_reports_of_a_call(self, kind: str, body: Any, report: object) -> None:
        assert self.webhooks.parse_status(kind, posted("https://x", body)) == report

    @pytest.mark.parametrize("body", [b"", b"[]", b'[{"a":1},{"b":2}]', b"[", b'{"disposition":"BUSY"}'])
    def test_what_is_no_report(self, body: bytes) -> None:
        with pytest.raises(WebhookUnreadable):
            self.webhooks.parse_status("cdr", posted("https://x", body))

    @pytest.mark.parametrize(
        ("body", "report"),
        [
            ({"Session": "se1", "StatusCallbackEvent": "participant-join"}, TransferUpdate("answered", "se1")),
            ({"token": "se1", "status": "connected"}, TransferUpdate("answered", "se1")),
            ({"token": "se1", "status": "busy"}, TransferUpdate("failed", "se1", "busy")),
            ({"token": "se1", "status": "noanswer"}, TransferUpdate("failed", "se1", "no_answer")),
            ({"token": "se1", "status": "congestion"}, TransferUpdate("failed", "se1", "call_failed")),
            ({"token": "se1", "status": "completed"}, TransferUpdate("ended", "se1")),
            ({"token": "se1", "status": "ringing"}, None),
        ],
    )
    async def test_reports_of_a_transfer(self, body: Any, report: TransferUpdate | None) -> None:
        async with rest("cloudonix", Reply()) as (http, _):
            assert parts(http).webhooks.statuses.parse_transfer(posted("https://x", body)) == report

    def test_an_inbound_call(self) -> None:
        fields = {
            "CallSid": "c1",
            "Session": "se1",
            "From": "14155550123",
            "To": "+12015550100",
            "Direction": "inbound",
            "Domain": "example.cloudonix.net",
        }
        query = "&".join(f"{name}={value}" for name, value in fields.items()).replace("+", "%2B")
        for webhook in (
            posted("https://x", fields),
            form("https://x", fields),
            got(f"https://x/?{query}"),
        ):
            assert self.webhooks.is_from_carrier(webhook)
            assert self.webhooks.account_reference(webhook) == "example.cloudonix.net"
            assert self.webhooks.parse_inbound(webhook) == InboundCall(
                "se1", "+14155550123", "+12015550100", "example.cloudonix.net"
            )
        assert self.webhooks.is_from_carrier(posted("https://x", {}, x_cx_apikey="k"))
        assert self.webhooks.parse_inbound(posted("https://x", {**fields, "Direction": "outbound-api"})) is None


def test_the_session_is_the_call() -> None:
    start = {"streamSid": "MZ1", "callSid": "c1", "session": "se1", "accountSid": "example.cloudonix.net"}

    assert CloudonixWire().decode(json.dumps({"event": "start", "start": start})) == MediaStarted("MZ1", "se1")
