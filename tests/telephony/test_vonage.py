"""Vonage: lists of actions, two legs that report to one address, binary media."""

import base64
import json
import time
from base64 import b64encode
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from offhook.telephony.ports import (
    CarrierAccount,
    CarrierCallBill,
    CarrierFailed,
    DigitPressed,
    InboundCall,
    LookupResult,
    MachineVerdict,
    MarkReached,
    MediaStarted,
    StatusUpdate,
    TransferLeg,
    TransferOrder,
    TransferUpdate,
    WireError,
)
from offhook.telephony.providers import vonage
from offhook.telephony.providers.vonage.api import application_token
from offhook.telephony.providers.vonage.webhooks import VonageWebhooks
from offhook.telephony.providers.vonage.wire import FRAME, VonageWire
from tests.fakes.web import Reply, Seen, json_reply
from tests.telephony.carrier_kit import LINKS, REQUEST, account, posted, rest


@cache
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture
def mine() -> CarrierAccount:
    pem = key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return account("vonage", api_key="a1", api_secret="s1", application_id="app1", private_key=pem)


def parts(http: Any) -> Any:
    """The parts of a spec, none of which is missing here."""
    return vonage.build_carrier(http)


class TestCalls:
    async def test_dialing(self, mine: CarrierAccount) -> None:
        async with rest("vonage", json_reply({"uuid": "u9", "status": "started"}, 201)) as (http, server):
            assert await parts(http).calls.dialer.place_call(mine, REQUEST) == "u9"
            await parts(http).calls.dialer.hang_up(mine, "u9")

        dialed, ended = server.seen
        assert (dialed.method, dialed.target) == ("POST", "/v1/calls")
        assert dialed.json == {
            "to": [{"type": "phone", "number": "14155550123"}],
            "from": {"type": "phone", "number": "12015550100"},
            "ringing_timer": 30,
            "answer_url": [LINKS.answer_url],
            "answer_method": "POST",
            "event_url": [LINKS.callback_url("events")],
            "event_method": "POST",
        }
        assert (ended.method, ended.target, ended.json) == ("PUT", "/v1/calls/u9", {"action": "hangup"})
        tokens = [
            jwt.decode(seen.headers["authorization"].removeprefix("Bearer "), key().public_key(), ["RS256"])
            for seen in server.seen
        ]
        assert {token["application_id"] for token in tokens} == {"app1"}
        assert len({token["jti"] for token in tokens}) == 2

    @pytest.mark.parametrize(
        ("status", "body", "code"),
        [
            (400, {"invalid_parameters": {"to[0].number": "bad"}}, "invalid_number"),
            (401, {"title": "Unauthorized"}, "unauthorized"),
            (402, {"title": "Low balance"}, "insufficient_funds"),
            (429, {"title": "Too fast"}, "rate_limited"),
            (502, {}, "carrier_failed"),
        ],
    )
    async def test_a_dial_that_fails(self, mine: CarrierAccount, status: int, body: Any, code: str) -> None:
        async with rest("vonage", json_reply(body, status)) as (http, _):
            with pytest.raises(CarrierFailed) as failed:
                await parts(http).calls.dialer.place_call(mine, REQUEST)
        assert failed.value.code == code

    async def test_a_key_that_is_none(self) -> None:
        wrong = account("vonage", api_key="a1", api_secret="s1", application_id="app1", private_key="PEM")
        async with rest("vonage", Reply()) as (http, server):
            with pytest.raises(CarrierFailed) as failed:
                await parts(http).account.check.check_account(wrong, "https://x")
        assert (failed.value.code, server.seen) == ("carrier_misconfigured", [])

    async def test_documents(self, mine: CarrierAccount) -> None:
        async with rest("vonage", Reply()) as (http, _):
            answerer = parts(http).webhooks.answerer
        links = replace(LINKS, resume_url="https://voice.example.org/resume/vonage/7/1?token=s3cret")
        [action] = json.loads((await answerer.answer_call(mine, "u9", links)).body)

        assert action["endpoint"] == [
            {
                "type": "websocket",
                "uri": LINKS.media_url,
                "content-type": "audio/l16;rate=16000",
                "headers": {"run_id": "7", "call_id": "u9"},
            }
        ]
        assert (action["eventType"], action["eventUrl"]) == ("synchronous", [links.resume_url])
        statuses = ("started", "ringing", "answered", "completed", "failed", "unanswered", "disconnected")
        events = {status: posted("https://x", {"status": status, "uuid": "u10"}) for status in statuses}
        asks = {status for status, event in events.items() if answerer.asks_what_follows(event)}
        assert asks == {"failed", "unanswered", "disconnected"}
        ended = answerer.hang_up_document()
        assert (ended.status, ended.body) == (204, b""), "an empty list would be a list of actions"
        assert json.loads((await answerer.refuse_call(mine, "u9", "No.")).body) == [{"action": "talk", "text": "No."}]
        assert json.loads(answerer.unavailable_document("Later.").body) == [{"action": "talk", "text": "Later."}]

    async def test_transfers(self, mine: CarrierAccount) -> None:
        order = TransferOrder("t1", "u9", "+15005550006", "+12015550100", 20, "https://x/result", "https://x/room")
        async with rest("vonage", json_reply({"uuid": "u10"}, 201)) as (http, server):
            legs = parts(http).calls.transfer_legs
            leg = TransferLeg("t1", "u9", await legs.start_leg(mine, order))
            await legs.seat_destination(mine, leg)
            await legs.join_caller(mine, leg)
            await parts(http).calls.blind_transfer.redirect_caller(mine, "u9", "+15005550006", "+12015550100", 25, "")

        dialed, joined, forwarded = (seen.json for seen in server.seen)
        room = {"action": "conversation", "name": "t1", "startOnEnter": True, "endOnExit": True}
        assert (dialed["ncco"], dialed["event_url"]) == ([room], ["https://x/result"])
        assert joined == {"action": "transfer", "destination": {"type": "ncco", "ncco": [room]}}
        assert forwarded["destination"]["ncco"][0]["endpoint"] == [{"type": "phone", "number": "15005550006"}]


class TestWebhooks:
    webhooks = VonageWebhooks()

    @pytest.mark.parametrize(
        ("fields", "report"),
        [
            ({"status": "started"}, StatusUpdate("initiated", "u1")),
            ({"status": "ringing"}, StatusUpdate("ringing", "u1")),
            ({"status": "answered"}, StatusUpdate("in_progress", "u1")),
            (
                {"status": "completed", "duration": "4", "price": "0.0127"},
                StatusUpdate(
                    "completed", "u1", bill=CarrierCallBill(Decimal(4), cost=Decimal("0.0127"), currency="EUR")
                ),
            ),
            ({"status": "busy"}, StatusUpdate("busy", "u1")),
            ({"status": "unanswered"}, StatusUpdate("no_answer", "u1")),
            ({"status": "timeout"}, StatusUpdate("no_answer", "u1")),
            ({"status": "cancelled"}, StatusUpdate("canceled", "u1")),
            (
                {"status": "rejected", "detail": "invalid_number"},
                StatusUpdate("failed", "u1", end_reason="invalid_number"),
            ),
            ({"status": "rejected", "detail": "declined"}, StatusUpdate("busy", "u1")),
            ({"status": "disconnected"}, None),
            ({"status": "completed", "to": "wss://voice.example.org/x"}, None),
            ({"status": "machine", "call_uuid": "u1", "uuid": None}, MachineVerdict(True, False, "u1")),
            ({"status": "machine", "call_uuid": "u1", "sub_state": "beep_start"}, MachineVerdict(True, True, "u1")),
            ({"status": "human", "call_uuid": "u1"}, MachineVerdict(False, True, "u1")),
        ],
    )
    def test_reports_of_a_call(self, fields: dict[str, Any], report: object) -> None:
        assert self.webhooks.parse_status("events", posted("https://x", {"uuid": "u1", **fields})) == report

    @pytest.mark.parametrize(
        ("status", "report"),
        [
            ("answered", TransferUpdate("answered", "u1")),
            ("busy", TransferUpdate("failed", "u1", "busy")),
            ("unanswered", TransferUpdate("failed", "u1", "no_answer")),
            ("failed", TransferUpdate("failed", "u1", "call_failed")),
            ("completed", TransferUpdate("ended", "u1")),
            ("ringing", None),
            ("disconnected", None),
        ],
    )
    async def test_reports_of_a_transfer(self, status: str, report: TransferUpdate | None) -> None:
        async with rest("vonage", Reply()) as (http, _):
            statuses = parts(http).webhooks.statuses
        assert statuses.parse_transfer(posted("https://x", {"uuid": "u1", "status": status})) == report

    def test_an_inbound_call(self) -> None:
        token = jwt.encode({"api_key": "a1", "application_id": "app1"}, "s" * 32, "HS256")
        call = {"uuid": "u1", "conversation_uuid": "c1", "from": "14155550123", "to": "12015550100"}
        webhook = posted("https://x", call, authorization=f"Bearer {token}")

        assert self.webhooks.is_from_carrier(webhook)
        assert self.webhooks.is_from_carrier(posted("https://x", call))
        assert self.webhooks.account_reference(webhook) == "a1"
        assert self.webhooks.account_reference(posted("https://x", call)) is None
        assert self.webhooks.parse_inbound(webhook) == InboundCall("u1", "+14155550123", "+12015550100", "a1")
        assert self.webhooks.parse_inbound(posted("https://x", {**call, "status": "ringing"})) is None


class TestWire:
    def test_audio_is_passed_as_it_is(self) -> None:
        wire = VonageWire()
        frame = bytes(range(256)) * 2 + bytes(128)

        assert FRAME == 640
        assert wire.decode(frame) is frame  # even before it has introduced itself
        assert wire.encode_audio(frame) is frame
        assert wire.encode_audio(b"\1" * 100) == b"\1" * 100 + bytes(540)

    def test_what_it_says(self) -> None:
        wire = VonageWire()
        connected = '{"event":"websocket:connected","content-type":"audio/l16;rate=16000","call_id":"u1","run_id":"7"}'

        assert wire.decode(connected) == MediaStarted("u1", "u1")
        assert wire.decode('{"event":"websocket:dtmf","digit":"5","duration":260}') == DigitPressed("5")
        assert wire.decode('{"event":"websocket:dtmf","dtmf":{"digit":"6"}}') == DigitPressed("6")
        assert wire.decode('{"event":"websocket:new"}') is None
        assert json.loads(wire.encode_mark("s1")) == {"action": "notify", "payload": {"mark": "s1"}}
        assert wire.decode('{"event":"websocket:notify","payload":{"mark":"s1"}}') == MarkReached("s1")
        assert json.loads(wire.encode_clear()) == {"action": "clear"}
        assert wire.decode('{"event":"websocket:cleared"}') == MarkReached("s1")
        assert wire.decode('{"event":"websocket:cleared"}') is None

    @pytest.mark.parametrize(
        "message",
        [
            "hello",
            "[]",
            "{}",
            '{"event":"websocket:connected","content-type":"audio/l16;rate=8000"}',
            '{"event":"websocket:dtmf"}',
        ],
    )
    def test_is_refused_with_a_reason(self, message: str) -> None:
        with pytest.raises(WireError):
            VonageWire().decode(message)


class TestNumbers:
    def answers(self, seen: Seen) -> Reply:
        match seen.method, seen.target.partition("?")[0]:
            case "GET", "/number/search" | "/account/numbers":
                number = {"country": "US", "msisdn": "14155550199", "type": "mobile-lvn", "cost": "0.90"}
                return json_reply({"count": 1, "numbers": [{**number, "features": ["VOICE", "SMS"]}]})
            case "GET", "/v2/applications/app1":
                capabilities = {"voice": {"region": "eu"}, "messages": {}}
                return json_reply({"id": "app1", "name": "Mine", "capabilities": capabilities, "_links": {}})
            case "POST", "/identity-insights/v1/requests":
                return json_reply({"insights": {"current_carrier": {"name": "T", "network_type": "MOBILE"}}})
            case "POST", _:
                return json_reply({"error-code": "200"})
            case "PUT", _:
                return json_reply({})
        return json_reply({"title": "Not found"}, 404)

    async def test_from_search_to_release(self, mine: CarrierAccount) -> None:
        async with rest("vonage", self.answers) as (http, server):
            spec = parts(http)
            [found] = await spec.numbers.catalog.search_numbers(mine, "US", "415", None, 5)
            assert await spec.numbers.catalog.buy_number(mine, "+14155550199", "US") == "14155550199"
            assert await spec.numbers.catalog.find_owned(mine, "+14155550199") == "14155550199"
            assert await spec.numbers.catalog.find_owned(mine, "+14155550000") is None
            await spec.numbers.routing.route_number(mine, "+14155550199", "https://x/api/v1/telephony/inbound/run")
            await spec.numbers.catalog.release_number(mine, "+14155550199", None)
            assert await spec.numbers.lookup.look_up(mine, "+14155550199") == LookupResult("T", "mobile")
            assert await spec.account.check.check_account(mine, "https://x") == {}

        assert (found.phone_number, found.number_type, found.monthly_cost_cents) == ("+14155550199", "mobile", 90)
        forms = [(seen.target, seen.body) for seen in server.seen if seen.target.startswith("/number/") and seen.body]
        order = b"country=US&msisdn=14155550199"
        assert forms == [
            ("/number/buy", order),
            ("/number/update", order + b"&app_id=app1"),
            ("/number/cancel", order),
        ]
        [put] = [seen.json for seen in server.seen if seen.method == "PUT"]
        assert put["name"] == "Mine"
        assert not {"id", "_links"} & put.keys()
        assert put["capabilities"]["messages"] == {}
        voice = put["capabilities"]["voice"]
        assert (voice["region"], voice["signed_callbacks"]) == ("eu", True)
        assert voice["webhooks"]["event_url"]["address"] == "https://x/api/v1/telephony/vonage/events"


MADE = {"api_key": "k9", "secret": "Secret-of-k9", "name": "offhook-7-ab", "suspended": False}


class TestSubAccounts:
    async def test_one_is_made_with_an_application_of_its_own(self, mine: CarrierAccount) -> None:
        model = {"id": "app1", "capabilities": {"voice": {"region": "eu-west", "signed_callbacks": False}}}
        application = {"id": "app9", "keys": {"private_key": "PEM"}}
        answers = iter(
            [json_reply({**MADE, "signature_secret": "signs-k9"}), json_reply(model), json_reply(application)]
        )
        async with rest("vonage", lambda _: next(answers)) as (http, server):
            found = await parts(http).account.sub_accounts.create_sub_account(mine, "offhook-7-ab")
        created, _, applied = server.seen
        assert (created.method, created.target) == ("POST", "/accounts/a1/subaccounts?sensitive-data=true")
        body = json.loads(created.body)
        assert body == {"name": "offhook-7-ab", "secret": body["secret"], "use_primary_account_balance": True}
        assert 8 <= len(body["secret"]) <= 25
        assert all(any(kind(letter) for letter in body["secret"]) for kind in (str.islower, str.isupper, str.isdigit))
        assert json.loads(applied.body)["capabilities"] == {"voice": {"region": "eu-west", "signed_callbacks": True}}
        assert [one.headers["authorization"] for one in (created, applied)] == [
            "Basic " + b64encode(pair).decode() for pair in (b"a1:s1", b"k9:Secret-of-k9")
        ]
        assert found.reference == "k9"
        assert found.fields == {
            "api_key": "k9",
            "api_secret": "Secret-of-k9",
            "application_id": "app9",
            "private_key": "PEM",
            "signature_secret": "signs-k9",
        }
        assert "Secret" not in repr(found)

    async def test_one_whose_signature_secret_is_not_told_is_suspended(self, mine: CarrierAccount) -> None:
        async with rest("vonage", json_reply(MADE)) as (http, server):
            with pytest.raises(CarrierFailed, match="signature secrets") as failed:
                await parts(http).account.sub_accounts.create_sub_account(mine, "offhook-7-ab")
        assert (failed.value.retryable, failed.value.is_fate_unknown) == (False, False)
        assert (server.seen[1].method, server.seen[1].target) == ("PATCH", "/accounts/a1/subaccounts/k9")
        assert json.loads(server.seen[1].body) == {"suspended": True}

    async def test_an_interrupted_one_is_found_without_its_keys(self, mine: CarrierAccount) -> None:
        listed = [{**MADE, "api_key": "k7", "suspended": True}, {**MADE, "name": "other"}, MADE]
        async with rest("vonage", json_reply({"_embedded": {"subaccounts": listed}})) as (http, _):
            found = await parts(http).account.sub_accounts.find_sub_account(mine, "offhook-7-ab")
        assert (found.reference, found.fields) == ("k9", {})

    @pytest.mark.parametrize("answer", [{}, {"_embedded": []}, {"_embedded": {"subaccounts": {}}}])
    async def test_an_unreadable_list_is_not_an_empty_one(self, mine: CarrierAccount, answer: dict[str, Any]) -> None:
        async with rest("vonage", json_reply(answer)) as (http, _):
            with pytest.raises(CarrierFailed) as failed:
                await parts(http).account.sub_accounts.find_sub_account(mine, "offhook-7-ab")
        assert (failed.value.code, failed.value.retryable) == ("carrier_cannot_say", True)


def private_key_pem(*numbers: int) -> str:
    """PKCS#1 of these numbers: version, n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p."""

    def encode_value(tag: int, content: bytes) -> bytes:
        size = len(content).to_bytes(4, "big").lstrip(b"\0") or b"\0"
        return bytes([tag, *((0x80 | len(size), *size) if len(content) > 127 else size)]) + content

    body = b"".join(encode_value(2, each.to_bytes(each.bit_length() // 8 + 1, "big")) for each in numbers)
    lines = base64.encodebytes(encode_value(0x30, body)).decode()
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\n"


class TestHostileKeys:
    @pytest.mark.parametrize(("first", "second"), [(2203, 2281), (4253, 4423)])
    def test_a_long_one_is_refused_at_once(self, first: int, second: int) -> None:
        """Six seconds of checks whether these are primes, of which nothing else would run."""
        p, q = (1 << first) - 1, (1 << second) - 1
        d = pow(65537, -1, (p - 1) * (q - 1))
        pem = private_key_pem(0, p * q, 65537, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
        assert len(pem) < 8192, "what a field of an account takes"
        began = time.process_time()
        with pytest.raises(CarrierFailed) as caught:
            application_token(with_key(pem), time.time())
        assert caught.value.code == "carrier_misconfigured"
        assert time.process_time() - began < 0.5

    @pytest.mark.parametrize(
        "numbers", [[0] * 9, [0, 2**2048, 2, 2, 2, 2, 2, 2, 2], [0] + [2**2048 - 1] * 8, [0] + [3] * 8]
    )
    def test_numbers_that_are_no_key_are_no_fault_of_ours(self, numbers: list[int]) -> None:
        with suppress(CarrierFailed):
            application_token(with_key(private_key_pem(*numbers)), time.time())


def with_key(pem: str) -> CarrierAccount:
    return account("vonage", api_key="a1", api_secret="s1", application_id="app1", private_key=pem)
