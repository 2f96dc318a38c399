"""Cloudonix's emulator: sessions by token, JSON or query requests, noisy updates, CDRs."""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from websockets.asyncio.server import ServerConnection

from offhook_lab.carriers import CloudonixEmulator, phones
from offhook_lab.carriers.core.calls import EmulatedCall
from tests.lab.us import Us, events, first, with_emulator

OURS, THEIRS, THIRD = "+14155550100", "+12125550199", "+12125550177"


class Cloudonix:
    def __init__(self, carrier: CloudonixEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        self.carrier, self.us, self.http = carrier, us, http
        http.headers["Authorization"] = f"Bearer {carrier.bearer_token}"
        self.domain = f"/customers/self/domains/{carrier.domain}"
        carrier.domain_settings["cdr"] = f"{us.base_url}/cdr"
        carrier.point_at(f"{us.base_url}/voice")
        carrier.add_number(OURS)

    def cxml(self) -> str:
        return f'<Response><Connect><Stream url="{self.us.media_url}"/></Connect><Hangup/></Response>'

    async def place(self, **more: Any) -> EmulatedCall:
        body = {"destination": THEIRS, "caller-id": OURS, "cxml": self.cxml(), **more}
        answer = await self.http.post(f"/calls/{self.carrier.domain}/application", json=body)
        assert answer.status_code == 200, answer.text
        found = self.carrier.find_call(answer.json()["token"])
        assert found is not None
        return found

    def cdr(self, call: EmulatedCall) -> dict[str, Any]:
        found = [one.json for one in self.carrier.callbacks_of("cdr")]
        return next(one for one in found if one["session"]["token"] == call.id)


def run(test: Callable[[Cloudonix, Us], Awaitable[None]]) -> None:
    async def with_client(carrier: CloudonixEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        await test(Cloudonix(carrier, us, http), us)

    with_emulator(CloudonixEmulator, with_client)


async def talks(socket: ServerConnection, messages: list[Any]) -> None:
    sid = (await first(messages, "start"))["streamSid"]
    payload = b64encode(phones.make_tone(0.4)).decode()
    await socket.send(json.dumps({"event": "media", "streamSid": sid, "media": {"payload": payload}}))


def test_an_outbound_call() -> None:
    async def test(cloudonix: Cloudonix, us: Us) -> None:
        us.on_socket = talks
        cloudonix.carrier.phones[THEIRS] = phones.silent()
        call = await cloudonix.place(callback=f"{us.base_url}/status")
        await call.answered.wait()
        await call.phone.wait_for_speech_end()
        session = f"{cloudonix.domain}/sessions/{call.id}"
        assert (await cloudonix.http.get(session)).json()["destination"] == THEIRS
        assert (await cloudonix.http.delete(session)).status_code == 204
        assert (await cloudonix.http.get(session)).status_code == 404
        await cloudonix.carrier.wait_settled()

        messages = us.sockets[0][1]
        assert events(messages) == ["connected", "start", "media", "stop"]
        start = messages[1]["start"]
        assert (start["session"], start["accountSid"]) == (call.id, cloudonix.carrier.domain)
        assert start["callSid"] != call.id
        assert messages[-1]["stop"]["session"] == call.id
        updates = [one.json for one in cloudonix.carrier.callbacks_of("status")]
        assert len(updates) >= 10
        assert {type(one) for one in updates} == {dict, list}
        assert (cloudonix.cdr(call)["disposition"], cloudonix.cdr(call)["billsec"]) == ("ANSWER", call.duration_s)
        assert all(
            one.headers["X-CX-APIKey"] == cloudonix.carrier.webhook_api_key for one in cloudonix.carrier.callbacks
        )

    run(test)


@pytest.mark.parametrize(
    ("plan", "disposition"),
    [(phones.busy(), "BUSY"), (phones.no_answer(), "NOANSWER"), (phones.unreachable(), "CONGESTION")],
)
def test_nobody_answers(plan: phones.PhonePlan, disposition: str) -> None:
    async def test(cloudonix: Cloudonix, us: Us) -> None:
        cloudonix.carrier.phones[THEIRS] = plan
        call = await cloudonix.place(timeout=20)
        await cloudonix.carrier.wait_settled()
        assert (cloudonix.cdr(call)["disposition"], cloudonix.cdr(call)["billsec"]) == (disposition, 0)

    run(test)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_inbound_calls_and_transfers(method: str) -> None:
    async def test(cloudonix: Cloudonix, us: Us) -> None:
        cloudonix.carrier.point_at(f"{us.base_url}/voice", method)
        us.xml("/voice", "<Say>No credit left.</Say><Hangup/>")
        spoken = cloudonix.carrier.call_in(THEIRS, OURS)
        await cloudonix.carrier.wait_settled()
        asked = cloudonix.carrier.callbacks_of("answer")[0]
        said = asked.json if method == "POST" else asked.fields
        assert (said["Session"], said["Domain"], said["To"]) == (spoken.id, cloudonix.carrier.domain, OURS)
        assert spoken.spoken == ["No credit left."]

        us.xml("/voice", f'<Connect><Stream url="{us.media_url}"/></Connect>')
        call = cloudonix.carrier.call_in(THEIRS, OURS)
        await call.answered.wait()
        await call.phone.wait_seconds(0.2)
        cloudonix.carrier.phones[THIRD] = phones.greets("Sales.")
        attributes = (
            f'statusCallback="{us.base_url}/result" statusCallbackEvent="join leave" endConferenceOnExit="true"'
        )
        room = f"<Response><Dial><Conference {attributes}>room</Conference></Dial></Response>"
        agent = await cloudonix.place(destination=THIRD, cxml=room)
        await agent.answered.wait()
        path = f"/calls/{cloudonix.carrier.domain}/sessions/{call.id}/application"
        assert (await cloudonix.http.post(path, json={"cxml": room})).status_code == 200
        await call.phone.wait_seconds(0.3)
        agent.phone.hang_up()
        await cloudonix.carrier.wait_settled()
        assert call.ended_by == "carrier"
        joined = cloudonix.carrier.callbacks_of("conference:participant-join")[0].json
        assert (joined["StatusCallbackEvent"], joined["Session"]) == ("participant-join", agent.id)

    run(test)


def test_applications_and_refusals() -> None:
    async def test(cloudonix: Cloudonix, us: Us) -> None:
        http, carrier = cloudonix.http, cloudonix.carrier
        assert (await http.get(cloudonix.domain)).json()["domain"] == carrier.domain
        app = f"{cloudonix.domain}/applications/{carrier.application}"
        changed = await http.patch(app, json={"url": "https://us.example/voice", "method": "POST"})
        assert changed.json()["url"] == "https://us.example/voice"
        dnids = f"/domains/{carrier.domain}/applications/{changed.json()['id']}/dnids"
        made = await http.post(dnids, json={"source": THIRD, "prefix": False})
        assert {one["source"] for one in (await http.get(dnids)).json()} == {OURS, THIRD}
        assert (await http.delete(f"{dnids}/{made.json()['id']}")).status_code == 204
        assert (
            await http.post(f"/calls/{carrier.domain}/application", json={"destination": THEIRS})
        ).status_code == 400
        assert (await http.get(cloudonix.domain, headers={"Authorization": "Bearer no"})).status_code == 401
        assert (await http.get("/customers/self/domains/other.cloudonix.net")).status_code == 404

    run(test)
