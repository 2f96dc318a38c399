"""Telnyx's emulator: commands, events, its media stream, conferences and numbers."""

import base64
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from websockets.asyncio.server import ServerConnection

from offhook_lab.carriers.core import phones
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.telnyx import TelnyxEmulator
from tests.lab.us import Us, events, first, with_emulator

OURS, THEIRS, THIRD = "+14155550100", "+12125550199", "+12125550177"
RTP = {"stream_bidirectional_mode": "rtp", "stream_bidirectional_codec": "PCMU", "stream_track": "inbound_track"}


class Telnyx:
    def __init__(self, carrier: TelnyxEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        self.carrier, self.us, self.http = carrier, us, http
        http.headers["Authorization"] = f"Bearer {carrier.api_key}"
        carrier.point_at(f"{us.base_url}/inbound")
        carrier.add_number(OURS)

    async def dial(self, to: str = THEIRS, **more: Any) -> EmulatedCall:
        body = {"connection_id": self.carrier.connection_id, "from": OURS, "to": to, **more}
        answer = await self.http.post("/v2/calls", json=body)
        assert answer.status_code == 200, answer.text
        found = self.carrier.find_call(answer.json()["data"]["call_control_id"])
        assert found is not None
        return found

    async def streamed(self, to: str = THEIRS, **more: Any) -> EmulatedCall:
        return await self.dial(
            to, stream_url=self.us.media_url, webhook_url=f"{self.us.base_url}/events", **RTP, **more
        )

    async def do(self, call: EmulatedCall, command: str, **body: Any) -> httpx2.Response:
        return await self.http.post(f"/v2/calls/{call.id}/actions/{command}", json=body)

    def events(self, call: EmulatedCall) -> list[str]:
        found = [one.json["data"] for one in self.carrier.callbacks_of("event")]
        return [one["event_type"] for one in found if one["payload"]["call_control_id"] == call.id]

    def hangup(self, call: EmulatedCall) -> dict[str, Any]:
        found = [one.json["data"]["payload"] for one in self.carrier.callbacks_of("event:call.hangup")]
        return next(one for one in found if one["call_control_id"] == call.id)


def run(test: Callable[[Telnyx, Us], Awaitable[None]]) -> None:
    async def with_client(carrier: TelnyxEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        await test(Telnyx(carrier, us, http), us)

    with_emulator(TelnyxEmulator, with_client)


async def talks(socket: ServerConnection, messages: list[Any]) -> None:
    """We say 0.4 s, and mark its end."""
    await first(messages, "start")
    await socket.send(json.dumps({"event": "media", "media": {"payload": b64encode(phones.make_tone(0.4)).decode()}}))
    await socket.send(json.dumps({"event": "mark", "mark": {"name": "said"}}))


def test_an_outbound_call() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        us.on_socket = talks
        telnyx.carrier.phones[THEIRS] = phones.presses("5")
        call = await telnyx.streamed(client_state="c3RhdGU=")
        await call.answered.wait()
        await call.phone.wait_for_speech_end()
        await call.phone.wait_seconds(0.5)
        assert call.phone.heard_speech_s == pytest.approx(0.4, abs=0.05)
        assert (await telnyx.do(call, "hangup")).json() == {"data": {"result": "ok"}}
        await telnyx.carrier.wait_settled()

        messages = us.sockets[0][1]
        assert events(messages) == ["connected", "start", "media", "mark", "media", "dtmf", "media", "stop"]
        assert messages[1]["start"]["media_format"] == {"encoding": "PCMU", "sample_rate": 8000, "channels": 1}
        assert telnyx.events(call) == [
            "call.initiated",
            "call.answered",
            "streaming.started",
            "call.dtmf.received",
            "call.hangup",
            "streaming.stopped",
        ]
        hangup = telnyx.hangup(call)
        assert (hangup["hangup_cause"], hangup["hangup_source"]) == ("normal_clearing", "caller")
        assert hangup["client_state"] == "c3RhdGU="
        gone = await telnyx.do(call, "hangup")
        assert (gone.status_code, gone.json()["errors"][0]["code"]) == (422, "90018")

    run(test)


def test_without_rtp_our_audio_is_never_heard_and_a_closed_socket_ends_no_call() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        async def talks_and_closes(socket: ServerConnection, messages: list[Any]) -> None:
            await talks(socket, messages)
            await socket.close()

        us.on_socket = talks_and_closes
        telnyx.carrier.phones[THEIRS] = phones.hangs_up_after(2)
        call = await telnyx.dial(stream_url=us.media_url)
        await telnyx.carrier.wait_settled()
        assert call.phone.heard_speech_s == 0
        assert call.stream is not None
        assert call.stream.problems == ["audio was dropped: stream_bidirectional_mode is mp3"]
        assert telnyx.events(call)[-2:] == ["streaming.stopped", "call.hangup"]
        assert telnyx.hangup(call)["hangup_source"] == "callee"

    run(test)


@pytest.mark.parametrize(
    ("plan", "cause"),
    [
        (phones.busy(), "user_busy"),
        (phones.no_answer(), "timeout"),
        (phones.no_answer(1.0), "no_answer"),
        (phones.rejects(), "call_rejected"),
        (phones.unreachable(), "not_found"),
    ],
)
def test_nobody_answers(plan: phones.PhonePlan, cause: str) -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        telnyx.carrier.phones[THEIRS] = plan
        call = await telnyx.streamed(timeout_secs=20)
        await telnyx.carrier.wait_settled()
        assert telnyx.hangup(call)["hangup_cause"] == cause
        # the socket was open while it rang, and never started
        assert all("start" not in events(messages) for _, messages in us.sockets)

    run(test)


def test_voicemail() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        telnyx.carrier.phones[THEIRS] = phones.voicemail(1.0, records_s=2)
        for mode, heard in (
            ("detect", [("call.machine.detection.ended", "machine")]),
            (
                "greeting_end",
                [("call.machine.detection.ended", "machine"), ("call.machine.greeting.ended", "beep_detected")],
            ),
            (
                "premium",
                [
                    ("call.machine.premium.detection.ended", "machine"),
                    ("call.machine.premium.greeting.ended", "beep_detected"),
                ],
            ),
        ):
            telnyx.carrier.callbacks.clear()
            await telnyx.dial(answering_machine_detection=mode)
            await telnyx.carrier.wait_settled()
            found = [one.json["data"] for one in telnyx.carrier.callbacks_of("event:call.machine")]
            assert [(one["event_type"], one["payload"]["result"]) for one in found] == heard

    run(test)


def test_an_inbound_call_waits_for_commands() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        us.on_socket = talks
        call = telnyx.carrier.call_in(THEIRS, OURS, phones.hangs_up_after(1))
        await telnyx.carrier.callback_sender.wait_idle()
        initiated = telnyx.carrier.callbacks[0].json["data"]["payload"]
        assert (initiated["direction"], initiated["state"]) == ("incoming", "parked")
        assert initiated["connection_id"] == telnyx.carrier.connection_id
        early = await telnyx.do(call, "speak", payload="Hello", voice="female")
        assert early.json()["errors"][0]["code"] == "90034"
        answer = {"stream_url": us.media_url, "command_id": "one", **RTP}
        assert (await telnyx.do(call, "answer", **answer)).status_code == 200
        # the same command again is no second answer
        assert (await telnyx.do(call, "answer", **answer)).status_code == 200
        await telnyx.carrier.wait_settled()
        assert len(us.sockets) == 1
        assert call.phone.heard_speech_s > 0.3
        assert telnyx.hangup(call)["hangup_source"] == "caller"

        refused = telnyx.carrier.call_in(THEIRS, OURS)
        await telnyx.carrier.callback_sender.wait_idle()
        await telnyx.do(refused, "answer")
        await telnyx.do(refused, "speak", payload="No credit left.", voice="female")
        while "call.speak.ended" not in telnyx.events(refused):
            await refused.phone.wait_seconds(0.1)
        await telnyx.do(refused, "hangup")
        rejected = telnyx.carrier.call_in(THEIRS, OURS)
        await telnyx.carrier.callback_sender.wait_idle()
        await telnyx.do(rejected, "reject", cause="USER_BUSY")
        await telnyx.carrier.wait_settled()
        assert refused.spoken == ["No credit left."]
        assert (rejected.rejected, telnyx.hangup(rejected)["hangup_cause"]) == ("USER_BUSY", "user_busy")

    run(test)


def test_transfers() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        async def caller_and_agent() -> tuple[EmulatedCall, EmulatedCall]:
            call = await telnyx.streamed()
            await call.answered.wait()
            await call.phone.wait_seconds(0.2)
            return call, await answered_agent()

        async def answered_agent() -> EmulatedCall:
            agent = await telnyx.dial(THIRD, webhook_url=f"{us.base_url}/transfer")
            await agent.answered.wait()
            return agent

        telnyx.carrier.phones[THEIRS] = phones.silent()
        telnyx.carrier.phones[THIRD] = phones.greets("Sales.")
        blind = await telnyx.streamed()
        await blind.answered.wait()
        await telnyx.do(blind, "transfer", to=THIRD)
        await blind.phone.wait_for_speech_end(0.2)
        destination = blind.children[0]
        assert "call.bridged" in telnyx.events(blind)
        destination.phone.hang_up()
        await telnyx.carrier.wait_settled()
        assert blind.is_over

        # warm: a conference around the answered agent, then the caller joins it
        call, agent = await caller_and_agent()
        made = await telnyx.http.post("/v2/conferences", json={"call_control_id": agent.id, "name": "room"})
        room = made.json()["data"]["id"]
        body = {"call_control_id": call.id, "end_conference_on_exit": True}
        assert (await telnyx.http.post(f"/v2/conferences/{room}/actions/join", json=body)).status_code == 200
        agent.phone.queue_audio(phones.make_tone(0.3))
        await call.phone.wait_for_speech_end(0.2)
        call.phone.hang_up()
        await telnyx.carrier.wait_settled()
        assert "conference.participant.joined" in telnyx.events(call)
        assert agent.is_over

        # an agent who leaves a conference that does not end leaves the caller in it
        call, agent = await caller_and_agent()
        made = await telnyx.http.post("/v2/conferences", json={"call_control_id": agent.id, "name": "other"})
        body = {"call_control_id": call.id}
        await telnyx.http.post(f"/v2/conferences/{made.json()['data']['id']}/actions/join", json=body)
        agent.phone.hang_up()
        await call.phone.wait_seconds(1)
        assert not call.is_over
        assert (await telnyx.do(call, "hangup")).status_code == 200
        await telnyx.carrier.wait_settled()

    run(test)


def test_events_are_signed_and_tried_again() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        us.statuses["/events"] = [500, 404, 200]
        telnyx.carrier.phones[THEIRS] = phones.busy()
        await telnyx.streamed()
        await telnyx.carrier.wait_settled()
        tried = [request for request in us.requests if request.path == "/events"]
        assert [one.json["meta"]["attempt"] for one in tried] == [1, 2, 3, 1]
        assert len({one.json["data"]["id"] for one in tried}) == 2
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(telnyx.carrier.public_key))
        for one in tried:
            message = one.headers["telnyx-timestamp"].encode() + b"|" + one.body
            key.verify(base64.b64decode(one.headers["telnyx-signature-ed25519"]), message)

    run(test)


def test_numbers_and_refusals() -> None:
    async def test(telnyx: Telnyx, us: Us) -> None:
        http, connection = telnyx.http, telnyx.carrier.connection_id
        query = {"filter[country_code]": "US", "filter[national_destination_code]": "212"}
        found = await http.get("/v2/available_phone_numbers", params=query)
        number = found.json()["data"][0]["phone_number"]
        order = {"phone_numbers": [{"phone_number": number}], "connection_id": connection}
        assert (await http.post("/v2/number_orders", json=order)).json()["data"]["status"] == "success"
        assert (await http.post("/v2/number_orders", json=order)).status_code == 422
        owned = (await http.get("/v2/phone_numbers", params={"filter[phone_number]": number})).json()["data"][0]
        assert owned["connection_id"] == connection
        app = f"/v2/call_control_applications/{connection}"
        assert (await http.patch(app, json={"webhook_event_url": us.base_url})).status_code == 422
        changed = {"application_name": "Lab", "webhook_event_url": us.base_url}
        assert (await http.patch(app, json=changed)).json()["data"]["webhook_event_url"] == us.base_url
        assert (await http.delete(f"/v2/phone_numbers/{owned['id']}")).status_code == 200
        lookup = await http.get(f"/v2/number_lookup/{THEIRS}?type=carrier")
        assert lookup.json()["data"]["carrier"]["type"] == "mobile"

        wrong = {"Authorization": "Bearer wrong"}
        assert (await http.get("/v2/balance", headers=wrong)).json()["errors"][0]["code"] == "10009"
        body = {"connection_id": connection, "from": OURS, "to": THEIRS}
        for change, status in (({"to": "12"}, 422), ({"connection_id": "1"}, 422), ({"from": THIRD}, 403)):
            assert (await http.post("/v2/calls", json={**body, **change})).status_code == status
        telnyx.carrier.limits.concurrent_calls = 1
        telnyx.carrier.phones[THEIRS] = phones.hangs_up_after(1)
        await telnyx.dial()
        second = await telnyx.dial(webhook_url=f"{us.base_url}/events")
        await telnyx.carrier.wait_settled()
        assert telnyx.hangup(second)["sip_hangup_cause"] == "403"

    run(test)
