"""The socket of a browser call: one token one call, audio and events both ways, and no message that harms others."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import websockets
from httpx2 import AsyncClient
from sqlalchemy import func, select
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode

from offhook.kit.media_sockets.media_socket_protocol import MAX_BURST_FRAMES
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.live import media_tokens
from offhook.runs.tables import Run, RunEvent
from tests.fixtures_orgs import OrgFixture
from tests.quick import first_quick
from tests.runs.conftest import MakeRun

SILENCE = bytes(640)
Dial = Callable[[Run, str], "connect"]


@pytest.fixture
async def call(make_run: MakeRun) -> Run:
    return await make_run(mode="browser", direction="inbound", use_draft=True)


@pytest.fixture
def token_of(root: Root) -> Callable[[Run], Awaitable[str]]:
    async def issue(run: Run) -> str:
        async with root.db.transaction() as session:
            return await media_tokens.issue_token(session, run)

    return issue


@pytest.fixture
def dial(server: str) -> Dial:
    return lambda run, token: connect(f"ws://{server}/api/v1/browser/media/{run.id}?token={token}", max_size=None)


async def reload(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


async def until_final(root: Root, run: Run) -> Run:
    async with asyncio.timeout(60):
        while (found := await reload(root, run)).lease_until is not None or found.ended_at is None:
            await asyncio.sleep(0.02)
    return found


async def next_json(line: ClientConnection, kind: str) -> dict[str, Any]:
    """The next text message of this type; audio and others are skipped."""
    async with asyncio.timeout(60):
        while True:
            message = await line.recv()
            if isinstance(message, str):
                parsed: dict[str, Any] = json.loads(message)
                if parsed["type"] == kind:
                    return parsed


async def closing(line: ClientConnection) -> tuple[int, str]:
    """The code and reason with which the server closes."""
    async with asyncio.timeout(60):
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await line.recv()
    assert line.close_code is not None
    return line.close_code, line.close_reason or ""


async def refused(dialed: connect) -> tuple[int, str]:
    """The HTTP status and the code with which the server answers the handshake."""
    with pytest.raises(InvalidStatus) as error:
        await dialed
    response = error.value.response
    assert response.body is not None
    return response.status_code, json.loads(response.body)["code"]


class TestToken:
    @pytest.mark.parametrize("token", ["", "wrong", "\u00fc" * 50])
    async def test_a_wrong_one_creates_nothing(self, root: Root, dial: Dial, call: Run, token: str) -> None:
        refusal = await refused(dial(call, token))
        assert refusal == (401, "media_token_refused"), "before 101"
        assert (await reload(root, call)).status == "initiated"
        async with root.db.transaction() as session:
            assert (await session.execute(select(func.count()).select_from(RunEvent))).scalar_one() == 0

    async def test_a_foreign_one(
        self, root: Root, dial: Dial, call: Run, make_run: MakeRun, token_of: Callable[[Run], Awaitable[str]]
    ) -> None:
        another = await make_run(mode="browser", direction="inbound", use_draft=True)
        assert (await refused(dial(call, await token_of(another))))[0] == 401
        assert (await reload(root, call)).status == "initiated"

    async def test_a_used_one(
        self, root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
    ) -> None:
        token = await token_of(call)
        async with dial(call, token) as first:
            await next_json(first, "event")
            assert (await refused(dial(call, token)))[0] == 401
            assert root.get(RunServices).live.active_calls == 1
            await first.send(json.dumps({"type": "hangup"}))
            await closing(first)

    @pytest.mark.parametrize("path", ["0", "-1", "x", "9" * 30, "%C2%B2"])
    async def test_a_run_that_cannot_be(self, server: str, path: str) -> None:
        assert (await refused(connect(f"ws://{server}/api/v1/browser/media/{path}?token=x")))[0] == 401


@pytest.mark.parametrize("server", first_quick(["push", "asgi"]), indirect=True)
async def test_a_call_from_hello_to_goodbye(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    heard = 0
    events: list[str] = []
    async with dial(call, await token_of(call)) as line, asyncio.timeout(30):
        while True:
            message = await line.recv()
            if isinstance(message, bytes):
                assert len(message) == 640
                heard += len(message)
                continue
            parsed = json.loads(message)
            if parsed["type"] == "mark":
                await line.send(json.dumps({"type": "mark", "name": parsed["name"]}))
            elif parsed["type"] == "event":
                events.append(parsed["event"]["type"])
                assert set(parsed["event"]) == {"type", "at_ms", "data"}
                if events.count("agent_said") == 1 and parsed["event"]["type"] == "agent_said":
                    await line.send(json.dumps({"type": "dtmf", "digit": "1"}))
            elif parsed["type"] == "ended":
                break
            await line.send(SILENCE)
        assert parsed == {"type": "ended", "status": "completed", "outcome": "answered", "end_reason": "agent_ended"}
        assert await closing(line) == (1000, "the call is over")
    assert heard >= 20 * 640
    assert events[0] == "call_started"
    assert "call_ended" in events
    stored = await reload(root, call)
    assert (stored.status, stored.recording_key is not None) == ("completed", True)


async def test_hanging_up(root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]) -> None:
    async with dial(call, await token_of(call)) as line:
        await next_json(line, "event")
        await line.send(json.dumps({"type": "hangup"}))
        ended = await next_json(line, "ended")
    assert (ended["status"], ended["end_reason"]) == ("completed", "caller_hung_up")
    assert (await reload(root, call)).status == "completed"


@pytest.mark.parametrize("server", ["push", "asgi"], indirect=True)
async def test_closing_the_page_is_hanging_up(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    async with dial(call, await token_of(call)) as line:
        await next_json(line, "event")
    assert (await until_final(root, call)).end_reason == "caller_hung_up"


@pytest.mark.parametrize("server", ["push", "asgi"], indirect=True)
async def test_a_cut_line_is_a_failed_run(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    root.get(RunServices).live.handovers.reconnect_timeout_s = 0.0  # nobody comes back
    async with dial(call, await token_of(call)) as line:
        await next_json(line, "event")
        line.transport.abort()
        stored = await until_final(root, call)
    assert (stored.status, stored.end_reason, stored.outcome) == ("failed", "media_lost", "answered")


@pytest.mark.parametrize(
    ("message", "code"),
    first_quick(
        [
            (bytes(65537), 1009),
            ("no json", 4400),
            (bytes(10_000_000), 1009),
            ("x" * 65537, 1009),
            (bytes(641), 4400),
            ("[1]", 4400),
            ("{}", 4400),
            ('{"type": "shout"}', 4400),
            ('{"type": "dtmf", "digit": "12"}', 4400),
            ('{"type": "dtmf"}', 4400),
            ('{"type": "mark", "name": ""}', 4400),
            ('{"type": "mark", "name": {}}', 4400),
            ('{"type": "mark", "name": "' + "n" * 5000 + '"}', 4400),
            ("[" * 4000, 4400),
        ],
        count=2,
    ),
)
async def test_a_message_without_sense_ends_its_own_call_only(
    root: Root,
    dial: Dial,
    make_run: MakeRun,
    token_of: Callable[[Run], Awaitable[str]],
    message: str | bytes,
    code: int,
) -> None:
    good, bad = [await make_run(mode="browser", direction="inbound", use_draft=True) for _ in range(2)]
    async with dial(good, await token_of(good)) as well, dial(bad, await token_of(bad)) as ill:
        await next_json(ill, "event")
        await ill.send(message)
        assert (await closing(ill))[0] == code
        assert (await until_final(root, bad)).status == "failed"
        await well.send(SILENCE)
        await well.send(json.dumps({"type": "hangup"}))
        assert (await next_json(well, "ended"))["status"] == "completed"


async def test_a_flood_of_messages_ends_its_own_call(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    frame = Frame(Opcode.BINARY, b"\0\0").serialize(mask=True)
    async with dial(call, await token_of(call)) as line:
        await next_json(line, "event")
        line.transport.write(frame * (3 * MAX_BURST_FRAMES))
        assert (await closing(line))[0] == 1006
        assert (await until_final(root, call)).status == "failed"


async def test_the_address_that_the_api_gives_opens_the_call(
    client: AsyncClient, server: str, root: Root, org: OrgFixture, call: Run
) -> None:
    answer = await client.post(
        f"/workflow/{call.workflow_id}/runs", json={"mode": "browser"}, headers=org.owner_headers
    )
    path = answer.json()["media_url"].removeprefix("ws://testserver")
    async with connect(f"ws://{server}{path}") as line:
        started = await next_json(line, "event")
        await line.send(json.dumps({"type": "hangup"}))
        await closing(line)
    assert started["event"]["data"] == {"codec": "pcm16", "sample_rate": 16000}


@pytest.mark.parametrize("server", ["push", "asgi"], indirect=True)
@pytest.mark.slow
async def test_a_browser_that_does_not_read_is_dropped(
    root: Root, server: str, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    token = await token_of(call)
    host, port = server.split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(
        f"GET /api/v1/browser/media/{call.id}?token={token} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    await reader.readline()
    leg = await _leg_of(root, call)
    for _ in range(20_000):  # far more than any buffer between us and a reader that sleeps
        leg.send_frame(SILENCE)
        if not leg.is_open:
            break
        if _ % 500 == 0:
            await asyncio.sleep(0.01)
    stored = await until_final(root, call)
    assert (stored.status, stored.end_reason) == ("failed", "media_lost")
    writer.close()


async def _leg_of(root: Root, run: Run) -> Any:
    async with asyncio.timeout(60):
        while (call := root.get(RunServices).live._calls.get(run.id)) is None:
            await asyncio.sleep(0.01)
    return call.session._leg
