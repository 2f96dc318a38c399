"""A call through an API client: place it, follow its events, read its record, end it."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import httpx2
import typer
from picows import WSError

from offhook.commands.call.report import CallEvent, ReportedCall
from offhook.commands.console import CommandError
from offhook.kit.json_values import ReadableJsonObject
from offhook.kit.media_sockets.client import connect_socket
from offhook.telephony.media.simulated_phone import SimulatedPhone
from offhook.telephony.providers.twilio.api import NAME
from offhook.telephony.providers.twilio.peer import TwilioPeer

READY_TIMEOUT_S: Final = 30.0
# A caller who is not greeted begins to talk after this.
GREETING_TIMEOUT_S: Final = 8.0
PAUSE_S: Final = 0.9
SETTLE_TIMEOUT_S: Final = 10.0
CONNECT_TIMEOUT_S: Final = 10.0


async def wait_ready(url: str) -> None:
    """Waits until the server answers; it announces itself shortly before it migrates its database and listens."""
    until = asyncio.get_running_loop().time() + READY_TIMEOUT_S
    async with httpx2.AsyncClient(trust_env=False) as http:
        while asyncio.get_running_loop().time() < until:
            with suppress(httpx2.TransportError):
                if (await http.get(f"{url}/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.1)
    raise CommandError("The server did not become ready in time. Its log says why.")


class CallClient:
    """Calls one server with one API key; raises CommandError with the server's message."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx2.AsyncClient(
            base_url=f"{url}/api/v1", headers={"X-API-Key": key}, timeout=30, trust_env=False
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def place_call(self, workflow_id: int, number: str) -> int:
        placed = await self._post_json("/telephony/initiate-call", {"workflow_id": workflow_id, "phone_number": number})
        return int(placed["workflow_run_id"])

    async def open_stream(self, workflow_id: int) -> tuple[int, str]:
        """Creates a run that waits for a carrier's media; returns ``(run id, socket address)``."""
        made = await self._post_json(f"/workflow/{workflow_id}/runs", {"mode": NAME})
        return int(made["workflow_run_id"]), str(made["media_url"])

    async def hang_up_when(self, asked: asyncio.Event, run_id: int) -> None:
        await asked.wait()
        await self._post_json(f"/telephony/hang-up/{run_id}", {})

    async def finished_run(self, workflow_id: int, run_id: int) -> ReportedCall:
        """Returns the final record: bookkeeping may take a moment after a hang-up."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SETTLE_TIMEOUT_S
        while True:
            run: ReportedCall = await self._read_answer(await self._http.get(f"/workflow/{workflow_id}/runs/{run_id}"))
            is_final = run["status"] not in {"initiated", "ringing", "in_progress"} and run["outcome"] is not None
            if is_final or loop.time() >= deadline:
                return run
            await asyncio.sleep(0.2)

    async def iter_events(self, workflow_id: int, run_id: int) -> AsyncIterator[CallEvent]:
        """Yields events from the first to the last, live; ends with the run."""
        address = f"/workflow/{workflow_id}/runs/{run_id}/events"
        async with self._http.stream("GET", address, timeout=httpx2.Timeout(30, read=None)) as stream:
            if stream.status_code != 200:
                await stream.aread()
                await self._read_answer(stream)
            kind = ""
            async for line in stream.aiter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    fields: dict[str, object] = json.loads(line.removeprefix("data: "))
                    event = cast(CallEvent, {"type": kind, **fields})
                    yield event

    async def save_recording(self, workflow_id: int, run_id: int, path: Path) -> None:
        """Saves the WAV file; an unanswered call has none, which is reported and does not fail the command."""
        answer = await self._http.get(f"/workflow/{workflow_id}/runs/{run_id}/recording")
        if answer.status_code == 404:
            typer.echo("offhook: This call has no recording.", err=True)
            return
        await self._read_answer(answer, is_json=False)
        try:
            await asyncio.to_thread(path.write_bytes, answer.content)
        except OSError as error:
            raise CommandError(f"Cannot write the recording to {path}: {error.strerror}.") from None

    async def _post_json(self, path: str, body: ReadableJsonObject) -> Any:
        return await self._read_answer(await self._http.post(path, json=body))

    async def _read_answer(self, answer: httpx2.Response, *, is_json: bool = True) -> Any:
        if answer.status_code < 400:
            return answer.json() if is_json else None
        try:
            detail = answer.json()["detail"]
        except (ValueError, KeyError, TypeError):
            detail = f"HTTP {answer.status_code}"
        if isinstance(detail, list):
            detail = "; ".join(f"{part['loc'][-1]}: {part['msg']}" for part in detail)
        raise CommandError(f"The server rejected the request: {detail}")


class _CallerInput:
    """Feeds the agent's messages to the caller's line. Implements ``MessageReceiver``."""

    def __init__(self) -> None:
        self.line: SimulatedPhone | None = None
        self.closed = asyncio.Event()

    def on_text(self, text: str) -> None:
        if self.line is not None:
            self.line.on_message(text)

    def on_binary(self, payload: bytes) -> None:
        """Ignores binary: this carrier's messages are text."""

    def on_closed(self, code: int, reason: str) -> None:
        if self.line is not None:
            self.line.stop()
        self.closed.set()


async def play_caller(
    media_url: str, sound: bytes, *, waits_for_greeting: bool, hang_up: asyncio.Event, limit_s: float
) -> None:
    """Plays the caller: ``sound`` (8 kHz mu-law) in real time, then silence until the agent hangs up or time is up."""
    caller = _CallerInput()
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            socket = await connect_socket(media_url, caller)
    except (WSError, OSError, ValueError) as error:
        raise CommandError(f"The media socket could not be opened: {error}") from None
    peer = TwilioPeer(socket.send, stream_id=f"MZ{secrets.token_hex(16)}", call_id=f"CA{secrets.token_hex(16)}")
    caller.line = line = SimulatedPhone(peer)
    peer.send_start()
    tasks: list[asyncio.Task[Any]] = [
        # the call ends with one of the first two
        asyncio.create_task(caller.closed.wait()),
        asyncio.create_task(hang_up.wait()),
        asyncio.create_task(line.run()),
        asyncio.create_task(_speak_sound(line, sound, waits_for_greeting)),
    ]
    try:
        await asyncio.wait(tasks[:2], timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if not caller.closed.is_set():
            peer.send_stop()
            await asyncio.sleep(0.1)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        socket.close()


async def _speak_sound(line: SimulatedPhone, sound: bytes, waits_for_greeting: bool) -> None:
    waited = 0.0
    while waits_for_greeting and await line.next_frame():
        waited += 0.02
        was_greeted = line.speech.first_loud_at is not None and not line.has_unplayed and line.quiet_for() > PAUSE_S
        if was_greeted or (line.speech.first_loud_at is None and waited > GREETING_TIMEOUT_S):
            break
    line.queue_speech(sound)
