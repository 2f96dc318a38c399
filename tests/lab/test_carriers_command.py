"""All carriers at once, their desks, and what goes wrong in every one of them the same way."""

import asyncio

import httpx2
import pytest

from offhook_lab.carriers import CallbackFault, CarrierEmulator, ProxyTunnel, RestFault, TwilioEmulator, phones
from offhook_lab.carriers.all_carriers import CARRIERS, NUMBER, every_carrier
from tests.fakes.clock import run_virtual
from tests.lab.us import Us

CALLER = "+12015550106"


def test_every_carrier_brings_a_caller() -> None:
    async def whole() -> None:
        async with Us().open() as us, every_carrier(answer_url=f"{us.base_url}/voice") as carriers:
            assert [carrier.name for carrier in carriers] == list(CARRIERS)
            for carrier in carriers:
                async with httpx2.AsyncClient(base_url=carrier.base_url, trust_env=False) as http:
                    await _calls_in(carrier, us, http)

    run_virtual(whole(), limit_s=120, has_sockets=True)


async def _calls_in(carrier: CarrierEmulator, us: Us, http: httpx2.AsyncClient) -> None:
    if carrier.name == "vonage":
        us.ncco("/voice", [{"action": "talk", "text": "Goodbye."}])
    else:
        us.xml("/voice", "<Speak>Goodbye.</Speak>" if "app_id" in _application(carrier) else "<Say>Goodbye.</Say>")
    assert (await http.post("/lab/call-in", json={"to": "+19990000000"})).status_code == 422
    call = await http.post("/lab/call-in", json={"from": CALLER})
    assert (call.status_code, call.json()["to"]) == (201, NUMBER)
    if carrier.name == "telnyx":
        # nothing happens at Telnyx without a command
        await carrier.callback_sender.wait_idle()
        carrier.calls[0].phone.hang_up()
    await carrier.wait_settled()
    seen = (await http.get("/lab/calls")).json()[0]
    assert seen["spoken"] == ([] if carrier.name == "telnyx" else ["Goodbye."])
    asked = (await http.get("/lab/callbacks")).json()[0]
    assert (asked["status"], asked["url"].partition("?")[0]) == (200, f"{us.base_url}/voice")
    made = await http.post("/lab/numbers", json={"number": "+14155550123"})
    assert made.json()["number"] == "+14155550123"


def _application(carrier: CarrierEmulator) -> set[str]:
    return {"app_id"} if carrier.name in ("plivo", "vobiz") else set()


@pytest.mark.parametrize("name", list(CARRIERS))
def test_nobody_is_told_anything_without_a_key(name: str) -> None:
    """Every carrier refuses a stranger, limits requests, and fails when it is told to."""

    async def whole() -> None:
        async with (
            CARRIERS[name]().running() as carrier,
            httpx2.AsyncClient(base_url=carrier.base_url, trust_env=False, timeout=1) as http,
        ):
            paths = ["/2010-04-01/Accounts/AC1/Calls.json", "/v2/calls", "/v1/calls", "/v1/Account/x/Call/"]
            for path in [*paths, "/api/v1/Account/x/Call/", "/calls/x/application"]:
                assert (await http.post(path, json={})).status_code == 401, path
            carrier.chaos.rest = [RestFault("rate_limited"), RestFault("server_error"), RestFault("hangs")]
            statuses = [(await http.get("/v2/calls")).status_code for _ in range(2)]
            assert statuses == [429, 500]
            with pytest.raises(httpx2.ReadTimeout):
                await http.get("/v2/calls")
            assert carrier.calls == []

    run_virtual(whole(), has_sockets=True)


def test_a_tunnel_signs_the_public_address() -> None:
    async def whole() -> None:
        async with Us().open() as us, TwilioEmulator().running() as carrier:
            carrier.callback_sender.tunnels.append(ProxyTunnel("https://voice.example.org", us.base_url))
            carrier.add_number(NUMBER, VoiceUrl="https://voice.example.org/voice?run=1")
            us.xml("/voice", "<Hangup/>")
            carrier.chaos.callbacks = [CallbackFault("late", "answer", seconds=2)]
            carrier.call_in(CALLER, NUMBER, phones.silent())
            await carrier.wait_settled()
            came = us.requests[0]
            assert came.headers["host"] == came.headers["x-forwarded-host"] == "voice.example.org"
            assert came.headers["x-forwarded-proto"] == "https"
            asked = carrier.callbacks[0]
            assert asked.url == "https://voice.example.org/voice?run=1"
            again = await carrier.callback_sender.send_again(asked, body=asked.body + b"&x=1")
            assert (again.status, again.headers) == (200, asked.headers)

    run_virtual(whole(), has_sockets=True)


def test_conferences_mix_three_phones() -> None:
    async def whole() -> None:
        async with Us().open() as us, TwilioEmulator().running() as carrier:
            carrier.add_number(NUMBER, VoiceUrl=us.xml("/voice", "<Dial><Conference>room</Conference></Dial>"))
            calls = [carrier.call_in(f"+1201555010{number}", NUMBER, phones.silent()) for number in (1, 2, 3)]
            await asyncio.gather(*(call.answered.wait() for call in calls))
            await calls[0].phone.wait_seconds(0.2)
            for call in calls[:2]:
                call.phone.queue_audio(phones.make_tone(0.3))
            await calls[0].phone.wait_seconds(0.5)
            heard = [round(call.phone.heard_speech_s, 1) for call in calls]
            for call in calls:
                call.phone.hang_up()
            await carrier.wait_settled()
            assert heard == [0.3, 0.3, 0.3]

    run_virtual(whole(), has_sockets=True)
