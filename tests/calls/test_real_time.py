"""Calls on the wall clock: a server process, the built-in voice and ears, and people who are only simulated."""

import asyncio
import json
import time
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from tests.calls.served import Served, offhook, robot

# One server for the module, and so one loop.
pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

GO_FORWARD = Path("/usr/share/pocketsphinx/test/data/goforward.raw")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with Served(tmp_path_factory.mktemp("served") / "data") as server:
        yield server


def both_sides(path: Path) -> tuple[np.ndarray, float]:
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
        return samples, len(samples) / file.getframerate()


def loudness(samples: np.ndarray, line: dict[str, Any]) -> tuple[float, float]:
    """(caller, agent): the loudest tenth of a second around a line of the transcript. "Yes" is shorter than the
    delays of a busy machine, so that its own bounds may miss it."""
    begin, end = (max(0, int((line[at] + slack) * 8000)) for at, slack in (("start_s", -0.3), ("end_s", 0.3)))
    part = np.abs(samples[begin : max(end, begin + 800)].astype(float))
    tenths = part[: len(part) // 800 * 800].reshape(-1, 800, 2).mean(axis=1)
    caller, agent = tenths.max(axis=0)
    return float(caller), float(agent)


class TestADemoAgent:
    @pytest.mark.slow
    async def test_finds_the_order_of_a_simulated_caller(self, served: Served, tmp_path: Path) -> None:
        await self._is_talked_through(served, "order", tmp_path, edges=2)

    @pytest.mark.slow
    async def test_books_an_appointment_with_a_simulated_caller(self, served: Served, tmp_path: Path) -> None:
        await self._is_talked_through(served, "appointment", tmp_path, edges=3)

    async def _is_talked_through(self, served: Served, name: str, tmp_path: Path, *, edges: int) -> None:
        agent = await served.demo_agent(name)
        run_id = await served.dial(agent, "+12015550101")
        run = await served.finished(agent, run_id)

        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
        assert len([event for event in run["events"] if event["type"] == "edge_taken"]) >= edges
        lines = run["transcript"]
        assert lines[0]["role"] == "agent"
        assert sum(line["role"] == "caller" for line in lines) >= edges
        assert "bye" in lines[-1]["text"].lower()
        samples, seconds = both_sides(await served.recording(agent, run_id, tmp_path / "call.wav"))
        assert seconds == pytest.approx(run["duration"], abs=1.0)
        for line in lines:
            caller, agent_side = loudness(samples, line)
            assert (caller > 300) if line["role"] == "caller" else (agent_side > 300), line


class TestTheSampleCall:
    @pytest.mark.slow
    async def test_is_recorded_once_after_the_first_start(self, tmp_path: Path) -> None:
        async with Served(tmp_path / "data", OFFHOOK_SAMPLE_CALL="1") as server:
            agent = await server.demo_agent("order")
            ends: list[str | None] = []
            async with asyncio.timeout(240):  # a call that the busy machine loses is recorded again
                while "agent_ended" not in ends:
                    await asyncio.sleep(0.5)
                    rows = (await server.read(f"/workflow/{agent}/runs"))["runs"]
                    ends = [(await server.run(agent, row["id"]))["end_reason"] for row in rows]
            assert ends == ["agent_ended"]
            run = await server.finished(agent, rows[ends.index("agent_ended")]["id"])
            assert (run["outcome"], run["end_reason"]) == ("answered", "agent_ended")
            assert run["initial_context"]["sample_call"] is True
            edges = [event["data"]["edge_id"] for event in run["events"] if event["type"] == "edge_taken"]
            assert edges == ["greeting-order", "order-goodbye"]
            _, seconds = both_sides(await server.recording(agent, run["id"], tmp_path / "call.wav"))
            assert seconds == pytest.approx(run["duration"], abs=1.0)

    @pytest.mark.slow
    async def test_attempts_that_failed_leave_no_run(self, served: Served) -> None:
        agent = await served.publish(robot(), max_call_duration=3)

        code, _, errors = await offhook(served, "sample", "--workflow", str(agent))

        assert code == 0, errors
        [last] = (await served.read(f"/workflow/{agent}/runs"))["runs"]
        assert (await served.run(agent, last["id"]))["end_reason"] == "max_duration"


class TestACallerFromAFile:
    @pytest.mark.slow
    @pytest.mark.skipif(not GO_FORWARD.exists(), reason="needs Debian's pocketsphinx-testdata")
    async def test_is_understood(self, served: Served, tmp_path: Path) -> None:
        caller, saved = tmp_path / "go.wav", tmp_path / "saved.wav"
        with wave.open(str(caller), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(GO_FORWARD.read_bytes())
        agent = await served.publish(robot())

        code, out, err = await offhook(
            served, "call", "--workflow", str(agent), "--audio", str(caller), "--json", "--save", str(saved)
        )

        assert code == 0, err
        run = json.loads(out)
        assert (run["outcome"], run["end_reason"]) == ("answered", "agent_ended")
        assert any("forward" in line["text"] for line in run["transcript"] if line["role"] == "caller")
        assert "on its way" in run["transcript"][-1]["text"]
        greeting, said = (
            next(line for line in run["transcript"] if line["role"] == role) for role in ("agent", "caller")
        )
        # On a busy machine the caller speaks over the greeting: what waits for its end is no turn that is timed.
        assert run["turns"] or said["start_s"] < greeting["end_s"]
        assert all(turn["response_ms"] > 0 for turn in run["turns"])
        _, seconds = both_sides(saved)
        assert seconds == pytest.approx(run["duration"], abs=1.0)


class TestAServerThatIsAskedToStop:
    @pytest.mark.slow
    async def test_lets_its_call_come_to_its_end(self, tmp_path: Path) -> None:
        async with Served(tmp_path / "data") as served:
            agent = await served.demo_agent("order")
            run_id = await served.dial(agent, "+12015550123")
            async with asyncio.timeout(30):
                while not (await served.run(agent, run_id))["transcript"]:
                    await asyncio.sleep(0.2)
            await served.stop()

            await served.start()
            run = await served.run(agent, run_id)
            assert (run["status"], run["end_reason"]) == ("completed", "agent_ended")
            assert "bye" in run["transcript"][-1]["text"].lower()


class TestAServerThatIsKilled:
    @pytest.mark.slow
    async def test_in_the_middle_of_a_call(self, tmp_path: Path) -> None:
        environment = {"OFFHOOK_RUN_LEASE_S": "2", "OFFHOOK_SWEEP_INTERVAL_S": "0.5"}
        async with Served(tmp_path / "data", **environment) as served:
            agent = await served.publish(robot())
            run_id = await served.dial(agent, "+12015550106")
            async with asyncio.timeout(30):
                while (await served.run(agent, run_id))["status"] != "in_progress":
                    await asyncio.sleep(0.05)
            answered = time.monotonic()
            async with asyncio.timeout(30):
                while not (await served.run(agent, run_id))["transcript"]:
                    await asyncio.sleep(0.2)
            await asyncio.sleep(2)
            talked = time.monotonic() - answered
            await served.kill()

            await served.start()
            run = await served.finished(agent, run_id, within_s=30)

            assert (run["status"], run["end_reason"]) == ("failed", "worker_lost")
            assert run["transcript"][0]["text"].startswith("Where should")
            samples, seconds = both_sides(await served.recording(agent, run_id, tmp_path / "cut.wav"))
            assert seconds >= talked - 1.2
            assert np.abs(samples[:, 1].astype(float)).max() > 3000
