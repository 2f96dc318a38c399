"""What the test processes of one run make once and share, as a folder."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def is_shared() -> bool:
    """Whether other test processes run beside this one."""
    return "PYTEST_XDIST_WORKER" in os.environ


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run have."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if is_shared() else base


def make_once(folder: Path, make: Callable[[], None]) -> None:
    """Lets the first process fill the folder, while the others wait; one that was killed leaves it to the next."""
    folder.mkdir(mode=0o700, exist_ok=True)
    finished = folder / "finished"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            make()
            finished.touch()
