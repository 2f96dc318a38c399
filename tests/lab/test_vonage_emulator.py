"""Vonage's emulator: tokens, control objects, legs with events of their own, and binary audio."""

import asyncio
import base64
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from websockets.asyncio.server import ServerConnection

from offhook_lab.carriers import VonageEmulator, phones
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.chaos import RestFault
from tests.lab.us import Us, events, first, with_emulator

OURS, THEIRS, THIRD = "+14155550100", "+12125550199", "+12125550177"
TONE = (np.sin(np.arange(6400) * 0.2) * 8000).astype("<i2").tobytes()


class Vonage:
    def __init__(self, carrier: VonageEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        self.carrier, self.us, self.http = carrier, us, http
        self.key_and_secret = (carrier.api_key, carrier.api_secret)
        carrier.limits.calls_per_second = carrier.limits.requests_per_second = None
        carrier.point_at(f"{us.base_url}/voice", f"{us.base_url}/events")
        carrier.add_number(OURS)

    def token(self, **changes: Any) -> dict[str, str]:
        now = int(self.carrier.now().timestamp())
        claims = {"application_id": self.carrier.application_id, "iat": now, "exp": now + 900, "jti": str(uuid.uuid4())}
        parts = [_part(json.dumps(one).encode()) for one in ({"alg": "RS256", "typ": "JWT"}, {**claims, **changes})]
        signed = self.carrier.key.sign(".".join(parts).encode(), padding.PKCS1v15(), SHA256())
        return {"Authorization": f"Bearer {'.'.join(parts)}.{_part(signed)}"}

    async def ask(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        return await self.http.request(method, path, json=body, headers=self.token())

    async def place(self, **more: Any) -> EmulatedCall:
        where = {"event_url": [f"{self.us.base_url}/events"]}
        answer = {} if "ncco" in more else {"answer_url": [self.streams()]}
        numbers = {"to": [{"type": "phone", "number": THEIRS[1:]}], "from": {"type": "phone", "number": OURS[1:]}}
        made = await self.ask("POST", "/v1/calls", {**numbers, **where, **answer, **more})
        assert made.status_code == 201, made.text
        found = self.carrier.find_call(made.json()["uuid"])
        assert found is not None
        return found

    def connects(self) -> list[dict[str, Any]]:
        endpoint = {"type": "websocket", "uri": self.us.media_url, "content-type": "audio/l16;rate=16000"}
        endpoint["headers"] = {"run": "7"}  # type: ignore[assignment]
        synchronous = {"eventType": "synchronous", "eventUrl": [f"{self.us.base_url}/socket"], "from": OURS[1:]}
        return [{"action": "connect", **synchronous, "endpoint": [endpoint]}]

    def streams(self, path: str = "/answer") -> str:
        return self.us.ncco(path, self.connects())

    def events(self, leg: str) -> list[str]:
        found = [one.json for one in self.carrier.callbacks_of("event")]
        return [one["status"] for one in found if leg in (one.get("uuid"), one.get("call_uuid"))]


def _part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def run(test: Callable[[Vonage, Us], Awaitable[None]]) -> None:
    async def with_client(carrier: VonageEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        await test(Vonage(carrier, us, http), us)

    with_emulator(VonageEmulator, with_client)


async def talks(socket: ServerConnection, messages: list[Any]) -> None:
    """0.4 s in frames of 20 ms, one frame of another size, and a notification."""
    await first(messages, "websocket:connected")
    for at in range(0, len(TONE), 640):
        await socket.send(TONE[at : at + 640])
    await socket.send(TONE[:100])
    await socket.send(json.dumps({"action": "notify", "payload": {"mark": "said"}}))


async def talks_and_closes(socket: ServerConnection, messages: list[Any]) -> None:
    await talks(socket, messages)
    await first(messages, "websocket:notify")
    await socket.close()


def test_an_outbound_call() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        us.on_socket = talks
        vonage.carrier.phones[THEIRS] = phones.presses("5")
        call = await vonage.place()
        await call.answered.wait()
        await call.phone.wait_for_speech_end()
        await call.phone.wait_seconds(0.5)
        assert (await vonage.ask("PUT", f"/v1/calls/{call.id}", {"action": "hangup"})).status_code == 204
        await vonage.carrier.wait_settled()

        messages = us.sockets[0][1]
        assert events(messages)[:2] == ["websocket:connected", "audio"]
        assert messages[0]["run"] == "7"
        assert {len(one) for one in messages if isinstance(one, bytes)} == {640}
        assert "websocket:dtmf" in events(messages)
        assert next(one for one in messages if isinstance(one, dict) and one["event"] == "websocket:notify")[
            "payload"
        ] == {"mark": "said"}
        assert call.phone.heard_speech_s == pytest.approx(0.4, abs=0.06)
        assert call.stream is not None
        assert call.stream.problems == ["a frame of 100 bytes was dropped"]
        assert vonage.events(call.id) == ["started", "ringing", "answered", "completed"]
        # the websocket is a leg of its own
        assert vonage.events(call.stream.id) == ["started", "answered", "completed"]
        answer = vonage.carrier.callbacks_of("answer")[0]
        assert (answer.method, answer.fields["to"]) == ("GET", THEIRS[1:])
        assert (await vonage.ask("PUT", f"/v1/calls/{call.id}", {"action": "hangup"})).status_code == 404

    run(test)


def test_closing_the_socket_is_asked_about_and_ends_the_call() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        us.on_socket = talks_and_closes
        vonage.carrier.phones[THEIRS] = phones.silent()
        call = await vonage.place()
        await vonage.carrier.wait_settled()
        assert call.stream is not None
        assert vonage.events(call.stream.id)[-1] == "disconnected"
        assert vonage.events(call.id)[-1] == "completed"
        us.ncco("/socket", [{"action": "talk", "text": "One moment."}])
        call = await vonage.place()
        await vonage.carrier.wait_settled()
        assert call.spoken[-1] == "One moment."

    run(test)


def test_a_caller_who_hangs_up_cuts_no_question_to_us() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        vonage.carrier.phones[THEIRS] = phones.silent()
        answers = asyncio.Event()
        us.chaos.rest.append(RestFault("acts_slowly", "POST /socket", times=2, until=answers))
        call = await vonage.place()
        while not vonage.carrier.callbacks_of("event:started")[1:]:
            await asyncio.sleep(0.02)
        call.phone.hang_up()
        await call.ended.wait()
        settling = asyncio.create_task(vonage.carrier.wait_settled())
        await asyncio.sleep(1)
        assert not settling.done()
        answers.set()
        await settling
        assert {sent.status for sent in vonage.carrier.callbacks} == {200}

    run(test)


@pytest.mark.parametrize(
    ("plan", "status"),
    [
        (phones.busy(), "busy"),
        (phones.no_answer(), "unanswered"),
        (phones.rejects(), "rejected"),
        (phones.unreachable(), "failed"),
    ],
)
def test_nobody_answers(plan: phones.PhonePlan, status: str) -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        vonage.carrier.phones[THEIRS] = plan
        call = await vonage.place(ringing_timer=20)
        await vonage.carrier.wait_settled()
        assert vonage.events(call.id)[-1] == status

    run(test)


def test_voicemail() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        vonage.carrier.phones[THEIRS] = phones.voicemail(0.5, records_s=2)
        call = await vonage.place(machine_detection="continue")
        await vonage.carrier.wait_settled()
        assert "machine" in vonage.events(call.id)
        event = next(one.json for one in vonage.carrier.callbacks_of("event:machine"))
        assert "uuid" not in event
        call = await vonage.place(advanced_machine_detection={"behavior": "continue", "mode": "detect_beep"})
        await vonage.carrier.wait_settled()
        assert [one.json.get("sub_state") for one in vonage.carrier.callbacks_of("event:machine")[1:]] == [
            None,
            "beep_start",
        ]

    run(test)


def test_inbound_calls_and_transfers() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        us.ncco("/voice", [])
        refused = vonage.carrier.call_in(THEIRS, OURS)
        us.xml("/voice2", "<Hangup/>")
        await vonage.carrier.wait_settled()
        assert (refused.rejected, refused.answered_at) == ("empty", None)
        us.ncco("/voice", [{"action": "talk", "text": "No credit left."}, {"action": "hangup"}])
        spoken = vonage.carrier.call_in(THEIRS, OURS)
        await vonage.carrier.wait_settled()
        assert (spoken.spoken, spoken.errors) == (["No credit left."], ["unknown action 'hangup'"])

        # blind
        us.ncco("/voice", vonage.connects())
        vonage.carrier.phones[THIRD] = phones.greets("Sales.")
        call = vonage.carrier.call_in(THEIRS, OURS)
        await call.answered.wait()
        await call.phone.wait_seconds(0.2)
        dial = [
            {"action": "connect", "from": OURS[1:], "timeout": 20, "endpoint": [{"type": "phone", "number": THIRD[1:]}]}
        ]
        body = {"action": "transfer", "destination": {"type": "ncco", "ncco": dial}}
        assert (await vonage.ask("PUT", f"/v1/calls/{call.id}", body)).status_code == 204
        await call.phone.wait_for_speech_end(0.2)
        call.phone.hang_up()
        await vonage.carrier.wait_settled()
        assert vonage.events(call.children[0].id) == ["started", "ringing", "answered", "completed"]
        assert events(us.sockets[0][1])[0] == "websocket:connected"

        # warm, by a conversation that both are in
        call = vonage.carrier.call_in(THEIRS, OURS)
        await call.answered.wait()
        await call.phone.wait_seconds(0.2)
        room = {"action": "conversation", "name": "room"}
        waits = {"type": "ncco", "ncco": [{**room, "startOnEnter": False}]}
        await vonage.ask("PUT", f"/v1/calls/{call.id}", {"action": "transfer", "destination": waits})
        agent = await vonage.place(to=[{"type": "phone", "number": THIRD[1:]}], ncco=[{**room, "endOnExit": True}])
        await call.phone.wait_for_speech_end(0.2)
        agent.phone.hang_up()
        await vonage.carrier.wait_settled()
        assert call.ended_by == "carrier"

    run(test)


def test_tokens_numbers_and_limits() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        http, auth = vonage.http, vonage.key_and_secret
        headers = vonage.token()
        assert (await http.get("/v1/calls", headers=headers)).status_code == 200
        # a token is good once, for its application, and until it expires
        assert (await http.get("/v1/calls", headers=headers)).status_code == 401
        assert (await http.get("/v1/calls", headers=vonage.token(application_id="other"))).status_code == 401
        assert (await http.get("/v1/calls", headers=vonage.token(exp=1))).status_code == 401
        found = (await http.get("/number/search", params={"country": "US", "pattern": "1212"}, auth=auth)).json()
        number = {"country": "US", "msisdn": found["numbers"][0]["msisdn"]}
        assert number["msisdn"].startswith("1212")
        assert (await http.post("/number/buy", data=number, auth=auth)).json()["error-code"] == "200"
        assert (await http.post("/number/buy", data=number, auth=auth)).status_code == 420
        link = {**number, "app_id": vonage.carrier.application_id}
        assert (await http.post("/number/update", data=link, auth=auth)).status_code == 200
        owned = (await http.get("/account/numbers", auth=auth)).json()["numbers"]
        assert {one["msisdn"] for one in owned} == {OURS[1:], number["msisdn"]}
        assert (await http.post("/number/cancel", data=number, auth=auth)).status_code == 200
        app = f"/v2/applications/{vonage.carrier.application_id}"
        assert (await http.put(app, json={"name": "Lab"}, auth=auth)).json()["capabilities"] == {}
        vonage.carrier.applications[vonage.carrier.application_id]["capabilities"] = {"voice": {"webhooks": {}}}
        asked = {"phone_number": THEIRS, "insights": {"current_carrier": {}}}
        insight = await vonage.ask("POST", "/identity-insights/v1/requests", asked)
        assert insight.json()["insights"]["current_carrier"]["name"] == "Lab Mobile"
        vonage.carrier.limits.calls_per_second = 1
        vonage.carrier.phones[THEIRS] = phones.busy()
        await vonage.place()
        body = {
            "to": [{"type": "phone", "number": THEIRS[1:]}],
            "from": {"type": "phone", "number": OURS[1:]},
            "ncco": [],
        }
        assert (await vonage.ask("POST", "/v1/calls", body)).status_code == 429
        await vonage.carrier.wait_settled()

    run(test)


def test_sub_accounts_have_what_is_their_own() -> None:
    async def test(vonage: Vonage, us: Us) -> None:
        http, auth = vonage.http, vonage.key_and_secret
        path = f"/accounts/{vonage.carrier.api_key}/subaccounts"
        body = {"name": "one", "secret": "Abcdefg8"}
        assert (await http.post(path, json={**body, "secret": "weak"}, auth=auth)).status_code == 422
        assert (await http.post(path, json={**body, "name": ""}, auth=auth)).status_code == 422
        assert "signature_secret" not in (await http.post(path, json=body, auth=auth)).json()
        made = (await http.post(path, params={"sensitive-data": "true"}, json=body, auth=auth)).json()
        assert made["signature_secret"]
        listed = (await http.get(path, auth=auth)).json()["_embedded"]["subaccounts"]
        assert [one["name"] for one in listed] == ["one", "one"]
        assert not {"secret", "signature_secret"} & set(listed[1])
        own = (made["api_key"], made["secret"])
        assert (await http.get(path, auth=own)).status_code == 404
        assert (await http.get(f"/accounts/{own[0]}/subaccounts", auth=own)).status_code == 403
        # it sees neither the application nor the number of the primary account, and has its own
        assert (await http.get(f"/v2/applications/{vonage.carrier.application_id}", auth=own)).status_code == 404
        assert (await http.get("/account/numbers", auth=own)).json()["numbers"] == []
        application = (await http.post("/v2/applications", json={"name": "one"}, auth=own)).json()
        assert "BEGIN PRIVATE KEY" in application["keys"]["private_key"]
        assert (await http.get(f"/v2/applications/{application['id']}", auth=auth)).status_code == 404
        assert "private_key" not in (await http.get(f"/v2/applications/{application['id']}", auth=own)).json()["keys"]
        assert (await http.patch(f"{path}/{own[0]}", json={"suspended": "yes"}, auth=auth)).status_code == 422
        assert (await http.patch(f"{path}/{own[0]}", json={"suspended": True}, auth=auth)).json()["suspended"] is True
        assert (await http.get("/account/numbers", auth=own)).status_code == 401
        assert (await http.patch(f"{path}/none", json={"suspended": True}, auth=auth)).status_code == 404

    run(test)
