"""Calls over the real media socket: one that goes well, and everything that a peer can do wrong."""

import asyncio
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.calls.conftest import LiveServer
from tests.quick import first_quick


async def refused_with(address: str) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        await connect(address, proxy=None)
    return refusal.value.response.status_code


def stereo(path: Path) -> tuple[np.ndarray, float]:
    """(samples of both channels, seconds)."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, 8000)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    return samples, len(samples) / 8000


class TestACall:
    async def test_from_the_greeting_to_the_goodbye(self, server: LiveServer, tmp_path: Path) -> None:
        async with server.call() as (run_id, call):
            await call.hears_the_agent()
            await call.says("No thank you")
            assert await call.is_over() == (1000, "the call is over")

        run = await server.finished(run_id)
        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
        assert [(line["role"], line["text"]) for line in run["transcript"]] == [
            ("agent", "Hello, how can I help?"),
            ("caller", "No thank you"),
            ("agent", "Thank you, goodbye."),
        ]
        samples, seconds = stereo(await server.recording(run_id, tmp_path / "call.wav"))
        assert seconds == pytest.approx(run["duration"], abs=0.5)
        caller = run["transcript"][1]
        spoken = samples[int(caller["start_s"] * 8000) : int(caller["end_s"] * 8000)]
        assert np.abs(spoken[:, 0]).mean() > 1000
        assert np.abs(spoken[:, 1]).mean() < 100

    async def test_the_caller_hangs_up(self, server: LiveServer) -> None:
        async with server.call() as (run_id, call):
            await call.hears_the_agent()
            call.wire.send_stop()
            await call.is_over()

        run = await server.finished(run_id)
        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "caller_hung_up")


class TestTokens:
    """Refused before the handshake: nothing is created, nothing is spent."""

    async def test_a_wrong_one(self, server: LiveServer) -> None:
        run_id, address = await server.waiting_run()

        assert await refused_with(address[:-1]) == 401
        assert (await server.run(run_id))["status"] == "initiated"
        assert (await server.run(run_id))["events"] == []
        async with server.connected(address) as call:
            await call.hears_the_agent()

    async def test_one_that_was_used(self, server: LiveServer) -> None:
        run_id, address = await server.waiting_run()
        async with server.connected(address) as call:
            await call.hears_the_agent()
            assert await refused_with(address) == 401
            assert (await server.run(run_id))["status"] == "in_progress"
            await call.says("No thank you")
            assert (await call.is_over())[0] == 1000
        assert await refused_with(address) == 401

    @pytest.mark.slow
    async def test_one_of_another_run(self, server: LiveServer) -> None:
        first, first_address = await server.waiting_run()
        second, second_address = await server.waiting_run()
        token = second_address.rpartition("/")[2]

        assert await refused_with(f"{first_address.rpartition('/')[0]}/{token}") == 401
        assert [(await server.run(run))["status"] for run in (first, second)] == ["initiated", "initiated"]
        async with server.connected(second_address) as call:
            await call.hears_the_agent()

    async def test_one_of_another_kind_of_socket(self, server: LiveServer) -> None:
        run_id, address = await server.waiting_run()

        assert await refused_with(address.replace("/twilio/", "/sandbox/")) == 401
        assert await refused_with(address.replace("/twilio/", "/nobody/")) == 404
        assert await refused_with(address.replace(f"/{run_id}/", "/%00/")) == 401
        assert await refused_with(address.replace(f"/{run_id}/", f"/{10**30}/")) == 401
        assert (await server.run(run_id))["status"] == "initiated"


class TestWhatPeersDoWrong:
    """Each beside a call that must not notice."""

    @pytest.mark.parametrize(
        ("message", "reason"),
        first_quick(
            [
                ("hello", "not a JSON object"),
                ('{"event":"media","media":{"payload":"$$$"}}', "media.payload is not base64"),
                ("[" * 50000, "not a JSON object"),
                ('{"event":"start","start":{"streamSid":"MZ2"}}', "start came twice"),
            ]
        ),
    )
    @pytest.mark.slow
    async def test_a_malformed_message(self, server: LiveServer, message: str, reason: str) -> None:
        async with server.call() as (good_id, good), server.call() as (bad_id, bad):
            await good.hears_the_agent()
            bad.sends(message)
            assert await bad.is_over() == (4400, reason)
            await good.says("No thank you")
            assert (await good.is_over())[0] == 1000

        assert (await server.finished(good_id))["end_reason"] == "agent_ended"
        run = await server.finished(bad_id)
        assert (run["status"], run["end_reason"]) == ("failed", "media_lost")

    @pytest.mark.slow
    async def test_a_message_of_10_mb(self, server: LiveServer) -> None:
        async with server.call() as (good_id, good), server.call() as (bad_id, bad):
            await good.hears_the_agent()
            bad.sends('{"event":"media","media":{"payload":"' + "A" * 10_000_000 + '"}}')
            assert (await bad.is_over())[0] == 1009
            await good.says("No thank you")
            assert (await good.is_over())[0] == 1000

        assert (await server.finished(good_id))["end_reason"] == "agent_ended"
        assert (await server.finished(bad_id))["status"] == "failed"

    @pytest.mark.slow
    async def test_a_socket_that_is_cut(self, server: LiveServer, tmp_path: Path) -> None:
        async with server.call() as (run_id, call):
            await call.hears_the_agent()
            await call.says("I have a very long story to tell")
            await asyncio.sleep(1)
            call.peer.transport.abort()
            run = await server.finished(run_id)

        assert (run["status"], run["end_reason"]) == ("failed", "media_lost")
        samples, seconds = stereo(await server.recording(run_id, tmp_path / "cut.wav"))
        assert seconds == pytest.approx(run["duration"], abs=0.5)
        assert np.abs(samples[-4000:, 0]).mean() > 1000

    async def test_a_peer_that_leaves_before_it_starts(self, server: LiveServer) -> None:
        run_id, address = await server.waiting_run()
        with suppress(ConnectionClosed):
            async with connect(address, proxy=None) as peer:
                await peer.send('{"event":"connected"}')

        run = await server.finished(run_id)
        assert (run["status"], run["end_reason"]) == ("failed", "media_lost")
