"""``offhook call`` on the wall clock: a server process, and people who are only simulated."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.calls.served import Command, Served, begin, offhook, robot

# One server for the module, and so one loop.
pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with Served(tmp_path_factory.mktemp("served") / "data") as server:
        yield server


@pytest.mark.slow
async def test_exit_codes_say_how_it_went(served: Served) -> None:
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


@pytest.mark.slow
async def test_a_call_without_a_recording_is_reported_all_the_same(served: Served, tmp_path: Path) -> None:
    agent, saved = str(await served.publish(robot())), tmp_path / "saved.wav"
    busy = ("--to", "+12015550102", "--json", "--save", str(saved))

    code, out, err = await offhook(served, "call", "--workflow", agent, *busy)
    assert (code, json.loads(out)["outcome"]) == (3, "busy")
    assert err == "offhook: This call has no recording.\n"
    assert not saved.exists()


@pytest.mark.slow
async def test_ctrl_c_hangs_up(served: Served) -> None:
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


@pytest.mark.slow
async def test_starts_a_server_of_its_own_when_none_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "OFFHOOK_DATA_DIR": str(tmp_path / "fresh")}
    code, out, err = await Command(tmp_path, environment, "call", "--workflow", "1", "--to", "+12015550102").ended()

    assert code == 3, err
    assert "busy" in out
    assert not (tmp_path / "fresh" / "server.json").exists()
