"""Twilio's emulator: what its REST API, its webhooks, its documents and its media stream do."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from websockets.asyncio.server import ServerConnection

from offhook_lab.carriers.core import phones
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.chaos import CallbackFault, RestFault, SocketFault
from offhook_lab.carriers.twilio import TwilioEmulator
from tests.lab.us import Us, events, first, with_emulator

OURS, THEIRS, THIRD = "+14155550100", "+12125550199", "+12125550177"
TALK = b64encode(phones.make_tone(0.4)).decode()
EVENTS = ["initiated", "ringing", "answered", "completed"]
Test = Callable[["Twilio", Us], Awaitable[None]]


class Twilio:
    """The emulator and a client of it, with a number of ours and no queue."""

    def __init__(self, carrier: TwilioEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        self.carrier, self.us, self.http = carrier, us, http
        self.account = f"/2010-04-01/Accounts/{carrier.account_sid}"
        self.auth = (carrier.account_sid, carrier.auth_token)
        carrier.limits.calls_per_second = None
        carrier.add_number(OURS, VoiceUrl=f"{us.base_url}/voice", StatusCallback=f"{us.base_url}/status")

    async def place(self, url: str, **more: Any) -> EmulatedCall:
        form = {"To": THEIRS, "From": OURS, "Url": url, **more}
        answer = await self.http.post(f"{self.account}/Calls.json", data=form, auth=self.auth)
        assert answer.status_code == 201, answer.text
        found = self.carrier.find_call(answer.json()["sid"])
        assert found is not None
        return found

    async def watched(self, url: str, **more: Any) -> EmulatedCall:
        status = {"StatusCallback": f"{self.us.base_url}/status", "StatusCallbackEvent": EVENTS}
        return await self.place(url, **status, **more)

    async def modify(self, call: EmulatedCall, **form: str) -> httpx2.Response:
        return await self.http.post(f"{self.account}/Calls/{call.id}.json", data=form, auth=self.auth)

    def streams(self, path: str = "/answer") -> str:
        """A document that connects the media socket."""
        inside = '<Parameter name="run" value="7"/>'
        return self.us.xml(path, f'<Connect><Stream url="{self.us.media_url}">{inside}</Stream></Connect>')

    def statuses(self) -> list[str]:
        return [one.fields["CallStatus"] for one in self.carrier.callbacks_of("status")]


def run(test: Test) -> None:
    async def with_client(carrier: TwilioEmulator, us: Us, http: httpx2.AsyncClient) -> None:
        await test(Twilio(carrier, us, http), us)

    with_emulator(TwilioEmulator, with_client)


async def talks(socket: ServerConnection, messages: list[Any]) -> None:
    """We say 0.4 s, and mark its end."""
    sid = (await first(messages, "start"))["streamSid"]
    await socket.send(json.dumps({"event": "media", "streamSid": sid, "media": {"payload": TALK}}))
    await socket.send(json.dumps({"event": "mark", "streamSid": sid, "mark": {"name": "said"}}))


async def talks_and_clears(socket: ServerConnection, messages: list[Any]) -> None:
    await talks(socket, messages)
    await socket.send(json.dumps({"event": "clear", "streamSid": messages[1]["streamSid"]}))


async def closes(socket: ServerConnection, messages: list[Any]) -> None:
    await first(messages, "media")
    await socket.close()


def test_an_outbound_call() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        us.on_socket = talks
        twilio.carrier.phones[THEIRS] = phones.answers("Yes.")
        call = await twilio.watched(twilio.streams())
        await call.answered.wait()
        await call.phone.wait_for_speech_end()
        await call.phone.wait_seconds(0.5)
        assert (await twilio.modify(call, Status="completed")).json()["status"] == "completed"
        await twilio.carrier.wait_settled()

        assert call.phone.heard_speech_s == pytest.approx(0.4, abs=0.05)
        messages = us.sockets[0][1]
        assert events(messages) == ["connected", "start", "media", "mark", "media", "stop"]
        start = messages[1]["start"]
        assert (start["callSid"], start["customParameters"]) == (call.id, {"run": "7"})
        assert call.stream is not None
        assert call.stream.problems == []
        assert twilio.statuses() == ["initiated", "ringing", "in-progress", "completed"]
        for change in ({"Status": "completed"}, {"Twiml": "<Response/>"}):
            assert (await twilio.modify(call, **change)).json()["code"] == 21220
        twilio.carrier.forgets_calls = True
        assert (await twilio.modify(call, Status="completed")).status_code == 404

    run(test)


def test_a_clear_drops_audio_and_returns_marks() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        us.on_socket = talks_and_clears
        twilio.carrier.phones[THEIRS] = phones.hangs_up_after(0.6)
        call = await twilio.place(twilio.streams())
        await twilio.carrier.wait_settled()

        assert call.phone.heard_speech_s < 0.1
        assert [one["mark"]["name"] for one in us.sockets[0][1] if one["event"] == "mark"] == ["said"]
        assert (call.cause, call.ended_by) == ("normal", "callee")

    run(test)


@pytest.mark.parametrize(
    ("plan", "statuses"),
    [
        (phones.busy(), ["initiated", "ringing", "busy"]),
        (phones.no_answer(), ["initiated", "ringing", "no-answer"]),
        (phones.unreachable(), ["initiated", "failed"]),
    ],
)
def test_nobody_answers(plan: phones.PhonePlan, statuses: list[str]) -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THEIRS] = plan
        call = await twilio.watched(twilio.streams(), Timeout="20")
        await twilio.carrier.wait_settled()

        assert twilio.statuses() == statuses
        assert call.duration_s == 0
        assert us.sockets == []

    run(test)


def test_canceling_while_it_rings() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THEIRS] = phones.answers(ring_s=5)
        call = await twilio.watched(twilio.streams())
        await asyncio.sleep(1)
        assert (await twilio.modify(call, Status="completed")).json()["status"] == "canceled"
        await twilio.carrier.wait_settled()
        assert twilio.statuses()[-1] == "canceled"

    run(test)


def test_voicemail_holds_the_document_until_the_verdict() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THEIRS] = phones.voicemail(0.5, records_s=1)
        await twilio.place(us.xml("/answer", "<Pause length='1'/>"), MachineDetection="DetectMessageEnd")
        await twilio.carrier.wait_settled()
        assert twilio.carrier.callbacks_of("answer")[0].fields["AnsweredBy"] == "machine_end_beep"

        await twilio.place(
            us.xml("/answer", "<Pause length='1'/>"),
            MachineDetection="Enable",
            AsyncAmd="true",
            AsyncAmdStatusCallback=f"{us.base_url}/amd",
        )
        await twilio.carrier.wait_settled()
        assert "AnsweredBy" not in twilio.carrier.callbacks_of("answer")[1].fields
        assert twilio.carrier.callbacks_of("amd")[0].fields["AnsweredBy"] == "machine_start"

    run(test)


def test_an_inbound_call_that_is_answered_and_one_that_is_refused() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        us.on_socket = closes
        twilio.streams("/voice")
        call = twilio.carrier.call_in(THEIRS, OURS, phones.scripted(phones_says))
        await twilio.carrier.wait_settled()
        fields = twilio.carrier.callbacks_of("answer")[0].fields
        assert (fields["Direction"], fields["CallStatus"], fields["To"]) == ("inbound", "ringing", OURS)
        assert (call.cause, call.ended_by) == ("normal", "carrier")
        assert twilio.statuses() == ["completed"]

        us.xml("/voice", '<Say voice="alice">No credit left.</Say><Hangup/>')
        spoken = twilio.carrier.call_in(THEIRS, OURS)
        us_refuses = us.xml("/voice2", '<Reject reason="busy"/>')
        twilio.carrier.add_number(THIRD, VoiceUrl=us_refuses)
        refused = twilio.carrier.call_in(THEIRS, THIRD)
        await twilio.carrier.wait_settled()
        assert (spoken.spoken, spoken.cause) == (["No credit left."], "normal")
        assert spoken.phone.heard_speech_s > 0
        assert (refused.rejected, refused.answered_at) == ("busy", None)

    run(test)


async def phones_says(phone: phones.EmulatedPhone) -> None:
    await phone.say_text("Hello?")
    await phone.press_keys("1#")


def test_digits_reach_the_stream() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THEIRS] = phones.scripted(phones_says)
        call = await twilio.place(twilio.streams())
        await call.answered.wait()
        await call.phone.wait_seconds(1.0)
        call.phone.hang_up()
        await twilio.carrier.wait_settled()
        assert [one["dtmf"]["digit"] for one in us.sockets[0][1] if one["event"] == "dtmf"] == ["1", "#"]

    run(test)


def test_a_blind_transfer() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THIRD] = phones.greets("Sales.")
        call = twilio.carrier.call_in(THEIRS, OURS)
        twilio.streams("/voice")
        await call.answered.wait()
        await call.phone.wait_seconds(0.2)
        text = (
            f'<Response><Dial timeout="10" callerId="{OURS}" action="{us.base_url}/after">'
            f'<Number statusCallback="{us.base_url}/dest" statusCallbackEvent="initiated ringing answered completed">'
            f"{THIRD}</Number></Dial></Response>"
        )
        us.xml("/after", "<Hangup/>")
        assert (await twilio.modify(call, Twiml=text)).status_code == 200
        await call.phone.wait_for_speech_end(0.2)
        destination = call.children[0]
        call.phone.queue_audio(phones.make_tone(0.3))
        await call.phone.wait_seconds(0.5)
        destination.phone.hang_up()
        await twilio.carrier.wait_settled()

        # they heard each other, the media socket was over before, and the action knows how it went
        assert destination.phone.heard_speech_s == pytest.approx(0.3, abs=0.06)
        assert events(us.sockets[0][1])[-1] == "stop"
        after = next(one for one in twilio.carrier.callbacks_of("answer") if one.url.endswith("/after"))
        assert after.fields["DialCallStatus"] == "completed"
        heard = [one.fields["CallStatus"] for one in twilio.carrier.callbacks if one.url.endswith("/dest")]
        assert heard == ["initiated", "ringing", "in-progress", "completed"]

    run(test)


def test_a_warm_transfer_by_conference() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        document = '<Dial><Conference endConferenceOnExit="true">room</Conference></Dial>'
        twilio.carrier.phones[THEIRS] = phones.silent()
        call = await twilio.place(twilio.streams())
        twilio.carrier.phones[THIRD] = phones.greets("Support.")
        agent = await twilio.place(us.xml("/agent", document), To=THIRD)
        await call.answered.wait()
        await agent.answered.wait()
        assert (await twilio.modify(call, Twiml=f"<Response>{document}</Response>")).status_code == 200
        await call.phone.wait_for_speech()
        agent.phone.hang_up()
        await twilio.carrier.wait_settled()
        assert (call.cause, call.ended_by) == ("normal", "carrier")

    run(test)


def test_what_the_api_refuses() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        path, good = f"{twilio.account}/Calls.json", {"To": THEIRS, "From": OURS, "Url": f"{us.base_url}/answer"}
        assert (await twilio.http.post(path, data=good)).json()["code"] == 20003
        assert (await twilio.http.get("/2010-04-01/Accounts/ACother.json", auth=twilio.auth)).status_code == 404
        for change, code in (({"To": "123"}, 21211), ({"From": THIRD}, 21210), ({"Url": "nowhere"}, 21205)):
            answer = await twilio.http.post(path, data={**good, **change}, auth=twilio.auth)
            assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert twilio.carrier.calls == []
        assert (await twilio.http.get(f"{twilio.account}.json", auth=twilio.auth)).json()["status"] == "active"

    run(test)


def test_numbers() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        get, post = twilio.http.get, twilio.http.post
        base, auth = twilio.account, twilio.auth
        found = await get(f"{base}/AvailablePhoneNumbers/US/Local.json?AreaCode=212", auth=auth)
        number = found.json()["available_phone_numbers"][0]["phone_number"]
        bought = await post(f"{base}/IncomingPhoneNumbers.json", data={"PhoneNumber": number}, auth=auth)
        assert bought.status_code == 201
        sid = bought.json()["sid"]
        again = await post(f"{base}/IncomingPhoneNumbers.json", data={"PhoneNumber": number}, auth=auth)
        assert again.json()["code"] == 21422
        await post(f"{base}/IncomingPhoneNumbers/{sid}.json", data={"VoiceUrl": f"{us.base_url}/voice"}, auth=auth)
        owned = await get(f"{base}/IncomingPhoneNumbers.json", params={"PhoneNumber": number}, auth=auth)
        assert owned.json()["incoming_phone_numbers"][0]["voice_url"] == f"{us.base_url}/voice"
        looked_up = await get(f"/v2/PhoneNumbers/{THEIRS}?Fields=line_type_intelligence", auth=auth)
        assert looked_up.json()["line_type_intelligence"]["type"] == "mobile"
        released = await twilio.http.delete(f"{base}/IncomingPhoneNumbers/{sid}.json", auth=auth)
        assert released.status_code == 204
        assert number not in twilio.carrier.numbers

    run(test)


def test_chaos() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        carrier = twilio.carrier
        carrier.phones[THEIRS] = phones.hangs_up_after(1.0)
        carrier.chaos.callbacks = [
            CallbackFault("lost", "status:initiated"),
            CallbackFault("swapped", "status:ringing"),
            CallbackFault("twice", "status:completed"),
        ]
        carrier.chaos.sockets = [SocketFault(after_s=0.2)]
        call = await twilio.watched(twilio.streams())
        await carrier.wait_settled()
        assert twilio.statuses() == ["in-progress", "ringing", "completed", "completed"]
        first_one, second = carrier.callbacks_of("status:completed")
        assert first_one.headers == second.headers
        assert us.sockets[0][0].close_code == 1006
        assert call.stream is not None

        carrier.chaos.callbacks = [CallbackFault("forged", "status:*", times=9)]
        carrier.chaos.rest = [RestFault("acts_then_silent", "POST *Calls.json")]
        with pytest.raises(httpx2.RemoteProtocolError):
            await twilio.watched(twilio.streams())
        assert len(carrier.calls) == 2
        await carrier.wait_settled()
        carrier.chaos.rest = [RestFault("rate_limited"), RestFault("acts_then_fails")]
        form = {"To": THEIRS, "From": OURS, "Url": twilio.streams()}
        answers = [
            await twilio.http.post(f"{twilio.account}/Calls.json", data=form, auth=twilio.auth) for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [429, 500]
        assert len(carrier.calls) == 3

    run(test)


def test_held_callbacks_are_released_in_any_order() -> None:
    async def test(twilio: Twilio, us: Us) -> None:
        twilio.carrier.phones[THEIRS] = phones.hangs_up_after(0.1)
        twilio.carrier.chaos.holds_callbacks = True
        await twilio.watched(twilio.streams())
        await twilio.carrier.wait_settled()
        assert twilio.statuses() == []
        released = await twilio.carrier.callback_sender.release_held(*reversed(twilio.carrier.held_callbacks))
        assert twilio.statuses() == ["completed", "in-progress", "ringing", "initiated"]
        assert all(one.status == 200 for one in released)

    run(test)
