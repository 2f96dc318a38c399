"""Calls on the wall clock: a server process, the built-in voice and ears, and people who are only simulated."""

import asyncio
import json
import os
import signal
import time
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from tests.calls.served import Command, Served, begin, offhook
from tests.voice.phone import agent_graph, edge, node

# One server for the module, and so one loop.
pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

GO_FORWARD = Path("/usr/share/pocketsphinx/test/data/goforward.raw")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with Served(tmp_path_factory.mktemp("served") / "data") as server:
        yield server


def robot() -> dict[str, Any]:
    """An agent that understands one command."""
    return agent_graph(
        node("start", "startCall", prompt="Ask where to go.", greeting="Where should the robot go?"),
        node("moving", "endCall", prompt="Confirm.", say="It is on its way. Goodbye."),
        node("stopped", "endCall", prompt="Confirm.", say="It has stopped. Goodbye."),
        edge("start", "moving", "Forward", "the caller wants to go forward", examples=["go forward ten meters"]),
        edge("start", "stopped", "Stop", "the caller wants to stop", examples=["stop at once"]),
    )


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
    async def test_books_an_appointment_with_a_simulated_caller(self, served: Served, tmp_path: Path) -> None:
        agent = await served.demo_agent("appointment")
        run_id = await served.dial(agent, "+12015550101")
        run = await served.finished(agent, run_id)

        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
        edges = [event["data"] for event in run["events"] if event["type"] == "edge_taken"]
        assert len(edges) >= 3
        lines = run["transcript"]
        assert lines[0]["role"] == "agent"
        assert sum(line["role"] == "caller" for line in lines) >= 3
        assert "bye" in lines[-1]["text"].lower()
        samples, seconds = both_sides(await served.recording(agent, run_id, tmp_path / "call.wav"))
        assert seconds == pytest.approx(run["duration"], abs=1.0)
        for line in lines:
            caller, agent_side = loudness(samples, line)
            assert (caller > 300) if line["role"] == "caller" else (agent_side > 300), line


class TestACallerFromAFile:
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
        assert run["turns"][0]["response_ms"] > 0
        _, seconds = both_sides(saved)
        assert seconds == pytest.approx(run["duration"], abs=1.0)


class TestTheCommand:
    async def test_exit_codes_say_how_it_went(self, served: Served) -> None:
        agent = str(await served.publish(robot()))

        async def code(*arguments: str) -> int:
            return (await offhook(served, "call", "--workflow", agent, *arguments))[0]

        async with asyncio.TaskGroup() as group:
            phones = {last: group.create_task(code("--to", f"+120155501{last}")) for last in ("02", "03", "04")}
        assert {last: task.result() for last, task in phones.items()} == {"02": 3, "03": 4, "04": 5}
        assert await code() == 2
        assert await code("--to", "five") == 2
        assert await code("--audio", "/nowhere.wav") == 2
        assert (await offhook(served, "call", "--workflow", "999", "--to", "+12015550101"))[0] == 1

    async def test_a_call_without_a_recording_is_reported_all_the_same(self, served: Served, tmp_path: Path) -> None:
        agent, saved = str(await served.publish(robot())), tmp_path / "saved.wav"
        busy = ("--to", "+12015550102", "--json", "--save", str(saved))

        code, out, err = await offhook(served, "call", "--workflow", agent, *busy)
        assert (code, json.loads(out)["outcome"]) == (3, "busy")
        assert err == "offhook: This call has no recording.\n"
        assert not saved.exists()

    async def test_ctrl_c_hangs_up(self, served: Served) -> None:
        agent = await served.publish(robot())
        command = begin(served, "call", "--workflow", str(agent), "--to", "+12015550106", "--json")
        async with asyncio.timeout(60):
            while not (runs := (await served.http.get(f"/workflow/{agent}/runs")).json()["runs"]):
                await asyncio.sleep(0.2)
            # The agent has said something: the call is answered on both sides.
            while not (await served.http.get(f"/workflow/{agent}/runs/{runs[0]['id']}")).json()["transcript"]:
                await asyncio.sleep(0.2)
            command.process.send_signal(signal.SIGINT)
            _, out, _ = await command.ended()
        run = json.loads(out)

        assert (run["status"], run["end_reason"]) == ("completed", "caller_hung_up")

    async def test_starts_a_server_of_its_own_when_none_runs(self, tmp_path: Path) -> None:
        environment = {**os.environ, "OFFHOOK_DATA_DIR": str(tmp_path / "fresh")}
        code, out, err = await Command(tmp_path, environment, "call", "--workflow", "1", "--to", "+12015550102").ended()

        assert code == 3, err
        assert "busy" in out
        assert not (tmp_path / "fresh" / "server.json").exists()


class TestAServerThatIsKilled:
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
