"""Streams that end at a carrier that is controlled by requests: which calls it is told to connect again."""

from typing import Any

import pytest

from offhook.root import Root
from offhook.runs.live import media_tokens
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.ports import CarrierFailed, CarrierRegistry, StreamEnded
from offhook.telephony.providers import telnyx
from offhook.telephony.webhooks.resumed_calls import MAX_ATTEMPTS
from tests.fakes.carrier import NAME
from tests.fakes.web import json_reply
from tests.telephony.carrier_kit import LINKS, rest
from tests.telephony.fakecom import Account
from tests.telephony.test_telnyx import ACCOUNT, STREAM, event
from tests.telephony.test_warm_transfers import Desk


@pytest.fixture
def reconnecting(account: Account, root: Root) -> Account:
    """At a carrier that connects streams again by request."""
    root.get(CarrierRegistry).add(account.carrier.spec(reconnector=account.carrier))
    return account


async def stream_ends(account: Account, run_id: int, media_url: str, call_id: str = "FC1") -> list[dict[str, Any]]:
    """What the carrier is asked to connect after it reports the end of this stream."""
    before = len(account.carrier.asked_for("reconnect"))
    body = {"stream_ended": media_url, "call_id": call_id}
    answer = await account.says(f"/{NAME}/events/{run_id}", body)
    assert answer.json()["status"] in ("ok", "ignored")
    return account.carrier.asked_for("reconnect")[before:]


async def test_each_stream_is_followed_by_one_other(reconnecting: Account, root: Root) -> None:
    account, address = reconnecting, root.get(PublicAddress)
    run_id = await account.dial()
    links = account.carrier.calls[0][1].links
    assert links is not None
    (asked,) = await stream_ends(account, run_id, links.media_url)
    token = address.media_token(run_id, 1)
    assert (asked["call_id"], asked["attempt"]) == ("FC1", 1)
    assert asked["media_url"].endswith(f"/media/{NAME}/{run_id}/{token}")
    assert await stream_ends(account, run_id, links.media_url) == [asked], "told twice, it is asked for the same"
    async with root.db.transaction() as session:
        await media_tokens.claim_token(session, token, run_id=run_id, mode=NAME)
    assert await stream_ends(account, run_id, links.media_url) == [], "the next stream has come"
    assert await stream_ends(account, run_id, asked["media_url"], call_id="OTHER") == [], "another leg's stream"
    (again,) = await stream_ends(account, run_id, asked["media_url"])
    assert again["attempt"] == 2
    last = address.call_links(NAME, run_id, address.media_token(run_id, MAX_ATTEMPTS)).media_url
    assert await stream_ends(account, run_id, last) == [], "it does not go round for ever"


async def test_calls_that_need_no_stream(reconnecting: Account, root: Root) -> None:
    account = reconnecting
    transfer = await Desk(account, root).ring()
    (run,) = await account.runs()
    links = account.carrier.calls[0][1].links
    assert links is not None
    await transfer.send_report("answered")
    await (await transfer.waiting).connect_caller()
    assert await stream_ends(account, run["id"], links.media_url) == [], "the caller talks to the destination"
    await account.says(f"/{NAME}/events/{run['id']}", {"status": "completed", "call_id": "FC1"})
    over = await account.dial()
    await account.says(f"/{NAME}/events/{over}", {"status": "completed", "call_id": "FC2"})
    assert await stream_ends(account, over, links.media_url, "FC2") == []


async def test_a_carrier_that_refuses(reconnecting: Account) -> None:
    account = reconnecting
    run_id = await account.dial()
    account.carrier.refuses["reconnect"] = CarrierFailed("not_found", "The call is over.", retryable=False)
    assert len(await stream_ends(account, run_id, "wss://somewhere/else")) == 1
    assert (await account.run(run_id)).status == "initiated", "its own report says how the call ended"


async def test_the_requests_of_telnyx() -> None:
    alive = json_reply({"data": {"call_control_id": "v3:9", "is_alive": True, "result": "ok"}})
    async with rest("telnyx", alive) as (http, server):
        reconnector = telnyx.build_carrier(http).calls.reconnector
        assert reconnector is not None
        assert await reconnector.has_caller(ACCOUNT, "v3:9")
        await reconnector.reconnect_media(ACCOUNT, "v3:9", LINKS, 3)
    asked, connected = server.seen
    assert (asked.method, asked.target) == ("GET", "/v2/calls/v3%3A9")
    assert connected.target == "/v2/calls/v3%3A9/actions/streaming_start"
    options = {name: value for name, value in STREAM.items() if name.startswith("stream_")}
    assert connected.json == {**options, "command_id": "offhook-stream-3"}
    async with rest("telnyx", json_reply({"errors": [{"code": "10005"}]}, 404)) as (http, _):
        gone = telnyx.build_carrier(http).calls.reconnector
        assert gone is not None
        assert not await gone.has_caller(ACCOUNT, "v3:9")


@pytest.mark.parametrize(
    ("kind", "payload", "report"),
    [
        ("streaming.stopped", {"stream_url": "wss://a/b"}, StreamEnded("wss://a/b", "v3:1")),
        ("streaming.failed", {"stream_params": {"stream_url": "wss://a/b"}}, StreamEnded("wss://a/b", "v3:1")),
        ("streaming.failed", {"stream_params": "wss://a/b"}, None),
        ("streaming.stopped", {"stream_url": 7}, None),
    ],
)
def test_the_reports_of_telnyx(kind: str, payload: dict[str, Any], report: StreamEnded | None) -> None:
    assert telnyx.TelnyxWebhooks().parse_status("events", event(kind, **payload)) == report
