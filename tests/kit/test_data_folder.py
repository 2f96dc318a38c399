"""One server a data folder, and a note by which others find it."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from offhook.kit.files.data_folder import DataFolder, DataFolderError, ServerInfo

OWNER = """
import sys, time
from pathlib import Path
from offhook.kit.files.data_folder import DataFolder, ServerInfo
import os
folder = DataFolder(Path(sys.argv[1]))
with folder.hold_lock():
    folder.announce(ServerInfo(os.getpid(), "http://127.0.0.1:8480", "postgresql+asyncpg:///x"))
    print("owned", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "owned\n"
    yield process
    process.kill()
    process.wait()


def test_the_second_owner_is_told_who_the_first_is(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    folder = DataFolder(tmp_path)
    with pytest.raises(DataFolderError, match=rf"process {owner.pid} at http://127.0.0.1:8480"), folder.hold_lock():
        pytest.fail("the folder has an owner")
    assert folder.running_server() == ServerInfo(owner.pid, "http://127.0.0.1:8480", "postgresql+asyncpg:///x")


def test_a_killed_owner_leaves_the_folder_free(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.wait()
    folder = DataFolder(tmp_path)
    assert folder.running_server() is None
    with folder.hold_lock():
        assert folder.running_server() is None


def test_a_note_of_a_process_id_that_now_is_another_program_is_not_believed(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.announce(ServerInfo(os.getppid(), "http://127.0.0.1:8480", None))
    assert folder.running_server() is None


def test_the_note_is_private_and_goes_with_its_owner(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with folder.hold_lock():
        folder.announce(ServerInfo(os.getpid(), None, "postgresql+asyncpg://u:secret@host/x"))
        assert stat.S_IMODE((tmp_path / "server.json").stat().st_mode) == 0o600
    assert not (tmp_path / "server.json").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataFolderError, match="set OFFHOOK_DATA_DIR"):
        DataFolder(tmp_path / "file" / "data").prepare()
