"""A container's first process, which the kernel ends by no signal that it does not handle."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STARTING = """
import time
from offhook.kit.processes.child_process import obey_stop_signals
obey_stop_signals()
print("starts", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root makes a PID namespace")
def test_a_stop_signal_ends_it_while_it_starts() -> None:
    outer = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", STARTING],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert outer.stdout is not None
        assert outer.stdout.readline() == "starts\n"
        inner = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        os.kill(int(inner[0]), signal.SIGTERM)
        assert outer.wait(10) == 128 + signal.SIGTERM
    finally:
        outer.kill()
        outer.wait()
