"""Users of the system for our child processes: programs of one user can read each other's files and memory."""

import contextlib
import grp
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

import structlog

# A second start may create the same user at the same time.
_ATTEMPTS = 5
_PAUSE_S = 0.5
# Below nobody, and in no range that Debian or systemd gives to others; containers often end at 65,535.
_UNUSED_IDS = range(65_533, 65_519, -1)
log = structlog.get_logger(__name__)


def ensure_system_user(name: str) -> pwd.struct_passwd | None:
    """Returns the user, created without a home and a shell if there is none; None when that fails. Call it as root."""
    for _ in range(_ATTEMPTS):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
        useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if useradd is None:
            return None
        command = [useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        command += ["--shell", "/usr/sbin/nologin", "--comment", "Offhook's embedded database", name]
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a fixed command
        if done.returncode == 0:
            log.info("system_user_created", user=name)
        else:
            time.sleep(_PAUSE_S)
    return None


def find_unused_user_id() -> int:
    """Returns a number that is neither a user's nor a group's."""
    for number in _UNUSED_IDS:
        with contextlib.suppress(KeyError):
            pwd.getpwuid(number)
            continue
        with contextlib.suppress(KeyError):
            grp.getgrgid(number)
            continue
        return number
    return _UNUSED_IDS[-1]


def hand_over_folder(folder: Path, uid: int, gid: int) -> None:
    """Gives a folder and everything of its present owner in it to a user; does nothing when it is theirs.

    The folder itself comes last, so that the next call finishes what was interrupted. Links are not followed, and
    files of third users keep their owner.
    """
    previous = folder.stat().st_uid
    if previous == uid:
        return
    for _path, folders, files, descriptor in os.fwalk(folder, topdown=False):
        for name in (*folders, *files):
            if os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid == previous:
                os.chown(name, uid, gid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(folder, uid, gid)
    log.info("folder_handed_over", folder=str(folder), from_user=previous, to_user=uid)
