"""Carriers' reports of calls: believed only when they are theirs, once, and in any order."""

from itertools import permutations

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient
from starlette.types import Message

from offhook.root import Root
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.ports import CarrierFailed
from tests.fakes.carrier import FakeCarrier
from tests.fixtures_orgs import OrgFixture
from tests.quick import first_quick
from tests.telephony.conftest import MakeAgent
from tests.telephony.fakecom import BASE, TOKEN, Account, make_account


async def test_the_dial_tells_the_carrier_where_we_are(account: Account, root: Root) -> None:
    run_id = await account.dial()
    (call,) = account.carrier.asked_for("dial")
    links, address = call["request"].links, root.get(PublicAddress)
    assert call["request"].from_number == "+12015550150"
    assert call["account"].config["token"] == TOKEN
    assert links.answer_url == f"{BASE}/telephony/answer/fakecom/{run_id}?token={address.run_secret(run_id)}"
    assert links.media_url.startswith(f"ws://testserver/api/v1/telephony/media/fakecom/{run_id}/")
    assert links.callback_url("events").startswith(f"{BASE}/telephony/fakecom/events/{run_id}?token=")


async def test_a_call_from_ringing_to_its_end(account: Account) -> None:
    run_id = await account.dial()
    path = f"/fakecom/events/{run_id}"
    for status in ("ringing", "in_progress", "completed"):
        answer = await account.says(path, {"status": status, "call_id": "FC1"})
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    run = await account.run(run_id)
    assert (run.status, run.outcome) == ("completed", "answered")
    again = await account.says(path, {"status": "completed", "call_id": "FC1"})
    assert again.json() == {"status": "duplicate"}
    late = await account.says(path, {"status": "ringing", "call_id": "FC1"})
    assert late.json() == {"status": "ignored"}
    other_leg = await account.says(path, {"status": "failed", "call_id": "SOMETHING-ELSE"})
    assert other_leg.json() == {"status": "ignored"}


async def test_a_report_without_a_run_in_its_address(account: Account) -> None:
    run_id = await account.dial()
    body = {"account": "ACME", "status": "busy", "call_id": "FC1"}
    assert (await account.says("/fakecom/cdr", body)).json() == {"status": "ok"}
    assert (await account.run(run_id)).status == "busy"
    again = await account.says(f"/fakecom/hangup-callback/workflow/{account.workflow_id}", body)
    assert again.json() == {"status": "duplicate"}
    unknown = await account.says("/fakecom/cdr", {**body, "call_id": "NOBODY"})
    assert unknown.status_code == 404
    assert (await account.says("/fakecom/hangup-callback/workflow/999999", body)).status_code == 404
    assert (await account.says("/fakecom/events/999999", body)).status_code == 404


async def test_what_a_stranger_sends_changes_nothing(
    account: Account,
    client: AsyncClient,
    root: Root,
    make_agent: MakeAgent,
    other_org: OrgFixture,
    fakecom: FakeCarrier,
) -> None:
    run_id = await account.dial()
    path = f"/fakecom/events/{run_id}"
    body = {"status": "completed", "call_id": "FC1"}
    other = await make_account(
        root, client, fakecom, other_org, (await make_agent(other_org, "x")).id, token="another", reference="globex"
    )
    raw, headers = fakecom.signed(f"{BASE}/telephony{path}", body)
    json_type = {"Content-Type": "application/json"}

    async def send(at: str = path, content: bytes = raw, changed: dict[str, str] | None = None) -> int:
        answer = await client.post(
            f"/telephony{at}", content=content, headers={**json_type, **headers, **(changed or {})}
        )
        if answer.status_code == 401:
            assert answer.json()["code"] == "webhook_refused"
        return answer.status_code

    assert (await client.post(f"/telephony{path}", json=body)).status_code == 401, "no signature"
    assert await send(changed={"x-fake-signature": "0" * 64}) == 401, "wrong signature"
    assert await send(changed={"x-fake-time": "1"}) == 401, "stale"
    assert await send(content=raw + b" ") == 401, "altered body"
    assert await send(f"{path}?a=b") == 401, "altered query"
    assert (await other.says(path, body)).status_code == 401, "another account's"
    token = root.get(PublicAddress).run_secret(run_id + 1)
    assert (await account.says(f"{path}?token={token}", body)).status_code == 401, "another run's secret"
    right = root.get(PublicAddress).run_secret(run_id)
    assert (await account.says(f"{path}?token={right}", b"[1]")).status_code == 422
    assert (await account.says(path, b"\xff\xfe{")).status_code == 422


async def test_a_replay(account: Account) -> None:
    run_id = await account.dial()
    path, body = f"/fakecom/events/{run_id}", {"status": "ringing", "call_id": "FC1"}
    assert (await account.says(path, body, nonce="n1")).json() == {"status": "ok"}
    assert (await account.says(path, body, nonce="n1")).json() == {"status": "duplicate"}
    altered = await account.says(path, {"status": "completed", "call_id": "FC1"}, nonce="n1")
    assert altered.status_code == 401
    assert (await account.run(run_id)).status == "ringing"


@pytest.mark.parametrize("final", first_quick(["completed", "busy"]))
async def test_every_order_of_callbacks_ends_alike(account: Account, root: Root, final: str) -> None:
    events = (
        ["ringing", "in_progress", final, final] if final == "completed" else ["initiated", "ringing", final, final]
    )
    ends = set()
    for order in sorted(set(permutations(events))):
        run_id = await account.dial()
        call_id = account.carrier.calls[-1][0]
        for status in order:
            answer = await account.says(f"/fakecom/events/{run_id}", {"status": status, "call_id": call_id})
            assert answer.status_code == 200
        run = await account.run(run_id)
        ends.add((run.status, run.outcome))
    assert ends == {(final, "answered" if final == "completed" else "busy")}
    live = await account.client.get("/organizations/usage/runs?limit=200", headers=account.org.owner_headers)
    assert {run["status"] for run in live.json()["items"]} == {final}


async def test_a_machine_that_answered(account: Account) -> None:
    run_id = await account.dial()
    path = f"/fakecom/events/{run_id}"
    assert (await account.says(path, {"machine": True, "call_id": "FC1"})).json() == {"status": "ok"}
    await account.says(path, {"status": "completed", "call_id": "FC1"})
    assert (await account.run(run_id)).outcome == "voicemail"
    late = await account.dial()
    await account.says(f"/fakecom/events/{late}", {"status": "completed", "call_id": "FC2"})
    assert (await account.run(late)).outcome == "answered"
    await account.says(f"/fakecom/events/{late}", {"machine": True, "call_id": "FC2"})
    assert (await account.run(late)).outcome == "voicemail"


async def test_the_answer_document(account: Account, root: Root, client: AsyncClient) -> None:
    run_id = await account.dial()
    path = f"/answer/fakecom/{run_id}?token={root.get(PublicAddress).run_secret(run_id)}"
    first = await account.says(path, {})
    assert first.status_code == 200
    assert first.json()["connect"].startswith(f"ws://testserver/api/v1/telephony/media/fakecom/{run_id}/")
    assert (await account.says(path, {})).content == first.content, "asked for again, it is the same"
    assert (await account.says(f"/answer/fakecom/{run_id}", {})).status_code == 401
    assert (await client.post(f"/telephony{path}", json={})).status_code == 401
    await account.says(f"/fakecom/events/{run_id}", {"status": "completed"})
    assert "say" in (await account.says(path, {})).json(), "the call is over"


async def test_without_a_public_address_nothing_is_dialed(account: Account, root: Root) -> None:
    root.get(PublicAddress).base = None
    body = {
        "workflow_id": account.workflow_id,
        "phone_number": "+12015550199",
        "telephony_configuration_id": account.id,
    }
    answer = await account.client.post("/telephony/initiate-call", json=body, headers=account.org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "public_url_missing")
    assert "OFFHOOK_PUBLIC_URL" in answer.json()["detail"]
    assert not account.carrier.calls


async def test_a_lost_answer_neither_fails_nor_repeats_the_call(account: Account) -> None:
    account.carrier.refuses["dial"] = CarrierFailed("timeout", "No answer.", retryable=True, is_fate_unknown=True)
    body = {
        "workflow_id": account.workflow_id,
        "phone_number": "+12015550199",
        "telephony_configuration_id": account.id,
    }
    headers = {**account.org.owner_headers, "Idempotency-Key": "once"}
    first = await account.client.post("/telephony/initiate-call", json=body, headers=headers)
    again = await account.client.post("/telephony/initiate-call", json=body, headers=headers)
    assert (first.status_code, first.json()["call_id"], again.json()) == (200, None, first.json())
    run_id = first.json()["workflow_run_id"]
    assert (await account.run(run_id)).status == "initiated"
    ringing = await account.says(f"/fakecom/events/{run_id}", {"status": "ringing", "call_id": "FC9"})
    assert ringing.json() == {"status": "ok"}
    run = await account.run(run_id)
    assert (run.status, run.call_id) == ("ringing", "FC9")


async def test_a_carrier_that_hangs_up_before_it_is_read(app: FastAPI, client: AsyncClient) -> None:
    sent: list[Message] = []

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    path = "/api/v1/telephony/twilio/status-callback/1"
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "server": ("testserver", 80),
        "headers": [(b"host", b"testserver"), (b"content-length", b"5")], "client": ("127.0.0.1", 1),
    }  # fmt: skip
    await app(scope, gone, send)  # raises nothing
    assert sent[0]["status"] == 400
