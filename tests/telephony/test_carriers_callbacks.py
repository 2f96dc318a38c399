"""What each carrier says of a call, as it signs it: in every order, twice, late, and by strangers."""

import asyncio
import json
import os
import re
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

from offhook.kit.clock import SystemClock
from offhook.lab.carriers import Callback, Emulator, PostFault, phones
from tests.calls.carrier_desk import OURS, PUBLIC, THEIRS, open_account
from tests.fakes.clock import SetClock
from tests.telephony.emulator_desk import EACH, EMULATORS
from tests.telephony.platform_desk import MACHINE, ONE_WHO_HANGS_UP, Platform

# How many pieces of news are put into every order: five have 120 of them, too many for each run of all tests.
MOST = int(os.environ.get("OFFHOOK_TEST_CALLBACKS", "4"))


def chosen(held: list[Callback]) -> list[Callback]:
    """The last ones, with the verdict of machine detection and the end of the call."""
    told = [callback for callback in held if "stream" not in callback.kind]
    return told[-MOST:]


def like(kinds: list[str], held: list[Callback]) -> list[Callback]:
    """Of another call the same news: what is told by different parts of a carrier has no order of its own."""
    left = list(held)
    found = []
    for kind in kinds:
        found.append(next(callback for callback in left if callback.kind == kind))
        left.remove(found[-1])
    return found


def orders_of(news: int) -> list[tuple[int, ...]]:
    """Every order of so many pieces of news; where they are fewer, the last and the first come twice."""
    twice = [news - 1, 0][: MOST - news]
    return sorted(set(permutations([*range(news), *twice])))


@EACH
async def test_every_order_ends_alike(name: str, platform: Platform) -> None:
    plan = ONE_WHO_HANGS_UP if name == "cloudonix" else MACHINE
    ((_, first),) = await platform.held_of(plan=plan, calls=1)
    kinds = [callback.kind for callback in chosen(first)]
    orders = orders_of(len(kinds))
    carrier = platform.carrier
    carrier.held.clear()
    calls = await platform.held_of(plan=plan, calls=len(orders))
    for order, (_, held) in zip(orders, calls, strict=True):
        news = like(kinds, held)
        seen: set[int] = set()
        for index in order:
            callback = news[index]
            if index in seen:  # the very same request, signature and all
                callback = await carrier.post.again(callback)
                assert json.loads(callback.answer)["status"] in {"duplicate", "ignored"}
            else:
                await carrier.post.release(callback)
            assert callback.status == 200, (callback.kind, callback.answer)
            seen.add(index)
    ids = [run_id for run_id, _ in calls]
    found = await platform.rows(
        "SELECT status, outcome, end_reason, count(*), count(DISTINCT call_id) FROM runs WHERE id = ANY(:ids)"
        " GROUP BY 1, 2, 3",
        ids=ids,
    )
    # Cloudonix detects no machines.
    outcome = "answered" if name == "cloudonix" else "voicemail"
    assert [(row[0], row[1], row[3], row[4]) for row in found] == [("completed", outcome, len(ids), len(ids))]
    assert sorted(event.run_id for event in platform.ended) == sorted(ids)
    for table in ("run_usage", "ledger_entries"):
        billed = await platform.rows(
            f"SELECT run_id, count(*) FROM {table} WHERE run_id = ANY(:ids) GROUP BY 1", ids=ids
        )
        assert all(row.count == 1 for row in billed)
        assert table == "ledger_entries" or len(billed) == len(ids)
    live = await platform.rows("SELECT id FROM runs WHERE status IN ('initiated', 'ringing', 'in_progress')")
    assert len(live) == 1  # the first, of which nothing was told


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
    told = next(one for one in reversed(held) if one.kind.endswith(("completed", "hangup")) and "token=" in one.url)
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


@EACH
async def test_calls_that_strangers_bring_create_nothing(name: str, platform: Platform) -> None:
    carrier = platform.carrier
    before = await platform.state()
    for fault in ("forged", "unsigned"):
        carrier.chaos.callbacks[:] = [PostFault(fault, "*", times=20)]
        call = carrier.call_in(THEIRS, OURS, replace(phones.hangs_up_after(0.1), gives_up_s=0.2))
        async with asyncio.timeout(60):
            await call.ended.wait()
        await carrier.settled(60)
        refused = [sent.status for sent in carrier.callbacks if sent.call_id == call.id]
        assert refused
        assert set(refused) == {401}
        assert await platform.state() == before
