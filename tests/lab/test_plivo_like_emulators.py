"""Plivo's and Vobiz's emulators: what they share, and where they differ."""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from websockets.asyncio.server import ServerConnection

from offhook_lab.carriers import CallbackFault, PlivoEmulator, VobizEmulator, phones
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.plivo_like import PlivoLikeEmulator
from tests.lab.us import Us, events, first, with_emulator

OURS, THEIRS, THIRD = "+14155550100", "+12125550199", "+12125550177"
BOTH = [PlivoEmulator, VobizEmulator]
MULAW = "audio/x-mulaw;rate=8000"


class Client:
    def __init__(self, carrier: PlivoLikeEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        self.carrier, self.us, self.http = carrier, us, http
        self.base = f"{carrier.base}/{carrier.auth_id}"
        if carrier.name == "plivo":
            http.auth = (carrier.auth_id, carrier.auth_token)
        else:
            http.headers.update({"X-Auth-ID": carrier.auth_id, "X-Auth-Token": carrier.auth_token})
        carrier.limits.calls_per_second = None
        carrier.point_at(f"{us.base_url}/voice", hangup_url=f"{us.base_url}/gone")
        carrier.add_number(OURS)

    def body(self, **more: Any) -> dict[str, Any]:
        named = {"answer_url": self.streams(), "ring_url": f"{self.us.base_url}/ring"}
        return {"from": OURS[1:], "to": THEIRS[1:], **named, "hangup_url": f"{self.us.base_url}/gone", **more}

    async def place(self, **more: Any) -> EmulatedCall:
        answer = await self.http.post(f"{self.base}/Call/", json=self.body(**more))
        assert answer.status_code == 201, answer.text
        found = self.carrier.find_call(answer.json()["request_uuid"])
        assert found is not None
        return found

    def streams(self, path: str = "/answer", *, keeps: str = "true", kind: str = MULAW) -> str:
        attributes = f'bidirectional="true" keepCallAlive="{keeps}" contentType="{kind}" extraHeaders="run=7"'
        return self.us.xml(path, f"<Stream {attributes}>{self.us.media_url}</Stream>")

    def hangup(self, call: EmulatedCall) -> dict[str, str]:
        return next(one.fields for one in self.carrier.callbacks_of("hangup") if one.call_id == call.id)


def run(emulator: type[PlivoLikeEmulator], test: Callable[[Client, Us], Awaitable[None]]) -> None:
    async def with_client(carrier: PlivoLikeEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        await test(Client(carrier, us, http), us)

    with_emulator(emulator, with_client)


def audio(stream: str) -> str:
    media = {"contentType": "audio/x-mulaw", "sampleRate": 8000, "payload": b64encode(phones.make_tone(0.4)).decode()}
    return json.dumps({"event": "playAudio", "streamId": stream, "media": media})


async def talks(socket: ServerConnection, messages: list[Any]) -> None:
    stream = (await first(messages, "start"))["start"]["streamId"]
    await socket.send(audio(stream))
    await socket.send(json.dumps({"event": "checkpoint", "streamId": stream, "name": "said"}))


async def talks_and_clears(socket: ServerConnection, messages: list[Any]) -> None:
    await talks(socket, messages)
    await socket.send(json.dumps({"event": "clearAudio", "streamId": messages[0]["start"]["streamId"]}))


@pytest.mark.parametrize("emulator", BOTH)
def test_an_outbound_call(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        us.on_socket = talks
        client.carrier.phones[THEIRS] = phones.presses("5")
        call = await client.place()
        await call.answered.wait()
        await call.phone.wait_for_speech_end()
        await call.phone.wait_seconds(0.5)
        live = await client.http.get(f"{client.base}/Call/{call.id}/?status=live")
        assert live.json()["call_status"] == "in-progress"
        assert (await client.http.delete(f"{client.base}/Call/{call.id}/")).status_code == 204
        await client.carrier.wait_settled()

        messages = us.sockets[0][1]
        assert events(messages) == ["start", "media", "playedStream", "media", "dtmf", "media"]
        assert messages[0]["start"]["callId"] == call.id
        assert messages[0]["extra_headers"] == "run=7"
        assert call.phone.heard_speech_s == pytest.approx(0.4, abs=0.05)
        kinds = [one.kind for one in client.carrier.callbacks if "stream" not in one.kind]
        assert kinds == ["ring", "answer", "hangup"]
        answer = client.carrier.callbacks_of("answer")[0].fields
        assert (answer["Event"], answer["To"], answer["CallStatus"]) == ("StartApp", THEIRS[1:], "in-progress")
        gone = client.hangup(call)
        assert (gone["CallStatus"], gone["HangupSource"], gone["HangupCause"]) == (
            "completed",
            "API Request",
            "NORMAL_CLEARING",
        )
        assert (await client.http.delete(f"{client.base}/Call/{call.id}/")).status_code == 404

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
def test_what_is_cleared_is_never_reported_as_played(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        us.on_socket = talks_and_clears
        client.carrier.phones[THEIRS] = phones.hangs_up_after(0.8)
        call = await client.place()
        await client.carrier.wait_settled()
        found = events(us.sockets[0][1])
        assert "clearedAudio" in found
        assert "playedStream" not in found
        assert call.phone.heard_speech_s < 0.1
        assert client.hangup(call)["HangupSource"] == "Callee"

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
@pytest.mark.parametrize(
    ("plan", "status", "cause"),
    [
        (phones.busy(), "busy", "USER_BUSY"),
        (phones.no_answer(), "no-answer", "NO_ANSWER"),
        (phones.rejects(), "failed", "CALL_REJECTED"),
    ],
)
def test_nobody_answers(emulator: type[PlivoLikeEmulator], plan: phones.PhonePlan, status: str, cause: str) -> None:
    async def test(client: Client, us: Us) -> None:
        client.carrier.phones[THEIRS] = plan
        call = await client.place(ring_timeout=20)
        await client.carrier.wait_settled()
        gone = client.hangup(call)
        assert (gone["CallStatus"], gone["HangupCause"], gone["Duration"]) == (status, cause, "0")

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
def test_without_keep_call_alive_the_call_ends(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        client.carrier.phones[THEIRS] = phones.silent()
        call = await client.place(answer_url=client.streams("/once", keeps="false"))
        await client.carrier.wait_settled()
        assert (call.cause, call.ended_by) == ("normal", "carrier")

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
def test_voicemail(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        client.carrier.phones[THEIRS] = phones.voicemail(0.5, records_s=1)
        await client.place(machine_detection="true", machine_detection_url=f"{us.base_url}/machine")
        await client.carrier.wait_settled()
        assert client.carrier.callbacks_of("machine")[0].fields["Machine"] == "true"
        await client.place(machine_detection="true")
        await client.carrier.wait_settled()
        assert client.carrier.callbacks_of("answer")[1].fields["Machine"] == "true"
        call = await client.place(machine_detection="hangup")
        await client.carrier.wait_settled()
        assert (call.ended_by, len(client.carrier.callbacks_of("answer"))) == ("carrier", 2)

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
def test_inbound_calls_and_transfers(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        us.xml("/voice", '<Hangup reason="busy"/>')
        refused = client.carrier.call_in(THEIRS, OURS)
        await client.carrier.wait_settled()
        assert (refused.rejected, refused.answered_at) == ("busy", None)
        us.xml("/voice", "<Speak>No credit left.</Speak><Hangup/>")
        spoken = client.carrier.call_in(THEIRS, OURS)
        await client.carrier.wait_settled()
        assert (spoken.spoken, spoken.phone.heard_speech_s > 0) == (["No credit left."], True)
        ringing = client.carrier.callbacks_of("answer")[0].fields
        assert (ringing["Direction"], ringing["CallStatus"]) == ("inbound", "ringing")

        # warm: the agent waits in a conference, and the caller is moved into it
        client.streams("/voice")
        call = client.carrier.call_in(THEIRS, OURS)
        await call.answered.wait()
        await call.phone.wait_seconds(0.2)
        client.carrier.phones[THIRD] = phones.greets("Sales.")
        room = us.xml(
            "/room", f'<Conference endConferenceOnExit="true" callbackUrl="{us.base_url}/in">room</Conference>'
        )
        agent = await client.place(to=THIRD[1:], answer_url=room)
        await agent.answered.wait()
        moved = await client.http.post(f"{client.base}/Call/{call.id}/", json={"legs": "aleg", "aleg_url": room})
        assert moved.status_code == 202
        await call.phone.wait_seconds(0.5)
        assert us.sockets[0][0].close_code == 1000
        agent.phone.queue_audio(phones.make_tone(0.3))
        await call.phone.wait_for_speech_end(0.2)
        agent.phone.hang_up()
        await client.carrier.wait_settled()
        assert call.ended_by == "carrier"
        assert len(client.carrier.callbacks_of("conference:enter")) == 2

        # blind: a document that dials
        call = client.carrier.call_in(THEIRS, OURS)
        await call.answered.wait()
        dial = us.xml("/dial", f'<Dial timeout="5" action="{us.base_url}/after"><Number>{THIRD[1:]}</Number></Dial>')
        us.xml("/after", "<Hangup/>")
        client.carrier.phones[THIRD] = phones.busy()
        await client.http.post(f"{client.base}/Call/{call.id}/", json={"legs": "aleg", "aleg_url": dial})
        await client.carrier.wait_settled()
        after = next(one for one in client.carrier.callbacks_of("answer") if one.url.endswith("/after"))
        assert (after.fields["DialStatus"], after.fields["DialHangupCause"]) == ("busy", "USER_BUSY")

    run(emulator, test)


@pytest.mark.parametrize("emulator", BOTH)
def test_callbacks_are_tried_again_and_forged(emulator: type[PlivoLikeEmulator]) -> None:
    async def test(client: Client, us: Us) -> None:
        client.carrier.phones[THEIRS] = phones.busy()
        client.carrier.chaos.callbacks = [CallbackFault("unsigned", "ring"), CallbackFault("forged", "hangup")]
        await client.place()
        await client.place()
        await client.carrier.wait_settled()
        signed = [
            any("signature" in name.lower() for name in one.headers) for one in client.carrier.callbacks_of("ring")
        ]
        assert signed == [False, True]
        assert client.carrier.callbacks_of("hangup")[0].forgery == "forged"

    run(emulator, test)


def test_plivo_alone() -> None:
    async def test(client: Client, us: Us) -> None:
        http, base = client.http, client.base
        assert (await http.post(f"{base}/Call/", json=client.body(to=THEIRS))).status_code == 400
        found = (await http.get(f"{base}/PhoneNumber/", params={"country_iso": "US", "pattern": "212"})).json()
        number = found["objects"][0]["number"]
        assert number.startswith("1212")
        assert (await http.post(f"{base}/PhoneNumber/{number}/", json={})).status_code == 201
        app = {"app_id": client.carrier.application_id}
        assert (await http.post(f"{base}/Number/{number}/", json=app)).status_code == 202
        assert (await http.get(f"{base}/Number/{number}/")).json()["number"] == number
        changed = await http.post(f"{base}/Application/{app['app_id']}/", json={"answer_url": "https://us.example"})
        assert changed.status_code == 202
        assert (await http.delete(f"{base}/Number/{number}/")).status_code == 204
        assert (await http.get(f"/v1/Number/{THEIRS}?type=carrier")).json()["carrier"]["type"] == "mobile"
        assert (await http.get(f"{base}/")).json()["auth_id"] == client.carrier.auth_id
        assert (await http.get(f"{base}/", auth=("no", "no"))).status_code == 401

    run(PlivoEmulator, test)


def test_vobiz_alone() -> None:
    async def test(client: Client, us: Us) -> None:
        http, base = client.http, client.base
        found = (await http.get(f"{base}/inventory/numbers", params={"country": "IN"})).json()
        number = found["items"][0]["e164"]
        bought = await http.post(f"{base}/numbers/purchase-from-inventory", json={"e164": number, "currency": "INR"})
        assert bought.json()["e164"] == number
        path = f"{base}/numbers/{number.replace('+', '%2B')}"
        app = {"application_id": client.carrier.application_id}
        assert (await http.post(f"{path}/application", json=app)).json()["application_id"] == app["application_id"]
        assert (await http.delete(path)).json()["status"] == "pending_release"
        assert (await http.get(f"{base.lower()}/", headers={"X-Auth-ID": "no"})).status_code in (401, 404)
        client.carrier.limits.concurrent_calls = 1
        client.carrier.phones[THEIRS] = phones.hangs_up_after(1)
        call = await client.place()
        assert (await http.post(f"{base}/Call/", json=client.body())).status_code == 429
        await client.carrier.wait_settled()
        ring, gone = client.carrier.callbacks_of("ring")[0], client.carrier.callbacks_of("hangup")[0]
        assert {"x-vobiz-signature", "x-vobiz-timestamp", "X-Vobiz-Signature-V3"} <= set(ring.headers) & set(
            gone.headers
        )
        assert (await http.get(f"{base}/cdr/{call.id}")).json()["billsec"] == call.duration_s

    run(VobizEmulator, test)


def test_linear_audio_of_vobiz_has_two_byte_orders_and_rates() -> None:
    async def test(client: Client, us: Us) -> None:
        async def talks_l16(socket: ServerConnection, messages: list[Any]) -> None:
            stream = (await first(messages, "start"))["start"]["streamId"]
            pcm = b"\x00\x20" * 9600
            media = {"contentType": "audio/x-l16", "sampleRate": 24000, "payload": b64encode(pcm).decode()}
            await socket.send(json.dumps({"event": "playAudio", "streamId": stream, "media": media}))

        us.on_socket = talks_l16
        client.carrier.phones[THEIRS] = phones.hangs_up_after(1)
        call = await client.place(answer_url=client.streams("/linear", kind="audio/x-l16;rate=8000"))
        await client.carrier.wait_settled()
        assert call.stream is not None
        assert call.stream.problems == []
        # the resampler keeps the last 50 ms until more comes
        assert call.phone.heard_speech_s == pytest.approx(0.4, abs=0.1)
        assert us.sockets[0][1][0]["start"]["mediaFormat"] == {"encoding": "audio/x-l16", "sampleRate": 8000}

    run(VobizEmulator, test)
