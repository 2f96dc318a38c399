"""The share of a busy machine that processes beside calls take."""

import subprocess
import sys

CHILD = "import os; from offhook.kit.processes.priority import lower_priority; os.nice({own}); lower_priority({asked}); print(os.nice(0))"


def niceness_after(own: int, asked: int) -> int:
    child = [sys.executable, "-c", CHILD.format(own=own, asked=asked)]
    return int(subprocess.run(child, capture_output=True, text=True, check=True).stdout)


def test_a_priority_is_not_lowered_twice() -> None:
    inherited = niceness_after(0, 0)
    assert niceness_after(0, inherited + 4) == inherited + 4
    assert niceness_after(3, inherited + 4) == inherited + 4
    assert niceness_after(6, inherited + 4) == inherited + 6
