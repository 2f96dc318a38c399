"""What each carrier says of a call, as it signs it: and what strangers make of it."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

from offhook.kit.clock import SystemClock
from offhook.lab.carriers import Emulator
from tests.calls.carrier_desk import PUBLIC, open_account
from tests.fakes.clock import SetClock
from tests.telephony.emulator_desk import EACH, EMULATORS
from tests.telephony.platform_desk import ONE_WHO_HANGS_UP, Platform

# What the signature of each carrier covers beside the fact that it was made, and whether it has a time.
COVERS = {
    "cloudonix": set(),
    "plivo": {"body", "url"},
    "telnyx": {"body", "time"},
    "twilio": {"body", "url"},
    "vobiz": {"body", "time"},
    "vonage": {"body", "time"},
}


@EACH
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
    right = dict(carrier.sign(told))

    async def sent(what: str, *, signed_by: Emulator = carrier, forgery: Any = "", **changed: Any) -> None:
        told.headers = dict(signed_by.sign(replace(told, forgery=forgery)))
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
