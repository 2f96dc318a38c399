"""A program beside us is started again when it ends, and ends when we do."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from offhook.kit.processes.child_process import is_running
from offhook.kit.processes.supervised_child import SupervisedProcess
from offhook.kit.tasks import cancel_task

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
PARENT = f"""
import subprocess, time
from offhook.kit.processes.child_process import die_with_parent
child = subprocess.Popen({SLEEP!r}, preexec_fn=die_with_parent())
print(child.pid, flush=True)
time.sleep(60)
"""


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_it_is_started_again_with_a_pause(tmp_path: Path) -> None:
    child = SupervisedProcess([sys.executable, "-c", f"open({str(tmp_path / 'starts')!r}, 'a').write('x')"])
    task = asyncio.create_task(child.run())
    await until(lambda: child.starts == 2)
    await cancel_task(task)
    assert child.starts == 2


async def test_cancelling_ends_it() -> None:
    child = SupervisedProcess(SLEEP)
    task = asyncio.create_task(child.run())
    await until(lambda: child.pid is not None)
    assert child.pid is not None
    await cancel_task(task)
    assert not is_running(child.pid)


async def test_it_gets_its_own_variables_and_its_priority(tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = SupervisedProcess(
        [sys.executable, "-c", f"import os; open({str(out)!r}, 'w').write(os.environ['OFFHOOK_X'] + str(os.nice(0)))"],
        environment={"OFFHOOK_X": "priority "},
        niceness=3,
    )
    task = asyncio.create_task(child.run())
    expected = f"priority {min(19, os.nice(0) + 3)}"
    await until(lambda: out.exists() and out.read_text() == expected)
    await cancel_task(task)


def test_a_killed_parent_takes_its_child_along() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)
