"""A child that was forked before it is needed begins when it is told to, and never outlives us."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from offhook.kit.processes.child_process import is_running

# A process of its own: this one may have threads.
PARENT = """
import asyncio, os, sys, time
from offhook.kit.processes.forked_child import fork_child
from offhook.kit.processes.supervised_child import SupervisedProcess
from offhook.kit.tasks import cancel_task

def work():
{work}

child = fork_child(work, name="a-child")
print(child.pid, flush=True)
{then}
"""


def run_parent(work: str, then: str) -> subprocess.Popen[str]:
    program = PARENT.format(work=f"    {work}", then=then)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_released_child_has_its_variables_and_its_priority() -> None:
    parent = run_parent(
        "print(os.environ['OFFHOOK_X'], os.nice(0), open('/proc/self/comm').read().strip(), flush=True); sys.exit(7)",
        "child.release({'OFFHOOK_X': 'told'}, niceness=3); print(child.wait(), child.poll(), child.returncode)",
    )
    out, errors = parent.communicate(timeout=60)
    assert out.splitlines()[1:] == [f"told {min(19, os.nice(0) + 3)} a-child", "7 7 7"], errors


@pytest.mark.parametrize(
    ("work", "code"), [("pass", 0), ("raise ValueError('a fault')", 1), ("raise KeyboardInterrupt", 130)]
)
def test_the_end_of_its_work_is_its_exit_code(work: str, code: int) -> None:
    parent = run_parent(work, "child.release({}); print(child.wait())")
    out, errors = parent.communicate(timeout=60)
    assert out.splitlines()[1:] == [str(code)]
    assert ("a fault" in errors) == (code == 1)


def test_a_child_that_is_not_needed_ends(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    parent = run_parent(f"open({str(trace)!r}, 'w')", "child.close(); child.close(); print(child.poll())")
    out, errors = parent.communicate(timeout=60)
    assert out.splitlines()[1:] == ["0"], errors
    assert not trace.exists()


@pytest.mark.parametrize("then", ["", "child.release({})"], ids=["waiting", "at work"])
def test_it_does_not_outlive_its_parent(then: str) -> None:
    parent = run_parent("time.sleep(60)", f"{then}\ntime.sleep(60)")
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


@pytest.mark.slow
def test_the_program_is_started_when_the_first_child_ends() -> None:
    parent = run_parent(
        "print('forked', flush=True)",
        """
async def supervise():
    program = [sys.executable, "-c", "import time; print('started', flush=True); time.sleep(60)"]
    supervised = SupervisedProcess(program, first=child)
    task = asyncio.create_task(supervised.run())
    while supervised.starts < 2:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)
    await cancel_task(task)

asyncio.run(supervise())
""",
    )
    out, errors = parent.communicate(timeout=60)
    assert [line for line in out.splitlines()[1:] if "child_ended" not in line] == ["forked", "started"], errors


def test_the_log_of_its_end_is_whole_when_its_reader_is_late() -> None:
    parent = run_parent(
        "from offhook.kit.logging import configure_logging; import structlog; configure_logging('info', 'json');"
        " [structlog.get_logger('offhook.x').info('step', number=n, more='x' * 100) for n in range(600)];"
        " print('done', flush=True)",
        "child.release({}); child.wait()",
    )
    assert parent.stdout is not None
    assert parent.stderr is not None
    parent.stdout.readline()
    assert parent.stdout.readline() == "done\n"
    lines = parent.stderr.read().splitlines()
    parent.wait()
    parent.stdout.close()
    parent.stderr.close()
    assert len(lines) == 600
    assert '"number": 599' in lines[-1]
