"""What each carrier says of a call, as it signs it: what strangers make of it, and what callers hear who are refused."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy import update

from offhook.kit.clock import SystemClock
from offhook.orgs.tables import Organization
from offhook.telephony.webhooks.inbound_calls import REFUSAL_MESSAGES
from offhook_lab.carriers import CallbackFault, CarrierEmulator, EmulatedCall, OutgoingCallback, VonageEmulator, phones
from tests.calls.carrier_desk import OURS, PUBLIC, THEIRS, open_account
from tests.fakes.clock import SetClock
from tests.telephony.emulator_desk import EMULATORS, TWILIO_QUICKLY
from tests.telephony.platform_desk import ONE_WHO_HANGS_UP, Platform
from tests.usage.test_enforcement import enforce
from tests.voice.phone import simple_agent

FORGERIES: Final[tuple[Literal["forged", "unsigned"], ...]] = ("forged", "unsigned")
UNKNOWN = "+14155550199"
# Vonage's documents; at Telnyx the sentence is spoken by request.
JSON = {"telnyx", "vonage"}
# What the signature of each carrier covers beside the fact that it was made, and whether it has a time.
COVERS = {
    "cloudonix": set(),
    "plivo": {"body", "url"},
    "telnyx": {"body", "time"},
    "twilio": {"body", "url"},
    "vobiz": {"body", "time"},
    "vonage": {"body", "time"},
}


@TWILIO_QUICKLY
async def test_what_strangers_send_changes_nothing(name: str, platform: Platform) -> None:
    carrier = platform.carrier
    ((_, held),) = await platform.held_of(plan=ONE_WHO_HANGS_UP, calls=1)
    told = next(  # of the call itself, not of another leg
        one
        for one in reversed(held)
        if one.kind.endswith(("completed", "hangup")) and "token=" in one.url and b"wss:" not in one.body
    )
    covers = COVERS[name]
    stranger = EMULATORS[name]()
    organization_id, workflow_id, _ = await platform.organization("Globex")
    await open_account(platform.root, organization_id, stranger, workflow_id, PUBLIC, "+14155550198")
    before = await platform.state()
    right = dict(carrier.sign_callback(told))

    async def sent(what: str, *, signed_by: CarrierEmulator = carrier, forgery: Any = "", **changed: Any) -> None:
        told.headers = dict(signed_by.sign_callback(replace(told, forgery=forgery)))
        answer = await platform.send(told, **changed)
        assert (answer.status_code, answer.json()["code"]) == (401, "webhook_refused"), what
        assert await platform.state() == before, what

    if name != "cloudonix":  # whose addresses' secret is proof enough
        await sent("no signature", forgery="unsigned")
    await sent("wrong signature", forgery="forged")
    await sent("another account's", signed_by=stranger)
    await sent("altered query", url=re.sub("token=.", "token=~", told.url))
    if "body" in covers:
        await sent("altered body", body=told.body.replace(b"1", b"2"))
    if "time" in covers:
        now = carrier.clock.now()
        carrier.clock = SetClock(now - timedelta(hours=1))
        await sent("stale")
        carrier.clock = SetClock(now + timedelta(hours=1))
        await sent("of the future")
        carrier.clock = SystemClock()
    if "url" in covers:
        await sent("longer query", url=f"{told.url}&a=b")
        # where only the proxy knows the public address
        object.__setattr__(platform.root.settings, "public_url", None)
        await sent("altered address", headers={"X-Forwarded-Host": "voice.example.com"})
        await sent("altered scheme", headers={"X-Forwarded-Proto": "http"})
        host = {"Host": "us.internal"}
        await sent("a proxy that nobody trusts", headers=host, through_proxy="203.0.113.9")
    told.headers = right
    assert (await platform.send(told)).json() == {"status": "ok"}, "and the carrier's own"
    after = await platform.state()
    assert after["runs"] != before["runs"]
    assert (await platform.send(told)).json()["status"] in {"duplicate", "ignored"}, "a replay"
    assert {**await platform.state(), "run_events": after["run_events"]} == after


async def come(platform: Platform, to: str = OURS) -> tuple[EmulatedCall, list[OutgoingCallback]]:
    """Somebody calls and is refused: the call, and what the carrier asked us about it."""
    carrier = platform.carrier
    call = carrier.call_in(THEIRS, to, replace(phones.silent(), gives_up_s=30.0))
    async with asyncio.timeout(60):
        await call.ended.wait()
    await carrier.wait_settled(60)
    return call, [sent for sent in carrier.callbacks if sent.call_id == call.id]


async def strangers_bring_calls(platform: Platform) -> None:
    carrier = platform.carrier
    stranger = EMULATORS[carrier.name]()
    organization_id, workflow_id, _ = await platform.organization("Globex")
    await open_account(platform.root, organization_id, stranger, workflow_id, PUBLIC, "+14155550198")
    before = await platform.state()
    asked: list[OutgoingCallback] = []
    for fault in FORGERIES:
        carrier.chaos.callbacks[:] = [CallbackFault(fault, "*", times=20)]
        call = carrier.call_in(THEIRS, OURS, replace(phones.hangs_up_after(0.1), gives_up_s=0.2))
        async with asyncio.timeout(60):
            await call.ended.wait()
        await carrier.wait_settled(60)
        asked = [sent for sent in carrier.callbacks if sent.call_id == call.id]
        assert asked
        assert {sent.status for sent in asked} == {401}
        assert call.streams == []
        assert await platform.state() == before
    carrier.chaos.callbacks.clear()
    if isinstance(stranger, VonageEmulator) and isinstance(carrier, VonageEmulator):
        # whose signature itself says whose the call is: they say that it is ours
        stranger.applications[carrier.application_id] = {}
        stranger.api_key, stranger.application_id = carrier.api_key, carrier.application_id
    asked[0].headers = dict(stranger.sign_callback(replace(asked[0], forgery="")))
    assert (await platform.send(asked[0])).status_code == 401, "signed by the carrier, of another account"
    assert await platform.state() == before


@TWILIO_QUICKLY
async def test_calls_that_are_refused(name: str, platform: Platform) -> None:
    carrier, client = platform.carrier, platform.client
    await strangers_bring_calls(platform)
    carrier.announces_s = 0.0
    carrier.add_number(UNKNOWN, **carrier.numbers[OURS].settings)
    carrier.point_at(f"{PUBLIC}/api/v1/telephony/inbound/run")
    refused = []

    async def hears(reason: str, to: str = OURS) -> None:
        call, asked = await come(platform, to)
        assert call.spoken == [REFUSAL_MESSAGES[reason]]
        assert (call.errors, call.streams, call.answered.is_set()) == ([], [], True)
        assert asked[0].status == 200
        assert asked[0].answer_type.partition(";")[0].endswith("/json" if name in JSON else "/xml")
        refused.append((call.id, reason, to))
        rows = (await client.get("/telephony/refused-calls?limit=100")).json()["refused_calls"]
        assert [(row["call_id"], row["reason"], row["called_number"]) for row in rows] == refused[::-1]

    await hears("phone_number_not_configured", UNKNOWN)
    await enforce(platform.root, platform.organization_id)
    await hears("out_of_credit")
    await enforce(platform.root, platform.organization_id, cents=1000)
    draft = await client.post(
        "/workflow/create/definition", json={"name": "Draft", "workflow_definition": simple_agent()}
    )
    carrier.point_at(f"{PUBLIC}/api/v1/telephony/inbound/{draft.json()['id']}")
    await hears("workflow_not_published")
    carrier.point_at(f"{PUBLIC}/api/v1/telephony/inbound/run")
    live = f"/workflow/{platform.workflow_id}"
    for status in ("archived", "active"):
        assert (await client.put(f"{live}/status", json={"status": status})).status_code == 200
        if status == "archived":
            await hears("workflow_archived")
    assert (await client.post(f"{live}/runs", json={"mode": "browser"})).status_code == 200
    async with platform.root.db.transaction() as session:
        await session.execute(update(Organization).values(concurrency_limit=1))
    await hears("concurrent_call_limit")
    assert [row[0] for row in await platform.rows("SELECT mode FROM runs")] == ["browser"]
