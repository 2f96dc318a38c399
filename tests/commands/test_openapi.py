"""``python -m offhook.commands.openapi``, as ``make openapi`` and the checks before a merge run it."""

import os
from pathlib import Path

import pytest

from offhook.commands.openapi import SNAPSHOT
from tests.forks import forks


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--chekc", 2)])
def test_what_it_does_not_know_writes_nothing(argument: str, code: int, tmp_path: Path) -> None:
    before = SNAPSHOT.stat().st_mtime_ns
    done = forks().run(argument, env=os.environ, folder=tmp_path, target="offhook.commands.openapi:main")
    assert done.returncode == code
    assert "--check" in done.stdout + done.stderr
    assert SNAPSHOT.stat().st_mtime_ns == before
