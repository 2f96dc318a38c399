"""``python -m offhook.commands.openapi``, as ``make openapi`` and the checks before a merge run it."""

import subprocess
import sys

import pytest

from offhook.commands.openapi import SNAPSHOT


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--chekc", 2)])
def test_what_it_does_not_know_writes_nothing(argument: str, code: int) -> None:
    before = SNAPSHOT.stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, "-m", "offhook.commands.openapi", argument], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "--check" in done.stdout + done.stderr
    assert SNAPSHOT.stat().st_mtime_ns == before
